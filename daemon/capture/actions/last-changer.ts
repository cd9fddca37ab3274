import { effectSchema, type RollbackTarget, type Writer } from '../../../contract/index.ts'
import type { IndexReader } from '../../store/index/reader.ts'

export interface LastChanger {
  readonly writer: Writer
  /** An action of the run the target is a point of. */
  readonly own: boolean
  /** The first change after the target made it: before, it was not there. */
  readonly created: boolean
}

/** The last action that is known to have changed a path after a target; null: none is. */
export function readLastChanger(
  index: Pick<IndexReader, 'sql'>,
  path: string,
  { run, seq, at }: Pick<RollbackTarget, 'run' | 'seq' | 'at'>,
): LastChanger | null {
  const rows = index
    .sql(
      `select captured.run as run, captured.seq as seq, captured.doc as doc, commits.at as at from captured
       join commits on commits.run = captured.run and commits.seq = captured.seq
       where captured.path = ? order by commits.at, captured.seq`,
    )
    .all(path) as { run: string; seq: number; doc: string; at: string }[]
  // Of the target's own run its number decides; of others the time.
  const later = rows.filter((row) =>
    row.run === run && seq !== null ? Number(row.seq) > seq : at === null || row.at > at,
  )
  const last = later.at(-1)
  if (!last) return null
  const { by, change } = effectSchema.parse(JSON.parse(last.doc))
  const first = effectSchema.parse(JSON.parse(later[0]?.doc ?? last.doc))
  const own = last.run === run
  return {
    writer: { who: own ? by : 'another run', run: last.run, seq: Number(last.seq), at: last.at },
    own,
    created: first.change === 'add' || change === 'add',
  }
}
