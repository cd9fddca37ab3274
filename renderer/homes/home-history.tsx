import { useInfiniteQuery } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import type { Drift } from '../../contract/drift.ts'
import type { Home } from '../../contract/home.ts'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { dayKey, formatDay, formatExact } from '../parts/format.ts'
import { RuntimeTile } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { SplitPane } from '../parts/split-pane.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { driftDoor } from '../rollback/doors.ts'
import { useCrumbs, useReference } from '../shell/acts.ts'
import { comparePath, manifestPath, useAddress } from '../shell/address.ts'
import { useRowHeight, useView } from '../shell/view-state.ts'
import { DriftPeek } from '../timeline/drift-peek.tsx'
import { DriftRow, driftSentence } from '../timeline/drift-row.tsx'
import { useTransport } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.homes.history
const PAGE = 200

/** Every state the configuration of one home was seen in, newest first, with what changed and who could have changed it. */
export function HomeHistory({ home }: { readonly home: Home }) {
  useCrumbs([words.homes.title, '/homes'], w.title)
  const { get, set } = useAddress()
  const transport = useTransport()
  const read = useInfiniteQuery({
    queryKey: ['drift.list', { home: home.id, paged: true }],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      transport.call('drift.list', { home: home.id, after: pageParam, limit: PAGE }, { signal }),
    getNextPageParam: (last, pages) => {
      const seen = pages.reduce((sum, page) => sum + page.changes.length, 0)
      return seen < last.total && last.changes.length > 0 ? seen : undefined
    },
  })
  const changes = useMemo(() => read.data?.pages.flatMap((page) => page.changes) ?? [], [read.data])
  const total = read.data?.pages[0]?.total ?? 0
  const [active, setActive] = useState<string | null>(get('change'))
  const chosen = changes.find(({ id }) => id === active) ?? null
  useReference(chosen?.after ?? null)
  const main = (
    <div className="flex min-h-0 flex-1 flex-col">
      <header className="flex shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 pt-3 pb-2">
        <RuntimeTile runtime={home.runtime} />
        <h1 className="text-read font-semibold">{w.title}</h1>
        <PathText path={home.path} className="max-w-96 font-mono text-[0.75rem]" />
        {read.data !== undefined && <span className="text-dense text-text-2">{w.count(total)}</span>}
      </header>
      {read.error !== null && <Failure what={w.title} failure={read.error} onRetry={() => void read.refetch()} />}
      {read.data === undefined && read.error === null && <Loading what={w.title} />}
      {read.data !== undefined && changes.length === 0 && <Empty title={w.none} hint={w.noneHint} />}
      {changes.length > 0 && (
        <ChangeList
          changes={changes}
          total={total}
          active={active}
          onActive={(key) => {
            setActive(key)
            set({ change: key }, { replace: true })
          }}
          onNearEnd={() => {
            if (read.hasNextPage && !read.isFetchingNextPage) void read.fetchNextPage()
          }}
        />
      )}
    </div>
  )
  return (
    <SplitPane
      main={main}
      inspector={
        chosen === null ? (
          <Empty title={words.peek.nothing} hint={words.peek.nothingHint} />
        ) : (
          <DriftPeek drift={chosen} />
        )
      }
      title={words.peek.inspector}
      empty={chosen === null}
    />
  )
}

interface ChangeListProps {
  readonly changes: readonly Drift[]
  readonly total: number
  readonly active: string | null
  readonly onActive: (id: string) => void
  readonly onNearEnd: () => void
}

function ChangeList({ changes, total, active, onActive, onNearEnd }: ChangeListProps) {
  const { navigate } = useAddress()
  const { ref, width } = useSize<HTMLDivElement>()
  const height = useRowHeight()
  const keyOf = useCallback((index: number) => changes[index]?.id ?? `none:${index}`, [changes])
  const row = useCallback(
    (index: number): GridRow => {
      const change = changes[index]
      return change === undefined
        ? { key: `none:${index}`, heading: true }
        : { key: change.id, label: `${formatExact(change.at).slice(0, 16)}, ${driftSentence(change)}` }
    },
    [changes],
  )
  return (
    <div ref={ref} className="@container flex min-h-0 flex-1 flex-col">
      {width > 0 && (
        <VirtualGrid
          label={w.title}
          count={changes.length}
          total={total}
          row={row}
          keyOf={keyOf}
          rowHeight={() => (width >= 760 ? height : 48)}
          active={active}
          onActive={(key, index) => {
            onActive(key)
            if (index > changes.length - 40) onNearEnd()
          }}
          onOpen={(index) => {
            const change = changes[index]
            if (change !== undefined)
              navigate(change.before === null ? manifestPath(change.after) : comparePath(change.before, change.after))
          }}
          onKey={(event, index) => {
            const change = changes[index]
            const door = change === undefined ? null : driftDoor(change)
            if (event.key !== 'b' || !useView.getState().singleKeys || door === null) return false
            navigate(rollbackPath(door))
            return true
          }}
          onPeek={() => useView.getState().toggleInspector(true)}
          onVisible={(_first, last) => {
            if (last > changes.length - 40) onNearEnd()
          }}
          header={null}
          render={(index) => {
            const change = changes[index]
            if (change === undefined) return null
            return (
              <div className="flex h-full items-center border-b border-line pl-3">
                <Cell className="w-20 shrink-0 truncate text-dense text-text-2">
                  {formatDay(dayKey(change.at), new Date())}
                </Cell>
                <DriftRow drift={change} wide={width >= 760} />
              </div>
            )
          }}
        />
      )}
    </div>
  )
}
