import { isUtf8 } from 'node:buffer'
import { createHash, type Hash } from 'node:crypto'
import { readSync } from 'node:fs'
import { asDigest, type Digest } from '../../contract/index.ts'
import type { RawLine } from '../runtimes/adapter.ts'
import { recoverRecords } from './recover-records.ts'

/**
 * Reads a file of one JSON object per line from a byte offset, in fixed memory whatever its size (B15). One bad line never hides the
 * others (B10): each is reported with its place, and what it still holds is delivered all the same.
 *
 * A line ends at LF. A last line without LF is a row when it is one complete object; otherwise it is an incomplete tail, which is not
 * consumed and is read again when the file has grown. Nothing is ever delivered twice: `cursor` remembers a line whose end was not seen.
 */
export interface LineCursor {
  /** Next byte to read. */
  readonly byte: number
  /** Lines begun so far. */
  readonly line: number
  /** The last line, when its row was delivered before its line end was there. */
  readonly open: { readonly byte: number; readonly records: number } | null
}

export interface UnreadableLine {
  readonly line: number
  readonly byte: number
  /** Without the line end. */
  readonly bytes: number
  readonly reason: string
  /** Complete records were recovered from it all the same. */
  readonly repaired: boolean
}

export interface LineSink {
  row(line: RawLine): void
  unreadable(report: UnreadableLine): void
}

/** One step of reading: the bytes it consumed, as they are in the file, and how they fall into lines. */
export interface LineBatch {
  /** A view that is valid until the next call. */
  readonly bytes: Uint8Array
  readonly firstByte: number
  /** Line that the first byte belongs to. */
  readonly firstLine: number
  /** True when the first line began in an earlier batch. */
  readonly continuesLine: boolean
  /** Bytes of each line, line end included. */
  readonly lineBytes: readonly number[]
  readonly rows: number
  readonly blank: number
}

export interface IncompleteTail {
  readonly line: number
  readonly byte: number
  readonly bytes: number
}

export interface LineReaderOptions {
  readonly from?: LineCursor
  /** Size of one read; a longer line is assembled. */
  readonly chunkBytes?: number
  /** Keep a SHA-256 over the consumed bytes, from `from` on. */
  readonly digest?: boolean
  /** Treat this offset as the end of the file: what was read before is read again, and no byte more. */
  readonly until?: number
}

const LF = 10
const CHUNK = 2 * 1024 * 1024
export const startOfFile: LineCursor = { byte: 0, line: 0, open: null }

export class LineReader {
  readonly #fd: number
  readonly #chunk: number
  readonly #hash: Hash | null
  readonly #until: number
  #buffer: Buffer
  /** Bytes in the buffer; those before `#done` are consumed. */
  #filled = 0
  #done = 0
  /** No LF before this place of the buffer. */
  #searched = 0
  #cursor: LineCursor
  #tail: IncompleteTail | null = null

  constructor(fd: number, options: LineReaderOptions = {}) {
    this.#fd = fd
    this.#chunk = Math.max(16, options.chunkBytes ?? CHUNK)
    this.#buffer = Buffer.allocUnsafe(this.#chunk)
    this.#hash = options.digest === true ? createHash('sha256') : null
    this.#cursor = options.from ?? startOfFile
    this.#until = options.until ?? Number.POSITIVE_INFINITY
  }

  get cursor(): LineCursor {
    return this.#cursor
  }

  /** The last line, when it was not consumed because it is no complete object yet. Meaningful once `readBatch` gave null. */
  get incompleteTail(): IncompleteTail | null {
    return this.#tail
  }

  /** Digest of the bytes consumed since `from`; null unless asked for. */
  digest(): Digest | null {
    return this.#hash === null ? null : asDigest(`sha256:${this.#hash.copy().digest('hex')}`)
  }

  /**
   * Delivers the lines of the next chunk. Null at the end of the file as it is now; a later call reads what was added since.
   * With `finished`, a last line that is no complete object is treated as a line: nobody will write on.
   */
  readBatch(sink: LineSink, options: { readonly finished?: boolean } = {}): LineBatch | null {
    this.#dropConsumed()
    this.#tail = null
    while (true) {
      const got = this.#fill()
      const end = this.#buffer.subarray(0, this.#filled).lastIndexOf(LF) + 1
      if (end > this.#searched) return this.#deliver(end, sink)
      this.#searched = this.#filled
      if (got === 0) return this.#atEnd(sink, options.finished === true)
    }
  }

  /** Reads once behind what is there; a full buffer without a line end grows, and goes back to its size when the line is done. */
  #fill(): number {
    if (this.#filled === this.#buffer.length) {
      const larger = Buffer.allocUnsafe(this.#buffer.length * 2)
      this.#buffer.copy(larger, 0, 0, this.#filled)
      this.#buffer = larger
    }
    const got = readSync(
      this.#fd,
      this.#buffer,
      this.#filled,
      Math.max(
        0,
        Math.min(this.#chunk, this.#buffer.length - this.#filled, this.#until - this.#cursor.byte - this.#filled),
      ),
      this.#cursor.byte + this.#filled,
    )
    this.#filled += got
    return got
  }

  #dropConsumed(): void {
    const left = this.#filled - this.#done
    if (this.#buffer.length > this.#chunk && left <= this.#chunk / 2) {
      const smaller = Buffer.allocUnsafe(this.#chunk)
      this.#buffer.copy(smaller, 0, this.#done, this.#filled)
      this.#buffer = smaller
    } else if (this.#done > 0) this.#buffer.copyWithin(0, this.#done, this.#filled)
    this.#filled = left
    this.#done = 0
    this.#searched = 0
  }

  #atEnd(sink: LineSink, finished: boolean): LineBatch | null {
    if (this.#filled === 0) return null
    const { open, byte, line } = this.#cursor
    const text = stripBom(this.#buffer.toString('utf8', 0, this.#filled), byte)
    const blank = text.trim() === ''
    const value = blank || !isUtf8(this.#buffer.subarray(0, this.#filled)) ? null : parseObject(text)
    // Blanks behind a row whose line end is not there yet wait for that line end.
    if (value !== null || (finished && !(blank && open !== null))) return this.#deliver(this.#filled, sink)
    if (!blank)
      this.#tail = {
        line: open === null ? line + 1 : line,
        byte: open?.byte ?? byte,
        bytes: byte + this.#filled - (open?.byte ?? byte),
      }
    return null
  }

  /** Consumes the buffer up to `end`: whole lines, and at most one line without its end at the end of the file. */
  #deliver(end: number, sink: LineSink): LineBatch {
    const buffer = this.#buffer
    const { byte: firstByte, line: before, open: openBefore } = this.#cursor
    const clean = isUtf8(buffer.subarray(0, end))
    const lineBytes: number[] = []
    const count = { rows: 0, blank: 0 }
    let line = before
    let open = openBefore
    let at = 0
    while (at < end) {
      const lf = buffer.indexOf(LF, at)
      const stop = lf === -1 || lf >= end ? end : lf
      if (open === null) line++
      const start = open?.byte ?? firstByte + at
      const records = this.#line({ at, stop, line, start, before: open?.records ?? 0, clean }, sink, count)
      const next = stop < end ? stop + 1 : end
      open = stop < end ? null : { byte: start, records }
      lineBytes.push(next - at)
      at = next
    }
    const bytes = buffer.subarray(0, end)
    this.#hash?.update(bytes)
    this.#done = end
    this.#cursor = { byte: firstByte + end, line, open }
    return {
      bytes,
      firstByte,
      firstLine: openBefore === null ? before + 1 : before,
      continuesLine: openBefore !== null,
      lineBytes,
      rows: count.rows,
      blank: count.blank,
    }
  }

  /** One line; gives the number of records it has delivered, those of an earlier batch included. */
  #line(
    place: { at: number; stop: number; line: number; start: number; before: number; clean: boolean },
    sink: LineSink,
    count: { rows: number; blank: number },
  ): number {
    const { at, stop, line, start, before } = place
    const offset = this.#cursor.byte
    const text = stripBom(this.#buffer.toString('utf8', at, stop), offset + at)
    const valid = place.clean || isUtf8(this.#buffer.subarray(at, stop))
    const whole = parseObject(text)
    const bytes = offset + stop - start
    if (whole !== null && before === 0) {
      const fromByte = offset + at
      sink.row({ line, byte: fromByte, bytes: stop - at, value: whole })
      count.rows++
      if (!valid) sink.unreadable({ line, byte: start, bytes, reason: 'not valid UTF-8', repaired: true })
      return 1
    }
    if (text.trim() === '') {
      if (before === 0) count.blank++
      return before
    }
    const found = recoverRecords(text)
    // Offsets of parts are only exact in valid UTF-8; else each part has the place of the line.
    let unit = 0
    let position = offset + stop - Buffer.byteLength(text)
    for (const { start: from, end: to, value } of found.records) {
      if (valid) {
        position += Buffer.byteLength(text.slice(unit, from))
        unit = from
      }
      sink.row({
        line,
        byte: valid ? position : start,
        bytes: valid ? Buffer.byteLength(text.slice(from, to)) : bytes,
        value,
      })
      count.rows++
    }
    const total = before + found.records.length
    sink.unreadable({ line, byte: start, bytes, reason: reasonOf(text, total, valid, found), repaired: total > 0 })
    return total
  }
}

function reasonOf(text: string, records: number, valid: boolean, found: ReturnType<typeof recoverRecords>): string {
  const parts: string[] = []
  if (records > 1) parts.push(`${records} objects on one line`)
  if (found.nulBytes) parts.push('NUL bytes')
  if (!valid) parts.push('not valid UTF-8')
  if (found.rest) parts.push(records === 0 ? whatElse(text) : 'text around the record is not JSON')
  if (found.gaveUp) parts.push('searched only in part')
  return parts.join(', ')
}

/** Names JSON that is no object; anything else is cut or damaged. */
function whatElse(text: string): string {
  try {
    const value: unknown = JSON.parse(text)
    return `JSON, but ${value === null ? 'null' : Array.isArray(value) ? 'an array' : `a ${typeof value}`} and not an object`
  } catch {
    return 'not JSON: cut or damaged'
  }
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

/** A byte order mark can only stand at the start of the file. */
function stripBom(text: string, byte: number): string {
  return byte === 0 && text.charCodeAt(0) === 0xfeff ? text.slice(1) : text
}

/** One line that is already in memory, with its original place: the same judgement as for a line of a file. */
export function readOneLine(
  place: { readonly line: number; readonly byte: number; readonly bytes: number; readonly text: Uint8Array },
  sink: LineSink,
): void {
  const { line, byte, text: raw } = place
  const buffer = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength)
  const bytes = place.bytes - (raw.at(-1) === LF ? 1 : 0)
  const valid = isUtf8(buffer)
  const text = stripBom(buffer.toString().replace(/\n$/, ''), byte)
  if (text.trim() === '') return
  const whole = parseObject(text)
  if (whole !== null) {
    sink.row({ line, byte, bytes, value: whole })
    if (!valid) sink.unreadable({ line, byte, bytes, reason: 'not valid UTF-8', repaired: true })
    return
  }
  const found = recoverRecords(text)
  for (const { value } of found.records) sink.row({ line, byte, bytes, value })
  sink.unreadable({
    line,
    byte,
    bytes,
    reason: reasonOf(text, found.records.length, valid, found),
    repaired: found.records.length > 0,
  })
}
