import { Check, CornerDownRight, Unlink, X } from 'lucide-react'
import { Checkbox } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useCallback, useId, useMemo, useState } from 'react'
import { Group, Panel, Separator } from 'react-resizable-panels'
import { Link } from 'wouter'
import type { Run, RunEvent } from '../../contract/run.ts'
import { cx } from '../parts/classes.ts'
import { Empty, Failure, Progress } from '../parts/feedback.tsx'
import { formatClock, formatDuration, shortDigest, shortId } from '../parts/format.ts'
import { EffectCount } from '../parts/marks.tsx'
import { lastPart } from '../parts/paths.ts'
import type { Ticks } from '../parts/scrubber.tsx'
import { useSize } from '../parts/use-size.ts'
import { Cell, type GridRow, VirtualGrid } from '../parts/virtual-grid.tsx'
import { manifestPath, runPath } from '../shell/address.ts'
import { usePaused } from '../shell/use-paused.ts'
import { useRowHeight } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { EventDetailPane } from './event-detail.tsx'
import { isEmptyFilter, matchEvent, matchTick, needsEvents, parseEventFilter } from './event-filter.ts'
import { type EventRow, toEventRows } from './event-rows.ts'
import { ResolvedAgain } from './resolved-again.tsx'
import { useAllEvents, type useRunEvents } from './use-run-events.ts'

const w = words.run

interface EventsTabProps {
  readonly run: Run
  readonly ticks: Ticks
  readonly events: ReturnType<typeof useRunEvents>
  readonly index: number
  readonly onMove: (index: number) => void
  readonly onMoveSeq: (seq: number) => void
  readonly onStepKey: (event: KeyboardEvent) => boolean
  readonly branches: readonly Run[]
}

/** Events in file order beside the one that is looked at. */
export function EventsTab(props: EventsTabProps) {
  const { run, ticks, events, index } = props
  const { ref, width } = useSize<HTMLDivElement>()
  const [text, setText] = useState('')
  const [failedOnly, setFailedOnly] = useState(false)
  const filterText = usePaused(text, 150)
  const filter = useMemo(() => parseEventFilter(filterText, failedOnly), [filterText, failedOnly])
  const all = useAllEvents(run.id, ticks.seqs.length, needsEvents(filter))
  const rows = useMemo(() => {
    if (isEmptyFilter(filter)) return toEventRows(run, ticks, null)
    if (!needsEvents(filter)) return toEventRows(run, ticks, (at) => matchTick(filter, ticks, at))
    const bySeq = new Map(all.events?.map((event) => [event.seq, event]))
    return toEventRows(run, ticks, (at) => {
      const event = bySeq.get(ticks.seqs[at] ?? -1)
      return event !== undefined && matchTick(filter, ticks, at) && matchEvent(filter, event)
    })
  }, [filter, run, ticks, all.events])
  const height = useRowHeight('event')
  const reading = needsEvents(filter) && all.events === undefined
  const list = (
    <div className="flex min-h-0 flex-1 flex-col">
      <FilterBar
        text={text}
        setText={setText}
        failedOnly={failedOnly}
        setFailedOnly={setFailedOnly}
        shown={isEmptyFilter(filter) ? null : rows.length}
        total={ticks.seqs.length}
      />
      {reading && all.error === null && (
        <p role="status" className="flex items-center gap-2 px-3 py-1 text-meta text-text-2">
          {w.reading(all.done, ticks.seqs.length)}
          <Progress
            value={all.done / Math.max(1, ticks.seqs.length)}
            label={w.filterLabel}
            text={w.reading(all.done, ticks.seqs.length)}
          />
        </p>
      )}
      {all.error !== null && <Failure what={w.tabs.events} failure={all.error} onRetry={() => void all.refetch()} />}
      {events.error !== null && <Failure what={w.tabs.events} failure={events.error} />}
      {ticks.seqs.length === 0 ? (
        <Empty title={w.noEvents} hint={w.noEventsHint} />
      ) : rows.length === 0 && !reading ? (
        <Empty title={w.noMatch} />
      ) : (
        <EventList {...props} rows={rows} height={height} />
      )}
    </div>
  )
  const detail = <EventDetailPane run={run} seq={ticks.seqs[index] ?? 0} onMoveSeq={props.onMoveSeq} />
  const beside = width >= 660
  return (
    <div ref={ref} className="flex min-h-0 min-w-0 flex-1">
      {width > 0 && (
        <Group
          key={beside ? 'beside' : 'below'}
          orientation={beside ? 'horizontal' : 'vertical'}
          className="min-h-0 min-w-0 flex-1"
        >
          <Panel
            id="events"
            minSize={beside ? '260px' : '20%'}
            defaultSize={beside ? '46%' : '50%'}
            className="flex min-h-0 min-w-0 flex-col"
          >
            {list}
          </Panel>
          <Separator className={beside ? 'w-px bg-line hover:bg-accent' : 'h-px bg-line-strong hover:bg-accent'} />
          <Panel id="event" minSize={beside ? '280px' : '20%'} className="flex min-h-0 min-w-0 flex-col">
            {detail}
          </Panel>
        </Group>
      )}
    </div>
  )
}

function EventList({
  run,
  ticks,
  events,
  index,
  onMove,
  onStepKey,
  branches,
  rows,
  height,
}: EventsTabProps & { readonly rows: readonly EventRow[]; readonly height: number }) {
  const { bySeq, want } = events
  const keyOf = useCallback((at: number) => rows[at]?.key ?? `none:${at}`, [rows])
  const row = useCallback(
    (at: number): GridRow => {
      const entry = rows[at]
      if (entry === undefined) return { key: `none:${at}`, heading: true }
      if (entry.type !== 'event') return { key: entry.key, heading: true }
      const event = bySeq.get(entry.seq)
      return event === undefined ? { key: entry.key } : { key: entry.key, label: eventSentence(event) }
    },
    [rows, bySeq],
  )
  const rowHeight = useCallback(() => height, [height])
  const onVisible = useCallback(
    (first: number, last: number) => {
      const seen = rows.slice(first, last + 1).flatMap((entry) => (entry.type === 'event' ? [entry.index] : []))
      for (const at of [seen[0], seen[seen.length - 1]]) if (at !== undefined) want(at, at)
    },
    [rows, want],
  )
  const active = `@${ticks.seqs[index] ?? 0}`
  return (
    <VirtualGrid
      label={w.eventsLabel}
      count={rows.length}
      row={row}
      keyOf={keyOf}
      rowHeight={rowHeight}
      active={active}
      follow={active}
      onActive={(_key, at) => {
        const entry = rows[at]
        if (entry?.type === 'event') onMove(entry.index)
      }}
      onVisible={onVisible}
      onKey={(event) =>
        event.key === 'Home' || event.key === 'End' || event.key.startsWith('Page') ? false : onStepKey(event)
      }
      render={(at) => {
        const entry = rows[at]
        if (entry === undefined) return null
        if (entry.type === 'fork')
          return <Divider>{w.forkEnd(run.parent === null ? words.unknown : shortId(run.parent))}</Divider>
        if (entry.type === 'stretch')
          return (
            <Divider>
              {words.run.stretch(entry.stretch.cause)}
              <span className="mx-2">
                <ResolvedAgain stretches={run.stretches} n={entry.stretch.n} />
              </span>
              {entry.stretch.manifest !== null && (
                <Link
                  href={manifestPath(entry.stretch.manifest)}
                  className="mr-2 rounded-chip font-mono text-accent hover:underline"
                >
                  {shortDigest(entry.stretch.manifest)}
                </Link>
              )}
              {entry.stretch.started_at !== null && formatClock(entry.stretch.started_at)}
            </Divider>
          )
        const event = bySeq.get(entry.seq)
        return event === undefined ? (
          <div className="flex h-full items-center gap-2 px-2 text-dense text-text-3">
            <Cell className="w-10 shrink-0 text-right tabular-nums">{entry.seq}</Cell>
            <Cell>{w.loadingRow}</Cell>
          </div>
        ) : (
          <EventLine
            event={event}
            workspace={run.workspace}
            branch={branches.find((branch) => branch.id === event.subagent)}
          />
        )
      }}
    />
  )
}

function Divider({ children }: { readonly children: ReactNode }) {
  return (
    <div className="flex h-full items-center border-y border-line bg-canvas px-2 text-meta text-text-2">
      <Cell className="truncate">{children}</Cell>
    </div>
  )
}

function eventSentence(event: RunEvent): string {
  const { effects } = event
  return [
    `${event.seq}`,
    event.tool ?? w.kinds[event.kind],
    event.summary,
    event.ok === false ? w.failed : '',
    effects.length > 0
      ? effects.map((effect) => `${words.effects[effect.change]} ${lastPart(effect.path)}`).join(', ')
      : '',
    event.broken_link ? w.brokenLink : '',
    event.copied_from === null ? '' : words.run.forkEnd(event.copied_from),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

interface EventLineProps {
  readonly event: RunEvent
  readonly workspace: string | null
  readonly branch: Run | undefined
}

/** One event in one line; paths below the workspace are shown from there. */
function EventLine({ event, workspace, branch }: EventLineProps) {
  const count = {
    added: 0,
    changed: 0,
    deleted: 0,
    unknown_calls: event.effects_state === 'partial' && event.effects.length === 0 ? 1 : 0,
  }
  for (const effect of event.effects) {
    if (effect.change === 'add') count.added += 1
    else if (effect.change === 'delete') count.deleted += 1
    else count.changed += 1
  }
  const copied = event.copied_from !== null
  return (
    <div
      className={cx(
        'flex h-full items-center gap-2 pr-2 pl-2 text-dense',
        copied && 'border-l-2 border-dotted border-line-strong text-text-2',
      )}
    >
      <Cell className="w-10 shrink-0 text-right text-meta text-text-3 tabular-nums">{event.seq}</Cell>
      <Cell
        className={cx(
          'w-[4.75rem] shrink-0 truncate',
          event.tool !== null ? 'font-medium' : event.kind === 'prompt' ? 'font-semibold text-accent' : 'text-text-2',
        )}
      >
        {event.tool ?? w.kinds[event.kind]}
      </Cell>
      {event.lane === 'sidechain' && (
        <CornerDownRight size={12} strokeWidth={1.75} className="shrink-0 text-text-3" aria-label={w.sidechain} />
      )}
      {event.broken_link && (
        <span title={w.brokenLinkHint} className="shrink-0 text-warn">
          <Unlink size={12} strokeWidth={1.75} aria-label={w.brokenLink} />
        </span>
      )}
      <Cell className={cx('flex-1 truncate', event.tool !== null && 'font-mono text-[0.75rem]')}>
        {workspace === null ? event.summary : event.summary.replaceAll(`${workspace}/`, '')}
      </Cell>
      {event.subagent !== null && (
        <Link
          href={runPath(event.subagent)}
          className="shrink-0 rounded-chip text-meta text-accent hover:underline"
          title={w.openSubagent(event.subagent)}
        >
          {w.subagent}
          {branch !== undefined && ` ${branch.events}`}
        </Link>
      )}
      <Cell className="shrink-0">
        <EffectCount effects={count} />
      </Cell>
      {event.ok === false && (
        <Cell className="flex shrink-0 items-center gap-0.5 text-meta text-danger">
          <X size={12} strokeWidth={2} aria-hidden="true" />
          {w.failed}
        </Cell>
      )}
      <Cell className="w-14 shrink-0 text-right text-meta text-text-3 tabular-nums">
        {event.duration_ms === null ? '' : formatDuration(event.duration_ms)}
      </Cell>
    </div>
  )
}

interface FilterBarProps {
  readonly text: string
  readonly setText: (text: string) => void
  readonly failedOnly: boolean
  readonly setFailedOnly: (on: boolean) => void
  readonly shown: number | null
  readonly total: number
}

function FilterBar({ text, setText, failedOnly, setFailedOnly, shown, total }: FilterBarProps) {
  const id = useId()
  return (
    <div data-region="filter" className="flex h-9 shrink-0 items-center gap-2 border-b border-line px-2 text-dense">
      <input
        data-filter
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && text !== '') {
            event.preventDefault()
            setText('')
          }
        }}
        aria-label={w.filterLabel}
        placeholder={w.filter}
        spellCheck={false}
        className="h-7 min-w-0 flex-1 rounded-control border border-line-strong bg-raised px-2 outline-none focus:border-focus"
      />
      {shown !== null && <span className="text-meta text-text-3 tabular-nums">{w.shown(shown, total)}</span>}
      <span className="flex items-center gap-1.5">
        <Checkbox.Root
          id={id}
          checked={failedOnly}
          onCheckedChange={(on) => setFailedOnly(on === true)}
          className="flex size-4 items-center justify-center rounded-chip border border-line-strong bg-raised data-[state=checked]:border-accent-fill data-[state=checked]:bg-accent-fill"
        >
          <Checkbox.Indicator>
            <Check size={12} strokeWidth={2.5} className="text-on-fill" aria-hidden="true" />
          </Checkbox.Indicator>
        </Checkbox.Root>
        <label htmlFor={id} className="whitespace-nowrap text-text-2">
          {w.failedOnly}
        </label>
      </span>
    </div>
  )
}
