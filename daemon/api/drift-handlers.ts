import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import type { SomeHandlers } from './handlers.ts'

const notYet = (): never => {
  throw new RepriseError('refused', 'the history of configuration is not there yet')
}

export const createDriftHandlers = (_parts: Parts) =>
  ({
    'drift.get': notYet,
    'drift.list': notYet,
    'drift.look': notYet,
    'search.configuration': notYet,
  }) satisfies SomeHandlers
