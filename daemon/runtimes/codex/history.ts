import type { RawLine } from '../adapter.ts'
import { asList, asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import { settingsOf } from './evidence.ts'
import { partsOf } from './input-messages.ts'
import { type CodexRecord, readRecord } from './records.ts'
import { ReplySplitter } from './reply-splitter.ts'

/** One item of the history that the model is given, in the order it is given. */
export interface HistoryItem {
  readonly item: Row
  /** Its place in the history as the program counts it (0.171); null in versions that do not. */
  readonly sequence: number | null
  readonly ordinal: number | null
}

/** What the model had been given when a reply began. */
export interface ReplyStart {
  readonly line: number
  /** The history at that point is the beginning of this list, up to `length`. */
  readonly items: readonly HistoryItem[]
  readonly length: number
  /** Last place of the history that the model had seen, as the items of the reply say (0.171). */
  sampled: number | null
  /** The reply is the summary of a compaction: that request carries an instruction that no record holds (0.171). */
  compaction: boolean
}

/**
 * Follows the history of a thread record by record, with what takes things out of it again: compactions, turns that were taken back, a
 * revert. Memory is that of the history, which the model's window bounds.
 */
export class History {
  /** The reply that is being read, and the one before it. */
  last: ReplyStart | null = null
  before: ReplyStart | null = null
  /** Only ever added to; what takes something out makes a new list, so that older points stay as they are. */
  #items: HistoryItem[] = []
  /** Base instructions of the head, for models whose history does not begin with them. */
  base: string | null = null
  turn: Row = {}
  turnBefore: Row = {}
  /** Why the history cannot be whole. */
  readonly gaps = new Set<string>()
  readonly #splitter = new ReplySplitter()
  #thread: string | null = null

  /** The history as it is now. */
  get items(): readonly HistoryItem[] {
    return this.#items
  }

  add(line: RawLine): void {
    const record = readRecord(line.value)
    const step = this.#splitter.next(record)
    if (step?.starts === true) {
      this.before = this.last
      this.turnBefore = this.turn
      this.last = { line: line.line, items: this.#items, length: this.#items.length, sampled: null, compaction: false }
    }
    if (step !== null && this.last !== null) {
      // A compaction is asked for with the whole history, beyond what the last turn had been given.
      if (record.metadata?.compaction_output === true) this.last.compaction = true
      else this.last.sampled ??= asNumber(record.metadata?.sampled_through_sequence)
    }
    switch (record.kind) {
      case 'meta':
        this.#readMeta(record.payload)
        return
      case 'turn':
        this.turn = record.payload
        return
      case 'item':
        this.#addItems(record)
        return
      case 'compacted':
        this.#compact(record)
        return
      case 'event':
        if (record.payload.type === 'thread_rolled_back') this.#rollBack(asNumber(record.payload.num_turns) ?? 0)
    }
  }

  #readMeta(meta: Row): void {
    const id = asName(meta.id)
    const base = asRow(meta.history_base)
    const end = asNumber(base?.end_ordinal_exclusive)
    this.base ??= asText(asRow(meta.base_instructions)?.text)
    if (base !== null && end !== null) {
      if (base.thread_id === this.#thread && this.#items.length > 0)
        this.#items = this.#items.filter(({ ordinal }) => ordinal === null || ordinal < end)
      else
        this.gaps.add(
          `it goes on from thread ${asName(base.thread_id) ?? 'another thread'}, whose records are not in this one`,
        )
    }
    this.#thread ??= id
  }

  #addItems({ items, metadata, ordinal }: CodexRecord): void {
    const sent = items.filter(({ type }) => type !== 'ghost_snapshot')
    if (sent.length === 0) return
    const sequence = asNumber(metadata?.history_sequence)
    for (const item of sent) this.#items.push({ item, sequence, ordinal })
  }

  #compact({ payload, ordinal }: CodexRecord): void {
    const replaced = payload.replacement_history
    if (Array.isArray(replaced)) {
      const places = asList(payload.replacement_history_metadata)
      this.#items = replaced.flatMap((value, at): readonly HistoryItem[] => {
        const item = asRow(value)
        if (item === null) return []
        return [{ item, sequence: asNumber(asRow(places[at])?.history_sequence), ordinal }]
      })
      return
    }
    // Versions that do not write what they kept: what a person said and the summary.
    this.gaps.add('the record does not say what a compaction kept: the prompts before it and its summary are shown')
    const message = asText(payload.message) ?? ''
    const summary: HistoryItem = {
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: message }] },
      sequence: null,
      ordinal,
    }
    this.#items = [...this.#items.filter(({ item }) => item.type === 'message' && item.role === 'user'), summary]
  }

  #rollBack(turns: number): void {
    let at = this.#items.length
    for (let left = turns; left > 0 && at > 0; ) {
      at--
      const { item } = this.#items[at] ?? {}
      if (item !== undefined && isPrompt(item)) left--
    }
    this.#items = this.#items.slice(0, at)
  }
}

const isPrompt = (item: Row): boolean =>
  item.type === 'message' && item.role === 'user' && partsOf(item).some(({ what }) => what === 'user.text')

/** Settings that a request is known to have carried. */
export function parametersOf(turn: Row): { readonly model: string | null; readonly parameters: Row } {
  const { model, effort, summary } = settingsOf(turn)
  const reasoning = {
    ...(effort === null ? {} : { effort }),
    ...(summary === null || summary === 'none' ? {} : { summary }),
  }
  return { model, parameters: Object.keys(reasoning).length === 0 ? {} : { reasoning } }
}
