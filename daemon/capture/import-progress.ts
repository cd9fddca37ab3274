import type { Progress } from '../../contract/index.ts'
import type { Statement } from '../store/index/database.ts'

/** Shortest time between two reports. */
const EVERY_MS = 250

export interface ImportProgress {
  /** A look at homes begins; counts start over. */
  begin(): void
  expect(files: number, bytes: number): void
  fileDone(): void
  bytesDone(bytes: number): void
  say(phase: Progress['phase'], home: string | null, force?: boolean): void
}

export const createImportProgress = (
  sql: (text: string) => Statement,
  now: () => Date,
  tell: (progress: Progress) => void,
): ImportProgress => {
  const count = { done: 0, total: 0, bytesDone: 0, bytesTotal: 0 }
  let startedAt = now().toISOString()
  let saidAt = 0
  return {
    begin() {
      startedAt = now().toISOString()
      count.done = 0
      count.bytesDone = 0
    },
    expect(files, bytes) {
      count.total = files
      count.bytesTotal = bytes
    },
    fileDone() {
      count.done += 1
    },
    bytesDone(bytes) {
      count.bytesDone += bytes
    },
    say(phase, home, force = false) {
      const at = now().getTime()
      if (!force && at - saidAt < EVERY_MS) return
      saidAt = at
      const runs = sql('select count(*) as runs, coalesce(sum(events), 0) as events from runs').get() as {
        runs: number
        events: number
      }
      const words = sql(
        "select (select cast(value as integer) from meta where key = 'found_until') as done, (select coalesce(max(id), 0) from words) as total",
      ).get() as { done: number; total: number }
      tell({
        home,
        phase,
        files_done: count.done,
        files_total: count.total,
        bytes_done: count.bytesDone,
        bytes_total: count.bytesTotal,
        sessions: Number(runs.runs),
        events: Number(runs.events),
        searchable: words.total === 0 ? 1 : Math.min(1, Number(words.done) / Number(words.total)),
        started_at: startedAt,
      })
    },
  }
}
