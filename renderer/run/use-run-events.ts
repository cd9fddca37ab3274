import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { Output } from '../../contract/endpoints.ts'
import type { RunEvent } from '../../contract/run.ts'
import type { Ticks } from '../parts/scrubber.tsx'
import { queryKey, useTransport } from '../transport/queries.ts'

const CHUNK = 500
type Page = Output<'runs.events'>

/** Events of the rows that are looked at, in chunks: a run of 100,000 events is never loaded whole just to be scrolled. */
export function useRunEvents(run: string, ticks: Ticks | undefined) {
  const transport = useTransport()
  const [wanted, setWanted] = useState<ReadonlySet<number>>(new Set([0]))
  const chunks = useMemo(
    () => [...wanted].filter((chunk) => chunk * CHUNK < (ticks?.seqs.length ?? 0)),
    [wanted, ticks],
  )
  const results = useQueries({
    queries: chunks.map((chunk) => {
      const input = { run, after: Math.max(0, (ticks?.seqs[chunk * CHUNK] ?? 1) - 1), limit: CHUNK }
      return {
        queryKey: queryKey('runs.events', input),
        queryFn: ({ signal }: { signal: AbortSignal }) => transport.call('runs.events', input, { signal }),
      }
    }),
    combine: (all) => ({
      pages: all.map((result) => result.data),
      error: all.find((result) => result.error !== null)?.error ?? null,
    }),
  })
  const bySeq = useMemo(() => {
    const map = new Map<number, RunEvent>()
    for (const page of results.pages) for (const event of page?.events ?? []) map.set(event.seq, event)
    return map
  }, [results.pages])
  /** Indexes into the ticks that should be there. */
  const want = useCallback((first: number, last: number) => {
    setWanted((now) => {
      const from = Math.max(0, Math.floor((first - 40) / CHUNK))
      const to = Math.floor((last + 40) / CHUNK)
      let next: Set<number> | null = null
      for (let chunk = from; chunk <= to; chunk += 1) {
        if (now.has(chunk)) continue
        next ??= new Set(now)
        next.add(chunk)
      }
      return next ?? now
    })
  }, [])
  return { bySeq, want, error: results.error }
}

/** Every event of a run, for filters on words, usage and places of unreadable lines; reports how far it is. */
export function useAllEvents(run: string, total: number, enabled: boolean) {
  const transport = useTransport()
  const client = useQueryClient()
  const key = useMemo(() => ['runs.events', { run, all: true }] as const, [run])
  const progressKey = useMemo(() => ['runs.events.progress', run] as const, [run])
  const query = useQuery({
    queryKey: key,
    enabled,
    queryFn: async ({ signal }) => {
      const events: RunEvent[] = []
      let after = 0
      for (;;) {
        const page: Page = await transport.call('runs.events', { run, after, limit: 1000 }, { signal })
        events.push(...page.events)
        client.setQueryData(progressKey, events.length)
        if (page.next === null || page.events.length === 0) return events
        after = page.next
      }
    },
  })
  const progress = useQuery<number>({ queryKey: progressKey, queryFn: () => 0, enabled: false })
  return { events: query.data, error: query.error, refetch: query.refetch, done: progress.data ?? 0, total }
}
