import { FolderOpen } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import type { Home } from '../../contract/home.ts'
import { desktop } from '../desktop.ts'
import { ResolveDialog } from '../manifest/resolve-dialog.tsx'
import { Button } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { Fact, Facts } from '../parts/facts.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatBytes, formatClockSeconds, formatDuration, formatExact, formatNumber } from '../parts/format.ts'
import { RuntimeTile, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { Section } from '../parts/tables.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { tokenText } from '../timeline/filter.ts'
import { useChange, useRead } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { HomeHistory } from './home-history.tsx'
import { LastChange } from './last-change.tsx'
import { WatchForm } from './watch-form.tsx'

const w = words.homes

/** The folders of the agents: what is watched, how well, and what each says of itself. */
export default function HomesScreen() {
  const { get } = useAddress()
  const status = useRead('status.get', {})
  const wanted = get('history')
  const home = status.data?.homes.find(({ id }) => id === wanted)
  return home === undefined ? <Homes status={status} gone={wanted} /> : <HomeHistory key={home.id} home={home} />
}

interface HomesProps {
  readonly status: ReturnType<typeof useRead<'status.get'>>
  /** A home the address names that is not watched (any more). */
  readonly gone: string | null
}

function Homes({ status, gone }: HomesProps) {
  useCrumbs(w.title)
  const { get, set } = useAddress()
  const [forgetting, setForgetting] = useState<Home | null>(null)
  const resolving = get('resolve') === '1'
  return (
    <ScrollArea className="pb-8">
      <header className="flex flex-wrap items-center gap-2 px-3 pt-3">
        <div>
          <h1 className="text-title font-semibold">{w.title}</h1>
          <p className="text-dense text-text-2">{w.hint}</p>
        </div>
        <span className="ml-auto">
          <Button onClick={() => set({ resolve: '1' })}>{w.resolve}</Button>
        </span>
      </header>
      {status.error !== null && (
        <Failure
          what={w.title}
          failure={status.error}
          onRetry={() => void status.refetch()}
          lastGood={status.data === undefined ? null : formatClockSeconds(new Date(status.dataUpdatedAt).toISOString())}
        />
      )}
      {status.data === undefined && status.error === null && <Loading what={w.title} rows={4} />}
      {status.data !== undefined && gone !== null && <Band>{w.history.gone(gone)}</Band>}
      {status.data !== undefined && (
        <>
          {status.data.homes.length === 0 && <Empty title={w.none} hint={w.noneHint} />}
          <ul className="mt-2">
            {status.data.homes.map((home) => (
              <HomeItem key={home.id} home={home} onForget={() => setForgetting(home)} />
            ))}
          </ul>
          <Section title={w.add}>
            <WatchForm />
          </Section>
          <Section title={w.looked}>
            <ul className="text-dense">
              {status.data.looked.map((looked) => (
                <li key={looked.runtime} className="flex items-baseline gap-3 border-t border-line py-1 first:border-0">
                  <span className="flex w-36 shrink-0 items-center gap-2">
                    <RuntimeTile runtime={looked.runtime} />
                    {words.runtimes[looked.runtime].name}
                  </span>
                  <span className="min-w-0 flex-1 font-mono text-[0.75rem] break-words text-text-2">
                    {looked.places.join(', ')}
                  </span>
                  <span className="shrink-0 text-text-2">
                    {!looked.supported
                      ? words.welcome.unsupported
                      : looked.found === 0
                        ? words.welcome.notFound
                        : formatNumber(looked.found)}
                  </span>
                </li>
              ))}
            </ul>
          </Section>
        </>
      )}
      {forgetting !== null && <ForgetDialog home={forgetting} onClose={() => setForgetting(null)} />}
      {resolving && (
        <ResolveDialog
          initial={{ runtime: status.data?.homes[0]?.runtime ?? 'claude-code', workspace: '', flags: [] }}
          onClose={() => set({ resolve: null }, { replace: true })}
        />
      )}
    </ScrollArea>
  )
}

function HomeItem({ home, onForget }: { readonly home: Home; readonly onForget: () => void }) {
  const sync = useChange('sync.now')
  const { watching, retention } = home
  const bridge = desktop()
  const body = sync.error === null ? null : asErrorBody(sync.error)
  return (
    <li className="border-t border-line px-3 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <RuntimeTile runtime={home.runtime} />
        <h2 className="font-semibold">{words.runtimes[home.runtime].name}</h2>
        <PathText path={home.path} className="max-w-96 font-mono text-[0.75rem]" />
        {home.state !== 'ok' && <span className="text-dense font-medium text-danger">{w.states[home.state]}</span>}
        <span className="ml-auto flex flex-wrap gap-2">
          <Link
            href={`/timeline?q=${encodeURIComponent(tokenText('home', home.id))}`}
            className="inline-flex h-6 items-center rounded-control px-2 text-meta text-text-2 hover:bg-hover hover:text-text"
          >
            {w.show}
          </Link>
          {bridge !== null && (
            <Button
              small
              look="quiet"
              icon={<FolderOpen size={14} strokeWidth={1.75} aria-hidden="true" />}
              onClick={() => void bridge.showInFolder(home.path)}
            >
              {words.showInFolder}
            </Button>
          )}
          <Button small disabled={sync.isPending} onClick={() => sync.mutate({ home: home.path })}>
            {sync.isPending ? w.syncing : w.sync}
          </Button>
          <Button small onClick={onForget}>
            {w.forget}
          </Button>
        </span>
      </div>
      <div className="-mx-3 max-w-4xl">
        <Facts>
          <Fact name={w.columns.version}>
            {home.version ?? <Unknown why={w.versionFrom[home.version_from]} />}{' '}
            <span className="text-text-3">{w.versionFrom[home.version_from]}</span>
          </Fact>
          <Fact name={w.columns.sessions}>
            {formatNumber(home.sessions)}, {formatBytes(home.bytes)}
            {home.unreadable > 0 && (
              <Link href="/health/unreadable" className="ml-2 rounded-chip text-warn hover:underline">
                {w.unreadable(home.unreadable)}
              </Link>
            )}
          </Fact>
          <Fact name={w.columns.watch}>
            {!home.watched ? (
              <span className="text-warn">{w.notWatched}</span>
            ) : (
              <span className={watching.watched < watching.wanted ? 'text-warn' : ''}>
                {watching.watched < watching.wanted
                  ? w.watching(watching.watched, watching.wanted)
                  : w.watchingAll(watching.watched)}
              </span>
            )}
            {watching.polling && <span className="text-text-2">, {w.polling}</span>}
            {watching.why !== null && <span className="text-text-2">: {watching.why}</span>}
          </Fact>
          <Fact name={w.retention}>
            {retention === null ? (
              <Unknown />
            ) : retention.days === null ? (
              w.retentionNone
            ) : (
              w.retentionDays(retention.days, retention.from)
            )}
            {retention !== null && retention.expiring_soon > 0 && (
              <span className="text-warn">; {w.expiring(retention.expiring_soon)}</span>
            )}
          </Fact>
          <Fact name={w.history.last}>
            <LastChange home={home} />
          </Fact>
          <Fact name={w.foundBy}>{home.found_by}</Fact>
          <Fact name={w.columns.read}>
            {home.last_read_at === null ? (
              w.never
            ) : (
              <span className="tabular-nums">{formatExact(home.last_read_at).slice(0, 19)}</span>
            )}
          </Fact>
          {home.reason !== null && (
            <Fact name={words.run.reason}>
              <span className="text-danger">{home.reason}</span>
            </Fact>
          )}
        </Facts>
      </div>
      {body !== null && (
        <p role="alert" className="text-dense text-danger">
          {body.message} {body.hint}
        </p>
      )}
      {sync.data !== undefined && (
        <p role="status" className="text-dense text-text-2">
          {w.synced(sync.data.sessions, sync.data.events, formatDuration(sync.data.seconds * 1000))}
        </p>
      )}
    </li>
  )
}

function ForgetDialog({ home, onClose }: { readonly home: Home; readonly onClose: () => void }) {
  const forget = useChange('homes.forget')
  const body = forget.error === null ? null : asErrorBody(forget.error)
  return (
    <Confirm
      title={w.forgetTitle(home.path)}
      act={w.forgetConfirm}
      danger
      busy={forget.isPending}
      command={<CommandHint command={`reprise forget-home ${shellWord(home.path)}`} />}
      onAct={() => forget.mutate({ path: home.path }, { onSuccess: onClose })}
      onClose={onClose}
    >
      <p>{w.forgetText}</p>
      <p className="mt-2 text-dense">
        {words.welcome.sessions(home.sessions)}, {formatBytes(home.bytes)}
      </p>
      {body !== null && (
        <p role="alert" className="mt-2 text-dense text-danger">
          {body.message} {body.hint}
        </p>
      )}
    </Confirm>
  )
}
