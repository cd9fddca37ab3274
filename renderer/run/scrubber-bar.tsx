import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, Pause, Play, SkipBack, SkipForward } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import { IconButton } from '../parts/button.tsx'
import { cx } from '../parts/classes.ts'
import { Scrubber, type Ticks } from '../parts/scrubber.tsx'
import { words } from '../words/en.ts'
import { nextWhere } from './event-rows.ts'

const w = words.run
const speeds = [1, 4, 16] as const

interface ScrubberBarProps {
  readonly ticks: Ticks
  readonly index: number
  /** Digits typed so far, before Enter jumps. */
  readonly typed: string
  readonly onMove: (index: number) => void
  readonly nameOf: (index: number) => string
  readonly onKey: (event: KeyboardEvent) => boolean
  readonly running: boolean
  readonly follow: boolean
  readonly onFollow: (follow: boolean) => void
}

/** The point in the run, with buttons for what the keys do. */
export function ScrubberBar(props: ScrubberBarProps) {
  const { ticks, index, onMove } = props
  const count = ticks.seqs.length
  const [playing, setPlaying] = useState(false)
  const [speed, setSpeed] = useState<(typeof speeds)[number]>(1)
  const now = useRef({ index, onMove })
  now.current = { index, onMove }
  useEffect(() => {
    if (!playing) return
    const timer = setInterval(() => {
      if (now.current.index >= count - 1) setPlaying(false)
      else now.current.onMove(now.current.index + 1)
    }, 1000 / speed)
    return () => clearInterval(timer)
  }, [playing, speed, count])
  const icon = (label: string, Icon: typeof Play, target: number | null, wideOnly = false) => (
    <IconButton
      label={label}
      disabled={target === null || target === index || target < 0 || target >= count}
      className={wideOnly ? 'max-sm:hidden' : ''}
      onClick={() => target !== null && onMove(target)}
    >
      <Icon size={15} strokeWidth={1.75} aria-hidden="true" />
    </IconButton>
  )
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-x-1 border-t border-line px-2 py-1">
      {icon(w.first, ChevronFirst, 0, true)}
      {icon(w.previousChange, SkipBack, nextWhere(ticks.changed, index, -1), true)}
      {icon(w.previous, ChevronLeft, index - 1)}
      <div className="min-w-48 flex-1 px-1">
        <Scrubber
          ticks={ticks}
          index={index}
          onMove={onMove}
          nameOf={props.nameOf}
          onKey={(event) => {
            if (event.key === 'p') {
              setPlaying((on) => !on)
              return true
            }
            if (event.key === 'Escape') setPlaying(false)
            return props.onKey(event)
          }}
        />
      </div>
      {icon(w.next, ChevronRight, index + 1)}
      {icon(w.nextChange, SkipForward, nextWhere(ticks.changed, index, 1), true)}
      {icon(w.last, ChevronLast, count - 1, true)}
      <span
        className="min-w-20 text-center text-dense whitespace-nowrap text-text-2 tabular-nums"
        role={props.typed === '' ? undefined : 'status'}
      >
        {props.typed === '' ? w.of(ticks.seqs[index] ?? 0, ticks.seqs[count - 1] ?? count) : w.jump(props.typed)}
      </span>
      <IconButton label={playing ? w.pause : w.play} onClick={() => setPlaying(!playing)}>
        {playing ? (
          <Pause size={15} strokeWidth={1.75} aria-hidden="true" />
        ) : (
          <Play size={15} strokeWidth={1.75} aria-hidden="true" />
        )}
      </IconButton>
      <fieldset aria-label={w.speed} className="flex">
        {speeds.map((entry) => (
          <button
            key={entry}
            type="button"
            aria-pressed={speed === entry}
            onClick={() => setSpeed(entry)}
            className={cx(
              'h-6 min-w-6 rounded-chip px-1 text-meta tabular-nums hover:bg-hover max-sm:h-11',
              speed === entry ? 'font-semibold text-accent' : 'text-text-3',
            )}
          >
            {entry}×
          </button>
        ))}
      </fieldset>
      {props.running && (
        <button
          type="button"
          aria-pressed={props.follow}
          title={w.following}
          onClick={() => props.onFollow(!props.follow)}
          className={cx(
            'h-6 rounded-chip border px-2 text-meta',
            props.follow ? 'border-accent bg-select text-text' : 'border-line-strong text-text-2 hover:bg-hover',
          )}
        >
          {w.follow}
        </button>
      )}
    </div>
  )
}
