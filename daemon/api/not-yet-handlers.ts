import { RepriseError } from '../../contract/index.ts'
import type { SomeHandlers } from './handlers.ts'

/** Endpoints whose part is being built; each goes from here to a file of its own. */
const notYet = (): never => {
  throw new RepriseError('refused', 'this is not there yet')
}
export const notYetHandlers = {
  'store.repair': notYet,
  'store.sizes': notYet,
  'store.prune': notYet,
  'hooks.status': notYet,
  'hooks.plan': notYet,
  'hooks.apply': notYet,
  'hooks.event': notYet,
} satisfies SomeHandlers
