import { IdTable } from '../../capture/id-table.ts'
import type {
  EventChange,
  RawLine,
  ReadEvent,
  RowSink,
  SessionReader,
  SessionSummary,
  SessionUnit,
} from '../adapter.ts'
import { contentKey } from '../shared/content-key.ts'
import { asName, asNames, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import { Names } from '../shared/names.ts'
import { Effects } from './effects.ts'
import { Evidence } from './evidence.ts'
import { readMessage } from './message-rows.ts'
import { readOtherRow } from './session-rows.ts'
import { instantOf } from './state-database.ts'
import { type Totals, totalsOf } from './totals.ts'
import { WORDS_OUTPUT, WORDS_SAID } from './words.ts'

export interface OpenCall {
  readonly seq: number
  readonly name: string
  readonly at: string | null
  readonly input: Row | null
}

export type NewEvent = Pick<ReadEvent, 'kind' | 'summary' | 'id'> & Partial<ReadEvent>

/**
 * Reads the lines of one session of Hermes in the order they are written (R30). Three forms come together here: what `writeLines` gives
 * for the database and for a snapshot, and the log of a chat gateway, whose rows are bare messages with times that name no zone.
 */
export class HermesReader implements SessionReader {
  readonly unit: SessionUnit
  readonly evidence = new Evidence()
  readonly effects: Effects
  readonly openCalls = new Map<string, OpenCall>()
  /** Seq of each delegating call and the moment it was made, for the subagents that name this session as their parent. */
  readonly delegations: { readonly seq: number; readonly at: string | null }[] = []
  /** Event that carries the totals of the session. */
  headSeq: number | null = null
  conversation = false
  failed = false
  firstPrompt: string | null = null
  /** Event of the compaction whose rows are being read. */
  compactSeq: number | null = null
  repeatedRows = 0
  lastSeq: number | null = null
  /** Parent of the reply that is being read: the prompt, or the reply before it. */
  readonly #seen = new IdTable()
  readonly #types = new Names()
  readonly #unknown = new Names()
  readonly #models = new Names()
  readonly #workspaces = new Names()
  #meta: Row
  #totals: Totals
  #title: string | null = null
  #rows = 0
  #seq = 0
  #requests = 0
  #earliest: string | null = null
  #latest: string | null = null
  #before: string | null = null
  #clockStepsBack = 0
  #stretched = false
  #line: RawLine | null = null
  #sink: RowSink | null = null

  constructor(unit: SessionUnit) {
    this.unit = unit
    this.effects = new Effects(unit.home)
    this.#meta = unit.meta
    this.#totals = totalsOf(unit.meta)
    this.#takeMeta()
  }

  get line(): RawLine {
    if (this.#line === null) throw new Error('no row is being read')
    return this.#line
  }

  get sink(): RowSink {
    if (this.#sink === null) throw new Error('no row is being read')
    return this.#sink
  }

  get totals(): Totals {
    return this.#totals
  }

  get meta(): Row {
    return this.#meta
  }

  get cwd(): string | null {
    return this.evidence.cwd
  }

  readLine(line: RawLine, sink: RowSink): void {
    this.#line = line
    this.#sink = sink
    this.#rows++
    const row = asRow(line.value)
    const type = row === null ? '(no object)' : typeOf(row)
    this.#types.add(type)
    if (row === null) {
      this.unknown(type)
      return
    }
    // A further generation of the same lines: the program changed a line that was there, the others are the same rows.
    const key = keyOf(row, type, line)
    if (key !== null && this.#seen.get(key) !== -1) {
      this.repeatedRows++
      return
    }
    if (key !== null) this.#seen.set(key, 0)
    if (isMessage(row, type)) readMessage(this, row)
    else if (!readOtherRow(this, row, type)) {
      this.unknown(type)
      this.emit({ kind: 'unknown', id: `@${line.byte}`, summary: type })
    }
  }

  readMeta(meta: Readonly<Record<string, unknown>>, sink: RowSink): void {
    this.#meta = meta
    this.#takeMeta()
    this.#totals = totalsOf(meta)
    if (this.headSeq === null) return
    // Always: a reader brought back after a restart told its rows to nobody, and what the index has may be older.
    sink.amend(this.headSeq, { tokens: this.#totals.tokens, summary: this.#totals.text })
    this.linkSubagents(sink)
  }

  /** The latest delegation made before a subagent began started it; nothing in the record says so in words (0.20.0). */
  linkSubagents(sink: RowSink): void {
    const children = Array.isArray(this.#meta.children) ? this.#meta.children : []
    for (const item of children) {
      const child = asRow(item)
      const session = asName(child?.session)
      const startedAt = instantOf(child?.started_at)
      if (session === null || startedAt === null) continue
      const call = this.delegations.findLast(({ at }) => at !== null && at <= startedAt)
      if (call !== undefined) sink.amend(call.seq, { subagentSession: session })
    }
  }

  summary(): SessionSummary {
    const { unit, evidence } = this
    const ended = instantOf(this.#meta.ended_at)
    return {
      session: unit.session,
      versions: [],
      workspaces: this.#workspaces.list(),
      models: this.#models.list(),
      agentTitle: this.#title,
      firstPrompt: this.firstPrompt,
      startedAt: evidence.startedAt ?? this.#earliest,
      endedAt: ended !== null && (this.#latest === null || ended > this.#latest) ? ended : this.#latest,
      rows: this.#rows,
      events: this.#seq,
      recordTypes: this.#types.counts(),
      tokens: this.#totals.tokens ?? { input: 0, output: 0, cache_read: 0, cache_write: 0 },
      // The counters are the program's own sums; calls it makes for itself are in them only as far as it wrote them down.
      tokensAreLowerBound: false,
      conversation: this.conversation,
      checkpoints: 0,
      openCalls: this.openCalls.size,
      failed: this.failed,
      brokenLinks: 0,
      roots: this.#seq > 0 ? 1 : 0,
      cyclesCut: 0,
      repeatedRows: this.repeatedRows,
      clockStepsBack: this.#clockStepsBack,
      unknownRecords: this.#unknown.counts(),
      otherSessionIds: [],
      requests: this.#requests,
      stretches: this.#stretched ? [evidence.toStretch(unit.home, unit.session)] : [],
    }
  }

  /** The one stretch begins with the first event: a resume leaves no sign in the database (0.20.0). */
  begin(startedAt: string | null): void {
    if (this.#stretched) return
    this.#stretched = true
    this.evidence.startedAt = startedAt
    this.sink.stretch({ n: 1, startedAt, cause: 'start', firstSeq: 1 })
  }

  /** Order is that of the rows; a time that steps back is counted and changes nothing (R30). */
  clock(at: string | null): void {
    if (at === null) return
    if (this.#before !== null && at < this.#before) this.#clockStepsBack++
    this.#before = at
    if (this.#earliest === null || at < this.#earliest) this.#earliest = at
    if (this.#latest === null || at > this.#latest) this.#latest = at
  }

  reply(): void {
    this.#requests++
    this.conversation = true
  }

  noteModel(model: string | null): void {
    if (model !== null) this.#models.add(model)
  }

  /** `place`: an event that is only part of the row being read leaves the row to its main event. */
  emit(event: NewEvent): number {
    this.begin(this.evidence.startedAt)
    const { line } = this
    const seq = ++this.#seq
    this.sink.event({
      seq,
      parentSeq: this.lastSeq,
      brokenLink: false,
      at: null,
      tool: null,
      toolUseId: null,
      ok: null,
      durationMs: null,
      effects: [],
      effectsState: 'not_applicable',
      tokens: null,
      model: null,
      lane: 'main',
      stretch: 1,
      cwd: this.cwd,
      line: line.line,
      byte: line.byte,
      bytes: line.bytes,
      rowIds: [],
      contentKey: null,
      messageId: null,
      originSession: null,
      subagentSession: null,
      ...event,
    })
    return seq
  }

  amend(seq: number, change: EventChange): void {
    this.sink.amend(seq, change)
  }

  joinRow(seq: number, change: EventChange = {}): void {
    const { line, byte, bytes } = this.line
    this.amend(seq, { ...change, addLine: { line, byte, bytes } })
  }

  words(seq: number, role: Parameters<RowSink['words']>[1], text: string): void {
    if (text === '') return
    const most = role === 'output' || role === 'input' || role === 'context' ? WORDS_OUTPUT : WORDS_SAID
    this.sink.words(seq, role, text.length > most ? text.slice(0, most) : text)
  }

  unknown(type: string): void {
    this.#unknown.add(type)
    this.sink.unknownRecord(this.line, type)
  }

  key(kind: string, ...parts: readonly unknown[]): string {
    return contentKey(kind, parts, this.cwd)
  }

  /** Id that a row keeps when another session copies it. */
  rowId(id: number | string, session: string = this.unit.session): string {
    return `hermes ${session} ${id}`
  }

  #takeMeta(): void {
    this.evidence.meta(this.#meta)
    const { cwd } = this.evidence
    if (cwd !== null && !this.#workspaces.has(cwd)) this.#workspaces.add(cwd)
    // A directory the session was moved to later is a further one, not the one it began in (R16).
    const now = asName(this.#meta.cwd)
    if (now !== null && !this.#workspaces.has(now)) this.#workspaces.add(now)
    this.#title = asName(this.#meta.title) ?? this.#title
    for (const model of [asName(this.#meta.model), ...asNames(asRow(this.#meta.usage)?.models)])
      if (model !== null && !this.#models.has(model)) this.#models.add(model)
  }
}

const typeOf = (row: Row): string => asText(row.row) ?? (asName(row.role) === null ? '(no type)' : 'message')

const isMessage = (row: Row, type: string): boolean =>
  type === 'message' && ['user', 'assistant', 'tool', 'system'].includes(asText(row.role) ?? '')

/** What makes a row the same row in another generation; null where only its place does. */
function keyOf(row: Row, type: string, { line }: RawLine): string | null {
  const id = asNumber(row.id)
  if (asText(row.row) === null) return null
  if (type === 'message') return id === null ? `line ${line}` : `message ${id}`
  if (type === 'session') return 'session'
  return `${type} ${JSON.stringify(row)}`
}
