/** Where a fork hangs on its parent: columns of the gutter beside the rows. Time runs downwards into the past. */
export interface LaneInput {
  readonly run: string | null
  /** Parent of a fork; null for everything else. */
  readonly forkOf: string | null
}

export interface Lane {
  /** Column of this row's own dot. */
  readonly column: number
  /** Columns whose line passes this row from top to bottom. */
  readonly through: readonly number[]
  /** Columns whose line ends here, at the dot: forks of this run, newer and above. */
  readonly joins: readonly number[]
  /** A line begins at this dot and goes on below. */
  readonly begins: boolean
}

const MOST = 4

/** A fork gets a column only while its parent is among the rows; otherwise words alone say whose fork it is. */
export function layLanes(rows: readonly LaneInput[]): { readonly lanes: readonly Lane[]; readonly columns: number } {
  const place = new Map<string, number>()
  rows.forEach((row, index) => {
    if (row.run !== null && !place.has(row.run)) place.set(row.run, index)
  })
  const open = new Map<number, string>() // column → run it leads to
  let columns = 1
  const lanes = rows.map((row, index): Lane => {
    const joins = row.run === null ? [] : [...open].flatMap(([column, parent]) => (parent === row.run ? [column] : []))
    for (const column of joins) open.delete(column)
    const parentAt = row.forkOf === null ? undefined : place.get(row.forkOf)
    // With every column taken, words alone say whose fork it is.
    const free = [1, 2, 3, 4].slice(0, MOST).find((column) => !open.has(column))
    const begins = parentAt !== undefined && parentAt > index && free !== undefined
    const column = begins ? free : 0
    const through = [...open.keys()].filter((other) => other !== column).sort((a, b) => a - b)
    if (begins && row.forkOf !== null) open.set(column, row.forkOf)
    columns = Math.max(columns, column + 1, ...joins.map((join) => join + 1))
    return { column, through, joins, begins }
  })
  return { lanes, columns }
}
