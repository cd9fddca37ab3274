import { RepriseError } from '../../contract/errors.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { type Generation, openState, type Part, sealState } from './archive-format.ts'
import {
  type Chunk,
  chunkOfPart,
  continueLine,
  lineLengths,
  PART_BYTES,
  type PackedPart,
  packParts,
  redactLines,
} from './archive-parts.ts'
import { findCutSecrets, newLineStreams } from './cut-secrets.ts'
import { ResumableSha256 } from './resumable-sha256.ts'
import type { ArchiveSlice } from './store.ts'

/** A last part below this is always joined with what follows, so that a live session does not leave a part per line. */
const SMALL_PART = 16 * 1024

export interface AppendRequest {
  readonly file: string
  readonly begin: Generation
  readonly slices: readonly ArchiveSlice[]
  readonly redactor: Redactor
  readonly hmacKey: Uint8Array
  readonly readStored: (part: number) => Promise<{ readonly content: Buffer; readonly part: Part }>
}

export interface AppendResult {
  readonly generation: Generation
  /** Parts that go out of the tree because a new one holds their lines. */
  readonly removed: readonly number[]
  readonly added: readonly { readonly number: number; readonly part: PackedPart }[]
}

export async function freshGeneration(generation: number, hmacKey: Uint8Array): Promise<Generation> {
  const hash = await ResumableSha256.start()
  const [digest, state] = [hash.digest(), hash.save()]
  hash.release()
  return {
    generation,
    lines: 0,
    bytes: 0,
    prefix_digest: `sha256:${digest}`,
    digest_state: sealState(state, hmacKey),
    open: false,
    parts: [],
  }
}

/**
 * What an append changes in the newest generation of one file; null when all of it is archived already. Bytes sent again are
 * recognised by their place and left out (an append whose answer was lost may be repeated); a gap is refused.
 */
export async function appendToGeneration(request: AppendRequest): Promise<AppendResult | null> {
  const { file, begin, redactor, hmacKey } = request
  const fresh = newBytes(file, begin, request.slices)
  if (fresh.length === 0) return null
  const lineBytes = lineLengths(fresh)
  const ends = fresh[fresh.length - 1] === 0x0a
  const parts = begin.parts.map(([number, stored]) => ({ number, stored }))
  const removed: number[] = []
  const earlier: Chunk[] = []
  let firstLine = begin.lines + 1
  let firstByte = begin.bytes

  const takeLast = async () => {
    const last = parts.pop()
    if (last === undefined) throw new RepriseError('damaged', `The archive of ${file} has lines but no part.`)
    const { content, part } = await request.readStored(last.number)
    removed.push(last.number)
    earlier.unshift(chunkOfPart(content, part))
    firstLine = part.first_line
    firstByte = part.first_byte
  }

  let rest = fresh
  if (begin.open) {
    await takeLast()
    const last = earlier.shift()
    const length = lineBytes.shift() ?? 0
    if (last !== undefined)
      earlier.unshift(continueLine(last, fresh.subarray(0, length), lineBytes.length > 0 || ends, redactor))
    rest = fresh.subarray(length)
  }
  const streams = newLineStreams()
  const last = parts[parts.length - 1]
  const stored = earlier[0]?.stored ?? (last === undefined ? null : (await request.readStored(last.number)).content)
  if (stored !== null) findCutSecrets(lastLines(stored), streams, redactor)
  const chunks = await redactLines(rest, lineBytes, !ends, redactor, streams)

  // Like carrying in a counter: equal sizes are joined, so each byte is written again a few times at most.
  const sizeOf = (all: readonly Chunk[]) => all.reduce((sum, { stored }) => sum + stored.length, 0)
  let size = sizeOf(earlier) + sizeOf(chunks)
  for (let last = parts[parts.length - 1]; last !== undefined; last = parts[parts.length - 1]) {
    if ((last.stored >= SMALL_PART && last.stored > size) || last.stored + size > PART_BYTES) break
    await takeLast()
    size += last.stored
  }

  const packed = packParts([...earlier, ...chunks], firstLine, firstByte)
  const firstNumber = (parts[parts.length - 1]?.number ?? -1) + 1
  const added = packed.map((part, index) => ({ number: firstNumber + index, part }))
  const taken = new Set(added.map(({ number }) => number))
  const hash = await ResumableSha256.resume(openState(begin.digest_state, hmacKey, file))
  for (let at = 0; at < fresh.length; at += 1 << 20) {
    hash.update(fresh.subarray(at, at + (1 << 20)))
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const [digest, state] = [hash.digest(), hash.save()]
  hash.release()
  return {
    generation: {
      generation: begin.generation,
      lines: begin.lines + lineBytes.length,
      bytes: begin.bytes + fresh.length,
      prefix_digest: `sha256:${digest}`,
      digest_state: sealState(state, hmacKey),
      open: !ends,
      parts: [...parts, ...added.map(({ number, part }) => ({ number, stored: part.size }))].map(
        ({ number, stored }) => [number, stored],
      ),
    },
    removed: removed.filter((number) => !taken.has(number)),
    added,
  }
}

/** Records that a secret may come from which goes on in the next one. */
const REMEMBERED = 128 * 1024

function lastLines(stored: Uint8Array): string {
  const from = Math.max(0, stored.length - REMEMBERED)
  const end = from === 0 ? -1 : stored.indexOf(0x0a, from)
  return Buffer.from(stored.subarray(end < 0 ? from : end + 1)).toString('latin1')
}

/** The bytes of the slices that follow what is archived. Throws `conflict` for a gap, TypeError for a slice that contradicts itself. */
function newBytes(file: string, begin: Generation, slices: readonly ArchiveSlice[]): Uint8Array {
  const pieces: Uint8Array[] = []
  let { bytes, lines, open } = begin
  for (const slice of slices) {
    const told = slice.lineBytes.reduce((sum, length) => sum + length, 0)
    const wrong = lineLengths(slice.bytes).findIndex((length, index) => slice.lineBytes[index] !== length)
    if (told !== slice.bytes.length || wrong >= 0) {
      throw new TypeError(`slice of ${file} from byte ${slice.firstByte}: lineBytes[${wrong}] does not match its bytes`)
    }
    if (slice.firstByte > bytes) {
      throw new RepriseError(
        'conflict',
        `${file} is archived up to byte ${bytes}; a slice from byte ${slice.firstByte} leaves a gap.`,
        'Send the bytes in between first.',
      )
    }
    const known = bytes - slice.firstByte
    if (known >= slice.bytes.length) continue
    if (known === 0 && slice.firstLine !== lines + (open ? 0 : 1)) {
      throw new TypeError(
        `slice of ${file} from byte ${slice.firstByte} begins with line ${slice.firstLine}, not ${lines + (open ? 0 : 1)}`,
      )
    }
    lines = slice.firstLine + slice.lineBytes.length - 1
    open = slice.bytes[slice.bytes.length - 1] !== 0x0a
    pieces.push(slice.bytes.subarray(known))
    bytes += slice.bytes.length - known
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces)
}
