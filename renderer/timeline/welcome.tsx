import { Clock } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Link } from 'wouter'
import type { Home, Progress as ProgressFact, Status } from '../../contract/home.ts'
import type { RuntimeName } from '../../contract/run.ts'
import { WatchForm } from '../homes/watch-form.tsx'
import { Button } from '../parts/button.tsx'
import { Progress } from '../parts/feedback.tsx'
import { formatNumber } from '../parts/format.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { say } from '../shell/announcer.tsx'
import { useLink } from '../shell/link-state.ts'
import { importShare } from '../shell/progress.ts'
import { words } from '../words/en.ts'

const w = words.welcome
const runtimeName = (runtime: RuntimeName) => words.runtimes[runtime].name

interface WelcomeProps {
  readonly status: Status
  readonly onClose: () => void
}

/** What was found on this machine, over the timeline that fills while history is read. No wizard, no question. */
export function WelcomeBand({ status, onClose }: WelcomeProps) {
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => button.current?.focus({ preventScroll: true }), [])
  const pushed = useLink((now) => now.progress)
  const progressOf = (home: Home) =>
    pushed.get(home.id) ??
    pushed.get(home.path) ??
    status.progress.find((entry) => entry.home === home.id || entry.home === home.path)
  const missing = status.looked.filter((looked) => looked.found === 0)
  return (
    <section aria-label={w.title} className="shrink-0 border-b border-line bg-canvas px-4 py-3">
      <h1 className="text-read font-semibold">{w.title}</h1>
      <table className="mt-2 w-full text-dense">
        <caption className="sr-only">{w.table}</caption>
        <tbody>
          {status.homes.map((home) => (
            <HomeLine key={home.id} home={home} progress={progressOf(home)} />
          ))}
          {missing.map((looked) => (
            <tr key={looked.runtime} className="border-t border-line text-text-2 first:border-0">
              <th scope="row" className="w-44 py-1 pr-3 text-left font-normal">
                <span className="flex items-center gap-2">
                  <RuntimeTile runtime={looked.runtime} />
                  {runtimeName(looked.runtime)}
                </span>
              </th>
              <td className="py-1 pr-3" colSpan={2}>
                {!looked.supported
                  ? w.unsupported
                  : `${w.notFound}${looked.places.length > 0 ? `, ${w.lookedIn(looked.places.join(', '))}` : ''}`}
              </td>
              <td className="py-1 text-right">
                {looked.supported && (
                  <Link href="/homes" className="rounded-chip text-accent hover:underline">
                    {w.choose}
                  </Link>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <ul className="mt-2 text-dense">
        {status.homes.map((home) =>
          home.retention === null || home.retention.days === null ? null : (
            <li key={home.id} className="flex items-center gap-2 py-0.5">
              <Clock
                size={14}
                strokeWidth={1.75}
                aria-hidden="true"
                className={home.retention.expiring_soon > 0 ? 'shrink-0 text-warn' : 'shrink-0 text-text-3'}
              />
              <span title={home.retention.from}>
                {w.retention(runtimeName(home.runtime), home.retention.days, home.retention.expiring_soon)}
              </span>
            </li>
          ),
        )}
      </ul>
      <p className="mt-2 flex flex-wrap items-baseline gap-x-3 text-dense text-text-2">
        {w.collected}
        <Link href="/settings/collection" className="rounded-chip text-accent hover:underline">
          {w.change}
        </Link>
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        <Button ref={button} look="primary" onClick={onClose}>
          {w.openTimeline}
        </Button>
        <span className="text-dense text-text-2">{w.sample}</span>
        <span className="ml-auto text-meta text-text-3">{w.nothingChanged}</span>
      </div>
    </section>
  )
}

function HomeLine({ home, progress }: { readonly home: Home; readonly progress: ProgressFact | undefined }) {
  const share = progress === undefined ? null : importShare([progress])
  const reading = share !== null
  const was = useRef(reading)
  useEffect(() => {
    if (was.current && !reading) say(w.finished(runtimeName(home.runtime), home.sessions))
    was.current = reading
  }, [reading, home.runtime, home.sessions])
  return (
    <tr className="border-t border-line first:border-0">
      <th scope="row" className="w-44 py-1 pr-3 text-left font-medium">
        <span className="flex items-center gap-2">
          <RuntimeTile runtime={home.runtime} />
          {runtimeName(home.runtime)}
        </span>
      </th>
      <td className="max-w-0 py-1 pr-3">
        <PathText path={home.path} className="w-full" />
      </td>
      <td className="w-[26rem] py-1 pr-3 text-text-2 tabular-nums max-lg:w-56">
        <span className="flex flex-wrap gap-x-3">
          <span>{home.version ?? <Unknown why={home.reason} />}</span>
          <span>{w.sessions(home.sessions)}</span>
          {home.unreadable > 0 && (
            <Link href="/health/unreadable" className="rounded-chip text-warn hover:underline">
              {w.unreadable(home.unreadable)}
            </Link>
          )}
          {home.state !== 'ok' && <span className="text-danger">{home.reason ?? home.state}</span>}
        </span>
      </td>
      <td className="w-52 py-1 text-right whitespace-nowrap text-text-2 tabular-nums">
        {share === null || progress === undefined ? (
          w.done
        ) : (
          <span className="inline-flex items-center gap-2">
            {words.progress.phases[progress.phase]}
            {share.percent !== null && ` ${share.percent} %`}
            {share.percent !== null && (
              <Progress
                value={share.percent / 100}
                label={runtimeName(home.runtime)}
                text={words.progress.files(formatNumber(progress.files_done), formatNumber(progress.files_total))}
              />
            )}
          </span>
        )}
      </td>
    </tr>
  )
}

/** No agent was found: where was looked, and a way to name another place. */
export function NothingFound({ status }: { readonly status: Status }) {
  return (
    <div className="mx-auto w-full max-w-3xl overflow-y-auto px-6 py-10">
      <h1 className="text-title font-semibold">{w.nothing}</h1>
      <p className="mt-1 text-text-2">{w.nothingHint}</p>
      <table className="mt-4 w-full text-dense">
        <caption className="sr-only">{w.nothing}</caption>
        <tbody>
          {status.looked.map((looked) => (
            <tr key={looked.runtime} className="border-t border-line align-top">
              <th scope="row" className="w-40 py-1.5 pr-3 text-left font-medium">
                <span className="flex items-center gap-2">
                  <RuntimeTile runtime={looked.runtime} />
                  {runtimeName(looked.runtime)}
                </span>
              </th>
              <td className="py-1.5">
                {!looked.supported && <span className="text-text-2">{w.unsupported}</span>}
                {looked.places.map((place) => (
                  <code key={place} className="block font-mono text-[0.75rem] break-all text-text-2">
                    {place}
                  </code>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="mt-6">
        <WatchForm primary />
      </div>
      <p className="mt-4 text-dense text-text-2">{w.sample}</p>
    </div>
  )
}
