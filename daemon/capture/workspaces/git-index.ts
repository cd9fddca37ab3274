import path from 'node:path'
import { readSmall } from './bytes.ts'

/**
 * The user's index, read by us: Git itself would write to it, or to the times of files beside it (it freshens a shared index on reading).
 * Paths are latin1.
 */
export interface GitIndex {
  readonly count: number
  readonly has: (path: string) => boolean
  /** Whether a tracked file lies below the folder. */
  readonly hasBelow: (folder: string) => boolean
  /** Place of a path that is not in conflict. */
  readonly find: (path: string) => number | null
  readonly nameAt: (n: number) => string
  /** `name`: that at this place, where it is known. */
  readonly entryAt: (n: number, name?: string) => IndexEntry
  readonly oidAt: (n: number) => string
  /** Entries stand in a shared index too; then `has` may say yes to what was taken out since, and nothing is told of ids. */
  readonly split: boolean
  readonly sha256: boolean
}

export interface IndexEntry {
  readonly path: string
  /** As in a tree, a number: 0o100644, 0o100755, 0o120000, 0o160000, 0o040000 (sparse). */
  readonly mode: number
  readonly stage: number
  /** Seconds and nanoseconds as Git keeps them, 32 bits each. */
  readonly ctimeSeconds: number
  readonly ctimeNanos: number
  readonly mtimeSeconds: number
  readonly mtimeNanos: number
  readonly ino: number
  /** 32 bits. */
  readonly size: number
  /** Git itself does not look at the disk, or has no content yet. */
  readonly assumed: boolean
}

const MOST_BYTES = 1 << 30

/** Null when there is none; a reason when it cannot be read. */
export function readGitIndex(gitDir: string, sha256: boolean): GitIndex | null | { readonly why: string } {
  const file = readSmall(`${gitDir}/index`, MOST_BYTES)
  if (file === null) return null
  try {
    const index = parseGitIndex(file, sha256)
    if (index.link === null) return index
    const shared = readSmall(path.posix.join(gitDir, `sharedindex.${index.link}`), MOST_BYTES)
    if (shared === null) return { why: 'its shared index cannot be read' }
    const base = parseGitIndex(shared, sha256)
    return {
      ...index,
      split: true,
      has: (name) => index.has(name) || base.has(name),
      hasBelow: (folder) => index.hasBelow(folder) || base.hasBelow(folder),
      find: () => null,
    }
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) }
  }
}

/** `link`: id of the shared index it builds upon. Throws when it is no index. */
export function parseGitIndex(file: Buffer, sha256: boolean): GitIndex & { readonly link: string | null } {
  if (file.length < 12 || file.toString('latin1', 0, 4) !== 'DIRC') throw new Error('the index is no index')
  const version = file.readUInt32BE(4)
  if (version < 2 || version > 4) throw new Error(`the index is of version ${version}, which is not known here`)
  const count = file.readUInt32BE(8)
  const hash = sha256 ? 32 : 20
  const fixed = 40 + hash + 2
  if (count > file.length / fixed) throw new Error('the index is cut')
  const offsets = new Uint32Array(count)
  const names: string[] | null = version === 4 ? [] : null
  const startOfName = (offset: number): number =>
    offset + fixed + ((file.readUInt16BE(offset + 40 + hash) & 0x4000) !== 0 && version >= 3 ? 2 : 0)
  let at = 12
  let before = ''
  for (let n = 0; n < count; n += 1) {
    if (at + fixed > file.length) throw new Error('the index is cut')
    offsets[n] = at
    let from = startOfName(at)
    if (names === null) {
      let length = file.readUInt16BE(at + 40 + hash) & 0xfff
      if (length === 0xfff) length = file.indexOf(0, from) - from
      if (length < 0) throw new Error('the index is cut')
      at += (from - at + length + 8) & ~7
    } else {
      let strip = 0
      for (let more = 0; ; more += 1) {
        const byte = file[from] ?? 0
        from += 1
        strip = more === 0 ? byte & 0x7f : (strip + 1) * 128 + (byte & 0x7f)
        if ((byte & 0x80) === 0) break
      }
      const end = file.indexOf(0, from)
      if (end < 0 || strip > before.length) throw new Error('the index is cut')
      before = before.slice(0, before.length - strip) + file.toString('latin1', from, end)
      names.push(before)
      at = end + 1
    }
  }
  let link: string | null = null
  for (let place = at; place + 8 <= file.length - hash; ) {
    const length = file.readUInt32BE(place + 4)
    if (file.toString('latin1', place, place + 4) === 'link') link = file.toString('hex', place + 8, place + 8 + hash)
    place += 8 + length
  }
  const nameOf = (n: number): string => {
    if (names !== null) return names[n] ?? ''
    const offset = offsets[n] ?? 0
    const from = startOfName(offset)
    const length = file.readUInt16BE(offset + 40 + hash) & 0xfff
    return file.toString('latin1', from, length === 0xfff ? file.indexOf(0, from) : from + length)
  }
  /** First entry whose name is not before `name`; latin1 strings sort as their bytes do. */
  const lowerBound = (name: string): number => {
    let low = 0
    let high = count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (nameOf(middle) < name) low = middle + 1
      else high = middle
    }
    return low
  }
  const entryAt = (n: number, name = nameOf(n)): IndexEntry => {
    const offset = offsets[n] ?? 0
    const flags = file.readUInt16BE(offset + 40 + hash)
    const extended = version >= 3 && (flags & 0x4000) !== 0 ? file.readUInt16BE(offset + 42 + hash) : 0
    return {
      path: name,
      mode: file.readUInt32BE(offset + 24),
      stage: (flags >> 12) & 3,
      ctimeSeconds: file.readUInt32BE(offset),
      ctimeNanos: file.readUInt32BE(offset + 4),
      mtimeSeconds: file.readUInt32BE(offset + 8),
      mtimeNanos: file.readUInt32BE(offset + 12),
      ino: file.readUInt32BE(offset + 20),
      size: file.readUInt32BE(offset + 36),
      assumed: (flags & 0x8000) !== 0 || (extended & 0x6000) !== 0,
    }
  }
  return {
    count,
    link,
    split: link !== null,
    sha256,
    has(name) {
      const n = lowerBound(name)
      return n < count && nameOf(n) === name
    },
    hasBelow(folder) {
      const prefix = `${folder}/`
      const n = lowerBound(prefix)
      return n < count && nameOf(n).startsWith(prefix)
    },
    find(name) {
      const n = lowerBound(name)
      return n < count && nameOf(n) === name && entryAt(n).stage === 0 ? n : null
    },
    nameAt: nameOf,
    entryAt,
    oidAt: (n) => file.toString('hex', (offsets[n] ?? 0) + 40, (offsets[n] ?? 0) + 40 + hash),
  }
}
