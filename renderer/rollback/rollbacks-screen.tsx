import { useInfiniteQuery } from '@tanstack/react-query'
import { Undo2 } from 'lucide-react'
import { Link } from 'wouter'
import { Button } from '../parts/button.tsx'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, formatExact, formatStamp, shortId } from '../parts/format.ts'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { useTransport } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { receiptPath, undoPath } from './address.ts'
import { canUndo, recordRow, scopeText } from './record-text.ts'

const w = words.receipt
const PAGE = 200

/** Every rollback there was, newest first: what it reached into, what became of it, and the way to take it back. */
export default function RollbacksScreen() {
  useCrumbs([words.timeline.title, '/timeline'], w.list)
  const { navigate } = useAddress()
  const transport = useTransport()
  const read = useInfiniteQuery({
    queryKey: ['rollback.list', { paged: true }],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) => transport.call('rollback.list', { after: pageParam, limit: PAGE }, { signal }),
    getNextPageParam: (last, pages) => {
      const seen = pages.reduce((sum, page) => sum + page.rollbacks.length, 0)
      return seen < last.total && last.rollbacks.length > 0 ? seen : undefined
    },
  })
  if (read.data === undefined)
    return read.error === null ? (
      <Loading what={w.list} rowHeight={48} />
    ) : (
      <Failure what={w.list} failure={read.error} onRetry={() => void read.refetch()} />
    )
  const rollbacks = read.data.pages.flatMap((page) => page.rollbacks)
  const total = read.data.pages[0]?.total ?? 0
  return (
    <ScrollArea className="pb-8">
      <header className="flex flex-wrap items-baseline gap-x-3 px-3 pt-3 pb-2">
        <h1 className="text-title font-semibold">{w.list}</h1>
        <span className="text-dense text-text-2 tabular-nums">{w.total(total)}</span>
      </header>
      {read.error !== null && (
        <Failure
          what={w.list}
          failure={read.error}
          onRetry={() => void read.refetch()}
          lastGood={formatClockSeconds(new Date(read.dataUpdatedAt).toISOString())}
        />
      )}
      {rollbacks.length === 0 && <Empty title={w.none} hint={w.noneHint} />}
      <ul aria-label={w.list}>
        {rollbacks.map((record) => (
          <li
            key={record.id}
            className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-3 py-2 text-dense [contain-intrinsic-size:auto_48px] [content-visibility:auto]"
          >
            <Undo2 size={14} strokeWidth={1.75} className="shrink-0 text-text-2" aria-hidden="true" />
            <div className="min-w-0 flex-1 basis-64">
              <Link
                href={receiptPath(record.id)}
                className="rounded-chip font-medium hover:text-accent hover:underline"
              >
                {recordRow(record)}
              </Link>
              <p className="flex min-w-0 flex-wrap gap-x-3 text-text-2">
                <time dateTime={record.at} title={formatExact(record.at)} className="tabular-nums">
                  {formatStamp(record.at)}
                </time>
                <span>{scopeText(record.scope)}</span>
                <span
                  className={
                    record.state === 'interrupted' || record.state === 'failed'
                      ? 'text-danger'
                      : record.state === 'waiting'
                        ? 'text-warn'
                        : ''
                  }
                >
                  {w.states[record.state]}
                </span>
                {record.reason !== null && <span className="break-words">{record.reason}</span>}
                <span className="font-mono text-[0.75rem] leading-5 text-text-3">{shortId(record.id)}</span>
              </p>
            </div>
            {canUndo(record) && (
              <Button small onClick={() => navigate(undoPath(record.id))}>
                {w.undo}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {read.hasNextPage && (
        <div className="px-3 py-2">
          <Button small disabled={read.isFetching} onClick={() => void read.fetchNextPage()}>
            {w.loadMore}
          </Button>
        </div>
      )}
    </ScrollArea>
  )
}
