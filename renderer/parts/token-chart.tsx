import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import type { Tokens } from '../../contract/run.ts'
import { useView } from '../shell/view-state.ts'
import { words } from '../words/en.ts'
import { formatTokens } from './format.ts'
import { useSize } from './use-size.ts'

interface TokenChartProps {
  readonly replies: readonly { readonly seq: number; readonly tokens: Tokens }[]
  readonly onPick: (seq: number) => void
}

const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(`--color-${name}`).trim()

/** New input and output of each reply as bars; what came from a cache dwarfs them and stands in the table below. */
export default function TokenChart({ replies, onPick }: TokenChartProps) {
  const { ref, width } = useSize<HTMLDivElement>()
  const host = useRef<HTMLDivElement>(null)
  const theme = useView((view) => view.theme)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme changes the colours read below
  useEffect(() => {
    const parent = host.current
    if (parent === null || width === 0) return
    const axis = {
      stroke: token('text-3'),
      grid: { stroke: token('line'), width: 1 },
      ticks: { stroke: token('line'), width: 1 },
      font: '12px Inter Variable, system-ui',
    }
    const bars = uPlot.paths.bars?.({ size: [0.7, 12] })
    const withBars = bars === undefined ? {} : { paths: bars }
    const chart = new uPlot(
      {
        width,
        height: 160,
        cursor: { y: false },
        legend: { live: true },
        scales: { x: { time: false } },
        axes: [
          { ...axis, values: (_self, values) => values.map((value) => `@${value}`) },
          { ...axis, size: 56, values: (_self, values) => values.map((value) => formatTokens(value)) },
        ],
        series: [
          { label: words.run.usage.reply, value: (_self, value) => (value === null ? '' : `@${value}`) },
          {
            label: words.run.usage.input,
            stroke: token('heat-2'),
            fill: token('heat-2'),
            ...withBars,
            points: { show: false },
          },
          {
            label: words.run.usage.output,
            stroke: token('heat-5'),
            fill: token('heat-5'),
            ...withBars,
            points: { show: false },
          },
        ],
      },
      [
        replies.map((reply) => reply.seq),
        replies.map((reply) => reply.tokens.input + reply.tokens.cache_write + reply.tokens.output),
        replies.map((reply) => reply.tokens.output),
      ],
      parent,
    )
    const pick = () => {
      const at = chart.cursor.idx
      const reply = at == null ? undefined : replies[at]
      if (reply !== undefined) onPick(reply.seq)
    }
    chart.over.addEventListener('dblclick', pick)
    return () => chart.destroy()
  }, [replies, width, theme, onPick])
  return (
    <div ref={ref} className="chart-host">
      <div ref={host} />
    </div>
  )
}
