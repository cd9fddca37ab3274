import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type LineCursor, LineReader, startOfFile, type UnreadableLine } from '../../daemon/capture/line-reader.ts'
import {
  type EventChange,
  linesFrom,
  type ReadEvent,
  type RowSink,
  type RuntimeAdapter,
  type SessionReader,
  type SessionSummary,
  type SessionUnit,
} from '../../daemon/runtimes/adapter.ts'

/** An event as it stands after all amendments. */
export interface FinalEvent extends ReadEvent {
  readonly keys: readonly string[]
  readonly lines: readonly number[]
}

export interface SessionReading {
  readonly events: readonly FinalEvent[]
  readonly words: readonly { readonly seq: number; readonly role: string; readonly text: string }[]
  readonly stretches: readonly {
    readonly n: number
    readonly startedAt: string | null
    readonly cause: string
    readonly firstSeq: number
  }[]
  readonly unknown: readonly { readonly line: number; readonly type: string }[]
  readonly unreadable: readonly UnreadableLine[]
  readonly blank: number
  readonly cursor: LineCursor
  readonly summary: SessionSummary
}

/** Keeps what a reader says, as a store would. */
export class Collector implements RowSink {
  readonly events: FinalEvent[] = []
  readonly words_: { seq: number; role: string; text: string }[] = []
  readonly stretches: SessionReading['stretches'][number][] = []
  readonly unknown: { line: number; type: string }[] = []
  readonly unreadable: UnreadableLine[] = []

  event(event: ReadEvent): void {
    if (event.seq !== this.events.length + 1) throw new Error(`event ${event.seq} after ${this.events.length}`)
    this.events.push({ ...event, keys: event.contentKey === null ? [] : [event.contentKey], lines: [event.line] })
  }

  amend(seq: number, { addLine, addRowIds, addContentKey, ...change }: EventChange): void {
    const event = this.events[seq - 1]
    if (event === undefined) throw new Error(`no event ${seq} to amend`)
    this.events[seq - 1] = {
      ...event,
      ...change,
      lines: addLine === undefined ? event.lines : [...event.lines, addLine.line],
      rowIds: addRowIds === undefined ? event.rowIds : [...event.rowIds, ...addRowIds],
      keys: addContentKey === undefined ? event.keys : [...event.keys, addContentKey],
    }
  }

  words(seq: number, role: string, text: string): void {
    this.words_.push({ seq, role, text })
  }

  stretch(stretch: SessionReading['stretches'][number]): void {
    this.stretches.push(stretch)
  }

  unknownRecord(line: { readonly line: number }, type: string): void {
    this.unknown.push({ line: line.line, type })
  }
}

function drain(lines: LineReader, reader: SessionReader, collector: Collector): number {
  let blank = 0
  const sink = {
    row: (line: Parameters<SessionReader['readLine']>[0]) => reader.readLine(line, collector),
    unreadable: (report: UnreadableLine) => collector.unreadable.push(report),
  }
  for (let batch = lines.readBatch(sink); batch !== null; batch = lines.readBatch(sink)) blank += batch.blank
  return blank
}

function toReading(collector: Collector, blank: number, cursor: LineCursor, reader: SessionReader): SessionReading {
  const { events, words_: words, stretches, unknown, unreadable } = collector
  return { events, words, stretches, unknown, unreadable, blank, cursor, summary: reader.summary() }
}

/** What an adapter must have for its sessions to be read. */
export type ReadingAdapter = Pick<RuntimeAdapter, 'openReader' | 'writeLines'>

/** The lines of a session as capture sees them: the bytes of its file, or what `writeLines` gives where it is no plain file. */
export function contentOf(adapter: Pick<RuntimeAdapter, 'writeLines'>, unit: SessionUnit): Buffer {
  if (linesFrom(unit) === null) return readFileSync(unit.file)
  if (adapter.writeLines === undefined) throw new Error(`${unit.file} is no plain file, and nothing writes its lines`)
  const lines: string[] = []
  adapter.writeLines(unit, (line) => lines.push(`${line}\n`))
  return Buffer.from(lines.join(''))
}

/** Reads all lines of a session. */
export function readSession(adapter: ReadingAdapter, unit: SessionUnit, chunkBytes?: number): SessionReading {
  if (linesFrom(unit) === null) return readFile(adapter, unit, unit.file, chunkBytes)
  const scratch = mkdtempSync(join(tmpdir(), 'reprise-lines-'))
  try {
    const file = join(scratch, 'lines.jsonl')
    writeFileSync(file, contentOf(adapter, unit), { mode: 0o600 })
    return readFile(adapter, unit, file, chunkBytes)
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function readFile(adapter: ReadingAdapter, unit: SessionUnit, file: string, chunkBytes?: number): SessionReading {
  const collector = new Collector()
  const reader = adapter.openReader(unit)
  const fd = openSync(file, 'r')
  try {
    const lines = new LineReader(fd, chunkBytes === undefined ? {} : { chunkBytes })
    const blank = drain(lines, reader, collector)
    return toReading(collector, blank, lines.cursor, reader)
  } finally {
    closeSync(fd)
  }
}

/** Reads a file while it grows by `steps` bytes at a time, with a new line reader from the cursor after each step. */
export function readGrowing(
  adapter: Pick<RuntimeAdapter, 'openReader'>,
  unit: SessionUnit,
  content: Uint8Array,
  steps: () => number,
  scratch: string,
): SessionReading {
  const collector = new Collector()
  const file = join(scratch, 'growing.jsonl')
  const reader = adapter.openReader(unit)
  let cursor = startOfFile
  let blank = 0
  let size = 0
  while (size < content.length) {
    size = Math.min(content.length, size + Math.max(1, steps()))
    writeFileSync(file, content.subarray(0, size))
    const fd = openSync(file, 'r')
    try {
      const lines = new LineReader(fd, { from: cursor })
      blank += drain(lines, reader, collector)
      cursor = lines.cursor
    } finally {
      closeSync(fd)
    }
  }
  return toReading(collector, blank, cursor, reader)
}

/** A unit for a file that stands outside of any home. */
export function looseUnit(file: string, session: string, home = '/home/dev/.claude'): SessionUnit {
  return { home, session, parentSession: null, relation: null, file, sideFiles: [], meta: {} }
}

/** A small generator with a fixed seed, so that a failing cut can be found again. */
export function steadyRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}
