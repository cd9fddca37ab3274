import { asName, asNames, asNumber, asRow, plainText, type Row } from '../shared/fields.ts'
import { type CodexRecord, isFromModel, thoughtsOf } from './records.ts'

/** What one record is for the replies of the model. */
export interface ReplyStep {
  /** A new reply begins with this record. */
  readonly starts: boolean
  /** Everything it says was said by a record before: answers and thoughts stand twice, as an item and as an event. */
  readonly twin: boolean
}

interface Said {
  readonly kind: 'answer' | 'thought'
  readonly text: string
  readonly source: 'item' | 'event'
}

/**
 * Tells where one reply of the model ends and the next begins. No record says so before 0.171; what holds in every version:
 *
 * - a reply is followed by something put in for the model: an output, a prompt, a compaction;
 * - items of one reply name the same last item that the model had seen (`sampled_through_sequence`, 0.171);
 * - a usage record closes a reply (0.171). Token counts do not: 0.41 writes them before the items they belong to.
 */
export class ReplySplitter {
  #open = false
  #sampled: number | null = null
  /** What the last reply said and has not been said a second time. */
  #said: Said[] = []

  /** Null when the record is no part of a reply. */
  next(record: CodexRecord): ReplyStep | null {
    switch (record.kind) {
      case 'item':
        return this.#items(record)
      case 'event':
        return this.#event(record.payload)
      case 'usage':
      case 'compacted':
      case 'meta':
        this.#open = false
        return null
      default:
        return null
    }
  }

  #items({ items, metadata }: CodexRecord): ReplyStep | null {
    const own = items.filter(isFromModel)
    if (own.length === 0) {
      this.#open = false
      return null
    }
    const sampled = asNumber(metadata?.sampled_through_sequence)
    if (sampled !== null && this.#sampled !== null && sampled !== this.#sampled) this.#open = false
    const said = own.flatMap((item): Said[] => {
      if (item.type === 'reasoning') return thoughtsOf(item).map((text) => ({ kind: 'thought', text, source: 'item' }))
      return item.type === 'message' ? [{ kind: 'answer', text: plainText(item.content), source: 'item' }] : []
    })
    const step = this.#add(
      said,
      own.every(({ type }) => type === 'message' || (type === 'reasoning' && said.length > 0)),
    )
    if (sampled !== null) this.#sampled = sampled
    return step
  }

  #event(payload: Row): ReplyStep | null {
    const said = saidByEvent(payload)
    if (said !== null) return said.length === 0 ? null : this.#add(said, true)
    switch (payload.type) {
      case 'user_message':
      case 'task_started':
      case 'turn_started':
      case 'task_complete':
      case 'turn_complete':
      case 'turn_aborted':
        this.#open = false
        return null
      case 'item_completed':
        if (asRow(payload.item)?.type === 'UserMessage') this.#open = false
        return null
      default:
        return null
    }
  }

  /** `only`: the record holds nothing but these texts, so it may be a repetition as a whole. */
  #add(said: readonly Said[], only: boolean): ReplyStep {
    const left = [...this.#said]
    const isKnown = ({ kind, text, source }: Said): boolean => {
      const at = left.findIndex((other) => other.kind === kind && other.source !== source && other.text === text)
      if (at === -1) return false
      left.splice(at, 1)
      return true
    }
    const fresh = said.filter((one) => !isKnown(one))
    if (only && said.length > 0 && fresh.length === 0) {
      // The second record of a reply may come when something else was written already.
      this.#said = left
      return { starts: false, twin: true }
    }
    const starts = !this.#open
    this.#said = starts ? [...fresh] : [...left, ...fresh]
    this.#open = true
    if (starts) this.#sampled = null
    return { starts, twin: false }
  }
}

/** What an event repeats of the model's words; null when it is about something else. */
export function saidByEvent(payload: Row): Said[] | null {
  const one = (kind: Said['kind'], text: string | null): Said[] =>
    text === null ? [] : [{ kind, text, source: 'event' }]
  switch (payload.type) {
    case 'agent_message':
      return one('answer', asName(payload.message))
    case 'agent_reasoning':
    case 'agent_reasoning_raw_content':
      return one('thought', asName(payload.text))
    case 'item_completed': {
      const item = asRow(payload.item)
      if (item?.type === 'AgentMessage') return one('answer', plainText(item.content))
      if (item?.type === 'Reasoning')
        return [...asNames(item.summary_text), ...asNames(item.raw_content)].flatMap((text) => one('thought', text))
      return null
    }
    default:
      return null
  }
}
