import type { Lane } from './lanes.ts'

export const COLUMN = 14
export const gutterWidth = (columns: number) => 14 + columns * COLUMN

interface GutterProps {
  readonly lane: Lane
  readonly columns: number
  readonly height: number
  /** What stands at the dot. */
  readonly mark: 'run' | 'failed' | 'running' | 'none'
}

const x = (column: number) => 14 + column * COLUMN

/** Lines of forks beside a row; words in the row say the same. */
export function Gutter({ lane, columns, height, mark }: GutterProps) {
  const middle = height / 2
  const dot = x(lane.column)
  return (
    <svg width={gutterWidth(columns)} height={height} aria-hidden="true" className="shrink-0">
      <g className="fill-none stroke-line-strong" strokeWidth="1.5">
        {lane.through.map((column) => (
          <path key={column} d={`M${x(column)} 0V${height}`} />
        ))}
        {lane.joins.map((column) => (
          <path
            key={column}
            d={`M${x(column)} 0C${x(column)} ${middle * 0.9} ${x(column)} ${middle} ${dot} ${middle}`}
          />
        ))}
        {lane.begins && <path d={`M${dot} ${middle}V${height}`} />}
      </g>
      {mark === 'run' && <circle cx={dot} cy={middle} r="3.5" className="fill-text-3" />}
      {mark === 'failed' && <circle cx={dot} cy={middle} r="3.5" className="fill-danger" />}
      {mark === 'running' && (
        <circle cx={dot} cy={middle} r="3.5" className="fill-surface stroke-accent" strokeWidth="2" />
      )}
    </svg>
  )
}
