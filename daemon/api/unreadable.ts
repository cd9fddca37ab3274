import type { Unreadable } from '../../contract/index.ts'
import type { IndexReader } from '../store/index/reader.ts'

interface UnreadableRow {
  readonly path: string
  readonly line: number
  readonly byte: number
  readonly bytes: number
  readonly reason: string
  readonly repaired: number
  readonly run: string | null
}

const toUnreadable = ({ repaired, path, line, byte, bytes, reason, run }: UnreadableRow): Unreadable => ({
  path,
  line,
  byte,
  bytes,
  reason,
  repaired: repaired === 1,
  run,
})

/** Lines that hold no record, and lines that had to be taken apart; of one run, or of all. */
export const unreadableOf = (index: IndexReader, run: number | null, limit: number): Unreadable[] =>
  (
    index
      .sql(
        `select unreadable.path, line, byte, bytes, reason, repaired, runs.id as run from unreadable left join runs on runs.key = unreadable.run
         where ? is null or unreadable.run = ? order by unreadable.path, generation, line limit ?`,
      )
      .all(run, run, limit) as UnreadableRow[]
  ).map(toUnreadable)
