/** One line of the result: what was measured, what the same work costs without us in the same run, and what we aim at. */
export interface Measured {
  readonly what: string
  readonly measured: string
  readonly baseline: string
  readonly ratio: string
  readonly aim: string
  /** Null where the aim is no number, or nothing could be measured. */
  readonly met: boolean | null
}

export function printTable(rows: readonly Measured[]): string {
  const head = ['what', 'measured', 'baseline in this run', 'ratio', 'aim', '']
  const body = rows.map((row) => [
    row.what,
    row.measured,
    row.baseline,
    row.ratio,
    row.aim,
    row.met === null ? '' : row.met ? 'met' : 'MISSED',
  ])
  const widths = head.map((title, n) => Math.max(title.length, ...body.map((row) => (row[n] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n')
}

export const mb = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`
export const perSecond = (bytes: number, ms: number): string => `${(bytes / 1e6 / (ms / 1_000)).toFixed(0)} MB/s`
export const ms = (value: number): string => `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`
