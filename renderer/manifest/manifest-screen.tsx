import { useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { Output } from '../../contract/endpoints.ts'
import type { ManifestSetting, ManifestSource } from '../../contract/manifest.ts'
import { Button } from '../parts/button.tsx'
import { CommandHint } from '../parts/command-hint.tsx'
import { Digest } from '../parts/digest.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, formatExact, shortDigest, shortId } from '../parts/format.ts'
import { ResultMark, RuntimeTile, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { SplitPane } from '../parts/split-pane.tsx'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { useActs, useCrumbs, useReference } from '../shell/acts.ts'
import { runPath, useAddress } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { CallFailed } from '../transport/transport.ts'
import { words } from '../words/en.ts'
import { CapabilitiesTab } from './capabilities-tab.tsx'
import { ChecksTab } from './checks-tab.tsx'
import { EnvironmentTab } from './environment-tab.tsx'
import { PolicyTab } from './policy-tab.tsx'
import { ResolveDialog } from './resolve-dialog.tsx'
import { SentTab } from './sent-tab.tsx'
import { SourceInspector, ValueInspector } from './source-inspector.tsx'
import { SourcesTab } from './sources-tab.tsx'
import { ValuesTab } from './values-tab.tsx'
import { withUse } from './with-use.ts'

const w = words.manifest
const tabs = ['sources', 'values', 'sent', 'capabilities', 'policy', 'environment', 'checks'] as const
export type Selected =
  | { readonly type: 'source'; readonly source: ManifestSource }
  | { readonly type: 'value'; readonly name: string; readonly setting: ManifestSetting }

interface ManifestScreenProps {
  /** A digest or a unique prefix of one; with `ofRun` a run. */
  readonly target: string
  readonly ofRun: boolean
}

/** What was really in force: sources in order, winners and losers, the text as sent. */
export default function ManifestScreen({ target, ofRun }: ManifestScreenProps) {
  const { get, navigate } = useAddress()
  const stretch = get('stretch')
  const wanted = ofRun && stretch !== null ? `${target}#${stretch}` : target
  const read = useRead('manifest.get', { target: wanted })
  useCrumbs(
    [words.timeline.title, '/timeline'],
    ...(ofRun ? ([[shortId(target), runPath(target)]] as const) : []),
    words.nav.manifest,
  )
  if (read.data !== undefined)
    return (
      <>
        {read.error !== null && (
          <Failure
            what={w.loading}
            failure={read.error}
            onRetry={() => void read.refetch()}
            lastGood={formatClockSeconds(new Date(read.dataUpdatedAt).toISOString())}
          />
        )}
        <Opened answer={read.data} target={wanted} />
      </>
    )
  if (read.error === null) return <Loading what={w.loading} />
  if (ofRun && read.error instanceof CallFailed && read.error.body.code === 'not_found')
    return (
      <Empty title={w.notCaptured} hint={`${read.error.body.message}. ${read.error.body.hint ?? w.notCapturedHint}`}>
        <Button onClick={() => navigate(runPath(target))}>{w.toRun}</Button>
      </Empty>
    )
  return <Failure what={w.loading} failure={read.error} onRetry={() => void read.refetch()} />
}

function Opened({ answer, target }: { readonly answer: Output<'manifest.get'>; readonly target: string }) {
  const { intact, damage } = answer
  const { run_id, stretch } = answer.manifest
  const use = useRead(
    'runs.use',
    { run: `${run_id}${stretch === null ? '' : `#${stretch}`}` },
    { enabled: run_id !== null },
  )
  const manifest = useMemo(() => withUse(answer.manifest, use.data), [answer.manifest, use.data])
  const { get, set, navigate } = useAddress()
  const [selected, setSelected] = useState<Selected | null>(null)
  const [resolving, setResolving] = useState(false)
  const digest = manifest.integrity.manifest_digest
  useReference(digest)
  const acts = useMemo(
    () => [
      { id: 'resolve', label: w.resolveAgain, run: () => setResolving(true) },
      {
        id: 'back',
        label: words.rollback.toThis,
        keys: 'b',
        run: () => navigate(rollbackPath({ target: digest })),
      },
      ...tabs.map((id) => ({
        id: `tab-${id}`,
        label: w.tabs[id],
        run: () => set({ tab: id === 'sources' ? null : id }),
      })),
    ],
    [set, navigate, digest],
  )
  useActs(acts)
  const tab = tabs.find((entry) => entry === get('tab')) ?? 'sources'
  const { capabilities, execution, instructions } = manifest
  const counts: Partial<Record<(typeof tabs)[number], number>> = {
    sources: instructions.sources.length,
    values: Object.keys(manifest.settings).length,
    capabilities: Object.values(capabilities).reduce<number>(
      (sum, list) => sum + (Array.isArray(list) ? list.length : 0),
      0,
    ),
    checks: manifest.unknown.length + damage.length,
  }
  const runtime = Object.keys(words.runtimes).find((name) => name === execution.runtime) as
    | keyof typeof words.runtimes
    | undefined
  const main = (
    <>
      <header className="shrink-0 px-3 pt-2.5 pb-2">
        <div className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-1">
          <h1 className="text-read font-semibold">
            {w.title('')}
            <span className="font-mono">{shortDigest(digest)}</span>
          </h1>
          <span className="text-dense">
            {intact ? (
              <ResultMark result="pass">{w.intact}</ResultMark>
            ) : (
              <ResultMark result="fail">{w.damaged}</ResultMark>
            )}
          </span>
          <span className="ml-auto flex items-center gap-2">
            <CommandHint
              command={`reprise manifest ${manifest.run_id !== null && !target.startsWith('sha256:') ? target : digest}`}
            />
            <Button onClick={() => navigate(rollbackPath({ target: digest }))}>{words.rollback.toThis}</Button>
            <Button onClick={() => setResolving(true)}>{w.resolveAgain}</Button>
          </span>
        </div>
        <div className="mt-1 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 text-dense text-text-2">
          <span className="inline-flex items-center gap-1.5">
            {runtime !== undefined && <RuntimeTile runtime={runtime} />}
            {runtime === undefined ? execution.runtime : words.runtimes[runtime].name}{' '}
            {execution.runtime_version ?? <Unknown />}
          </span>
          {execution.cwd !== null && <PathText path={execution.cwd} className="max-w-72" />}
          <span className="tabular-nums">{w.frozen(formatExact(manifest.created_at).slice(0, 19))}</span>
          <span>{w.origins[manifest.origin]}</span>
          {manifest.run_id !== null && (
            <Link href={runPath(manifest.run_id)} className="rounded-chip text-accent hover:underline">
              {w.run} {shortId(manifest.run_id)}
              {manifest.stretch !== null && `, ${w.stretch(manifest.stretch)}`}
            </Link>
          )}
          {instructions.effective_digest === null ? (
            <Unknown>{w.noEffective}</Unknown>
          ) : (
            <span className="inline-flex items-baseline gap-1">
              {w.effective} <Digest digest={instructions.effective_digest} />
            </span>
          )}
        </div>
      </header>
      {!intact && (
        <Band tone="danger" role="alert">
          {w.damagedHint} {damage.join('; ')}
        </Band>
      )}
      <Tabs
        label={w.tabsLabel}
        value={tab}
        onChange={(id) => set({ tab: id === 'sources' ? null : id })}
        tabs={tabs.map((id) => ({
          id,
          label: w.tabs[id],
          count: counts[id] ?? null,
          warn: id === 'checks' && (counts[id] ?? 0) > 0,
        }))}
      >
        <TabPanel id="sources">
          <SourcesTab manifest={manifest} onSelect={(source) => setSelected({ type: 'source', source })} />
        </TabPanel>
        <TabPanel id="values">
          <ValuesTab manifest={manifest} onSelect={(name, setting) => setSelected({ type: 'value', name, setting })} />
        </TabPanel>
        <TabPanel id="sent">
          <SentTab target={target} />
        </TabPanel>
        <TabPanel id="capabilities">
          <CapabilitiesTab manifest={manifest} />
        </TabPanel>
        <TabPanel id="policy">
          <PolicyTab manifest={manifest} />
        </TabPanel>
        <TabPanel id="environment">
          <EnvironmentTab manifest={manifest} />
        </TabPanel>
        <TabPanel id="checks">
          <ChecksTab manifest={manifest} intact={intact} damage={damage} />
        </TabPanel>
      </Tabs>
      {resolving && (
        <ResolveDialog
          initial={{ runtime: execution.runtime, workspace: execution.cwd ?? '', flags: execution.flags ?? [] }}
          onClose={() => setResolving(false)}
        />
      )}
    </>
  )
  const inspector =
    selected === null ? (
      <Empty title={w.nothing} hint={w.nothingHint} />
    ) : selected.type === 'source' ? (
      <SourceInspector source={selected.source} digest={digest} />
    ) : (
      <ValueInspector name={selected.name} setting={selected.setting} digest={digest} />
    )
  return <SplitPane main={main} inspector={inspector} title={w.inspector} empty={selected === null} />
}
