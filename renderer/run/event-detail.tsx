import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Link } from 'wouter'
import type { EventDetail, Run } from '../../contract/run.ts'
import { Button, LinkButton } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { Empty, Failure, Loading } from '../parts/feedback.tsx'
import { formatDuration, formatExact, formatNumber } from '../parts/format.ts'
import { OriginChip, Unknown } from '../parts/marks.tsx'
import { PathText } from '../parts/path-text.tsx'
import { ScrollArea } from '../parts/scroll-area.tsx'
import { TabPanel, Tabs } from '../parts/tabs.tsx'
import { runPath } from '../shell/address.ts'
import { queryKey, useRead, useTransport } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { ChangeView } from './change-view.tsx'
import { ContextView } from './context-view.tsx'
import { PartView, withKeys } from './part-view.tsx'

const w = words.run
type TabId = keyof typeof w.detailTabs

interface EventDetailPaneProps {
  readonly run: Run
  readonly seq: number
  readonly onMoveSeq: (seq: number) => void
}

/** Everything about one action: what it was given, what came back, what changed, where in the file it stands. */
export function EventDetailPane({ run, seq, onMoveSeq }: EventDetailPaneProps) {
  const [whole, setWhole] = useState<number | null>(null)
  const input = whole === seq ? { run: run.id, seq, whole: true } : { run: run.id, seq }
  // Stepping shows the event before until the next one is there, so that nothing flickers.
  const detail = useRead('runs.event', input, { enabled: seq > 0, placeholderData: (before) => before })
  usePrefetch(run, seq)
  if (detail.data === undefined)
    return detail.error === null ? (
      <Loading what={w.detail} rows={8} />
    ) : (
      <Failure what={`${w.detail} @${seq}`} failure={detail.error} onRetry={() => void detail.refetch()} />
    )
  return (
    <Detail
      key={detail.data.event.seq}
      detail={detail.data}
      run={run}
      stale={detail.isPlaceholderData}
      onMoveSeq={onMoveSeq}
      onWhole={() => setWhole(seq)}
    />
  )
}

/** The next events are read before they are asked for, while nothing else is going on. */
function usePrefetch(run: Run, seq: number) {
  const client = useQueryClient()
  const transport = useTransport()
  useEffect(() => {
    const timer = setTimeout(() => {
      for (let next = seq + 1; next <= Math.min(seq + 6, run.events + run.copied_events); next += 1) {
        const input = { run: run.id, seq: next }
        void client.prefetchQuery({
          queryKey: queryKey('runs.event', input),
          queryFn: () => transport.call('runs.event', input),
        })
      }
    }, 250)
    return () => clearTimeout(timer)
  }, [client, transport, run.id, run.events, run.copied_events, seq])
}

/** The tab one looks at stays chosen from event to event, where the event has it. */
let preferred: TabId | null = null

interface DetailProps {
  readonly detail: EventDetail
  readonly run: Run
  readonly stale: boolean
  readonly onMoveSeq: (seq: number) => void
  readonly onWhole: () => void
}

function Detail({ detail, run, stale, onMoveSeq, onWhole }: DetailProps) {
  const { event, parts, changes } = detail
  const groups = useMemo(() => {
    const of = (...roles: readonly string[]) => parts.filter((part) => roles.includes(part.role))
    return {
      text: of('prompt', 'text', 'thinking'),
      call: of('input'),
      output: of('output', 'error'),
      details: of('context'),
      raw: of('raw'),
    }
  }, [parts])
  const tabs: { readonly id: TabId; readonly label: string; readonly count?: number | null }[] = []
  const add = (id: TabId, there: boolean, count?: number) =>
    there && tabs.push({ id, label: w.detailTabs[id], count: count ?? null })
  add('changes', changes.length > 0 || event.effects.length > 0, Math.max(changes.length, event.effects.length))
  add('text', groups.text.length > 0)
  add('call', groups.call.length > 0)
  add('output', groups.output.length > 0)
  add('details', groups.details.length > 0)
  add('raw', groups.raw.length > 0)
  add('context', run.status !== 'no_conversation')
  const wanted = preferred !== null && tabs.some((entry) => entry.id === preferred) ? preferred : null
  const [tab, setTab] = useState<TabId | null>(
    wanted ?? (event.ok === false && groups.output.length > 0 ? 'output' : null) ?? tabs[0]?.id ?? null,
  )
  const show = (roleGroup: EventDetail['parts']) => (
    <ScrollArea className="space-y-3 p-3">
      {withKeys(roleGroup).map(({ part, key }) => (
        <PartView key={key} part={part} onWhole={onWhole} labelled={roleGroup.length > 1 || part.role === 'thinking'} />
      ))}
    </ScrollArea>
  )
  return (
    <section
      aria-label={`${w.detail} @${event.seq}`}
      aria-busy={stale}
      data-region="detail"
      className={cx('flex min-h-0 min-w-0 flex-1 flex-col', stale && 'cursor-progress')}
    >
      <div className="shrink-0 px-3 pt-2 pb-1.5">
        <h2 className="flex min-w-0 items-baseline gap-2">
          <span className="shrink-0 font-mono text-dense text-text-3">@{event.seq}</span>
          <span className="shrink-0 font-semibold">{event.tool ?? w.kinds[event.kind]}</span>
          <span className="min-w-0 truncate text-dense text-text-2" title={event.summary}>
            {event.summary}
          </span>
        </h2>
        <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-meta text-text-2 tabular-nums">
          {event.at === null ? <Unknown>{words.unknownDay}</Unknown> : <span>{formatExact(event.at)}</span>}
          {event.duration_ms !== null && <span>{formatDuration(event.duration_ms)}</span>}
          {event.model !== null && <span>{event.model}</span>}
          {event.tokens !== null && (
            <span
              title={`${words.peek.cacheRead} ${formatNumber(event.tokens.cache_read)}, ${words.peek.cacheWrite} ${formatNumber(event.tokens.cache_write)}`}
            >
              {words.peek.input} {formatNumber(event.tokens.input)}, {words.peek.output}{' '}
              {formatNumber(event.tokens.output)}
            </span>
          )}
          {event.origin !== 'live' && <OriginChip origin={event.origin} />}
          {event.ok === false && <span className="font-medium text-danger">{w.failed}</span>}
          {event.kind === 'tool' && event.ok === null && <Unknown>{w.stillOpen}</Unknown>}
          {event.effects_state !== 'not_applicable' && event.effects_state !== 'complete' && (
            <span className="text-warn">{words.effects.states[event.effects_state]}</span>
          )}
          {event.broken_link && <span className="text-warn">{w.brokenLink}</span>}
        </div>
        <div className="mt-0.5 flex flex-wrap items-center gap-x-3 gap-y-0.5 text-meta text-text-2">
          <Links label={w.fedBy} seqs={detail.fed_by} onMoveSeq={onMoveSeq} />
          <Links label={w.feeds} seqs={detail.feeds} onMoveSeq={onMoveSeq} />
          {event.subagent !== null && (
            <Link href={runPath(event.subagent)} className="rounded-chip text-accent hover:underline">
              {w.openSubagent(event.subagent.slice(0, 8))}
            </Link>
          )}
          {detail.source !== null && (
            <span
              className="inline-flex min-w-0 items-baseline gap-1"
              title={w.sourceHint(detail.source.byte, detail.source.bytes)}
            >
              <PathText path={detail.source.path} className="max-w-56" />{' '}
              <span className="shrink-0 whitespace-nowrap">{w.source(detail.source.line)}</span>
            </span>
          )}
        </div>
      </div>
      {tab === null ? (
        <Empty title={w.nothingHere} />
      ) : (
        <Tabs
          label={w.detail}
          small
          tabs={tabs}
          value={tab}
          onChange={(id) => {
            const next = tabs.find((entry) => entry.id === id)?.id ?? null
            preferred = next
            setTab(next)
          }}
        >
          <TabPanel id="changes">
            <ChangeView detail={detail} run={run} onMoveSeq={onMoveSeq} />
          </TabPanel>
          {(['text', 'call', 'output', 'details', 'raw'] as const).map((id) => (
            <TabPanel key={id} id={id}>
              {show(groups[id])}
            </TabPanel>
          ))}
          <TabPanel id="context">
            <ContextView run={run} seq={event.seq} onMoveSeq={onMoveSeq} />
          </TabPanel>
        </Tabs>
      )}
    </section>
  )
}

function Links({
  label,
  seqs,
  onMoveSeq,
}: {
  readonly label: string
  readonly seqs: readonly number[]
  readonly onMoveSeq: (seq: number) => void
}): ReactNode {
  const [all, setAll] = useState(false)
  if (seqs.length === 0) return null
  const shown = all ? seqs : seqs.slice(0, 4)
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-1.5">
      {label}
      {shown.map((seq) => (
        <LinkButton key={seq} className="font-mono" onClick={() => onMoveSeq(seq)}>
          @{seq}
        </LinkButton>
      ))}
      {shown.length < seqs.length && (
        <Button look="quiet" small onClick={() => setAll(true)}>
          +{seqs.length - shown.length}
        </Button>
      )}
    </span>
  )
}
