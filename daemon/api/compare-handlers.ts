import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import type { SomeHandlers } from './handlers.ts'

const notYet = (): never => {
  throw new RepriseError('refused', 'comparing is not there yet')
}

export const createCompareHandlers = (_parts: Parts) =>
  ({ 'compare.run': notYet, 'compare.partners': notYet, 'runs.use': notYet }) satisfies SomeHandlers
