import { Link } from 'wouter'
import type { Gap, Home } from '../../contract/home.ts'
import { LastChange } from '../homes/last-change.tsx'
import { cx } from '../parts/classes.ts'
import { formatDuration, formatExact } from '../parts/format.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'

const w = words.health
const h = words.homes

interface HomeListProps {
  readonly homes: readonly Home[]
  readonly lagMs: number
}

/** Each home of each agent: version, watches, lag, what could not be read, gaps, and the last change of its configuration. */
export function HomeList({ homes, lagMs }: HomeListProps) {
  const gaps = useRead('health.gaps', { limit: 1000 })
  if (homes.length === 0) return <p className="px-3 py-2 text-dense">{words.status.noHomes}</p>
  return (
    <ul aria-label={w.homes}>
      {homes.map((home) => (
        <HomeLine
          key={home.id}
          home={home}
          lagMs={lagMs}
          gaps={gaps.data?.gaps.filter((gap) => isOf(home, gap)) ?? null}
          partly={gaps.data !== undefined && gaps.data.gaps.length < gaps.data.total}
        />
      ))}
    </ul>
  )
}

/** Gaps name their home, or a file below it. */
const isOf = (home: Home, { home: of, path }: Gap): boolean =>
  of === null ? (path?.startsWith(`${home.path}/`) ?? false) : of === home.id || of === home.path

interface HomeLineProps {
  readonly home: Home
  readonly lagMs: number
  /** null: not known yet. */
  readonly gaps: readonly Gap[] | null
  /** Not every gap there is was looked at. */
  readonly partly: boolean
}

function HomeLine({ home, lagMs, gaps, partly }: HomeLineProps) {
  const { watching } = home
  const found = gaps?.length ?? 0
  return (
    <li className="border-b border-line px-3 py-2 text-dense">
      <div className="flex min-w-0 flex-wrap items-baseline gap-x-3 gap-y-0.5">
        <span className="self-center">
          <RuntimeTile runtime={home.runtime} />
        </span>
        <PathText path={home.path} className="max-w-96 font-medium" />
        <span className="text-text-2">
          {home.version ?? <Unknown why={h.versionFrom[home.version_from]}>{w.versionUnknown}</Unknown>}
        </span>
        {home.state !== 'ok' && <span className="font-medium text-danger">{home.reason ?? h.states[home.state]}</span>}
        <span className={home.watched && watching.watched >= watching.wanted ? 'text-text-2' : 'text-warn'}>
          {!home.watched
            ? h.notWatched
            : watching.watched < watching.wanted
              ? h.watching(watching.watched, watching.wanted)
              : h.watchingAll(watching.watched)}
          {watching.polling && `, ${h.polling}`}
          {watching.why !== null && `: ${watching.why}`}
        </span>
        {home.watched && (
          <span className="text-text-2 tabular-nums">
            {w.behind(lagMs < 1000 ? `${Math.round(lagMs)} ms` : formatDuration(lagMs))}
          </span>
        )}
        <span className="text-text-3 tabular-nums">
          {home.last_read_at === null ? h.never : w.readAt(formatExact(home.last_read_at).slice(0, 19))}
        </span>
        {home.unreadable === 0 ? (
          <span className="text-text-3">{w.allReadable}</span>
        ) : (
          <Link href="/health/unreadable" className="rounded-chip text-warn hover:underline">
            {h.unreadable(home.unreadable)}
          </Link>
        )}
        {gaps !== null && (
          <Link
            href="/health/gaps"
            className={cx('rounded-chip hover:underline', found === 0 ? 'text-text-3' : 'text-warn')}
          >
            {partly ? w.gapsAtLeast(found) : found === 0 ? words.status.noGaps : words.status.gaps(found)}
          </Link>
        )}
      </div>
      <p className="mt-0.5 pl-9 max-sm:pl-0">
        <span className="mr-2 text-text-3">{h.history.last}</span>
        <LastChange home={home} />
      </p>
    </li>
  )
}
