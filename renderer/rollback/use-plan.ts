import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useState } from 'react'
import type { Output } from '../../contract/endpoints.ts'
import type { PlanPath, RollbackPlan, RollbackRequest } from '../../contract/rollback.ts'
import { useTransport } from '../transport/queries.ts'
import { type Asked, baseScope, narrowedScope } from './address.ts'
import { changedRows } from './plan-model.ts'

/** What makes a plan old: it is asked for again when one of these changes. */
const meta = { shows: ['drift', 'files', 'workspaces', 'rollbacks'] } as const

export interface Planned {
  readonly plan: RollbackPlan | undefined
  /** What an apply has to name; null where a rollback is taken back as a whole. */
  readonly request: RollbackRequest | null
  /** The rollback that is taken back. */
  readonly undoOf: string | null
  readonly error: Error | null
  readonly isFetching: boolean
  readonly updatedAt: number
  /** Rows that are not what they were when the page showed them first. */
  readonly changed: ReadonlySet<string>
  /** Times the plan became another one under the same question. */
  readonly renewed: number
  readonly refetch: () => Promise<unknown>
}

/** The plan of what the address asks for. Planning may store a manifest, so the daemon counts it among its mutations; for the window it is a question. */
export function usePlan(
  asked: Asked,
  alsoPaths: readonly string[],
  /** What was planned is being done: the plan one looks at is not asked for again. */
  held: boolean,
): Planned {
  const transport = useTransport()
  const { target, undo, of, runtime, parts } = asked
  const request = useMemo<RollbackRequest | null>(
    () =>
      target === null
        ? null
        : {
            target,
            scope: baseScope({ areas: asked.areas, only: asked.only }),
            ...(of === null ? {} : { of }),
            ...(runtime === null ? {} : { runtime }),
          },
    [target, asked.areas, asked.only, of, runtime],
  )
  const base = useQuery<RollbackPlan, Error>({
    queryKey: ['rollback.plan', request],
    enabled: request !== null && undo === null && !held,
    meta,
    gcTime: 0,
    queryFn: async ({ signal }) =>
      (await transport.call('rollback.plan', request ?? { target: '', scope: {} }, { signal })).plan,
  })
  const undone = useQuery<Output<'rollback.undo_plan'>, Error>({
    queryKey: ['rollback.undo_plan', undo],
    enabled: undo !== null && !held,
    meta,
    gcTime: 0,
    queryFn: ({ signal }) =>
      transport.call('rollback.undo_plan', undo === 'last' ? {} : { id: undo ?? '' }, { signal }),
  })
  const narrowed = useMemo<RollbackRequest | null>(() => {
    if (request === null || base.data === undefined || parts.size === 0) return null
    const { writes, deletes, conflicts, kept } = base.data
    const named = new Map(
      [...writes, ...deletes, ...conflicts, ...kept.filter(({ path }) => alsoPaths.includes(path))].map((entry) => [
        entry.path,
        entry,
      ]),
    )
    for (const path of parts.keys()) if (!named.has(path)) return null
    return { ...request, scope: narrowedScope([...named.values()], parts) }
  }, [request, base.data, parts, alsoPaths])
  const part = useQuery<RollbackPlan, Error>({
    queryKey: ['rollback.plan', narrowed],
    enabled: narrowed !== null && !held,
    meta,
    gcTime: 0,
    queryFn: async ({ signal }) =>
      (await transport.call('rollback.plan', narrowed ?? { target: '', scope: {} }, { signal })).plan,
  })

  const plan = useMemo<RollbackPlan | undefined>(() => {
    if (undo !== null) return undone.data?.plan
    if (narrowed === null || base.data === undefined) return base.data
    if (part.data === undefined) return undefined
    const { kept, kept_more, not_restorable } = base.data
    return { ...part.data, kept, kept_more, not_restorable }
  }, [undo, undone.data, base.data, narrowed, part.data])
  const active = undo !== null ? undone : narrowed !== null ? part : base

  // A plan under another question is another plan; under the same question it is the same one made anew.
  const question = JSON.stringify([undo, narrowed ?? request])
  const first = useRef<{ readonly question: string; readonly plan: RollbackPlan } | null>(null)
  const [state, setState] = useState<{ readonly changed: ReadonlySet<string>; readonly renewed: number }>({
    changed: new Set(),
    renewed: 0,
  })
  useEffect(() => {
    if (plan === undefined) return
    const before = first.current
    if (before === null || before.question !== question) {
      first.current = { question, plan }
      setState({ changed: new Set(), renewed: 0 })
    } else if (before.plan.id !== plan.id) {
      first.current = { question, plan }
      setState((now) => ({ changed: changedRows(before.plan, plan), renewed: now.renewed + 1 }))
    }
  }, [plan, question])

  return {
    plan,
    request: undo === null ? (narrowed ?? request) : null,
    undoOf: undo === null ? null : (undone.data?.of ?? (undo === 'last' ? null : undo)),
    error: base.error ?? part.error ?? undone.error,
    isFetching: active.isFetching,
    updatedAt: active.dataUpdatedAt,
    changed: state.changed,
    renewed: state.renewed,
    refetch: () => Promise.all([active.refetch(), ...(active === part ? [base.refetch()] : [])]),
  }
}

/** Both texts of one path, and the changes between them: of the whole file, so that a part can be chosen from it. */
export function usePlanPath(asked: Asked, { plan, undoOf }: Pick<Planned, 'plan' | 'undoOf'>, path: string | null) {
  const transport = useTransport()
  const client = useQueryClient()
  const request: RollbackRequest | null =
    plan === undefined
      ? null
      : {
          target: undoOf === null ? (asked.target ?? plan.target.text) : `undo:${undoOf}`,
          scope: asked.undo === null ? { only: [{ path: path ?? '' }] } : plan.scope,
          ...(asked.of === null ? {} : { of: asked.of }),
          ...(asked.runtime === null ? {} : { runtime: asked.runtime }),
        }
  const key = ['rollback.path', plan?.id ?? null, asked.undo, path] as const
  const read = useQuery<PlanPath, Error>({
    queryKey: key,
    enabled: request !== null && path !== null,
    gcTime: 60_000,
    queryFn: ({ signal }) =>
      transport.call('rollback.path', { ...(request ?? { target: '', scope: {} }), path: path ?? '' }, { signal }),
  })
  // While a plan is made anew the text one reads stays.
  const last = client
    .getQueriesData<PlanPath>({ queryKey: ['rollback.path'] })
    .filter(([named, data]) => named[3] === path && data !== undefined)
    .at(-1)?.[1]
  return { data: read.data ?? last, error: read.error, refetch: read.refetch }
}
