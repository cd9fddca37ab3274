import type { Row } from '../shared/fields.ts'
import { asList, asName, asNumber, asRow, asText } from '../shared/fields.ts'
import { shortDigest } from './state-database.ts'

/** Where the row that another repeats stands; `session` null for the same session. */
export interface Original {
  readonly id: number
  readonly session: string | null
}

export interface Placed {
  /** The row begins what a compaction inserted: everything that was archived before it was archived then. */
  readonly startsBlock: boolean
  readonly isSummary: boolean
  readonly copyOf: Original | null
}

/** Rows inserted together stand microseconds apart; what people and models write does not. */
const INSERTED_TOGETHER = 0.005
const SUMMARY = '[CONTEXT COMPACTION'

interface Known {
  readonly id: number
  readonly archived: boolean
}

/**
 * Tells rows that a compaction inserted again from new ones (runtime page 7.3). Within a session the kept tail comes again as new rows
 * behind the archived ones, with the same call ids, shorter results and other times; a session that continues another begins with such
 * a tail of the other. Call ids alone prove nothing: some providers count from zero in every reply.
 *
 * A pure function of rows and their flags in the order of their ids, so that what was found for a row never changes as rows are added.
 */
export class Copies {
  readonly #known = new Map<string, Known>()
  /** Rows equal in everything, their time included: written twice by the program (seen in a rotated chain of 0.20.0). */
  readonly #exact = new Map<string, Known>()
  readonly #inherited: ReadonlyMap<string, number>
  readonly #parent: string | null
  /** Calls of the copied reply above: their results are copies too. */
  #copiedCalls = new Set<string>()
  #inBlock: boolean
  #lastArchived = false
  #lastTime: number | null = null

  /** `inherited`: first row of every key in the parent, for a session that begins with a copy of it. */
  constructor(parent: string | null = null, inherited: ReadonlyMap<string, number> = new Map()) {
    this.#parent = parent
    this.#inherited = inherited
    this.#inBlock = parent !== null
  }

  /** First row of every key so far. */
  get firstRows(): ReadonlyMap<string, number> {
    return new Map([...this.#known].map(([key, { id }]) => [key, id]))
  }

  place(row: Row, nextTime: number | null): Placed {
    const id = asNumber(row.id) ?? 0
    const time = asNumber(row.timestamp)
    const archived = isArchived(row)
    const isSummary = isSummaryRow(row)
    const key = keyOf(row)
    const exactKey = `${key}@${time}\n${shortDigest(asText(row.content) ?? '')}`
    const exact = this.#exact.get(exactKey)
    const known = this.#known.get(key)
    const besideNext = near(time, nextTime) || near(this.#lastTime, time)
    const afterArchived = this.#lastArchived && !archived
    const couldStart = isSummary || afterArchived || besideNext
    let copyOf: Original | null = null
    if (exact !== undefined) copyOf = { id: exact.id, session: null }
    else if (!isSummary) copyOf = this.#copyOf(row, key, known, couldStart)
    const startsBlock = !this.#inBlock && (isSummary || (copyOf !== null && row.role !== 'tool'))
    if (copyOf !== null || isSummary) this.#inBlock = true
    else if (row.role !== 'tool') this.#inBlock = false

    if (row.role === 'assistant')
      this.#copiedCalls = copyOf === null ? new Set() : new Set(callsOf(row).map(({ id }) => id))
    if (known === undefined || (copyOf === null && !known.archived)) this.#known.set(key, { id, archived })
    if (exact === undefined) this.#exact.set(exactKey, { id: copyOf?.session === null ? copyOf.id : id, archived })
    this.#lastArchived = archived
    this.#lastTime = time
    return { startsBlock, isSummary, copyOf }
  }

  #copyOf(row: Row, key: string, known: Known | undefined, couldStart: boolean): Original | null {
    const own = known?.archived ? { id: known.id, session: null } : null
    const before = this.#parent !== null && this.#inBlock ? this.#inherited.get(key) : undefined
    const original = own ?? (before === undefined ? null : { id: before, session: this.#parent })
    if (original === null) return null
    if (row.role === 'tool') return this.#copiedCalls.has(asName(row.tool_call_id) ?? '') ? original : null
    return this.#inBlock || couldStart || callsOf(row).length > 0 ? original : null
  }
}

export const isArchived = (row: Row): boolean => row.active === 0 && row.compacted === 1
export const isUndone = (row: Row): boolean => row.active === 0 && row.compacted !== 1

/** `_compressed_summary` of schema 30; before that only the text says so (0.20.0). */
export const isSummaryRow = (row: Row): boolean =>
  row._compressed_summary === 1 || (row.role !== 'tool' && (asText(row.content) ?? '').startsWith(SUMMARY))

export interface ToolCall {
  readonly id: string
  readonly name: string
  /** JSON text as it stands in the row. */
  readonly arguments: string
}

/** Calls of an assistant row; a column of JSON text, or the list itself in the other formats. */
export function callsOf(row: Row): readonly ToolCall[] {
  let list: unknown = row.tool_calls
  if (typeof list === 'string') {
    try {
      list = JSON.parse(list)
    } catch {
      return []
    }
  }
  return asList(list).flatMap((item, at) => {
    const call = asRow(item)
    const made = asRow(call?.function)
    const name = asName(made?.name) ?? asName(call?.name)
    if (call === null || name === null) return []
    const given = made?.arguments ?? call.arguments
    return [
      {
        id: asName(call.id) ?? asName(call.call_id) ?? `#${at}`,
        name,
        arguments: typeof given === 'string' ? given : JSON.stringify(given ?? {}),
      },
    ]
  })
}

/** What a row and its copy have in common: the calls, or else the words. */
function keyOf(row: Row): string {
  if (row.role === 'tool') return `tool ${asText(row.tool_call_id) ?? ''}`
  const calls = callsOf(row)
  if (calls.length > 0) return `calls ${shortDigest(JSON.stringify(calls))}`
  return `${asText(row.role) ?? ''} ${shortDigest(asText(row.content) ?? '')}`
}

const near = (a: number | null, b: number | null): boolean =>
  a !== null && b !== null && b - a >= 0 && b - a < INSERTED_TOGETHER
