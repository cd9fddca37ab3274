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

/** Files and folders that could not be looked at, in the form of the lines' list: place 0 stands for the whole of it. */
export const unreadableFiles = (index: IndexReader): Unreadable[] =>
  (
    index.sql("select path, message, run from gaps where kind = 'unreadable_file' order by path").all() as {
      path: string
      message: string
      run: string | null
    }[]
  ).map(({ path, message, run }) => ({ path, line: 0, byte: 0, bytes: 0, reason: message, repaired: false, run }))

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
