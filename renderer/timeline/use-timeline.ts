import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Run } from '../../contract/run.ts'
import type { TimelineFilter, TimelineItem, TimelinePage } from '../../contract/timeline.ts'
import { placeOf, rememberPlace } from '../parts/grid-memory.ts'
import { queryKey, useRead, useTransport } from '../transport/queries.ts'
import { itemKey } from './rows.ts'

const PAGE = 200
const BUCKETS = 200
const SMALLEST_ROW = 28

type Pages = InfiniteData<TimelinePage, string | null>

/**
 * The rows on screen and the head of the list as it is now, kept apart: pushed facts refresh the head; its runs are patched into the
 * rows in place, and rows are added only when nobody looks at or points into the list. Otherwise they wait behind a pill.
 */
export function useTimeline(filter: TimelineFilter, mayMove: () => boolean, memory: string) {
  const transport = useTransport()
  const client = useQueryClient()
  const headInput = useMemo(() => ({ filter, limit: PAGE, density_buckets: BUCKETS }), [filter])
  const rowsKey = useMemo(() => ['timeline.rows', filter] as const, [filter])
  const head = useRead('timeline.page', headInput)
  const list = useInfiniteQuery<TimelinePage, Error, Pages, typeof rowsKey, string | null>({
    queryKey: rowsKey,
    meta: { manual: true, ledByHead: true },
    initialPageParam: null,
    queryFn: ({ pageParam, signal }) =>
      pageParam === null
        ? client.fetchQuery({
            queryKey: queryKey('timeline.page', headInput),
            queryFn: () => transport.call('timeline.page', headInput),
          })
        : transport.call('timeline.page', { filter, limit: PAGE, cursor: pageParam }, { signal }),
    getNextPageParam: (last) => last.next,
  })
  const [fresh, setFresh] = useState(0)
  const [generation, setGeneration] = useState(0)
  const accept = useCallback(
    (page: TimelinePage) => {
      client.setQueryData<Pages>(rowsKey, { pages: [page], pageParams: [null] })
      setFresh(0)
    },
    [client, rowsKey],
  )
  const seen = useRef<TimelinePage | undefined>(undefined)
  useEffect(() => {
    const page = head.data
    const shown = client.getQueryData<Pages>(rowsKey)
    if (page === undefined || shown === undefined || seen.current === page || shown.pages[0] === page) return
    seen.current = page
    const { patched, unknown } = patch(shown, page)
    const grown = Math.max(unknown, page.total - (shown.pages[0]?.total ?? 0))
    if (grown !== 0 && mayMove()) return accept(page)
    if (page.total < (shown.pages[0]?.total ?? 0)) return accept(page) // a home was forgotten
    if (patched !== shown) client.setQueryData<Pages>(rowsKey, patched)
    setFresh(Math.max(0, grown))
  }, [head.data, client, rowsKey, mayMove, accept])

  const items = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data])
  // A list that is returned to is read as far as it was scrolled, before it is shown.
  const [rowsWanted, setRowsWanted] = useState(() => Math.ceil((placeOf(memory)?.offset ?? 0) / SMALLEST_ROW))
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list
  const reached = items.length >= rowsWanted || (list.data !== undefined && !hasNextPage)
  useEffect(() => {
    if (reached) setRowsWanted(0)
    else if (hasNextPage && !isFetchingNextPage) void fetchNextPage()
  }, [reached, hasNextPage, isFetchingNextPage, fetchNextPage])
  return {
    reached,
    head: head.data,
    items,
    complete: !list.hasNextPage,
    pending: list.isPending,
    error: list.error ?? head.error,
    updatedAt: list.dataUpdatedAt,
    hasRows: list.data !== undefined,
    fresh,
    generation,
    /** Shows the rows that waited, from the top. */
    showFresh: () => {
      if (head.data === undefined) return
      rememberPlace(memory, { offset: 0, key: null })
      accept(head.data)
      setGeneration((now) => now + 1)
    },
    loadMore: () => {
      if (list.hasNextPage && !list.isFetchingNextPage) void list.fetchNextPage()
    },
    retry: () => {
      void head.refetch()
      void list.refetch()
    },
  }
}

/** Newer states of runs already on screen, in place; how many items of the head are not on screen yet. */
function patch(shown: Pages, head: TimelinePage): { readonly patched: Pages; readonly unknown: number } {
  const newer = new Map(head.items.map((item) => [itemKey(item), item]))
  const known = new Set<string>()
  let changed = false
  const pages = shown.pages.map((page) => ({
    ...page,
    items: page.items.map((item): TimelineItem => {
      const key = itemKey(item)
      known.add(key)
      const now = newer.get(key)
      if (now === undefined) return item
      changed = true
      return now
    }),
  }))
  const unknown = head.items.filter((item) => !known.has(itemKey(item))).length
  return { patched: changed ? { ...shown, pages } : shown, unknown }
}

/** Subagents of unfolded runs, loaded as they are unfolded. */
export function useChildren(open: ReadonlySet<string>): (run: string) => readonly Run[] | undefined {
  const transport = useTransport()
  const [loaded, setLoaded] = useState<ReadonlyMap<string, readonly Run[]>>(new Map())
  const asked = useRef(new Set<string>())
  useEffect(() => {
    for (const run of open) {
      if (asked.current.has(run)) continue
      asked.current.add(run)
      transport.call('runs.get', { run }).then(
        ({ branches }) => setLoaded((now) => new Map(now).set(run, branches)),
        () => asked.current.delete(run), // unfolding again asks again
      )
    }
  }, [open, transport])
  return useCallback((run) => loaded.get(run), [loaded])
}
