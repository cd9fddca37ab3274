import type { Run } from '../../contract/run.ts'
import type { Ticks } from '../parts/scrubber.tsx'

export type EventRow =
  | { readonly type: 'event'; readonly key: string; readonly index: number; readonly seq: number }
  | { readonly type: 'stretch'; readonly key: string; readonly stretch: Run['stretches'][number] }
  | { readonly type: 'fork'; readonly key: string }

/** Rows in file order: events, with a line where the configuration was resolved again and where a copied beginning ends. */
export function toEventRows(run: Run, ticks: Ticks, keep: ((index: number) => boolean) | null): readonly EventRow[] {
  const rows: EventRow[] = []
  const stretches = run.stretches.filter((stretch) => stretch.n > 1)
  let next = 0
  const forkAt = run.copied_events > 0 && run.relation === 'fork' ? run.copied_events : -1
  ticks.seqs.forEach((seq, index) => {
    if (keep === null) {
      if (index === forkAt) rows.push({ type: 'fork', key: 'fork' })
      for (
        let stretch = stretches[next];
        stretch !== undefined && stretch.first_seq <= seq;
        stretch = stretches[next]
      ) {
        rows.push({ type: 'stretch', key: `stretch:${stretch.n}`, stretch })
        next += 1
      }
    }
    if (keep === null || keep(index)) rows.push({ type: 'event', key: `@${seq}`, index, seq })
  })
  return rows
}

/** Where a run opens: its first failure, else its last change, else its beginning. */
export function openingIndex(ticks: Ticks): number {
  const failed = ticks.failed.indexOf(true)
  if (failed >= 0) return failed
  return Math.max(0, ticks.changed.lastIndexOf(true))
}

/** The tick of a sequence number, or the nearest one before it. */
export function indexOfSeq(ticks: Ticks, seq: number): number {
  let low = 0
  let high = ticks.seqs.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((ticks.seqs[middle] ?? 0) <= seq) low = middle
    else high = middle - 1
  }
  return Math.max(0, low)
}

export function nextWhere(flags: readonly boolean[], from: number, step: 1 | -1): number | null {
  for (let index = from + step; index >= 0 && index < flags.length; index += step)
    if (flags[index] === true) return index
  return null
}
