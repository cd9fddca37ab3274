import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import type { SomeHandlers } from './handlers.ts'

const notYet = (): never => {
  throw new RepriseError('refused', 'exporting is not there yet')
}

export const createExportHandlers = (_parts: Parts) =>
  ({ 'export.run': notYet, 'export.incident': notYet }) satisfies SomeHandlers
