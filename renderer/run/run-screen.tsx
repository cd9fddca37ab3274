import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import type { Output } from '../../contract/endpoints.ts'
import { ExportDialog } from '../parts/export-dialog.tsx'
import { Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds } from '../parts/format.ts'
import { RevealScope } from '../parts/hidden.tsx'
import { SplitPane } from '../parts/split-pane.tsx'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { rollbackPath } from '../rollback/address.ts'
import { type Act, useActs, useCrumbs, useReference } from '../shell/acts.ts'
import { manifestPath, pathWith, runPath, useAddress } from '../shell/address.ts'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { CoverageTab } from './coverage-tab.tsx'
import { indexOfSeq, nextWhere, openingIndex } from './event-rows.ts'
import { EventsTab } from './events-tab.tsx'
import { PointPane } from './point-pane.tsx'
import { RunBands } from './run-bands.tsx'
import { RunHeader } from './run-header.tsx'
import { ScrubberBar } from './scrubber-bar.tsx'
import { TranscriptTab } from './transcript-tab.tsx'
import { UsageTab } from './usage-tab.tsx'
import { useRunEvents } from './use-run-events.ts'
import { UseTab } from './use-tab.tsx'

const w = words.run
const tabs = ['events', 'transcript', 'use', 'coverage', 'usage'] as const
export type RunDetails = Output<'runs.get'>

interface RunScreenProps {
  /** An id, a unique prefix, the agent's session id, `last`. */
  readonly reference: string
  readonly seq: number | null
}

/** Walk a run forwards and backwards and see, for each action, what it was given, what it did and what changed. */
export default function RunScreen({ reference, seq }: RunScreenProps) {
  const details = useRead('runs.get', { run: reference })
  if (details.data === undefined)
    return details.error === null ? (
      <Loading what={w.loading} rowHeight={24} />
    ) : (
      <Failure what={w.loading} failure={details.error} onRetry={() => void details.refetch()} />
    )
  return (
    <RevealScope>
      {details.error !== null && (
        <Failure
          what={w.loading}
          failure={details.error}
          onRetry={() => void details.refetch()}
          lastGood={formatClockSeconds(new Date(details.dataUpdatedAt).toISOString())}
        />
      )}
      <Opened details={details.data} reference={reference} seq={seq ?? details.data.at} />
    </RevealScope>
  )
}

function Opened({
  details,
  reference,
  seq,
}: {
  readonly details: RunDetails
  readonly reference: string
  readonly seq: number | null
}) {
  const { run } = details
  const { get, set, navigate, search } = useAddress()
  const title = run.title === '' ? words.timeline.noTitle : run.title.slice(0, 120)
  const ticks = useRead('runs.ticks', { run: run.id })
  const index = ticks.data === undefined ? 0 : seq === null ? openingIndex(ticks.data) : indexOfSeq(ticks.data, seq)
  const at = ticks.data?.seqs[index] ?? seq ?? 0
  const count = ticks.data?.seqs.length ?? 0
  useCrumbs([words.timeline.title, '/timeline'], `${title} @${at}`)
  useReference(`${run.id}@${at}`)
  const tab = tabs.find((entry) => entry === get('tab')) ?? 'events'
  const events = useRunEvents(run.id, ticks.data)
  const [follow, setFollow] = useState(false)

  const moveTo = useCallback(
    (next: number) => {
      const target = ticks.data?.seqs[next]
      if (target !== undefined)
        navigate(`${runPath(run.id, target)}${search === '' ? '' : `?${search}`}`, { replace: true })
    },
    [ticks.data, navigate, run.id, search],
  )
  const moveToSeq = useCallback(
    (target: number) => ticks.data !== undefined && moveTo(indexOfSeq(ticks.data, target)),
    [ticks.data, moveTo],
  )
  /** To an event, and to where it is shown. */
  const showSeq = useCallback(
    (target: number) => navigate(pathWith(runPath(run.id, target), search, { tab: null })),
    [navigate, run.id, search],
  )
  // The address always names the whole id and the point, whatever reference opened it.
  useEffect(() => {
    if (ticks.data !== undefined && count > 0 && (reference !== run.id || seq !== at)) moveTo(index)
  }, [reference, run.id, seq, at, index, count, ticks.data, moveTo])
  useEffect(() => {
    if (follow && count > 0) moveTo(count - 1)
  }, [follow, count, moveTo])
  const { want } = events
  useEffect(() => want(index, index), [index, want])

  const nameOf = (position: number) => {
    const event = events.bySeq.get(ticks.data?.seqs[position] ?? -1)
    if (event !== undefined) return `${event.tool ?? w.kinds[event.kind]} ${event.summary}`.trim()
    const kind = Object.entries(w.kinds).find(([name]) => name === ticks.data?.kinds[position])?.[1]
    return kind ?? ''
  }
  const digits = useRef('')
  const [typed, setTyped] = useState('')
  const stepKey = (event: KeyboardEvent): boolean => {
    if (ticks.data === undefined || event.ctrlKey || event.metaKey || event.altKey) return false
    const jump = (next: number | null) => {
      setFollow(false)
      if (next !== null) moveTo(Math.max(0, Math.min(count - 1, next)))
      return true
    }
    if (/^\d$/.test(event.key)) {
      digits.current = (digits.current + event.key).slice(-7)
      setTyped(digits.current)
      return true
    }
    if (event.key === 'Enter' && digits.current !== '') {
      const target = Number(digits.current)
      digits.current = ''
      setTyped('')
      return jump(indexOfSeq(ticks.data, target))
    }
    switch (event.key) {
      case 'Escape':
        digits.current = ''
        setTyped('')
        setFollow(false)
        return true
      case 'ArrowLeft':
        return jump(event.shiftKey ? nextWhere(ticks.data.changed, index, -1) : index - 1)
      case 'ArrowRight':
        return jump(event.shiftKey ? nextWhere(ticks.data.changed, index, 1) : index + 1)
      case 'Home':
        return jump(0)
      case 'End':
        return jump(count - 1)
      case 'PageUp':
        return jump(index - 20)
      case 'PageDown':
        return jump(index + 20)
      default:
        return false
    }
  }
  const [exporting, setExporting] = useState(false)
  const acts = useMemo<readonly Act[]>(() => {
    if (ticks.data === undefined) return []
    const data = ticks.data
    const jump = (id: string, label: string, keys: string, next: number | null): readonly Act[] =>
      next === null ? [] : [{ id, label, keys, run: () => moveTo(next) }]
    const { manifest } = run
    return [
      ...jump('next-failure', w.nextFailure, '', nextWhere(data.failed, index, 1)),
      ...jump('next-change', w.nextChange, 'Shift →', nextWhere(data.changed, index, 1)),
      ...jump('previous-change', w.previousChange, 'Shift ←', nextWhere(data.changed, index, -1)),
      ...jump('first', w.first, 'Home', 0),
      ...jump('last', w.last, 'End', data.seqs.length - 1),
      ...tabs.map((entry) => ({
        id: `tab-${entry}`,
        label: w.tabs[entry],
        run: () => set({ tab: entry === 'events' ? null : entry }),
      })),
      {
        id: 'back',
        label: words.rollback.toHere,
        keys: 'b',
        run: () => navigate(rollbackPath({ target: `${run.id}@${at}` })),
      },
      { id: 'export', label: words.export.act, run: () => setExporting(true) },
      ...(manifest === null
        ? []
        : [{ id: 'manifest', label: words.timeline.openManifest, run: () => navigate(manifestPath(manifest)) }]),
    ]
  }, [ticks.data, index, at, run, moveTo, set, navigate])
  useActs(acts)

  const main = (
    <>
      <RunHeader details={details} at={at} onExport={() => setExporting(true)} />
      {exporting && (
        <ExportDialog subject={{ kind: 'run', run: run.id, title: run.title }} onClose={() => setExporting(false)} />
      )}
      <RunBands details={details} onCoverage={() => set({ tab: 'coverage' })} />
      {ticks.error !== null && <Failure what={w.scrubber} failure={ticks.error} onRetry={() => void ticks.refetch()} />}
      {ticks.data !== undefined && count > 0 && (
        <ScrubberBar
          ticks={ticks.data}
          index={index}
          typed={typed}
          onMove={moveTo}
          nameOf={nameOf}
          onKey={stepKey}
          running={run.status === 'running'}
          follow={follow}
          onFollow={setFollow}
        />
      )}
      <Tabs
        label={w.tabsLabel}
        value={tab}
        onChange={(next) => set({ tab: next === 'events' ? null : next })}
        tabs={tabs.map((id) => ({
          id,
          label: w.tabs[id],
          count:
            id === 'events' && count > 0
              ? count
              : id === 'coverage' && details.unreadable.length > 0
                ? details.unreadable.length
                : null,
          warn: id === 'coverage',
        }))}
      >
        <TabPanel id="events">
          {ticks.data === undefined ? (
            ticks.error === null && <Loading what={w.tabs.events} rowHeight={24} rows={20} />
          ) : (
            <EventsTab
              run={run}
              ticks={ticks.data}
              events={events}
              index={index}
              onMove={moveTo}
              onMoveSeq={moveToSeq}
              onStepKey={stepKey}
              branches={details.branches}
            />
          )}
        </TabPanel>
        <TabPanel id="transcript">
          {ticks.data === undefined ? (
            <Loading what={w.tabs.transcript} />
          ) : (
            <TranscriptTab details={details} ticks={ticks.data} events={events} index={index} onMove={moveTo} />
          )}
        </TabPanel>
        <TabPanel id="use">
          <UseTab run={run} onMoveSeq={showSeq} />
        </TabPanel>
        <TabPanel id="coverage">
          <CoverageTab details={details} />
        </TabPanel>
        <TabPanel id="usage">
          <UsageTab run={run} total={count} onMoveSeq={moveToSeq} />
        </TabPanel>
      </Tabs>
    </>
  )
  return (
    <SplitPane
      main={main}
      inspector={<PointPane details={details} at={at} onMoveSeq={moveToSeq} />}
      title={w.inspector(at)}
      sheetClosed
    />
  )
}
