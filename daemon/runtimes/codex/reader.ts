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
import { asName, type Row } from '../shared/fields.ts'
import { WORDS_OUTPUT, WORDS_SAID } from '../shared/words.ts'
import { Calls } from './calls.ts'
import { readEventMessage } from './event-rows.ts'
import type { Evidence } from './evidence.ts'
import { readItem } from './item-rows.ts'
import { Prompts } from './prompts.ts'
import { type CodexRecord, readRecord, recordId, turnOf } from './records.ts'
import { Replies } from './replies.ts'
import { ReplySplitter } from './reply-splitter.ts'
import { readCompaction, readMeta, readTurnContext, readWorldState } from './setting-rows.ts'
import { Stretches } from './stretches.ts'
import { Tally } from './tally.ts'
import { ThreadUsage } from './usage.ts'

export type NewEvent = Pick<ReadEvent, 'kind' | 'summary'> & Partial<ReadEvent>

interface RecordPlace {
  readonly line: RawLine
  readonly record: CodexRecord
  /** Turn the record belongs to, wherever it stands. */
  readonly turn: string | null
}

/**
 * Reads the records of one Codex thread in file order and in fixed memory (B15): what grows with the file are tables of ids and numbers.
 * Every record is counted; one that is not understood is reported and kept. Words that stand twice, as an item and as an event, are
 * read once.
 */
export class CodexReader implements SessionReader {
  readonly unit: SessionUnit
  readonly tally = new Tally()
  readonly stretches = new Stretches()
  readonly usage = new ThreadUsage()
  readonly splitter = new ReplySplitter()
  readonly replies = new Replies()
  readonly prompts = new Prompts()
  readonly calls = new Calls()
  /** The turn that was started last. */
  turn: string | null = null
  cwd: string | null = null
  model: string | null = null
  /** Settings of the last turn: a change of them is an event. */
  settings: Row | null = null
  /** Kind of start that the head names: in `exec` every turn is a process. */
  source: string | null = null
  paginated = false
  /** Prompt, answer or compaction that what comes next hangs on. */
  spine: number | null = null
  /** What the model is told of an interrupted turn, until the event that says why. */
  notice: { readonly seq: number; readonly turn: string | null } | null = null
  /** The last compaction, until the event that repeats it. */
  compaction: number | null = null
  readonly #ids = new IdTable()
  #seq = 0
  #sink: RowSink | null = null
  #place: RecordPlace | null = null
  #before = 0

  constructor(unit: SessionUnit) {
    this.unit = unit
  }

  get nextSeq(): number {
    return this.#seq + 1
  }

  get place(): RecordPlace {
    if (this.#place === null) throw new Error('no record is being read')
    return this.#place
  }

  get sink(): RowSink {
    if (this.#sink === null) throw new Error('no record is being read')
    return this.#sink
  }

  get evidence(): Evidence {
    const { current } = this.stretches
    if (current === null) throw new Error('no stretch has begun')
    return current
  }

  get thread(): string {
    return this.tally.threads.has(this.unit.session)
      ? this.unit.session
      : (this.tally.threads.list()[0] ?? this.unit.session)
  }

  readLine(line: RawLine, sink: RowSink): void {
    this.#sink = sink
    const record = readRecord(line.value)
    this.tally.rows++
    this.tally.types.add(record.type)
    this.tally.clock(record.at)
    this.#place = { line, record, turn: turnOf(record.payload) ?? this.turn }
    this.#before = this.#seq
    if (this.stretches.current === null && record.kind !== 'meta' && record.kind !== 'unknown')
      this.stretches.begin('start', record.at, 1, sink)
    this.#dispatch(record)
    this.#nameRecord(record)
  }

  summary(): SessionSummary {
    const { tally, unit, usage } = this
    return {
      session: this.thread,
      versions: tally.versions.list(),
      workspaces: tally.workspaces.list(),
      models: tally.models.list(),
      agentTitle: tally.title ?? asName(unit.meta.title),
      firstPrompt: tally.firstPrompt ?? tally.firstCommand,
      startedAt: tally.earliest,
      endedAt: tally.latest,
      rows: tally.rows,
      events: this.#seq,
      recordTypes: tally.types.counts(),
      tokens: usage.total,
      // Formats before 0.41 write no usage: what it cost is unknown, not nothing.
      tokensAreLowerBound: tally.conversation && !usage.isKnown,
      conversation: tally.conversation,
      checkpoints: tally.checkpoints,
      openCalls: this.calls.open,
      failed: tally.failed,
      brokenLinks: 0,
      roots: this.spine === null ? 0 : 1,
      cyclesCut: 0,
      repeatedRows: 0,
      clockStepsBack: tally.clockStepsBack,
      unknownRecords: tally.unknown.counts(),
      otherSessionIds: tally.threads.list().filter((id) => id !== this.thread),
      requests: tally.requests,
      stretches: this.stretches.toEvidence(unit.home, unit.session),
    }
  }

  /** Emits an event for the record that is being read. */
  emit(event: NewEvent): number {
    const { line, record, turn } = this.place
    const seq = ++this.#seq
    const byte = line.byte
    this.sink.event({
      seq,
      parentSeq: this.spine,
      brokenLink: false,
      at: record.at,
      tool: null,
      toolUseId: null,
      ok: null,
      durationMs: null,
      effects: [],
      effectsState: 'not_applicable',
      tokens: null,
      model: null,
      lane: 'main',
      stretch: this.stretches.stretchOf(turn),
      cwd: this.cwd,
      line: line.line,
      byte,
      bytes: line.bytes,
      rowIds: [],
      contentKey: null,
      messageId: null,
      originSession: null,
      subagentSession: null,
      ...event,
      id: this.#unique(event.id ?? `@${byte}`),
    })
    return seq
  }

  amend(seq: number, change: EventChange): void {
    this.sink.amend(seq, change)
  }

  /** Lets the record that is being read belong to an event emitted before. */
  join(seq: number, change: EventChange = {}): void {
    const { line } = this.place
    this.amend(seq, { ...change, addLine: { line: line.line, byte: line.byte, bytes: line.bytes } })
  }

  /** The program also notes a compaction as an item of its own. */
  joinCompaction(): void {
    if (this.compaction === null) this.emit({ kind: 'compact', summary: 'history was shortened' })
    else this.join(this.compaction)
    this.compaction = null
  }

  /** `words`: only the text for the model says so, and it counts where no record does. */
  enterDirectory(cwd: string, by: 'record' | 'words'): void {
    if (by === 'words' && this.cwd !== null) return
    this.cwd = cwd
    this.tally.workspaces.add(cwd)
    this.evidence.cwd ??= cwd
  }

  words(seq: number, role: Parameters<RowSink['words']>[1], text: string): void {
    if (text === '') return
    const most = role === 'output' || role === 'input' || role === 'context' ? WORDS_OUTPUT : WORDS_SAID
    this.sink.words(seq, role, text.length > most ? text.slice(0, most) : text)
  }

  /** Content key of something the record being read holds. */
  key(kind: string, ...parts: readonly unknown[]): string {
    return contentKey(kind, parts, this.cwd)
  }

  unknown(type: string): void {
    this.tally.unknown.add(type)
    this.sink.unknownRecord(this.place.line, type)
    this.emit({ kind: 'unknown', summary: type })
  }

  #dispatch(record: CodexRecord): void {
    const step = this.splitter.next(record)
    switch (record.kind) {
      case 'meta':
        readMeta(this, record.payload)
        return
      case 'turn':
        readTurnContext(this, record.payload)
        return
      case 'state':
        readWorldState(this, record.payload)
        return
      case 'item':
        if (step !== null) this.replies.read(this, step)
        for (const item of record.items) readItem(this, item)
        return
      case 'event':
        if (step !== null) this.replies.read(this, step)
        readEventMessage(this, record.payload, step !== null)
        return
      case 'compacted':
        readCompaction(this, record.payload)
        return
      case 'usage':
        this.replies.readUsage(this, record.payload)
        return
      case 'noise':
        return
      case 'unknown':
        this.unknown(record.type)
    }
  }

  /** Gives the record its identity, for forks that name it: to its own event, or to the one it follows. */
  #nameRecord({ ordinal }: CodexRecord): void {
    if (ordinal === null || this.#seq === 0) return
    const seq = this.#seq > this.#before ? this.#before + 1 : this.#seq
    this.amend(seq, { addRowIds: [recordId(this.thread, ordinal)] })
  }

  #unique(id: string): string {
    if (this.#ids.get(id) === -1) {
      this.#ids.set(id, 0)
      return id
    }
    // Some servers give their ids again and again.
    return this.#unique(`${id}@${this.place.line.byte}`)
  }
}
