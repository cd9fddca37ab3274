import type { EventChange } from '../adapter.ts'
import { asName, asRow, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import type { CodexReader } from './reader.ts'
import { type CodexRecord, isDistinct, isFromModel, nameOfCall, thoughtsOf } from './records.ts'
import { type ReplyStep, saidByEvent } from './reply-splitter.ts'
import { readUsage } from './usage.ts'

interface LastReply {
  readonly seq: number
  readonly turn: string | null
  /** How much the summary says: 3 words, 2 names of calls, 1 only thinking. */
  rank: number
  calls: string[]
  hasTokens: boolean
}

/** What one record adds to a reply. */
interface Added {
  readonly answers: readonly string[]
  readonly thoughts: readonly string[]
  readonly calls: readonly string[]
  readonly id: string | null
}

/** Turns whose last reply is remembered, for records that are written after the next turn began. */
const TURNS = 64

/** Replies of the model: each is one event, however many records it stands on. */
export class Replies {
  #last: LastReply | null = null
  readonly #byTurn = new Map<string, number>()

  /** The last reply of a turn; null when it is not known. */
  lastOf(turn: string | null): number | null {
    return (turn === null ? undefined : this.#byTurn.get(turn)) ?? null
  }

  read(reader: CodexReader, step: ReplyStep): void {
    const { record, turn } = reader.place
    const added = addedBy(record)
    if (step.twin && this.#last !== null) {
      reader.join(this.#last.seq)
      return
    }
    reader.tally.conversation = true
    reader.tally.failed = false
    const content = [...added.answers, ...added.thoughts]
    const contentKey = content.length === 0 ? null : reader.key('reply', ...content)
    if (step.starts || this.#last === null) this.#begin(reader, added, contentKey, turn)
    else reader.join(this.#last.seq, this.#more(added, contentKey))
    const seq = this.#last?.seq ?? 0
    for (const text of added.answers) reader.words(seq, 'answer', text)
    for (const text of added.thoughts) reader.words(seq, 'thinking', text)
  }

  /** Usage of one response (0.171): it stands behind the items of its reply. */
  readUsage(reader: CodexReader, payload: Row): void {
    const thread = asName(payload.thread_id)
    if (thread !== null && thread !== reader.thread) return
    const tokens = readUsage(payload.usage)
    reader.tally.requests = (reader.tally.requests ?? 0) + 1
    if (tokens === null) return
    reader.usage.record(tokens)
    this.#giveTokens(reader, tokens)
  }

  /** A running total. Only where responses have no records of their own does it say what a reply used. */
  countTokens(reader: CodexReader, payload: Row): void {
    const info = asRow(payload.info)
    const tokens = info === null ? null : reader.usage.count(info)
    if (tokens !== null && reader.tally.requests === null) this.#giveTokens(reader, tokens)
  }

  #giveTokens(reader: CodexReader, tokens: NonNullable<ReturnType<typeof readUsage>>): void {
    if (this.#last === null || this.#last.hasTokens) return
    this.#last.hasTokens = true
    reader.amend(this.#last.seq, { tokens })
  }

  #begin(reader: CodexReader, added: Added, contentKey: string | null, turn: string | null): void {
    const { rank, summary } = summarise(added, [])
    const seq = reader.emit({
      ...(added.id === null ? {} : { id: added.id }),
      kind: 'model',
      summary,
      model: reader.model,
      contentKey,
      messageId: added.id !== null && isDistinct(added.id) ? added.id : null,
      rowIds: added.id !== null && isDistinct(added.id) ? [added.id] : [],
    })
    reader.spine = seq
    if (turn !== null) {
      this.#byTurn.set(turn, seq)
      if (this.#byTurn.size > TURNS) this.#byTurn.delete(this.#byTurn.keys().next().value ?? '')
    }
    this.#last = { seq, turn, rank, calls: [...added.calls], hasTokens: false }
  }

  #more(added: Added, contentKey: string | null): EventChange {
    const last = this.#last
    if (last === null) return {}
    const { rank, summary } = summarise(added, last.calls)
    last.calls.push(...added.calls)
    const better = rank > last.rank || (rank === 2 && last.rank === 2)
    last.rank = Math.max(last.rank, rank)
    return {
      ...(better ? { summary } : {}),
      ...(contentKey === null ? {} : { addContentKey: contentKey }),
      ...(added.id !== null && isDistinct(added.id) ? { addRowIds: [added.id] } : {}),
    }
  }
}

function addedBy(record: CodexRecord): Added {
  if (record.kind === 'event') {
    const said = saidByEvent(record.payload) ?? []
    return {
      answers: said.filter(({ kind }) => kind === 'answer').map(({ text }) => text),
      thoughts: said.filter(({ kind }) => kind === 'thought').map(({ text }) => text),
      calls: [],
      id: asName(asRow(record.payload.item)?.id),
    }
  }
  const items = record.items.filter(isFromModel)
  const messages = items.filter(({ type }) => type === 'message')
  const reasoning = items.filter(({ type }) => type === 'reasoning')
  const calls = items.filter(({ type }) => type !== 'message' && type !== 'reasoning')
  return {
    answers: messages.map(({ content }) => plainText(content)).filter((text) => text !== ''),
    thoughts: reasoning.flatMap(thoughtsOf),
    calls: calls.map(nameOfCall),
    id: asName(items[0]?.id),
  }
}

function summarise(added: Added, before: readonly string[]): { readonly rank: number; readonly summary: string } {
  const text = added.answers.join('\n')
  if (text.trim() !== '') return { rank: 3, summary: summaryOf(text) }
  if (added.calls.length > 0) return { rank: 2, summary: summaryOf(`calls ${[...before, ...added.calls].join(', ')}`) }
  return { rank: 1, summary: 'thinking' }
}
