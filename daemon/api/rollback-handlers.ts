import { RepriseError } from '../../contract/index.ts'
import type { Rollbacks } from '../rollback/rollbacks.ts'
import type { SomeHandlers } from './handlers.ts'

export const createRollbackHandlers = (rollbacks: Rollbacks) =>
  ({
    'rollback.plan': async (request) => ({ plan: await rollbacks.plan(request) }),
    'rollback.path': ({ path, ...request }) => rollbacks.path(request, path),
    'rollback.apply': (request) => {
      const { home, project, workspace, only = [] } = request.scope
      if (!home && !project && !workspace && only.length === 0)
        throw new RepriseError(
          'wrong_usage',
          'scope: nothing is named',
          'the home, project files, the workspace, or single paths',
        )
      return rollbacks.apply(request)
    },
    'rollback.undo_plan': ({ id }) => rollbacks.undoPlan(id),
    'rollback.undo': (request) => rollbacks.undo(request),
    'rollback.resume': async ({ id, how }) => ({ record: await rollbacks.decide(id, how) }),
    'rollback.list': ({ state, after = 0, limit = 200 }) => {
      const all = rollbacks.list().filter((record) => state === undefined || state.includes(record.state))
      return { rollbacks: all.slice(after, after + limit), total: all.length }
    },
    'rollback.get': ({ id }) => {
      const found = rollbacks.list().filter((record) => record.id.startsWith(id))
      if (found.length === 1 && found[0]) return { record: found[0] }
      const ids = found.map((record) => record.id)
      if (ids.length > 1) throw new RepriseError('ambiguous', `several rollbacks begin with ${id}`, null, ids)
      throw new RepriseError('not_found', `rollback: there is no ${id}`)
    },
  }) satisfies SomeHandlers
