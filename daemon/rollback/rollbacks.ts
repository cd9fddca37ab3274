import { createHash } from 'node:crypto'
import {
  type Manifest,
  type PlanPath,
  RepriseError,
  type RollbackApply,
  type RollbackPlan,
  type RollbackRecord,
  type RollbackRequest,
  type RollbackTarget,
} from '../../contract/index.ts'
import type { SafetyPath } from '../store/states.ts'
import { type Applied, applyChanges, type Change, resume } from './apply.ts'
import type { BytePath, Disk } from './disk.ts'
import type { Journals } from './journal.ts'
import { hunksBetween, takeHunks } from './merge-text.ts'
import { digestOf, readState } from './path-state.ts'
import { planUndo } from './plan-undo.ts'
import { type Planned, type PlannedChange, shownPath } from './planned.ts'

/** A target with everything needed to plan for it. */
export interface Resolved {
  readonly target: RollbackTarget
  readonly planned: Planned
  readonly isRollback: boolean
  /** Of the target; null where there is no configuration to reach. */
  readonly manifest: Manifest | null
}

export interface RollbackParts {
  readonly disk: Disk
  readonly journals: Journals
  readonly now: () => Date
  /** 12 hex digits, never the same twice. */
  readonly randomId: () => string
  readonly resolve: (request: RollbackRequest) => Promise<Resolved>
  readonly running: (target: RollbackTarget) => readonly RollbackPlan['running'][number][]
  /** Programs that hold one of these files open. */
  readonly heldOpen: (paths: readonly BytePath[]) => readonly { readonly path: BytePath; readonly pid: number }[]
  /** The safety snapshot: durable when it resolves. Fails where what is there is not what was seen. */
  readonly protect: (
    record: RollbackRecord,
    paths: readonly { readonly path: string; readonly digest: string | null }[],
  ) => Promise<void>
  readonly update: (record: RollbackRecord) => Promise<void>
  readonly records: () => AsyncIterable<RollbackRecord>
  readonly saved: (id: string) => Promise<readonly SafetyPath[]>
  /** The configuration as it is after an apply, beside what was wanted. */
  readonly verify: (target: RollbackTarget, manifest: Manifest) => Promise<RollbackRecord['verification']>
  /** Files were written on behalf of the user: whoever watches them must not take it for somebody else's doing. */
  readonly wrote: (record: RollbackRecord) => Promise<void>
  readonly changed: () => void
  readonly log: (message: string) => void
}

export interface Rollbacks {
  plan(request: RollbackRequest): Promise<RollbackPlan>
  path(request: RollbackRequest, path: string): Promise<PlanPath>
  apply(request: RollbackApply): Promise<{ readonly plan: RollbackPlan; readonly record: RollbackRecord }>
  undoPlan(id: string | undefined): Promise<{ readonly of: string; readonly plan: RollbackPlan }>
  undo(request: UndoRequest): Promise<{ readonly plan: RollbackPlan; readonly record: RollbackRecord }>
  /** What a crash interrupted, or what waits. */
  decide(id: string, how: 'finish' | 'take_back'): Promise<RollbackRecord>
  /** At the start of the daemon: finishes or undoes what an earlier life left. */
  recover(): Promise<void>
  /** Carries out what waits for an agent that has ended. */
  wake(): Promise<void>
  list(): readonly RollbackRecord[]
}

export interface UndoRequest {
  readonly id?: string | undefined
  readonly plan?: string | undefined
  readonly choices?: RollbackApply['choices'] | undefined
  readonly while_running?: RollbackApply['while_running'] | undefined
}

const UNDO = 'undo:'

export const createRollbacks = (parts: RollbackParts): Rollbacks => {
  const { disk, journals } = parts
  /** Newest last. */
  const known = new Map<string, RollbackRecord>()
  const waiting = new Map<string, RollbackApply>()

  const list = (): readonly RollbackRecord[] => [...known.values()].sort((a, b) => (a.at < b.at ? 1 : -1))

  const find = (id: string): RollbackRecord => {
    const found = known.get(id) ?? list().find((record) => record.id.startsWith(id) && id.length >= 4)
    if (found) return found
    throw new RepriseError(
      'not_found',
      `rollback: there is no ${id}`,
      null,
      list()
        .slice(0, 10)
        .map((record) => record.id),
    )
  }

  const resolve = async (request: RollbackRequest): Promise<Resolved> => {
    if (!request.target.startsWith(UNDO)) return parts.resolve(request)
    const record = find(request.target.slice(UNDO.length))
    if (record.state !== 'applied')
      throw new RepriseError(
        'refused',
        `rollback ${record.id} is ${record.state.replace('_', ' ')}; there is nothing to take back`,
      )
    const planned = await planUndo(disk, record, await parts.saved(record.id))
    const target: RollbackTarget = { ...record.target, text: `before ${record.id}`, kind: 'safety', at: record.at }
    return { target, planned, isRollback: record.is_rollback, manifest: null }
  }

  const planOf = (request: RollbackRequest, { target, planned, isRollback }: Resolved): RollbackPlan => {
    const { writes, deletes, kept, conflicts, not_restorable, changes } = planned
    const cannot = [...changes.values()].flatMap(({ change }) =>
      change.before?.kind === 'other'
        ? [{ path: shownPath(change.path).path, why: 'it is neither file nor link' }]
        : [],
    )
    const protectedPaths = [...writes, ...deletes, ...conflicts].flatMap(({ path }) => changes.get(path) ?? [])
    const external = not_restorable.filter(({ path }) => path === null)
    const plan = {
      target,
      scope: request.scope,
      is_rollback: isRollback,
      writes,
      deletes,
      kept: kept.slice(0, 2000),
      kept_more: Math.max(0, kept.length - 2000),
      conflicts,
      not_restorable,
      safety: {
        paths: protectedPaths.length,
        bytes: protectedPaths.reduce((sum, { change }) => sum + (change.before?.bytes ?? 0), 0),
        complete: cannot.length === 0,
        cannot,
      },
      not_reproducible:
        external.length === 0
          ? null
          : `not fully reproducible: ${external.map(({ what }) => what).join(', ')} cannot be brought back`,
    }
    // Who is running is no part of it: a plan stays the one that was looked at when an agent ends.
    const id = `p_${createHash('sha256').update(JSON.stringify(plan)).digest('hex').slice(0, 12)}`
    return { ...plan, id, running: [...parts.running(target)] }
  }

  /** What is to be done of a plan, by what was ticked and chosen. */
  const choose = (plan: RollbackPlan, planned: Planned, request: RollbackApply): PlannedChange[] => {
    const all = [...plan.writes, ...plan.deletes]
    const wanted = new Set(request.paths ?? all.filter(({ ticked }) => ticked).map(({ path }) => path))
    for (const path of request.paths ?? [])
      if (!all.some((one) => one.path === path))
        throw new RepriseError('wrong_usage', `paths: ${path} is not written or deleted by this plan`)
    for (const path of request.delete_kept ?? []) {
      if (!planned.kept.some((one) => one.path === path && one.deletable))
        throw new RepriseError('wrong_usage', `delete_kept: ${path} is not among what may be deleted`)
      wanted.add(path)
    }
    const chosen: PlannedChange[] = []
    for (const { path, choice, hunks } of request.choices ?? []) {
      const conflict = plan.conflicts.find((one) => one.path === path)
      if (!conflict) throw new RepriseError('wrong_usage', `choices: ${path} is no conflict of this plan`)
      if (!conflict.choices.includes(choice))
        throw new RepriseError('wrong_usage', `choices: ${path} cannot be decided by ${choice}`)
      const change = planned.changes.get(path)
      if (choice === 'target') wanted.add(path)
      else if (choice === 'hunks' && change) chosen.push(withHunks(change, hunks ?? []))
    }
    for (const path of wanted) {
      const change = planned.changes.get(path)
      if (change) chosen.push(change)
    }
    return chosen
  }

  const carryOut = async (
    request: RollbackApply,
    resolved: Resolved,
    chosen: readonly PlannedChange[],
    open: RollbackRecord,
  ): Promise<RollbackRecord> => {
    const changes: readonly Change[] = chosen.map(({ change }) => change)
    const held = parts.heldOpen(changes.map(({ path }) => path))
    if (held.length > 0 && request.while_running !== undefined && request.while_running !== 'refuse') {
      const first = held[0]
      throw new RepriseError(
        'refused',
        `${held.length} files are held open, ${first ? shownPath(first.path).path : ''} by process ${first?.pid}`,
        'end the program, or leave those paths out',
      )
    }
    await parts.protect(
      open,
      changes.map(({ path, before }) => ({ path, digest: before?.digest ?? null })),
    )
    known.set(open.id, open)
    return settle(open, await applyChanges(parts, open.id, changes), resolved.manifest)
  }

  /** What came of it, on record. */
  const settle = async (open: RollbackRecord, applied: Applied, manifest: Manifest | null): Promise<RollbackRecord> => {
    const done = new Map(
      applied.outcome === 'done' ? applied.items.map((item) => [shownPath(item.path).path, item]) : [],
    )
    const left = new Map(
      applied.outcome === 'taken_back' ? applied.left.map((one) => [shownPath(one.path).path, one.why]) : [],
    )
    const paths = open.paths.map((path) => {
      const item = done.get(path.path)
      if (item?.conflict) return { ...path, result: 'conflict' as const, verified: false, why: item.conflict }
      if (item) return { ...path, result: 'done' as const, verified: true }
      const why = left.get(path.path) ?? null
      return { ...path, result: why === null ? ('taken_back' as const) : ('failed' as const), verified: false, why }
    })
    const state =
      applied.outcome === 'done'
        ? 'applied'
        : applied.outcome === 'conflict'
          ? 'failed'
          : left.size > 0
            ? 'interrupted'
            : 'taken_back'
    const error =
      applied.outcome === 'done'
        ? applied.left
        : `${applied.path === null ? '' : `${shownPath(applied.path).path}: `}${applied.why}`
    let record: RollbackRecord = { ...open, state, paths, error }
    if (state === 'applied') {
      await parts
        .wrote(record)
        .catch((fault: Error) => parts.log(`what a rollback wrote was not noted: ${fault.message}`))
      const verification =
        manifest === null
          ? null
          : await parts.verify(record.target, manifest).catch((fault: Error) => ({
              reached: null,
              target_digest: manifest.instructions.effective_digest,
              effective_digest: null,
              differences: [],
              why: `it could not be resolved again: ${fault.message}`,
            }))
      record = { ...record, verification }
    }
    await save(record)
    if (record.state === 'applied' && record.undo_of !== null) {
      const undone = known.get(record.undo_of)
      if (undone) await save({ ...undone, state: 'undone', undone_by: record.id })
    }
    return record
  }

  const save = async (record: RollbackRecord): Promise<void> => {
    await parts.update(record)
    known.set(record.id, record)
    parts.changed()
  }

  const newRecord = (
    request: RollbackApply,
    resolved: Resolved,
    plan: RollbackPlan,
    chosen: readonly PlannedChange[],
  ): RollbackRecord => ({
    v: 1,
    id: `b_${parts.randomId()}`,
    at: parts.now().toISOString(),
    target: resolved.target,
    scope: request.scope,
    is_rollback: resolved.isRollback,
    reason: request.reason ?? null,
    state: 'interrupted',
    paths: chosen.map(({ area, key, change }) => ({
      ...shownPath(change.path),
      area,
      key,
      change: changeOf(change),
      before: change.before?.digest ?? null,
      after: change.after?.side.digest ?? null,
      verified: false,
      result: 'failed',
      why: null,
    })),
    not_restorable: plan.not_restorable,
    undo_of: request.target.startsWith(UNDO) ? find(request.target.slice(UNDO.length)).id : null,
    undone_by: null,
    verification: null,
    not_reproducible: plan.not_reproducible,
    error: null,
  })

  const apply: Rollbacks['apply'] = async (request) => {
    const resolved = await resolve(request)
    const plan = planOf(request, resolved)
    if (request.plan !== undefined && request.plan !== plan.id)
      throw new RepriseError(
        'conflict',
        'What is on the disk changed since the plan was looked at.',
        'Look at the new plan and decide again; nothing was changed.',
      )
    const chosen = choose(plan, resolved.planned, request)
    if (plan.running.length > 0 && (request.while_running ?? 'refuse') === 'refuse') {
      const agent = plan.running[0]
      throw new RepriseError(
        'refused',
        `${agent?.runtime} is running here${agent?.pid == null ? '' : `, process ${agent.pid}`}: ${agent?.why}`,
        'wait until it ends (--wait), or go on while it runs (--while-running)',
      )
    }
    const bare = plan.safety.cannot.filter(({ path }) => !(request.unprotected ?? []).includes(path))
    if (bare.length > 0)
      throw new RepriseError(
        'refused',
        `${bare[0]?.path} cannot be kept in the safety snapshot: ${bare[0]?.why}`,
        'leave it out, or name it as one that may be lost',
      )
    const open = newRecord(request, resolved, plan, chosen)
    if (plan.running.length > 0 && request.while_running === 'wait') {
      const record = { ...open, state: 'waiting' as const }
      await parts.protect(record, [])
      known.set(record.id, record)
      waiting.set(record.id, { ...request, plan: plan.id })
      parts.changed()
      return { plan, record }
    }
    return { plan, record: await carryOut(request, resolved, chosen, open) }
  }

  const undoTarget = (id: string | undefined): RollbackRecord => {
    if (id !== undefined) return find(id)
    const last = list().find(({ state }) => state === 'applied')
    if (last) return last
    throw new RepriseError('not_found', 'there is no rollback to take back')
  }
  const undoRequest = (record: RollbackRecord): RollbackRequest => ({
    target: `${UNDO}${record.id}`,
    scope: record.scope,
  })

  const recoverJournal = async (how: 'finish' | 'take_back', only: string | null): Promise<void> => {
    const { journals: left, unreadable } = journals.list()
    for (const { file, why } of unreadable) parts.log(`the journal ${file} cannot be read: ${why}`)
    for (const journal of left) {
      if (only !== null && journal.id !== only) continue
      const record = known.get(journal.id)
      try {
        const applied = await resume(parts, journal, how)
        if (record) await settle(record, applied, null)
      } catch (error) {
        const why = (error as Error).message
        parts.log(`the rollback ${journal.id} could not be gone on with: ${why}`)
        if (record) await save({ ...record, state: 'interrupted', error: why })
      }
    }
  }

  /** A record that says interrupted while no journal does: the crash was before or after everything, which the disk tells. */
  const settleByDisk = async (record: RollbackRecord): Promise<void> => {
    const saved = await parts.saved(record.id).catch(() => [])
    const states = await Promise.all(saved.map(({ path }) => readState(disk, path as BytePath)))
    const isAfter = record.paths.every(({ after }, index) => (states[index]?.digest ?? null) === after)
    const isBefore = record.paths.every(({ before }, index) => (states[index]?.digest ?? null) === before)
    if (isAfter && !isBefore)
      await save({
        ...record,
        state: 'applied',
        paths: record.paths.map((path) => ({ ...path, result: 'done', verified: true })),
      })
    else if (isBefore)
      await save({ ...record, state: 'taken_back', error: 'it was interrupted before anything was changed' })
  }

  return {
    list,
    async plan(request) {
      return planOf(request, await resolve(request))
    },
    async path(request, path) {
      const { planned } = await resolve(request)
      const change = planned.changes.get(path)
      if (!change) throw new RepriseError('not_found', `path: ${path} is not in this plan`)
      const { disk: now, target, why } = change.texts
      const hunks = now === null || target === null ? [] : hunksBetween(now, target)
      return {
        path,
        disk: now,
        target,
        why,
        hunks: hunks.map(({ removed, added, ...hunk }) => ({ ...hunk, removed: [...removed], added: [...added] })),
        keys: [],
      }
    },
    apply,
    async undoPlan(id) {
      const record = undoTarget(id)
      const request = undoRequest(record)
      return { of: record.id, plan: planOf(request, await resolve(request)) }
    },
    async undo({ id, plan, choices, while_running }) {
      const record = undoTarget(id)
      return apply({
        ...undoRequest(record),
        ...(plan === undefined ? {} : { plan }),
        ...(choices === undefined ? {} : { choices }),
        ...(while_running === undefined ? {} : { while_running }),
      })
    },
    async decide(id, how) {
      const record = find(id)
      if (record.state === 'waiting') {
        waiting.delete(record.id)
        if (how === 'take_back') await save({ ...record, state: 'cancelled' })
        else
          throw new RepriseError(
            'refused',
            `rollback ${record.id} waits for an agent to end`,
            'it can only be cancelled',
          )
      } else if (record.state === 'interrupted') await recoverJournal(how, record.id)
      else
        throw new RepriseError('refused', `rollback ${record.id} is ${record.state.replace('_', ' ')}; nothing is open`)
      return find(id)
    },
    async recover() {
      for await (const record of parts.records()) known.set(record.id, record)
      await recoverJournal('finish', null)
      const open = new Set(journals.list().journals.map(({ id }) => id))
      for (const record of known.values()) {
        if (open.has(record.id)) continue
        if (record.state === 'interrupted') await settleByDisk(record)
        // What was asked for and waited is not remembered in full: nothing was done, and it says so.
        else if (record.state === 'waiting')
          await save({ ...record, state: 'cancelled', error: 'Reprise was ended while it waited; nothing was changed' })
      }
    },
    async wake() {
      for (const [id, request] of waiting) {
        const record = known.get(id)
        if (!record || record.state !== 'waiting') continue
        if (parts.running(record.target).length > 0) continue
        waiting.delete(id)
        try {
          const resolved = await resolve(request)
          const plan = planOf(request, resolved)
          if (plan.id !== request.plan)
            await save({
              ...record,
              state: 'failed',
              error: 'what is on the disk changed while it waited; nothing was done',
            })
          else {
            const chosen = choose(plan, resolved.planned, request)
            const fresh = newRecord(request, resolved, plan, chosen)
            await save({ ...record, state: 'cancelled', error: `carried out as ${fresh.id}` })
            await carryOut(request, resolved, chosen, fresh)
          }
        } catch (error) {
          await save({ ...record, state: 'failed', error: (error as Error).message })
        }
      }
    },
  }
}

function withHunks(planned: PlannedChange, hunks: readonly number[]): PlannedChange {
  const { disk, target } = planned.texts
  const { change } = planned
  if (disk === null || target === null || change.after?.side.kind !== 'file')
    throw new RepriseError(
      'refused',
      `${shownPath(change.path).path} is not shown as text, so single hunks cannot be taken`,
    )
  const content = Buffer.from(takeHunks(disk, target, hunks))
  const side = { ...change.after.side, digest: digestOf(content), bytes: content.length }
  const once = async function* (): AsyncIterable<Uint8Array> {
    yield content
  }
  return { ...planned, change: { ...change, after: { side: { ...side, kind: 'file' }, content: once } } }
}

function changeOf({ before, after }: Change): RollbackRecord['paths'][number]['change'] {
  if (after === null) return 'delete'
  if (before === null) return 'add'
  if (before.kind !== after.side.kind) return 'type'
  return before.digest === after.side.digest ? 'mode' : 'change'
}
