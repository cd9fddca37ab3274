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
import { asInstantText, asName, asRow, asText, type Row } from '../shared/fields.ts'
import { type Link, Links } from '../shared/links.ts'
import { WORDS_OUTPUT, WORDS_SAID } from '../shared/words.ts'
import { BesideSession } from './beside-session.ts'
import type { Evidence } from './evidence.ts'
import { readMessage } from './message-rows.ts'
import { rowReaders } from './other-rows.ts'
import { Stretches } from './stretches.ts'
import { Tally } from './tally.ts'
import type { OpenCall } from './tool-calls.ts'
import { readMeta, type UnitMeta } from './unit-meta.ts'

/** Place and common fields of the row that is being read. */
interface RowPlace {
  readonly line: RawLine
  readonly at: string | null
  readonly id: string | null
  readonly link: Link | null
}

export type NewEvent = Pick<ReadEvent, 'kind' | 'summary'> & Partial<ReadEvent>

/**
 * Reads the transcript events of one session in file order (R30) and in fixed memory (B15). Every row is counted, a row that is not
 * understood is reported and kept. Rows depend on the lines only; what lies beside them (`BesideSession`) is evidence of the
 * configuration, and no event of it moves.
 */
export class OpenClawReader implements SessionReader {
  readonly unit: SessionUnit
  meta: UnitMeta
  readonly links = new Links()
  readonly stretches = new Stretches()
  readonly tally = new Tally()
  readonly beside: BesideSession
  readonly openCalls = new Map<string, OpenCall>()
  /** Calls that began a subagent whose session was not there yet, by the key of that session. */
  readonly spawned = new Map<string, number>()
  cwd: string | null = null
  #seq = 0
  #sink: RowSink | null = null
  #place: RowPlace | null = null

  constructor(unit: SessionUnit) {
    this.unit = unit
    this.meta = readMeta(unit)
    this.beside = new BesideSession(unit, this.meta)
  }

  get nextSeq(): number {
    return this.#seq + 1
  }

  get place(): RowPlace {
    if (this.#place === null) throw new Error('no row is being read')
    return this.#place
  }

  get sink(): RowSink {
    if (this.#sink === null) throw new Error('no row is being read')
    return this.#sink
  }

  get evidence(): Evidence {
    return this.stretches.enter(this.place.at, this.#cause, this.sink)
  }

  get #cause(): 'start' | 'fork' {
    return this.meta.reason === 'fork' ? 'fork' : 'start'
  }

  readLine(line: RawLine, sink: RowSink): void {
    this.#sink = sink
    const { tally } = this
    tally.rows++
    const row = asRow(line.value)
    const type = row === null ? '(no object)' : (asText(row.type) ?? '(no type)')
    tally.types.add(type)
    if (row === null) {
      this.unknown(line, type)
      return
    }
    const at = asInstantText(row.timestamp)
    tally.clock(at)
    if (type === 'session') {
      this.#place = { line, at, id: null, link: null }
      this.#readHeader(row)
      return
    }
    const id = asName(row.id)
    // A session read again after it was rewritten or moved into the database: what is known already counts once.
    if (id !== null && this.links.has(id)) {
      tally.repeatedRows++
      return
    }
    this.stretches.enter(at, this.#cause, sink)
    // A `leaf` is no message: what names it as its parent goes on from the row it points at (2026.9.6, source).
    const parent = type === 'leaf' ? (asName(row.targetId) ?? asName(row.parentId)) : asName(row.parentId)
    const link = id === null ? null : this.links.add(id, parent)
    this.#place = { line, at, id, link }
    this.#dispatch(type, row)
    this.stretches.passed(at)
    if (link !== null)
      for (const { seq, cut } of link.waiting)
        this.amend(seq, cut ? { brokenLink: false } : { brokenLink: false, parentSeq: this.links.eventOfRow(link.row) })
  }

  /** The title may change without a row, and a subagent's session may come after the call that began it. */
  readMeta(meta: Readonly<Record<string, unknown>>, sink: RowSink): void {
    this.meta = readMeta({ meta, session: this.unit.session })
    for (const [key, seq] of this.spawned) {
      const session = this.beside.sessionOf(key)
      if (session === null) continue
      this.spawned.delete(key)
      sink.amend(seq, { subagentSession: session })
    }
  }

  summary(): SessionSummary {
    const { tally, links, unit, meta, beside } = this
    const { versions, stretches } = beside.complete(this.stretches.all)
    return {
      session: unit.session,
      versions,
      workspaces: tally.workspaces.list(),
      models: tally.models.list(),
      agentTitle: tally.title ?? meta.title,
      firstPrompt: tally.firstPrompt,
      startedAt: tally.earliest,
      endedAt: tally.latest,
      rows: tally.rows,
      events: this.#seq,
      recordTypes: tally.types.counts(),
      tokens: tally.tokens,
      tokensAreLowerBound: tally.withoutUsage,
      conversation: tally.conversation,
      checkpoints: 0,
      openCalls: this.openCalls.size,
      failed: tally.failed,
      brokenLinks: links.brokenLinks,
      roots: links.roots,
      cyclesCut: links.cyclesCut,
      repeatedRows: tally.repeatedRows,
      clockStepsBack: tally.clockStepsBack,
      unknownRecords: tally.unknown.counts(),
      otherSessionIds: tally.sessions.list().filter((id) => id !== meta.sessionId),
      requests: null,
      stretches,
    }
  }

  /** Emits an event for the row that is being read. A part of a row leaves the row to its main event. */
  emit(event: NewEvent, as: 'row' | 'part' = 'row'): number {
    const { line, id, link, at } = this.place
    const seq = ++this.#seq
    this.sink.event({
      seq,
      id: id ?? `@${line.byte}`,
      parentSeq: link?.parentSeq ?? null,
      brokenLink: link?.broken ?? false,
      at,
      tool: null,
      toolUseId: null,
      ok: null,
      durationMs: null,
      effects: [],
      effectsState: 'not_applicable',
      tokens: null,
      model: null,
      lane: 'main',
      stretch: this.stretches.n,
      cwd: this.cwd,
      line: line.line,
      byte: line.byte,
      bytes: line.bytes,
      rowIds: as === 'row' ? this.#rowIds() : [],
      contentKey: null,
      messageId: null,
      originSession: null,
      subagentSession: null,
      ...event,
    })
    if (link !== null && as === 'row') this.links.setEvent(link.row, seq)
    return seq
  }

  /** An event that comes with the row of another one, which it hangs on. */
  emitPart(of: number, name: string, event: NewEvent): number {
    const { line, id } = this.place
    return this.emit({ id: `${id ?? `@${line.byte}`}/${name}`, parentSeq: of, brokenLink: false, ...event }, 'part')
  }

  amend(seq: number, change: EventChange): void {
    this.sink.amend(seq, change)
  }

  /** Lets the row that is being read belong to an event emitted before. */
  joinRow(seq: number, change: EventChange): void {
    const { line, link } = this.place
    this.amend(seq, {
      ...change,
      addLine: { line: line.line, byte: line.byte, bytes: line.bytes },
      addRowIds: this.#rowIds(),
    })
    if (link !== null) this.links.setEvent(link.row, seq)
  }

  words(seq: number, role: Parameters<RowSink['words']>[1], text: string): void {
    if (text === '') return
    const most = role === 'output' || role === 'input' || role === 'context' ? WORDS_OUTPUT : WORDS_SAID
    this.sink.words(seq, role, text.length > most ? text.slice(0, most) : text)
  }

  unknown(line: RawLine, type: string): void {
    this.tally.unknown.add(type)
    this.sink.unknownRecord(line, type)
  }

  /** Content key of something the row being read holds. */
  key(kind: string, ...parts: readonly unknown[]): string {
    return contentKey(kind, parts, this.cwd)
  }

  /**
   * Ids for the recognition of copied rows. Those of older versions have eight hex digits, which two sessions may well share; with the
   * time of the row they tell copies from chance.
   */
  #rowIds(): readonly string[] {
    const { id, at } = this.place
    if (id === null) return []
    return [id.length >= 16 ? id : `${id}@${at ?? ''}`]
  }

  #readHeader(row: Row): void {
    const { tally } = this
    const id = asName(row.id)
    if (id !== null) tally.sessions.add(id)
    const cwd = asName(row.cwd)
    if (cwd !== null) {
      this.cwd = cwd
      tally.workspaces.add(cwd)
    }
    const evidence = this.stretches.enter(
      this.place.at,
      asName(row.parentSession) === null ? this.#cause : 'fork',
      this.sink,
    )
    evidence.cwd ??= cwd
    evidence.set('format', typeof row.version === 'number' ? row.version : null)
  }

  #dispatch(type: string, row: Row): void {
    const read = type === 'message' ? readMessage : rowReaders[type]
    if (read !== undefined) read(this, row)
    else {
      this.unknown(this.place.line, type)
      this.emit({ kind: 'unknown', summary: type })
    }
  }
}
