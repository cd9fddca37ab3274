import type { Run } from '../../contract/run.ts'
import type { TimelineItem } from '../../contract/timeline.ts'
import { dayKey } from '../parts/format.ts'

export type TimelineRow =
  | {
      readonly type: 'day'
      readonly key: string
      readonly day: string
      readonly runs: number
      readonly changes: number
      readonly rollbacks: number
      readonly others: number
      readonly whole: boolean
    }
  | {
      readonly type: 'run'
      readonly key: string
      readonly run: Run
      readonly children: readonly string[]
      readonly level: 1 | 2
      readonly open: boolean
    }
  | { readonly type: 'waiting'; readonly key: string; readonly parent: string }
  | { readonly type: 'source'; readonly key: string; readonly item: Extract<TimelineItem, { type: 'source' }> }
  | {
      readonly type: 'configuration'
      readonly key: string
      readonly item: Extract<TimelineItem, { type: 'configuration' }>
    }
  | { readonly type: 'rollback'; readonly key: string; readonly item: Extract<TimelineItem, { type: 'rollback' }> }
  | { readonly type: 'gap'; readonly key: string; readonly item: Extract<TimelineItem, { type: 'gap' }> }

export const itemKey = (item: TimelineItem) => (item.type === 'run' ? `run:${item.run.id}` : `${item.type}:${item.id}`)

interface Fold {
  readonly open: ReadonlySet<string>
  /** Runs of subagents, by parent, as far as they are loaded. */
  readonly childrenOf: (run: string) => readonly Run[] | undefined
}

/** Items in the daemon's order, under headers of the viewer's days, unfolded parents followed by their subagents. */
export function toRows(
  items: readonly TimelineItem[],
  { open, childrenOf }: Fold,
  complete: boolean,
): readonly TimelineRow[] {
  const rows: TimelineRow[] = []
  const seen = new Set<string>()
  let day: { runs: number; changes: number; rollbacks: number; others: number; at: number; key: string } | null = null
  const close = (whole: boolean) => {
    if (day !== null)
      rows[day.at] = {
        type: 'day',
        key: `day:${day.key}`,
        day: day.key,
        runs: day.runs,
        changes: day.changes,
        rollbacks: day.rollbacks,
        others: day.others,
        whole,
      }
  }
  for (const item of items) {
    const key = itemKey(item)
    if (seen.has(key)) continue // a page cut while rows were added may repeat one
    seen.add(key)
    const at = dayKey(item.at)
    if (day === null || day.key !== at) {
      close(true)
      day = { runs: 0, changes: 0, rollbacks: 0, others: 0, at: rows.length, key: at }
      rows.push({ type: 'day', key: `day:${at}`, day: at, runs: 0, changes: 0, rollbacks: 0, others: 0, whole: false })
    }
    if (item.type === 'configuration') {
      day.changes += 1
      rows.push({ type: 'configuration', key, item })
      continue
    }
    if (item.type === 'rollback') {
      day.rollbacks += 1
      rows.push({ type: 'rollback', key, item })
      continue
    }
    if (item.type !== 'run') {
      day.others += 1
      if (item.type === 'gap') rows.push({ type: 'gap', key, item })
      else rows.push({ type: 'source', key, item })
      continue
    }
    day.runs += 1
    const isOpen = item.children.length > 0 && open.has(item.run.id)
    rows.push({ type: 'run', key, run: item.run, children: item.children, level: 1, open: isOpen })
    if (!isOpen) continue
    const children = childrenOf(item.run.id)
    if (children === undefined) rows.push({ type: 'waiting', key: `waiting:${item.run.id}`, parent: item.run.id })
    else
      for (const run of children)
        if (item.children.includes(run.id))
          rows.push({ type: 'run', key: `child:${run.id}`, run, children: [], level: 2, open: false })
  }
  close(complete)
  return rows
}
