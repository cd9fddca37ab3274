import { digestOfBytes } from '../manifest/canonical.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { coverCut } from '../secrets/secret-stream.ts'
import { ARCHIVE_VERSION, type Part } from './archive-format.ts'
import { findCutSecrets, type LineStreams, newLineStreams } from './cut-secrets.ts'

/** Redacted lines on their way into a part. */
export interface Chunk {
  readonly stored: Uint8Array
  readonly lines: number
  readonly bytes: number
  readonly redactions: number
  readonly changed: readonly (readonly [index: number, bytes: number])[]
}

export interface PackedPart {
  readonly content: readonly Uint8Array[]
  readonly size: number
  readonly about: Part
}

/** Parts stay below this, except one that holds a single longer line: the memory of a reader is bounded by it. */
export const PART_BYTES = 4 * 1024 * 1024
/** Redacted in one go; between two the event loop runs. */
const CHUNK_BYTES = 256 * 1024

/**
 * Redacts whole lines in chunks. `open`: the last line has no end and may go on in a later append.
 * Offsets of `lineBytes` are those of the original lines.
 */
export async function redactLines(
  bytes: Uint8Array,
  lineBytes: readonly number[],
  open: boolean,
  redactor: Redactor,
  streams: LineStreams = newLineStreams(),
): Promise<Chunk[]> {
  const chunks: Chunk[] = []
  let from = 0
  let first = 0
  while (first < lineBytes.length) {
    let size = 0
    let count = 0
    while (first + count < lineBytes.length && (count === 0 || size + (lineBytes[first + count] ?? 0) <= CHUNK_BYTES)) {
      size += lineBytes[first + count] ?? 0
      count += 1
    }
    const last = first + count === lineBytes.length
    chunks.push(
      redactChunk(
        bytes.subarray(from, from + size),
        lineBytes.slice(first, first + count),
        open && last,
        redactor,
        streams,
      ),
    )
    from += size
    first += count
    if (!last) await new Promise((resolve) => setImmediate(resolve))
  }
  return chunks
}

function redactChunk(
  bytes: Uint8Array,
  lineBytes: readonly number[],
  open: boolean,
  redactor: Redactor,
  streams: LineStreams,
): Chunk {
  const whole = coverCutBytes(bytes, streams, redactor)
  const found = redactor.redactBytes(whole.bytes, open)
  const stored = found.bytes
  const findings = found.findings + whole.findings
  const changed: [number, number][] = []
  if (findings > 0) {
    const lengths = lineLengths(stored)
    for (const [index, original] of lineBytes.entries())
      if (lengths[index] !== original) changed.push([index, original])
  }
  return { stored, lines: lineBytes.length, bytes: bytes.length, redactions: findings, changed }
}

/** What a border between two records cuts is covered first: neither side may show what it was. */
function coverCutBytes(
  bytes: Uint8Array,
  streams: LineStreams,
  redactor: Redactor,
): { readonly bytes: Uint8Array; readonly findings: number } {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const cut = findCutSecrets(text, streams, redactor)
  if (cut.length === 0) return { bytes, findings: 0 }
  const asBytes = cut.map((part) => ({ ...part, placeholder: inLatin1(part.placeholder) }))
  return { bytes: Buffer.from(coverCut(text, asBytes), 'latin1'), findings: cut.length }
}

/** The UTF-8 bytes of a placeholder, one character each; one that was found in latin1 has that form already. */
const inLatin1 = (placeholder: string): string =>
  placeholder.startsWith('\u2039') ? Buffer.from(placeholder, 'utf8').toString('latin1') : placeholder

/** Length of each line with its line end; a last line without one counts. */
export function lineLengths(bytes: Uint8Array): number[] {
  const lengths: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    const next = end < 0 ? bytes.length : end + 1
    lengths.push(next - at)
    at = next
  }
  return lengths
}

/** Packs chunks one after the other into parts. */
export function packParts(chunks: readonly Chunk[], firstLine: number, firstByte: number): PackedPart[] {
  const parts: PackedPart[] = []
  let line = firstLine
  let byte = firstByte
  let group: Chunk[] = []
  let size = 0
  const emit = () => {
    if (group.length === 0) return
    const part = joinChunks(group, line, byte)
    parts.push(part)
    line += part.about.lines
    byte += part.about.bytes
    group = []
    size = 0
  }
  for (const chunk of chunks) {
    if (size > 0 && size + chunk.stored.length > PART_BYTES) emit()
    group.push(chunk)
    size += chunk.stored.length
  }
  emit()
  return parts
}

function joinChunks(chunks: readonly Chunk[], firstLine: number, firstByte: number): PackedPart {
  const changed: [number, number][] = []
  let lines = 0
  let bytes = 0
  let redactions = 0
  for (const chunk of chunks) {
    for (const [index, length] of chunk.changed) changed.push([lines + index, length])
    lines += chunk.lines
    bytes += chunk.bytes
    redactions += chunk.redactions
  }
  const content = chunks.map(({ stored }) => stored)
  const whole = content.length === 1 && content[0] !== undefined ? content[0] : Buffer.concat(content)
  return {
    content: [whole],
    size: whole.length,
    about: {
      v: ARCHIVE_VERSION,
      first_line: firstLine,
      first_byte: firstByte,
      lines,
      bytes,
      stored_digest: digestOfBytes(whole),
      redactions,
      changed,
    },
  }
}

/** A stored part as a chunk, to be joined with what follows it. */
export const chunkOfPart = (content: Uint8Array, about: Part): Chunk => ({
  stored: content,
  lines: about.lines,
  bytes: about.bytes,
  redactions: about.redactions,
  changed: about.changed,
})

const HELD = /\u00e2\u0080\u00b9secret:([a-z0-9-]{1,40}):[0-9a-f]{8}\u00e2\u0080\u00ba$/

/**
 * Goes on with a line that had no end. What is stored of it is redacted already; a key cut by the border is covered up to where it
 * ends, and the joined line is searched again, as neither half may have shown what it was.
 */
export function continueLine(last: Chunk, rest: Uint8Array, restEnds: boolean, redactor: Redactor): Chunk {
  const start = last.stored.lastIndexOf(0x0a) + 1
  const head = last.stored.subarray(start)
  const headText = Buffer.from(head).toString('latin1')
  let tail = rest
  let redactions = last.redactions
  const held = HELD.exec(headText)
  if (held !== null) {
    const text = Buffer.from(rest).toString('latin1')
    const goesOn = held[1] === 'private-key' ? /^(?:[A-Za-z0-9+/= :,.-]|\\+[nrt])*/ : /^[A-Za-z0-9_.+/=%~-]*/
    const length = goesOn.exec(text)?.[0].length ?? 0
    tail = rest.subarray(length)
  }
  const { bytes: joined, findings } = redactor.redactBytes(Buffer.concat([head, tail]), !restEnds)
  redactions += findings
  const index = last.lines - 1
  const before = last.changed.find(([at]) => at === index)?.[1] ?? head.length
  const original = before + rest.length
  const changed: (readonly [number, number])[] = last.changed.filter(([at]) => at !== index)
  if (joined.length !== original) changed.push([index, original])
  return {
    stored: Buffer.concat([last.stored.subarray(0, start), joined]),
    lines: last.lines,
    bytes: last.bytes + rest.length,
    redactions,
    changed,
  }
}
