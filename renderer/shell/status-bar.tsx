import { CircleAlert, Eye, LoaderCircle, TriangleAlert, Undo2, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import type { Status } from '../../contract/home.ts'
import { cx } from '../parts/classes.ts'
import { Progress } from '../parts/feedback.tsx'
import { dayKey, formatBytes, formatClock, formatDuration, formatStamp } from '../parts/format.ts'
import { receiptPath, undoPath } from '../rollback/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { useLink } from './link-state.ts'
import { importShare } from './progress.ts'

function Item({
  to,
  children,
  className,
}: {
  readonly to: string
  readonly children: ReactNode
  readonly className?: string
}) {
  return (
    <Link
      href={to}
      className={cx(
        'flex h-6 shrink-0 items-center gap-1.5 rounded-chip px-1.5 whitespace-nowrap hover:bg-hover hover:text-text',
        className,
      )}
    >
      {children}
    </Link>
  )
}

/** What needs a decision first; otherwise the last rollback, with the way to the plan that takes it back. */
function GoingBack({ rollbacks: { last, open } }: Pick<Status, 'rollbacks'>) {
  const stuck = open.filter(({ state }) => state === 'interrupted')
  const waiting = open.filter(({ state }) => state === 'waiting')
  const to = (of: typeof open) => (of.length === 1 ? receiptPath(of[0]?.id ?? '') : '/rollbacks')
  return (
    <>
      {stuck.length > 0 && (
        <Item to={to(stuck)} className="text-danger">
          <CircleAlert size={12} strokeWidth={1.75} aria-hidden="true" />
          {words.receipt.openInBar(stuck.length)}
        </Item>
      )}
      {waiting.length > 0 && <Item to={to(waiting)}>{words.receipt.waitingInBar(waiting.length)}</Item>}
      {last !== null && (
        <span className="flex shrink-0 items-center max-sm:hidden">
          <Item to={receiptPath(last.id)}>
            <Undo2 size={12} strokeWidth={1.75} aria-hidden="true" />
            <span className="tabular-nums">{words.receipt.lastInBar(whenShort(last.at))}</span>
          </Item>
          {!last.undone && <Item to={undoPath(last.id)}>{words.receipt.undoInBar}</Item>}
        </span>
      )}
    </>
  )
}

/** `14:10` today, with its day before. */
const whenShort = (at: string) => (dayKey(at) === dayKey(new Date().toISOString()) ? formatClock(at) : formatStamp(at))

/** Watching, lag, gaps, reading, size: gaps and lag are never hidden at any size. */
export function StatusBar() {
  const { data } = useRead('status.get', {})
  const link = useLink((now) => now.link)
  const pushed = useLink((now) => now.progress)
  const watched = data?.homes.filter((home) => home.watched).length ?? 0
  const reading = importShare(pushed.size > 0 ? [...pushed.values()] : (data?.progress ?? []))
  return (
    <footer
      data-region="status"
      role="contentinfo"
      aria-label={words.status.label}
      className="flex h-6 shrink-0 items-center gap-1 overflow-x-auto border-t border-line bg-canvas px-1.5 text-meta text-text-2 max-sm:h-11"
    >
      {link === 'away' ? (
        <Item to="/health" className="text-danger">
          <Unplug size={12} strokeWidth={1.75} aria-hidden="true" />
          {words.status.away}
        </Item>
      ) : data === undefined ? (
        <span className="px-1.5">{words.status.connecting}</span>
      ) : (
        <Item to="/homes">
          <Eye size={12} strokeWidth={1.75} aria-hidden="true" />
          <span className="tabular-nums">
            {watched === 0
              ? words.status.noHomes
              : `${words.status.watching(watched)}, ${words.status.behind(data.lag_ms < 1000 ? '0 s' : formatDuration(data.lag_ms))}`}
          </span>
        </Item>
      )}
      {data !== undefined && (
        <Item to="/health" className={data.gap_count > 0 ? 'text-warn' : ''}>
          {data.gap_count > 0 && <TriangleAlert size={12} strokeWidth={1.75} aria-hidden="true" />}
          {data.gap_count > 0 ? words.status.gaps(data.gap_count) : words.status.noGaps}
        </Item>
      )}
      {data !== undefined && data.watches.polling > 0 && (
        <Item to="/health">{words.status.polling(data.watches.polling)}</Item>
      )}
      {reading !== null && (
        <Item to="/welcome">
          <LoaderCircle size={12} strokeWidth={1.75} aria-hidden="true" />
          {words.status.reading(reading.percent)}
          {reading.percent !== null && (
            <Progress
              value={reading.percent / 100}
              label={words.progress.phases.reading}
              text={words.status.reading(reading.percent)}
            />
          )}
          {reading.searchable < 100 && (
            <span className="max-md:hidden">{words.status.searchable(reading.searchable)}</span>
          )}
        </Item>
      )}
      <span className="flex-1" />
      {data !== undefined && <GoingBack rollbacks={data.rollbacks} />}
      {data?.vault.key_store === 'none' && (
        <Item to="/health" className="text-warn">
          <CircleAlert size={12} strokeWidth={1.75} aria-hidden="true" />
          {words.status.vaultNone}
        </Item>
      )}
      {data !== undefined && (
        <Item to="/health" className="max-sm:hidden">
          {words.status.runs(data.store.runs)}, {words.status.store(formatBytes(data.store.bytes))}
        </Item>
      )}
    </footer>
  )
}
