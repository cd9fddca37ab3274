import type { RollbackApply, RollbackPlan } from '../../contract/rollback.ts'
import { words } from '../words/en.ts'
import { type Asked, type Part, type Parts, queryOf } from './address.ts'

const w = words.rollback

export type PlanWrite = RollbackPlan['writes'][number]
export type PlanDelete = RollbackPlan['deletes'][number]
type PlanKept = RollbackPlan['kept'][number]
export type PlanConflict = RollbackPlan['conflicts'][number]
type NotRestorable = RollbackPlan['not_restorable'][number]

export const groups = ['cannot', 'conflict', 'delete', 'write', 'kept'] as const
export type GroupName = (typeof groups)[number]

export type PlanItem =
  | { readonly group: 'cannot'; readonly key: string; readonly path: string | null; readonly item: NotRestorable }
  | { readonly group: 'conflict'; readonly key: string; readonly path: string; readonly item: PlanConflict }
  | { readonly group: 'delete'; readonly key: string; readonly path: string; readonly item: PlanDelete }
  | { readonly group: 'write'; readonly key: string; readonly path: string; readonly item: PlanWrite }
  | { readonly group: 'kept'; readonly key: string; readonly path: string; readonly item: PlanKept }

export type ConflictChoice = { readonly choice: 'disk' | 'target' | 'hunks'; readonly hunks: readonly number[] }

/** What a person decided on the plan; what is not here is as the plan proposes. */
export interface Choices {
  readonly ticks: ReadonlyMap<string, boolean>
  readonly deleteKept: ReadonlySet<string>
  readonly conflicts: ReadonlyMap<string, ConflictChoice>
  /** Paths that may be changed although the safety snapshot cannot hold them. */
  readonly consent: ReadonlySet<string>
  readonly running: 'wait' | 'go_on'
  readonly reason: string
}

export const noChoices: Choices = {
  ticks: new Map(),
  deleteKept: new Set(),
  conflicts: new Map(),
  consent: new Set(),
  running: 'wait',
  reason: '',
}

export function itemsOf(plan: RollbackPlan): Readonly<Record<GroupName, readonly PlanItem[]>> {
  return {
    cannot: plan.not_restorable.map((item, index) => ({
      group: 'cannot',
      key: `cannot:${index}:${item.path ?? item.what}`,
      path: item.path,
      item,
    })),
    conflict: plan.conflicts.map((item) => ({
      group: 'conflict',
      key: `conflict:${item.path}`,
      path: item.path,
      item,
    })),
    delete: plan.deletes.map((item) => ({ group: 'delete', key: `delete:${item.path}`, path: item.path, item })),
    write: plan.writes.map((item) => ({
      group: 'write',
      key: `write:${item.path}${item.key === null ? '' : `#${item.key}`}`,
      path: item.path,
      item,
    })),
    kept: plan.kept.map((item) => ({ group: 'kept', key: `kept:${item.path}`, path: item.path, item })),
  }
}

export const choiceOf = (choices: Choices, path: string): ConflictChoice =>
  choices.conflicts.get(path) ?? { choice: 'disk', hunks: [] }

/** Whether a row is done as things stand; null where it has nothing to tick. */
export function isTicked(of: PlanItem, choices: Choices): boolean | null {
  switch (of.group) {
    case 'write':
    case 'delete':
      return choices.ticks.get(of.path) ?? of.item.ticked
    case 'kept':
      return of.item.deletable ? choices.deleteKept.has(of.path) : null
    case 'conflict': {
      const { choice, hunks } = choiceOf(choices, of.path)
      return choice === 'target' || (choice === 'hunks' && hunks.length > 0)
    }
    case 'cannot':
      return null
    default:
      return of satisfies never
  }
}

/** Rows whose content, kind or fate is another one than in the plan before. */
export function changedRows(before: RollbackPlan, after: RollbackPlan): ReadonlySet<string> {
  const sign = (plan: RollbackPlan) =>
    new Map(
      groups.flatMap((group) =>
        group === 'kept' || group === 'cannot'
          ? []
          : itemsOf(plan)[group].map(({ key, item }) => [key, JSON.stringify({ ...item, ticked: null })] as const),
      ),
    )
  const known = sign(before)
  return new Set([...sign(after)].flatMap(([key, now]) => (known.get(key) === now ? [] : [key])))
}

/** Everything that would be touched, each path once. */
export function chosenPaths(plan: RollbackPlan, choices: Choices) {
  const items = itemsOf(plan)
  const of = (group: GroupName) => [
    ...new Set(items[group].flatMap((item) => (item.path !== null && isTicked(item, choices) ? [item.path] : []))),
  ]
  const [writes, deletes, kept, conflicts] = [of('write'), of('delete'), of('kept'), of('conflict')]
  return { writes, deletes, kept, conflicts, all: [...new Set([...writes, ...deletes, ...kept, ...conflicts])] }
}

/** Chosen paths the safety snapshot cannot hold, and of them those nobody agreed to. */
export function unprotected(plan: RollbackPlan, choices: Choices) {
  const all = new Set(chosenPaths(plan, choices).all)
  const cannot = plan.safety.cannot.filter(({ path }) => all.has(path))
  return { cannot, open: cannot.filter(({ path }) => !choices.consent.has(path)) }
}

/** Bytes on the disk now of what would be touched; null where one of them is not known. */
export function protectedBytes(plan: RollbackPlan, choices: Choices): number | null {
  const all = new Set(chosenPaths(plan, choices).all)
  let sum = 0
  for (const { path, before } of [...plan.writes, ...plan.deletes]) {
    if (!all.has(path) || before === null) continue
    if (before.bytes === null) return null
    sum += before.bytes
  }
  return plan.conflicts.some(({ path }) => all.has(path)) || chosenPaths(plan, choices).kept.length > 0 ? null : sum
}

/** Whether the page asks for anything at all. */
export const isAsked = ({ undo, areas, only }: Pick<Asked, 'undo' | 'areas' | 'only'>) =>
  undo !== null || areas.length > 0 || only.length > 0

/** What the one button says and does: it names exactly what happens, and says why it does not. */
export interface Button {
  readonly label: string
  readonly enabled: boolean
  readonly count: number
}

export function buttonOf(plan: RollbackPlan | undefined, choices: Choices, asked: Asked): Button {
  const undo = asked.undo !== null
  const files = plan !== undefined && !plan.is_rollback && !undo && isAsked(asked)
  const none = { label: files ? w.act.noneFiles : w.act.none, enabled: false, count: 0 }
  if (plan === undefined || !isAsked(asked)) return none
  const chosen = chosenPaths(plan, choices)
  const unchosen = [...choices.conflicts].find(
    ([path, { choice, hunks }]) =>
      choice === 'hunks' && hunks.length === 0 && plan.conflicts.some((conflict) => conflict.path === path),
  )
  if (unchosen !== undefined) return { label: w.act.hunks(lastName(unchosen[0])), enabled: false, count: 0 }
  const count = chosen.all.length
  if (count === 0)
    return plan.writes.length + plan.deletes.length + plan.conflicts.length === 0
      ? { ...none, label: w.act.nothing }
      : none
  const { open } = unprotected(plan, choices)
  if (open.length > 0) return { label: w.act.cannotProtect(open.length), enabled: false, count }
  const label = undo ? w.act.undo(count) : files ? w.act.restore(count) : w.act.rollBack(count)
  return {
    label: plan.running.length > 0 && choices.running === 'wait' ? w.act.wait(label) : label,
    enabled: true,
    count,
  }
}

const lastName = (path: string) => path.replace(/^.*[\\/]/, '')

/** The answer to a plan that was seen: its id, so that another one now is refused, and every path by name. */
export function decided(
  plan: RollbackPlan,
  choices: Choices,
): Omit<RollbackApply, 'target' | 'scope' | 'of' | 'runtime'> {
  const { writes, deletes, kept } = chosenPaths(plan, choices)
  const { cannot } = unprotected(plan, choices)
  const conflicts = plan.conflicts.map(({ path }) => {
    const { choice, hunks } = choiceOf(choices, path)
    return choice === 'hunks' ? { path, choice, hunks: [...hunks] } : { path, choice }
  })
  const reason = choices.reason.trim()
  return {
    plan: plan.id,
    paths: [...new Set([...writes, ...deletes])],
    ...(kept.length === 0 ? {} : { delete_kept: kept }),
    ...(conflicts.length === 0 ? {} : { choices: conflicts }),
    ...(reason === '' ? {} : { reason }),
    ...(plan.running.length === 0 ? {} : { while_running: choices.running }),
    ...(cannot.length === 0 ? {} : { unprotected: cannot.map(({ path }) => path) }),
  }
}

/** The page with another question. */
export const askedPath = (asked: Asked) => `/rollback?${queryOf(asked)}`

export function withPart(parts: Parts, path: string, part: Part | null): Parts {
  const next = new Map(parts)
  if (part === null) next.delete(path)
  else next.set(path, part)
  return next
}
