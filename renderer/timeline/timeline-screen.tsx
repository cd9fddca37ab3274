import { ArrowUp, BarChart3, Table2 } from 'lucide-react'
import { useCallback, useMemo, useRef } from 'react'
import type { TimelineFilter } from '../../contract/timeline.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { CommandHint, shellWord } from '../parts/command-hint.tsx'
import { Band, Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatClockSeconds, formatStamp } from '../parts/format.ts'
import { HeatStrip, HeatTable } from '../parts/heat-strip.tsx'
import { SplitPane } from '../parts/split-pane.tsx'
import { type Act, useActs, useCrumbs } from '../shell/acts.ts'
import { useAddress } from '../shell/address.ts'
import { useLink } from '../shell/link-state.ts'
import { useView } from '../shell/view-state.ts'
import { useChange, useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { DriftPeek } from './drift-peek.tsx'
import { Facets } from './facets.tsx'
import { type FilterKey, type Problem, readFilter, setToken, wordsOf } from './filter.ts'
import { FilterField } from './filter-field.tsx'
import { ItemPeek, PeekNothing, RunPeek } from './peek.tsx'
import { usePeek } from './peek-store.ts'
import { RollbackPeek } from './rollback-peek.tsx'
import { TimelineList } from './timeline-list.tsx'
import { useTimeline } from './use-timeline.ts'
import { NothingFound, WelcomeBand } from './welcome.tsx'

const w = words.timeline

/** Everything that happened to any agent, newest first. */
export function TimelineScreen({ welcome }: { readonly welcome: boolean }) {
  useCrumbs(w.title)
  const { get, set, navigate } = useAddress()
  const query = get('q') ?? ''
  const since = get('since')
  const until = get('until')
  const { filter, problems } = useMemo(() => readFilter(query, { since, until }, new Date()), [query, since, until])
  const status = useRead('status.get', {})
  const settings = useRead('settings.get', {})
  const change = useChange('settings.set')
  // While the homes are still being looked for, nothing is known to be missing.
  const nothing =
    status.data !== undefined &&
    status.data.daemon.state !== 'starting' &&
    status.data.homes.length === 0 &&
    status.data.store.runs === 0
  const band = status.data !== undefined && !nothing && (welcome || settings.data?.welcome_closed === false)

  const setQuery = useCallback((q: string) => set({ q }, { replace: true }), [set])
  const zoom = useCallback((from: string, to: string) => set({ since: from, until: to }), [set])
  const allTime = useCallback(
    () => set({ since: null, until: null, q: setToken(setToken(query, 'since', null), 'until', null) }),
    [set, query],
  )

  if (nothing) return <NothingFound status={status.data} />
  return (
    <>
      {!band && <h1 className="sr-only">{w.title}</h1>}
      {band && (
        <WelcomeBand
          status={status.data}
          onClose={() => {
            change.mutate({ welcome_closed: true })
            if (welcome) navigate('/timeline')
            document.querySelector<HTMLElement>('[role=treegrid]')?.focus()
          }}
        />
      )}
      <Rows
        filter={filter}
        problems={problems}
        query={query}
        setQuery={setQuery}
        since={since}
        until={until}
        zoom={zoom}
        allTime={allTime}
      />
    </>
  )
}

interface RowsProps {
  readonly filter: TimelineFilter
  readonly problems: readonly Problem[]
  readonly query: string
  readonly setQuery: (query: string) => void
  readonly since: string | null
  readonly until: string | null
  readonly zoom: (since: string, until: string) => void
  readonly allTime: () => void
}

function Rows({ filter, problems, query, setQuery, since, until, zoom, allTime }: RowsProps) {
  const { get, navigate } = useAddress()
  const atTop = useRef(true)
  const focused = useRef(false)
  const mayMove = useCallback(() => atTop.current && !focused.current, [])
  const memory = `timeline?${query}&${since}&${until}`
  const timeline = useTimeline(filter, mayMove, memory)
  const { head } = timeline
  const asTable = useView((view) => view.heatAsTable)
  const setAsTable = useView((view) => view.setHeatAsTable)
  const change = get('change')
  const nothingPeeked = usePeek((peek) => peek.row === null) && change === null
  const pushed = useLink((now) => now.progress.size > 0)
  const known = useRead(
    'status.get',
    {},
    { select: (status) => status.progress.length > 0 || status.daemon.state === 'starting' },
  )
  const reading = pushed || known.data === true
  const filtered = query !== '' || since !== null || until !== null
  const values = useMemo<Partial<Record<FilterKey, readonly string[]>>>(
    () => ({
      agent: head?.facets.runtimes.map((entry) => entry.value) ?? [],
      workspace: head?.facets.workspaces.map((entry) => entry.value) ?? [],
    }),
    [head?.facets],
  )
  const clear = useCallback(() => navigate('/timeline'), [navigate])
  const acts = useMemo<readonly Act[]>(
    () => [
      ...(filtered ? [{ id: 'clear', label: w.clearFilter, run: clear }] : []),
      {
        id: 'heat',
        label: `${words.heat.label}: ${asTable ? words.asChart : words.asTable}`,
        run: () => setAsTable(!asTable),
      },
      {
        id: 'failed',
        label: `${w.status}: ${words.runStatus.failed}`,
        run: () => setQuery(setToken(query, 'status', 'failed')),
      },
    ],
    [filtered, asTable, setAsTable, setQuery, clear, query],
  )
  useActs(acts)

  const main = (
    <>
      <div data-region="filter" className="@container shrink-0 px-3 pt-2 pb-1.5">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1.5">
          <FilterField value={query} onChange={setQuery} values={values} />
          <Facets
            query={query}
            onChange={setQuery}
            facets={head?.facets}
            zoomed={since !== null || until !== null}
            onAllTime={() => undefined}
          />
        </div>
      </div>
      {problems.map((problem) => (
        <p key={`${problem.key}${problem.value}`} role="status" className="px-3 pb-1 text-dense text-warn">
          {w.problem(problem.key, problem.value, problem.known)}
        </p>
      ))}
      {head?.density != null && head.density.buckets.length > 0 && (
        <div className="shrink-0 px-3 pb-1">
          {asTable ? (
            <HeatTable density={head.density} />
          ) : (
            <HeatStrip density={head.density} zoomed={since !== null} onZoom={zoom} onAll={allTime} />
          )}
          <div className="flex h-6 items-center gap-2 text-meta text-text-3">
            {since === null && until === null ? (
              !asTable && <span className="max-sm:hidden">{words.heat.help}</span>
            ) : (
              <>
                <LinkButton onClick={allTime}>{words.heat.all}</LinkButton>
                <span aria-hidden="true">/</span>
                <span className="text-text-2 tabular-nums">
                  {since === null ? '' : formatStamp(since)} – {until === null ? '' : formatStamp(until)}
                </span>
                <LinkButton onClick={() => history.back()}>{words.heat.zoomOut}</LinkButton>
              </>
            )}
            <span className="ml-auto tabular-nums">{w.total(head.total)}</span>
            <button
              type="button"
              onClick={() => setAsTable(!asTable)}
              className="inline-flex h-6 items-center gap-1 rounded-chip px-1 hover:bg-hover hover:text-text"
            >
              {asTable ? (
                <BarChart3 size={12} strokeWidth={1.75} aria-hidden="true" />
              ) : (
                <Table2 size={12} strokeWidth={1.75} aria-hidden="true" />
              )}
              {asTable ? words.asChart : words.asTable}
            </button>
          </div>
        </div>
      )}
      {timeline.error !== null && (
        <Failure
          what={w.title}
          failure={timeline.error}
          onRetry={timeline.retry}
          lastGood={timeline.hasRows ? formatClockSeconds(new Date(timeline.updatedAt).toISOString()) : null}
        />
      )}
      {reading && !filtered && <Band tone="plain">{w.readingHistory}</Band>}
      {(timeline.pending || !timeline.reached) && timeline.error === null && <Loading what={w.title} />}
      {timeline.hasRows && timeline.items.length === 0 && reading && !filtered && <Loading what={w.readingHistory} />}
      {timeline.hasRows && timeline.items.length === 0 && (filtered || !reading) && (
        <NoRows
          filtered={filtered}
          query={query}
          older={(head?.total_any_time ?? 0) - (head?.total ?? 0)}
          allTime={allTime}
          setQuery={setQuery}
        />
      )}
      {timeline.items.length > 0 && timeline.reached && (
        <div className="relative flex min-h-0 flex-1 flex-col border-t border-line">
          <TimelineList
            key={`${memory}#${timeline.generation}`}
            items={timeline.items}
            complete={timeline.complete}
            total={head?.total ?? timeline.items.length}
            memory={memory}
            change={change}
            onNearEnd={timeline.loadMore}
            onTop={(top) => {
              atTop.current = top
            }}
            onFocus={(now) => {
              focused.current = now
            }}
            query={query}
            setQuery={setQuery}
          />
          {timeline.fresh > 0 && (
            <Button
              small
              look="primary"
              className="absolute top-2 left-1/2 z-20 -translate-x-1/2 rounded-full shadow-layer"
              icon={<ArrowUp size={12} strokeWidth={2} aria-hidden="true" />}
              onClick={timeline.showFresh}
            >
              {w.newRows(timeline.fresh)}
            </Button>
          )}
        </div>
      )}
    </>
  )
  return (
    <SplitPane
      main={main}
      inspector={<Inspector change={change} />}
      title={words.peek.inspector}
      empty={nothingPeeked}
    />
  )
}

function Inspector({ change }: { readonly change: string | null }) {
  const row = usePeek((peek) => peek.row)
  if (row?.type === 'run') return <RunPeek key={row.run.id} run={row.run} />
  if (row?.type === 'configuration') return <DriftPeek key={row.item.id} drift={row.item.drift} />
  if (row?.type === 'rollback') return <RollbackPeek key={row.item.id} record={row.item.rollback} />
  if (row !== null && 'item' in row) return <ItemPeek item={row.item} />
  return change === null ? <PeekNothing /> : <NamedChange id={change} />
}

/** The change of configuration the address names, wherever its row is. */
function NamedChange({ id }: { readonly id: string }) {
  const read = useRead('drift.get', { id })
  if (read.data !== undefined) return <DriftPeek drift={read.data} />
  if (read.error === null) return <Loading what={words.drift.one} rows={4} />
  return <Failure what={words.drift.one} failure={read.error} onRetry={() => void read.refetch()} />
}

interface NoRowsProps {
  readonly filtered: boolean
  readonly query: string
  readonly older: number
  readonly allTime: () => void
  readonly setQuery: (query: string) => void
}

function NoRows({ filtered, query, older, allTime, setQuery }: NoRowsProps) {
  const { navigate } = useAddress()
  if (!filtered) return <Empty title={w.empty} hint={w.emptyHint} />
  const text = wordsOf(query)
  return (
    <Empty title={w.noHit(older)} hint={w.noHitHint}>
      {older > 0 && <Button onClick={allTime}>{w.widen}</Button>}
      <Button onClick={() => setQuery('')}>{w.clearFilter}</Button>
      {text !== '' && (
        <Button onClick={() => navigate(`/search?q=${encodeURIComponent(text)}`)}>{w.searchWords(text)}</Button>
      )}
      {text !== '' && <CommandHint command={`reprise search ${shellWord(text)}`} />}
    </Empty>
  )
}
