import { useState } from 'react'
import type { Status } from '../../contract/home.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Confirm } from '../parts/confirm.tsx'
import { copyText } from '../parts/copy.ts'
import { Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, formatDuration } from '../parts/format.ts'
import { ResultMark } from '../parts/marks.tsx'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { useChange, useRead } from '../transport/queries.ts'
import { asErrorBody } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { FactsTab } from './facts-tab.tsx'
import { GapList } from './gap-list.tsx'
import { Overview } from './overview.tsx'
import { ReadsTab } from './reads-tab.tsx'
import { StorageTab } from './storage-tab.tsx'
import { UnreadableTab } from './unreadable-tab.tsx'

const w = words.health
const topics = ['overview', 'gaps', 'storage', 'unreadable', 'facts', 'reads'] as const

/** Can one trust what one sees? Every skip, lag and limit with its count, since when, and what to do. */
export default function HealthScreen({ topic }: { readonly topic: string | null }) {
  useCrumbs(w.title)
  const { navigate } = useAddress()
  const status = useRead('status.get', {}, { refetchInterval: 2000 })
  const tab = topics.find((entry) => entry === topic) ?? 'overview'
  if (status.data === undefined)
    return status.error === null ? (
      <Loading what={w.title} />
    ) : (
      <Failure what={w.title} failure={status.error} onRetry={() => void status.refetch()} />
    )
  const { data } = status
  const unreadable = data.homes.reduce((sum, home) => sum + home.unreadable, 0)
  const counts = { overview: null, gaps: data.gap_count, storage: null, unreadable, facts: null, reads: null }
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <Header status={data} />
      {status.error !== null && (
        <Failure
          what={w.title}
          failure={status.error}
          onRetry={() => void status.refetch()}
          lastGood={formatClockSeconds(new Date(status.dataUpdatedAt).toISOString())}
        />
      )}
      <Tabs
        label={w.tabsLabel}
        value={tab}
        onChange={(id) => navigate(id === 'overview' ? '/health' : `/health/${id}`, { replace: true })}
        tabs={topics.map((id) => ({ id, label: w.tabs[id], count: counts[id], warn: (counts[id] ?? 0) > 0 }))}
      >
        <TabPanel id="overview">
          <Overview status={data} />
        </TabPanel>
        <TabPanel id="gaps">
          <GapList />
        </TabPanel>
        <TabPanel id="storage">
          <StorageTab />
        </TabPanel>
        <TabPanel id="unreadable">
          <UnreadableTab />
        </TabPanel>
        <TabPanel id="facts">
          <FactsTab homes={data.homes} />
        </TabPanel>
        <TabPanel id="reads">
          <ReadsTab />
        </TabPanel>
      </Tabs>
    </div>
  )
}

function Header({ status }: { readonly status: Status }) {
  const { daemon } = status
  const sync = useChange('sync.now')
  const reindex = useChange('store.reindex')
  const [asking, setAsking] = useState(false)
  const [checking, setChecking] = useState(false)
  const check = useRead('store.check', {}, { enabled: checking, gcTime: 0 })
  const failure = [sync.error, reindex.error, check.error].find((error) => error !== null) ?? null
  return (
    <header className="shrink-0 px-3 pt-3 pb-2">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="text-title font-semibold">{w.title}</h1>
        <span className="text-dense text-text-2 tabular-nums">
          {w.daemon(
            daemon.version,
            daemon.pid,
            formatDuration(Math.max(0, Date.now() - Date.parse(daemon.started_at))),
          )}
        </span>
        <span className="ml-auto flex flex-wrap gap-2">
          <Button disabled={sync.isPending} onClick={() => sync.mutate({})}>
            {sync.isPending ? words.homes.syncing : w.sync}
          </Button>
          <Button
            disabled={check.isFetching}
            onClick={() => {
              if (checking) void check.refetch()
              else setChecking(true)
            }}
          >
            {check.isFetching ? w.checking : w.check}
          </Button>
          <Button disabled={reindex.isPending} onClick={() => setAsking(true)}>
            {w.reindex}
          </Button>
          <Button look="quiet" onClick={() => void copyText(JSON.stringify(status, null, 2), w.title)}>
            {w.copyReport}
          </Button>
          <CommandHint command="reprise status" />
        </span>
      </div>
      <div role="status" className="flex flex-wrap gap-x-4 text-dense">
        {sync.data !== undefined && (
          <span className="text-text-2">
            {words.homes.synced(sync.data.sessions, sync.data.events, formatDuration(sync.data.seconds * 1000))}
          </span>
        )}
        {reindex.data !== undefined && (
          <span className="text-text-2">
            {w.reindexed(reindex.data.runs, reindex.data.events, formatDuration(reindex.data.seconds * 1000))}
          </span>
        )}
        {check.data !== undefined &&
          (check.data.ok ? (
            <ResultMark result="pass">{w.checkOk(check.data.objects)}</ResultMark>
          ) : (
            <ResultMark result="fail">
              {w.checkBad(check.data.damaged.length)}: {check.data.damaged.slice(0, 5).join(', ')}{' '}
              {check.data.quarantined.length > 0 && w.quarantined(check.data.quarantined.length)}
            </ResultMark>
          ))}
        {failure !== null && (
          <span className="text-danger">
            {asErrorBody(failure).message} {asErrorBody(failure).hint}
          </span>
        )}
      </div>
      {asking && (
        <Confirm
          title={w.reindexTitle}
          act={w.reindexConfirm}
          busy={reindex.isPending}
          command={<CommandHint command="reprise reindex" />}
          onClose={() => setAsking(false)}
          onAct={() => {
            setAsking(false)
            reindex.mutate({})
          }}
        >
          {w.reindexText}
        </Confirm>
      )}
    </header>
  )
}
