import { scaleTime } from 'd3-scale'
import { type KeyboardEvent, type PointerEvent, useMemo, useState } from 'react'
import type { TimelinePage } from '../../contract/timeline.ts'
import { words } from '../words/en.ts'
import { cx } from './classes.ts'
import { formatDay, formatNumber, formatStamp, formatTick } from './format.ts'
import { useSize } from './use-size.ts'

type Density = NonNullable<TimelinePage['density']>

interface HeatStripProps {
  readonly density: Density
  readonly zoomed: boolean
  readonly onZoom: (since: string, until: string) => void
  readonly onAll: () => void
}

const BARS = 30
const MARKS = 8
const AXIS = 14
const heatFill = ['fill-line', 'fill-heat-1', 'fill-heat-2', 'fill-heat-3', 'fill-heat-4', 'fill-heat-5'] as const

/** 0 for nothing, 1 to 5 by the logarithm: a busy minute must not make the rest of a month invisible. */
export function heatLevel(events: number, most: number): number {
  if (events <= 0 || most <= 0) return 0
  return Math.max(1, Math.min(5, Math.ceil((Math.log1p(events) / Math.log1p(most)) * 5)))
}

/** When things happened: height and tint are events, a triangle above a failure. Drag or two sliders zoom. */
export function HeatStrip({ density, zoomed, onZoom, onAll }: HeatStripProps) {
  const { ref, width } = useSize<HTMLDivElement>()
  const { buckets, since, until } = density
  const n = buckets.length
  const [chosen, setChosen] = useState<readonly [number, number] | null>(null)
  const [dragFrom, setDragFrom] = useState<number | null>(null)
  const [hover, setHover] = useState<number | null>(null)
  const most = useMemo(() => Math.max(0, ...buckets.map((bucket) => bucket.events)), [buckets])
  const step = n === 0 ? 0 : width / n
  const endOf = (index: number) => buckets[index + 1]?.at ?? until
  const ticks = useMemo(() => {
    const scale = scaleTime()
      .domain([new Date(since), new Date(until)])
      .range([0, width])
    return scale.ticks(Math.max(2, Math.floor(width / 140))).map((date) => ({ x: scale(date), text: formatTick(date) }))
  }, [since, until, width])

  const at = (event: PointerEvent) => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.max(0, Math.min(n - 1, Math.floor(((event.clientX - box.left) / Math.max(1, box.width)) * n)))
  }
  const zoomTo = (from: number, to: number) => {
    const first = buckets[Math.min(from, to)]
    if (first === undefined) return
    setChosen(null)
    onZoom(first.at, endOf(Math.max(from, to)))
  }
  const [from, to] = chosen ?? [0, Math.max(0, n - 1)]
  const thumbKey = (which: 0 | 1) => (event: KeyboardEvent) => {
    const big = event.key === 'PageUp' || event.key === 'PageDown' ? Math.max(1, Math.round(n / 10)) : 1
    const move =
      event.key === 'ArrowLeft' || event.key === 'PageDown'
        ? -big
        : event.key === 'ArrowRight' || event.key === 'PageUp'
          ? big
          : 0
    if (event.key === 'Enter') zoomTo(from, to)
    else if (event.key === 'Escape' && chosen !== null) setChosen(null)
    else if (event.key === 'Escape' && zoomed) onAll()
    else if (event.key === 'Home' && which === 0) setChosen([0, to])
    else if (event.key === 'End' && which === 1) setChosen([from, n - 1])
    else if (move !== 0)
      setChosen(
        which === 0 ? [Math.max(0, Math.min(to, from + move)), to] : [from, Math.min(n - 1, Math.max(from, to + move))],
      )
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const shown = hover === null ? undefined : buckets[hover]
  const selection =
    dragFrom !== null && hover !== null ? ([Math.min(dragFrom, hover), Math.max(dragFrom, hover)] as const) : chosen

  return (
    <div
      ref={ref}
      role="group"
      aria-label={words.heat.label}
      className="relative select-none"
      style={{ height: MARKS + BARS + AXIS }}
    >
      {n > 0 && width > 0 && (
        <>
          <svg
            width={width}
            height={MARKS + BARS + AXIS}
            className="block cursor-crosshair touch-none"
            aria-hidden="true"
            onPointerDown={(event) => {
              event.currentTarget.setPointerCapture(event.pointerId)
              setDragFrom(at(event))
              setHover(at(event))
            }}
            onPointerMove={(event) => setHover(at(event))}
            onPointerLeave={() => dragFrom === null && setHover(null)}
            onPointerUp={(event) => {
              const end = at(event)
              if (dragFrom !== null && Math.abs(end - dragFrom) >= 1) zoomTo(dragFrom, end)
              setDragFrom(null)
            }}
            onDoubleClick={onAll}
          >
            {selection !== null && (
              <rect
                x={selection[0] * step}
                y={0}
                width={(selection[1] - selection[0] + 1) * step}
                height={MARKS + BARS}
                className="fill-select-strong"
              />
            )}
            <line x1={0} x2={width} y1={MARKS + BARS + 0.5} y2={MARKS + BARS + 0.5} className="stroke-line" />
            {buckets.map((bucket, index) => {
              const level = heatLevel(bucket.events, most)
              if (level === 0) return null
              const height = Math.max(3, (Math.log1p(bucket.events) / Math.log1p(most)) * BARS)
              return (
                <rect
                  key={bucket.at}
                  x={index * step + 0.5}
                  y={MARKS + BARS - height}
                  width={Math.max(1, step - 1)}
                  height={height}
                  rx={step > 5 ? 1 : 0}
                  className={heatFill[level]}
                />
              )
            })}
            {buckets.map((bucket, index) =>
              bucket.failures > 0 ? (
                <path key={bucket.at} d={`M${index * step + step / 2} 1l3 5h-6z`} className="fill-danger" />
              ) : null,
            )}
            {hover !== null && dragFrom === null && (
              <rect x={hover * step} y={MARKS} width={step} height={BARS} className="fill-none stroke-text-3" />
            )}
            {ticks.map((tick) => (
              <text
                key={tick.x}
                x={Math.min(width - 2, Math.max(2, tick.x))}
                y={MARKS + BARS + 12}
                textAnchor={tick.x < 20 ? 'start' : tick.x > width - 30 ? 'end' : 'middle'}
                className="fill-text-3 text-[0.6875rem]"
              >
                {tick.text}
              </text>
            ))}
          </svg>
          {([0, 1] as const).map((which) => (
            <span
              key={which}
              role="slider"
              tabIndex={0}
              aria-label={which === 0 ? words.heat.from : words.heat.until}
              aria-valuemin={0}
              aria-valuemax={n - 1}
              aria-valuenow={which === 0 ? from : to}
              aria-valuetext={formatStamp(which === 0 ? (buckets[from]?.at ?? since) : endOf(to))}
              title={words.heat.zoom}
              onKeyDown={thumbKey(which)}
              className={cx(
                'pointer-events-none absolute top-1 w-2 rounded-chip bg-accent',
                chosen === null && 'opacity-0 focus:opacity-100',
              )}
              style={{
                height: MARKS + BARS - 4,
                left: Math.max(0, Math.min(width - 8, (which === 0 ? from : to + 1) * step - 4)),
              }}
            />
          ))}
          {shown !== undefined && (
            <span
              className="pointer-events-none absolute -bottom-5 z-20 rounded-chip bg-raised px-1.5 py-0.5 text-meta whitespace-nowrap text-text shadow-layer"
              style={hover !== null && hover > n / 2 ? { right: width - hover * step } : { left: (hover ?? 0) * step }}
            >
              {words.heat.bucket(formatStamp(shown.at), shown.events, shown.runs, shown.failures)}
            </span>
          )}
        </>
      )}
    </div>
  )
}

/** The same numbers to read. */
export function HeatTable({ density }: { readonly density: Density }) {
  const now = new Date()
  const filled = density.buckets.filter((bucket) => bucket.events > 0 || bucket.runs > 0 || bucket.failures > 0)
  return (
    <div className="max-h-44 overflow-y-auto rounded-control border border-line">
      <table className="w-full text-dense tabular-nums">
        <thead className="sticky top-0 bg-canvas text-left text-meta text-text-3">
          <tr>
            <th className="px-2 py-1 font-medium">{words.heat.table.at}</th>
            <th className="px-2 py-1 text-right font-medium">{words.heat.table.events}</th>
            <th className="px-2 py-1 text-right font-medium">{words.heat.table.runs}</th>
            <th className="px-2 py-1 text-right font-medium">{words.heat.table.failures}</th>
          </tr>
        </thead>
        <tbody>
          {filled.map((bucket) => (
            <tr key={bucket.at} className="border-t border-line">
              <td className="px-2 py-0.5">
                {formatDay(formatStamp(bucket.at).slice(0, 10), now)} {formatStamp(bucket.at).slice(11)}
              </td>
              <td className="px-2 py-0.5 text-right">{formatNumber(bucket.events)}</td>
              <td className="px-2 py-0.5 text-right">{formatNumber(bucket.runs)}</td>
              <td className="px-2 py-0.5 text-right">{formatNumber(bucket.failures)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
