import { type KeyboardEvent, type PointerEvent, useMemo, useRef, useState } from 'react'
import type { Output } from '../../contract/endpoints.ts'
import { words } from '../words/en.ts'
import { useSize } from './use-size.ts'

export type Ticks = Output<'runs.ticks'>

interface ScrubberProps {
  readonly ticks: Ticks
  /** Index into the ticks. */
  readonly index: number
  readonly onMove: (index: number) => void
  /** What the event at an index is, for the slider's text. */
  readonly nameOf: (index: number) => string
  /** Keys the scrubber shares with the list of events. */
  readonly onKey: (event: KeyboardEvent) => boolean
}

const HEIGHT = 30
const TOP = 9

/** Ticks of one pixel column are drawn as one: the tallest wins, so that a change or failure is never hidden by its neighbours. */
export function tickPaths(ticks: Ticks, width: number) {
  const count = ticks.seqs.length
  const columns = Math.max(1, Math.min(count, Math.floor(width / 3)))
  const place = (column: number) => ((column + 0.5) / columns) * width
  let plain = ''
  let tall = ''
  let hollow = ''
  let marks = ''
  for (let column = 0; column < columns; column += 1) {
    const from = Math.floor((column / columns) * count)
    const to = Math.max(from + 1, Math.floor(((column + 1) / columns) * count))
    let changed = false
    let failed = false
    let captured = true
    for (let index = from; index < to; index += 1) {
      if (ticks.changed[index] === true) changed = true
      if (ticks.failed[index] === true) failed = true
      if (ticks.captured[index] === false) captured = false
    }
    const x = place(column).toFixed(1)
    if (changed) tall += `M${x} ${TOP}V${HEIGHT}`
    else if (captured) plain += `M${x} ${TOP + 9}V${HEIGHT}`
    else hollow += `M${x} ${TOP + 9}V${HEIGHT}`
    if (failed) marks += `M${x} 1l3.5 6h-7z`
  }
  return { plain, tall, hollow, marks }
}

/** A run as ticks: tall changed something, a triangle failed, dotted was not captured. Dragging previews, releasing selects. */
export function Scrubber({ ticks, index, onMove, nameOf, onKey }: ScrubberProps) {
  const { ref, width } = useSize<HTMLDivElement>()
  const [preview, setPreview] = useState<number | null>(null)
  const dragging = useRef(false)
  const count = ticks.seqs.length
  const paths = useMemo(() => tickPaths(ticks, width), [ticks, width])
  const at = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * count)))
  }
  const x = (position: number) => ((position + 0.5) / Math.max(1, count)) * width
  const seq = ticks.seqs[index] ?? 0
  return (
    <div
      ref={ref}
      role="slider"
      tabIndex={0}
      data-keys="scrubber"
      data-region="scrubber"
      aria-label={words.run.scrubber}
      aria-valuemin={ticks.seqs[0] ?? 0}
      aria-valuemax={ticks.seqs[count - 1] ?? 0}
      aria-valuenow={seq}
      aria-valuetext={words.run.position(seq, ticks.seqs[count - 1] ?? count, nameOf(index))}
      className="relative min-w-0 flex-1 cursor-default touch-none rounded-chip select-none"
      style={{ height: HEIGHT }}
      onKeyDown={(event) => {
        if (onKey(event)) {
          event.preventDefault()
          event.stopPropagation()
        }
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId)
        dragging.current = true
        setPreview(at(event))
      }}
      onPointerMove={(event) => setPreview(at(event))}
      onPointerLeave={() => {
        if (!dragging.current) setPreview(null)
      }}
      onPointerUp={(event) => {
        dragging.current = false
        onMove(at(event))
        setPreview(null)
      }}
      onPointerCancel={() => {
        dragging.current = false
        setPreview(null)
      }}
    >
      {width > 0 && (
        <svg width={width} height={HEIGHT} aria-hidden="true" className="block">
          <line x1={0} x2={width} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} className="stroke-line" />
          <path d={paths.plain} className="fill-none stroke-line-strong" strokeWidth="1.5" />
          <path d={paths.hollow} className="fill-none stroke-line-strong" strokeWidth="1.5" strokeDasharray="2 2" />
          <path d={paths.tall} className="fill-none stroke-text-2" strokeWidth="2" />
          <path d={paths.marks} className="fill-danger" />
          {preview !== null && (
            <path d={`M${x(preview)} 0V${HEIGHT}`} className="stroke-text-3" strokeDasharray="3 2" />
          )}
          <path d={`M${x(index)} 0V${HEIGHT}`} className="stroke-accent" strokeWidth="2" />
          <path d={`M${x(index) - 4} ${HEIGHT}l4-5 4 5z`} className="fill-accent" />
        </svg>
      )}
      {preview !== null && (
        <span
          className="pointer-events-none absolute top-full z-30 mt-1 max-w-96 truncate rounded-chip bg-raised px-1.5 py-0.5 text-meta whitespace-nowrap text-text shadow-layer"
          style={preview > count / 2 ? { right: Math.max(0, width - x(preview)) } : { left: x(preview) }}
        >
          @{ticks.seqs[preview]} {nameOf(preview)}
        </span>
      )}
    </div>
  )
}
