import { useVirtualizer } from '@tanstack/react-virtual'
import { ChevronRight, FileWarning } from 'lucide-react'
import { useEffect, useMemo, useRef } from 'react'
import type { RunEvent, Unreadable } from '../../contract/run.ts'
import { LinkButton } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { formatClock } from '../parts/format.ts'
import { EffectCount } from '../parts/marks.tsx'
import type { Ticks } from '../parts/scrubber.tsx'
import { useRead } from '../transport/queries.ts'
import { words } from '../words/en.ts'
import { PartView, withKeys } from './part-view.tsx'
import type { RunDetails } from './run-screen.tsx'
import { useAllEvents, type useRunEvents } from './use-run-events.ts'

const w = words.run

type Turn =
  | { readonly type: 'event'; readonly index: number; readonly seq: number; readonly kind: string }
  | { readonly type: 'unreadable'; readonly line: Unreadable }

/** Turns in file order; an unreadable line stands where it stands in the file. */
export function toTurns(
  ticks: Ticks,
  unreadable: readonly Unreadable[],
  lineOf: ((seq: number) => number | null) | null,
): readonly Turn[] {
  const turns: Turn[] = []
  const waiting = [...unreadable].sort((a, b) => a.line - b.line)
  const flush = (until: number) => {
    for (let next = waiting[0]; next !== undefined && next.line < until; next = waiting[0]) {
      turns.push({ type: 'unreadable', line: next })
      waiting.shift()
    }
  }
  ticks.seqs.forEach((seq, index) => {
    const line = lineOf?.(seq)
    if (line != null) flush(line)
    turns.push({ type: 'event', index, seq, kind: ticks.kinds[index] ?? 'unknown' })
  })
  flush(Number.POSITIVE_INFINITY)
  return turns
}

interface TranscriptTabProps {
  readonly details: RunDetails
  readonly ticks: Ticks
  readonly events: ReturnType<typeof useRunEvents>
  readonly index: number
  readonly onMove: (index: number) => void
}

/** The conversation to read: each turn leads to its event, nothing is left out. */
export function TranscriptTab({ details, ticks, events, index, onMove }: TranscriptTabProps) {
  const { run, unreadable } = details
  const scroller = useRef<HTMLDivElement>(null)
  const all = useAllEvents(run.id, ticks.seqs.length, unreadable.length > 0)
  const turns = useMemo(() => {
    if (unreadable.length === 0) return toTurns(ticks, [], null)
    const lines = new Map(all.events?.map((event) => [event.seq, event.line]))
    return toTurns(ticks, unreadable, (seq) => lines.get(seq) ?? null)
  }, [ticks, unreadable, all.events])
  const virtualizer = useVirtualizer({
    count: turns.length,
    getScrollElement: () => scroller.current,
    estimateSize: (at) => {
      const turn = turns[at]
      return turn?.type === 'event' && (turn.kind === 'prompt' || turn.kind === 'model') ? 140 : 32
    },
    getItemKey: (at) => {
      const turn = turns[at]
      return turn === undefined ? at : turn.type === 'event' ? turn.seq : `line:${turn.line.path}:${turn.line.byte}`
    },
    overscan: 4,
  })
  const items = virtualizer.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items[items.length - 1]?.index ?? 0
  const { want } = events
  useEffect(() => {
    const seen = turns.slice(first, last + 1).flatMap((turn) => (turn.type === 'event' ? [turn.index] : []))
    want(seen[0] ?? 0, seen[seen.length - 1] ?? 0)
  }, [first, last, turns, want])
  // Moving the point elsewhere brings its turn into view; scrolling does not move the point.
  const shownIndex = useRef(-1)
  useEffect(() => {
    if (shownIndex.current === index) return
    shownIndex.current = index
    const at = turns.findIndex((turn) => turn.type === 'event' && turn.index === index)
    if (at >= 0) virtualizer.scrollToIndex(at, { align: 'center' })
  }, [index, turns, virtualizer])
  return (
    <div
      ref={scroller}
      data-region="list"
      role="feed"
      aria-label={w.transcriptLabel}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto [overflow-anchor:none]"
    >
      <div className="relative mx-auto max-w-[46rem]" style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => {
          const turn = turns[item.index]
          if (turn === undefined) return null
          return (
            <div
              key={item.key}
              ref={virtualizer.measureElement}
              data-index={item.index}
              className="absolute top-0 left-0 w-full"
              style={{ transform: `translateY(${item.start}px)` }}
            >
              {turn.type === 'unreadable' ? (
                <UnreadableBlock line={turn.line} />
              ) : (
                <TurnView
                  run={run.id}
                  seq={turn.seq}
                  kind={turn.kind}
                  event={events.bySeq.get(turn.seq)}
                  current={turn.index === index}
                  onOpen={() => onMove(turn.index)}
                />
              )}
            </div>
          )
        })}
      </div>
    </div>
  )
}

function UnreadableBlock({ line }: { readonly line: Unreadable }) {
  return (
    <article
      aria-label={w.unreadableTitle}
      className="mx-4 my-1 flex items-center gap-2 rounded-control bg-sunken px-3 py-1.5 text-dense text-text-2"
    >
      <FileWarning size={14} strokeWidth={1.75} className="shrink-0 text-warn" aria-hidden="true" />
      <span>
        {w.unreadableBlock(line.line, line.bytes, line.reason)}
        {line.repaired && `; ${w.repaired}`}
      </span>
    </article>
  )
}

interface TurnViewProps {
  readonly run: string
  readonly seq: number
  readonly kind: string
  readonly event: RunEvent | undefined
  readonly current: boolean
  readonly onOpen: () => void
}

const spoken = new Set(['prompt', 'model', 'compact'])

function TurnView({ run, seq, kind, event, current, onOpen }: TurnViewProps) {
  const jump = (
    <LinkButton className="shrink-0 font-mono text-[0.75rem]" onClick={onOpen}>
      @{seq}
    </LinkButton>
  )
  if (!spoken.has(kind))
    return (
      <article className={cx('flex min-h-8 items-center gap-2 px-4 text-dense', current && 'bg-select')}>
        <span className="w-12 shrink-0 text-right">{jump}</span>
        {event === undefined ? (
          <span className="text-text-3">{w.loadingRow}</span>
        ) : (
          <>
            <span className="shrink-0 font-medium text-text-2">{event.tool ?? w.kinds[event.kind]}</span>
            <span className="min-w-0 flex-1 truncate font-mono text-[0.75rem] text-text-2">{event.summary}</span>
            <EffectCount
              effects={{
                added: event.effects.filter((effect) => effect.change === 'add').length,
                changed: event.effects.filter((effect) => effect.change === 'change' || effect.change === 'mode')
                  .length,
                deleted: event.effects.filter((effect) => effect.change === 'delete').length,
                unknown_calls: 0,
              }}
            />
            {event.ok === false && <span className="shrink-0 text-danger">{w.failed}</span>}
            {event.broken_link && <span className="shrink-0 text-warn">{w.brokenLink}</span>}
          </>
        )}
      </article>
    )
  return <Spoken run={run} seq={seq} kind={kind} event={event} current={current} jump={jump} />
}

function Spoken({
  run,
  seq,
  kind,
  event,
  current,
  jump,
}: Omit<TurnViewProps, 'onOpen'> & { readonly jump: React.ReactNode }) {
  const detail = useRead('runs.event', { run, seq })
  const parts =
    detail.data?.parts.filter(
      (part) => part.role === 'prompt' || part.role === 'text' || (part.role === 'context' && kind === 'compact'),
    ) ?? []
  const thinking = detail.data?.parts.filter((part) => part.role === 'thinking') ?? []
  const prompt = kind === 'prompt'
  return (
    <article
      aria-label={`${prompt ? w.roles.prompt : w.roles.model} @${seq}`}
      className={cx('px-4 py-3', prompt && 'my-1 rounded-card bg-canvas', current && 'bg-select')}
    >
      <header className="mb-1 flex items-baseline gap-2 text-meta text-text-3">
        <span className="w-12 shrink-0 text-right">{jump}</span>
        <span className={cx('font-semibold', prompt ? 'text-accent' : 'text-text-2')}>
          {kind === 'compact' ? w.roles.compact : prompt ? w.roles.prompt : w.roles.model}
        </span>
        {event?.model != null && <span>{event.model}</span>}
        {event?.at != null && <span className="tabular-nums">{formatClock(event.at)}</span>}
        {event?.broken_link === true && <span className="text-warn">{w.brokenLink}</span>}
      </header>
      <div className="space-y-2 pl-14 max-sm:pl-0">
        {thinking.length > 0 && (
          <details className="group">
            <summary className="flex cursor-default list-none items-center gap-1 rounded-chip text-dense text-text-2">
              <ChevronRight size={14} strokeWidth={1.75} className="group-open:rotate-90" aria-hidden="true" />
              {w.showThinking}
            </summary>
            {withKeys(thinking).map(({ part, key }) => (
              <PartView key={key} part={part} labelled={false} onWhole={() => undefined} />
            ))}
          </details>
        )}
        {detail.error !== null && <p className="text-dense text-danger">{detail.error.message}</p>}
        {detail.data === undefined && detail.error === null && (
          <p className="text-text-2">{event?.summary ?? w.loadingRow}</p>
        )}
        {withKeys(parts).map(({ part, key }) => (
          <PartView key={key} part={part} labelled={false} read onWhole={() => undefined} />
        ))}
        {detail.data !== undefined && parts.length === 0 && (
          <p className="text-dense text-text-2">
            {event?.summary === undefined || event.summary === '' ? w.emptyTurn : event.summary}
          </p>
        )}
      </div>
    </article>
  )
}
