import path from 'node:path'
import type { RunId, RuntimeName } from '../../contract/index.ts'
import type { SessionUnit } from '../runtimes/adapter.ts'
import type { Store } from '../store/store.ts'
import { type AboutRun, aboutRunSchema } from './archive-run.ts'

/** How many are remembered; the others are read again from the store. */
const KEPT = 256

/** The `run.json` of runs being imported. Changed in place; what was changed is stored with the next part of the run that is kept. */
export interface RunAbouts {
  of(id: RunId, unit: SessionUnit, runtime: RuntimeName): Promise<AboutRun>
  /** Only when it is remembered. */
  known(id: RunId): AboutRun | undefined
}

export const createRunAbouts = (store: Store): RunAbouts => {
  const abouts = new Map<RunId, AboutRun>()
  return {
    known: (id) => abouts.get(id),
    async of(id, unit, runtime) {
      const known = abouts.get(id)
      if (known) return known
      const parsed = aboutRunSchema.safeParse(await store.sessions.about(id))
      const about: AboutRun = parsed.success
        ? parsed.data
        : {
            version: 1,
            runtime,
            home: unit.home,
            session: unit.session,
            parent_session: unit.parentSession,
            relation: unit.relation,
            file: path.relative(unit.home, unit.file),
            meta: { ...unit.meta },
            manifests: {},
            changes: [],
          }
      abouts.set(id, about)
      if (abouts.size > KEPT) abouts.delete(abouts.keys().next().value as RunId)
      return about
    },
  }
}
