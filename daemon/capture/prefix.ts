import { createHash } from 'node:crypto'
import { fstatSync, readSync } from 'node:fs'
import { asDigest, type Digest } from '../../contract/index.ts'

/**
 * Tells growth from rewriting (B12): an agent may replace its own transcript by a shorter or another one of the same name, in place or
 * by rename. Size and time cannot tell; the bytes we have read can. Windows at both ends of them answer at once, the digest of all of
 * them for certain.
 */
export interface PrefixFingerprint {
  /** Bytes of the file that were read. */
  readonly bytes: number
  /** SHA-256 of the first and of the last `WINDOW` of these bytes. */
  readonly head: Digest
  readonly tail: Digest
}

/** SHA-256 of all bytes that were read: a change between the windows that leaves the length as it was is seen, too. */
export interface PrefixDigest {
  readonly bytes: number
  readonly all: Digest
}

export type PrefixChange = 'same' | 'grew' | 'shrank' | 'rewritten'

const WINDOW = 64 * 1024
const CHUNK = 1024 * 1024

/** Fingerprint of the first `bytes` bytes; null when the file is shorter by now. */
export function fingerprintPrefix(fd: number, bytes: number): PrefixFingerprint | null {
  const window = Math.min(WINDOW, bytes)
  const head = digestRange(fd, 0, window)
  const tail = digestRange(fd, bytes - window, window)
  return head === null || tail === null ? null : { bytes, head, tail }
}

/** What became of a file whose first `known.bytes` bytes were read before. Looks at the two windows, or at all where that is known. */
export function comparePrefix(fd: number, known: PrefixFingerprint | PrefixDigest): PrefixChange {
  const { size } = fstatSync(fd)
  if (size < known.bytes) return 'shrank'
  if ('all' in known) {
    if (digestPrefix(fd, known.bytes) !== known.all) return 'rewritten'
    return size > known.bytes ? 'grew' : 'same'
  }
  const now = fingerprintPrefix(fd, known.bytes)
  if (now === null) return 'shrank'
  if (now.head !== known.head || now.tail !== known.tail) return 'rewritten'
  return size > known.bytes ? 'grew' : 'same'
}

/** SHA-256 of the first `bytes` bytes, all of them read; null when the file is shorter. */
export function digestPrefix(fd: number, bytes: number): Digest | null {
  return digestRange(fd, 0, bytes)
}

/** SHA-256 of bytes in memory. */
export function digestOf(bytes: Uint8Array): Digest {
  return asDigest(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
}

function digestRange(fd: number, from: number, bytes: number): Digest | null {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(CHUNK, bytes)))
  let left = bytes
  while (left > 0) {
    const got = readSync(fd, buffer, 0, Math.min(buffer.length, left), from + bytes - left)
    if (got === 0) return null
    hash.update(buffer.subarray(0, got))
    left -= got
  }
  return asDigest(`sha256:${hash.digest('hex')}`)
}
