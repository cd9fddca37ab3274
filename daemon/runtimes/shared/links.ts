import { IdTable, NumberList } from '../../capture/id-table.ts'

/** Where a row hangs. */
export interface Link {
  readonly row: number
  /** Event of the nearest ancestor that is one. */
  readonly parentSeq: number | null
  /** It names a parent that no row before it has. */
  readonly broken: boolean
  /** Events that waited for this row as their parent; `cut` ones are above it already and stay without a parent. */
  readonly waiting: readonly { readonly seq: number; readonly cut: boolean }[]
}

const NONE = 0xffffffff
const nobody: Link['waiting'] = []

/**
 * The tree of rows by `uuid` and `parentUuid`. It is built from what was written, in file order, and never believed: a parent that is
 * missing leaves a broken link instead of hiding what comes after it, and a circle is cut (B11). Ids of other kinds of record
 * (`file-history-snapshot` repeats ids of messages) never come in here.
 */
export class Links {
  readonly #rows = new IdTable()
  readonly #parents = new NumberList()
  /** Event of each row, or that of its nearest ancestor: twice the sequence number, plus 1 when it is its own; 0 for none. */
  readonly #events = new NumberList()
  /** Rows that wait for a parent, by the id of the parent. Only broken links are in here. */
  readonly #waiting = new Map<string, number[]>()
  roots = 0
  brokenLinks = 0
  cyclesCut = 0

  has(uuid: string): boolean {
    return this.#rows.get(uuid) !== -1
  }

  add(uuid: string, parent: string | null): Link {
    const row = this.#parents.push(NONE)
    this.#rows.set(uuid, row)
    let broken = false
    let above = 0
    if (parent === null) this.roots++
    else if (parent === uuid) this.cyclesCut++
    else {
      const parentRow = this.#rows.get(parent)
      if (parentRow === -1) {
        broken = true
        this.#wait(parent, row)
      } else {
        this.#parents.set(row, parentRow)
        above = this.#events.get(parentRow) >>> 1
      }
    }
    this.#events.push(above * 2)
    return { row, parentSeq: above || null, broken, waiting: this.#mend(uuid, row) }
  }

  /** The event that a row became, or belongs to. */
  setEvent(row: number, seq: number): void {
    this.#events.set(row, seq * 2 + 1)
  }

  /** Event of the row with this id, or of its nearest ancestor. */
  eventOf(uuid: string): number | null {
    const row = this.#rows.get(uuid)
    return row === -1 ? null : this.eventOfRow(row)
  }

  eventOfRow(row: number): number | null {
    return this.#events.get(row) >>> 1 || null
  }

  #wait(parent: string, row: number): void {
    this.brokenLinks++
    const rows = this.#waiting.get(parent)
    if (rows === undefined) this.#waiting.set(parent, [row])
    else rows.push(row)
  }

  #mend(uuid: string, row: number): Link['waiting'] {
    const rows = this.#waiting.get(uuid)
    if (rows === undefined) return nobody
    this.#waiting.delete(uuid)
    const waiting: { seq: number; cut: boolean }[] = []
    for (const child of rows) {
      this.brokenLinks--
      const cut = this.#isAbove(child, row)
      if (cut) this.cyclesCut++
      else this.#parents.set(child, row)
      const event = this.#events.get(child)
      if (event % 2 === 1) waiting.push({ seq: event >>> 1, cut })
    }
    return waiting
  }

  #isAbove(above: number, row: number): boolean {
    for (let at = row; at !== NONE; at = this.#parents.get(at)) if (at === above) return true
    return false
  }
}
