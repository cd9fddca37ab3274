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
import { readAttachment } from './attachment-rows.ts'
import { isBookkeeping, readBookkeeping } from './bookkeeping-rows.ts'
import type { Backup } from './checkpoints.ts'
import type { ClaudeRecord, Evidence } from './evidence.ts'
import { Replies } from './reply-rows.ts'
import { Stretches } from './stretches.ts'
import { WORDS_OUTPUT, WORDS_SAID } from './summaries.ts'
import { readProgress, readSystemRow } from './system-rows.ts'
import { Tally } from './tally.ts'
import type { OpenCall } from './tool-calls.ts'
import { readUserRow } from './user-rows.ts'

/** Place and common fields of the row that is being read. */
export interface RowPlace {
  readonly line: RawLine
  readonly at: string | null
  readonly cwd: string | null
  readonly lane: 'main' | 'sidechain'
  readonly uuid: string | null
  readonly link: Link | null
}

export type NewEvent = Pick<ReadEvent, 'kind' | 'summary'> & Partial<ReadEvent>

const rowReaders: Readonly<Partial<Record<string, (reader: ClaudeReader, row: Row) => void>>> = {
  user: readUserRow,
  assistant: (reader, row) => reader.replies.read(reader, row),
  attachment: readAttachment,
  system: readSystemRow,
  progress: readProgress,
}

/**
 * Reads the rows of one session of Claude Code in file order (R30) and in fixed memory (B15): what grows with the file are tables of
 * ids and numbers only. Every row is counted, a row that is not understood is reported and kept; no row decides the fate of another.
 */
export class ClaudeReader implements SessionReader {
  readonly unit: SessionUnit
  readonly links = new Links()
  readonly stretches = new Stretches()
  readonly tally = new Tally()
  readonly replies = new Replies()
  readonly openCalls = new Map<string, OpenCall>()
  /** Tool definitions by their hash: a resumed start names a shape without writing it again. */
  readonly shapes = new Map<string, NonNullable<ClaudeRecord['shape']>>()
  /** File that the last finished call touched: what brings nested instructions in (runtime page 2.4). */
  lastTouched: string | null = null
  readonly #copies = new Set<string>()
  #seq = 0
  #cwd: string | null = null
  #sink: RowSink | null = null
  #place: RowPlace | null = null

  constructor(unit: SessionUnit) {
    this.unit = unit
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

  /** Evidence of every stretch that configuration seen now may belong to; none in a sidechain, which has its own. */
  get evidence(): readonly Evidence[] {
    return this.#place?.lane === 'sidechain' ? [] : this.stretches.recipients
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
    const uuid = asName(row.uuid)
    const at = asInstantText(row.timestamp)
    tally.clock(at)
    const session = asName(row.sessionId)
    if (session !== null) tally.sessions.add(session)
    // A program that did not see its own row wrote it again (wild fixtures, 2.1.12).
    if (uuid !== null && this.links.has(uuid)) {
      tally.repeatedRows++
      return
    }
    const version = asName(row.version)
    if (version !== null) tally.versions.add(version)
    const cwd = asName(row.cwd)
    if (cwd !== null) {
      this.#cwd = cwd
      tally.workspaces.add(cwd)
    }
    // In a subagent's own file every row is marked as a sidechain; there it is the conversation.
    const lane = row.isSidechain === true && this.unit.relation === null ? 'sidechain' : 'main'
    if (lane === 'main' && (uuid !== null || type === 'queue-operation')) {
      this.stretches.enter({ at, version, nextSeq: this.nextSeq }, sink)
    }
    const link = uuid === null ? null : this.links.add(uuid, asName(row.parentUuid))
    this.#place = { line, at, cwd: cwd ?? this.#cwd, lane, uuid, link }
    if (uuid !== null) this.#noteCommon(row, cwd)
    this.#dispatch(type, row)
    if (link !== null) this.#mend(link)
  }

  summary(): SessionSummary {
    const { tally, links, unit } = this
    const session = tally.sessionOf(unit)
    return {
      session,
      versions: tally.versions.list(),
      workspaces: tally.workspaces.list(),
      models: tally.models.list(),
      agentTitle: tally.title ?? tally.madeTitle ?? tally.oldTitle,
      firstPrompt: tally.firstPrompt ?? tally.firstCommand,
      startedAt: this.stretches.forkedAt ?? tally.earliest,
      endedAt: tally.latest,
      rows: tally.rows,
      events: this.#seq,
      recordTypes: tally.types.counts(),
      tokens: this.replies.tokens,
      tokensAreLowerBound: this.replies.tokensAreLowerBound,
      conversation: tally.conversation,
      checkpoints: tally.checkpoints,
      openCalls: this.openCalls.size,
      failed: tally.failed,
      brokenLinks: links.brokenLinks,
      roots: links.roots,
      cyclesCut: links.cyclesCut,
      repeatedRows: tally.repeatedRows,
      clockStepsBack: tally.clockStepsBack,
      unknownRecords: tally.unknown.counts(),
      otherSessionIds: unit.relation === null ? tally.sessions.list().filter((id) => id !== session) : [],
      requests: tally.types.counts()['api-request'] ?? null,
      stretches: this.stretches.toEvidence(unit.home, unit.session),
    }
  }

  /** Emits an event for the row that is being read; its links and place are filled in. A part of a row leaves the row to its main event. */
  emit(event: NewEvent, as: 'row' | 'part' = 'row'): number {
    const { line, uuid, link, at, lane, cwd } = this.place
    const seq = ++this.#seq
    this.sink.event({
      seq,
      id: uuid ?? `@${line.byte}`,
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
      lane,
      stretch: this.stretches.n,
      cwd,
      line: line.line,
      byte: line.byte,
      bytes: line.bytes,
      rowIds: uuid === null ? [] : [uuid],
      contentKey: null,
      messageId: null,
      originSession: null,
      subagentSession: null,
      ...event,
    })
    if (link !== null && as === 'row') this.links.setEvent(link.row, seq)
    return seq
  }

  /** Checkpoints name the same copies again and again; each is told once. */
  noteCopy({ name, path }: Backup): void {
    if (name === null || this.#copies.has(name)) return
    this.#copies.add(name)
    this.sink.copyOf?.(name, path)
  }

  amend(seq: number, change: EventChange): void {
    this.sink.amend(seq, change)
  }

  /** Lets the row that is being read belong to an event emitted before. */
  joinRow(seq: number, change: EventChange = {}): void {
    const { line, uuid, link } = this.place
    this.amend(seq, {
      ...change,
      addLine: { line: line.line, byte: line.byte, bytes: line.bytes },
      ...(uuid === null ? {} : { addRowIds: [uuid] }),
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
    return contentKey(kind, parts, this.place.cwd)
  }

  /** The conversation went on, or ended, well or not. */
  noteOutcome(failed: boolean): void {
    if (this.place.lane === 'main') this.tally.failed = failed
  }

  #dispatch(type: string, row: Row): void {
    const read = rowReaders[type]
    if (read !== undefined) read(this, row)
    else if (isBookkeeping(type)) readBookkeeping(this, type, row)
    else {
      this.unknown(this.place.line, type)
      this.emit({ kind: 'unknown', summary: type })
    }
  }

  #noteCommon(row: Row, cwd: string | null): void {
    const branch = asName(row.gitBranch)
    const entrypoint = asName(row.entrypoint)
    for (const evidence of this.evidence) {
      evidence.cwd ??= cwd
      evidence.branch ??= branch
      if (entrypoint !== null) evidence.set('entrypoint', entrypoint)
    }
  }

  #mend(link: Link): void {
    for (const { seq, cut } of link.waiting) {
      this.amend(seq, cut ? { brokenLink: false } : { brokenLink: false, parentSeq: this.links.eventOfRow(link.row) })
    }
  }
}
