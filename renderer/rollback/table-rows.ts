import type { RollbackPlan } from '../../contract/rollback.ts'
import { splitPath } from '../parts/paths.ts'
import { type Choices, type GroupName, groups, isTicked, itemsOf, type PlanItem } from './plan-model.ts'

export type Tick = 'all' | 'some' | 'none' | null

export type TableRow =
  | {
      readonly type: 'group'
      readonly key: string
      readonly group: GroupName
      readonly count: number
      readonly open: boolean
      readonly tick: Tick
      readonly items: readonly PlanItem[]
    }
  | {
      readonly type: 'folder'
      readonly key: string
      readonly group: GroupName
      readonly folder: string
      readonly open: boolean
      readonly tick: Tick
      readonly items: readonly PlanItem[]
    }
  | {
      readonly type: 'path'
      readonly key: string
      readonly of: PlanItem
      readonly level: 2 | 3
      readonly ticked: boolean | null
      /** Within its folder, or the whole path. */
      readonly name: string
    }
  | { readonly type: 'more'; readonly key: string; readonly count: number }

/** From this many paths on a group is shown by folders, and from the second on folders begin folded. */
const FOLDERS_FROM = 24
const FOLDED_FROM = 400

/** What was unfolded or folded by hand, by key of the row. */
export type Folds = ReadonlyMap<string, boolean>

/** The plan as rows: what cannot be restored first, what stays as it is last. */
export function tableRows(
  plan: RollbackPlan,
  choices: Choices,
  folds: Folds,
  /** Where a rollback is taken back as a whole there is nothing to tick. */
  fixed: boolean,
): readonly TableRow[] {
  const items = itemsOf(plan)
  const rows: TableRow[] = []
  for (const group of groups) {
    const all = items[group]
    const key = `group:${group}`
    const more = group === 'kept' ? plan.kept_more : 0
    const count = all.length + more
    const open = count > 0 && (folds.get(key) ?? group !== 'kept')
    const ticks = !fixed && (group === 'write' || group === 'delete')
    rows.push({ type: 'group', key, group, count, open, tick: ticks ? tickOf(all, choices) : null, items: all })
    if (!open) continue
    const ticked = (of: PlanItem) => (fixed && of.group !== 'conflict' ? null : isTicked(of, choices))
    if (all.length < FOLDERS_FROM || group === 'cannot' || group === 'conflict')
      for (const of of all)
        rows.push({ type: 'path', key: of.key, of, level: 2, ticked: ticked(of), name: of.path ?? '' })
    else
      for (const [folder, inside] of byFolder(all)) {
        const folderKey = `folder:${group}:${folder}`
        const folderOpen = folds.get(folderKey) ?? all.length < FOLDED_FROM
        rows.push({
          type: 'folder',
          key: folderKey,
          group,
          folder,
          open: folderOpen,
          tick: ticks ? tickOf(inside, choices) : null,
          items: inside,
        })
        if (folderOpen)
          for (const of of inside)
            rows.push({
              type: 'path',
              key: of.key,
              of,
              level: 3,
              ticked: ticked(of),
              name: splitPath(of.path ?? '').tail.replace(/^[/\\]/, ''),
            })
      }
    if (more > 0) rows.push({ type: 'more', key: 'more:kept', count: more })
  }
  return rows
}

function byFolder(items: readonly PlanItem[]): readonly (readonly [string, readonly PlanItem[]])[] {
  const found = new Map<string, PlanItem[]>()
  for (const item of items) {
    const { head } = splitPath(item.path ?? '')
    const inside = found.get(head)
    if (inside === undefined) found.set(head, [item])
    else inside.push(item)
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
}

function tickOf(items: readonly PlanItem[], choices: Choices): Tick {
  if (items.length === 0) return null
  const ticked = items.filter((item) => isTicked(item, choices) === true).length
  return ticked === 0 ? 'none' : ticked === items.length ? 'all' : 'some'
}
