import { CircleAlert, Eye, LoaderCircle, TriangleAlert, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { cx } from '../parts/classes.ts'
import { Progress } from '../parts/feedback.tsx'
import { formatBytes, formatDuration } from '../parts/format.ts'
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
