import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { asDigest, type Digest } from '../../../contract/index.ts'

/** What a path turned out to be. Unreadable is never missing. */
export type FileRead =
  | { readonly state: 'ok'; readonly bytes: Buffer; readonly size: number }
  | { readonly state: 'missing' }
  | { readonly state: 'directory' }
  | { readonly state: 'too_large'; readonly size: number }
  | { readonly state: 'unreadable'; readonly why: string }

export interface DirectoryEntry {
  readonly name: string
  /** The name as bytes, when it is no valid UTF-8. */
  readonly nameBytes: Buffer | null
  readonly kind: 'file' | 'directory' | 'link' | 'other'
}

export type DirectoryRead =
  | { readonly state: 'ok'; readonly entries: readonly DirectoryEntry[] }
  | { readonly state: 'missing' }
  | { readonly state: 'unreadable'; readonly why: string }

/** Files above this many bytes are skipped by the runtime without a word (2.1.332). */
export const LARGEST_TEXT = 4 * 1024 * 1024

/**
 * Reading for one resolution: every file and every link is looked at once, so that all parts of a manifest speak of the same moment.
 * Paths are the ones the runtime shows; those below `managedDir` are read below `systemRoot`.
 */
export interface Disk {
  read(shown: string, largest?: number): FileRead
  list(shown: string): DirectoryRead
  /** Names and kinds in no particular order, for searches over many folders: much faster than `list`. */
  names(shown: string): readonly fs.Dirent[] | { readonly why: string } | null
  /** The path with all links resolved, as the runtime would show it; null when there is nothing. */
  realPath(shown: string): string | null
  isLink(shown: string): boolean
  exists(shown: string): boolean
  isDirectory(shown: string): boolean
  /** The same places looked at anew: what was seen before is not remembered. */
  fresh(): Disk
}

/** Contents that stand for files as they would be, by path as shown or with links resolved; nothing of it is on the disk. */
export type DiskOverlay = ReadonlyMap<string, Uint8Array>
const NO_OVERLAY: DiskOverlay = new Map()

export function openDisk(systemRoot: string, managedDir: string, overlay: DiskOverlay = NO_OVERLAY): Disk {
  const reads = new Map<string, FileRead>()
  const lists = new Map<string, DirectoryRead>()
  const reals = new Map<string, string | null>()
  const stats = new Map<string, fs.Stats | null>()
  const realPrefix = systemRoot === '' ? '' : (tryOr(null, () => fs.realpathSync.native(systemRoot)) ?? systemRoot)

  const onDisk = (shown: string): string =>
    systemRoot !== '' && isInside(shown, managedDir) ? path.join(systemRoot, shown) : shown
  const asShown = (real: string): string =>
    realPrefix !== '' && isInside(real, path.join(realPrefix, managedDir)) ? real.slice(realPrefix.length) : real

  const stat = (shown: string): fs.Stats | null => {
    const known = stats.get(shown)
    if (known !== undefined) return known
    const found = tryOr(null, () => fs.statSync(onDisk(shown), { throwIfNoEntry: false }) ?? null)
    stats.set(shown, found)
    return found
  }

  const realOf = (shown: string): string | null => tryOr(null, () => asShown(fs.realpathSync.native(onDisk(shown))))
  const laidOver = (shown: string): Uint8Array | undefined =>
    overlay.size === 0 ? undefined : (overlay.get(shown) ?? overlay.get(realOf(shown) ?? shown))

  return {
    fresh: () => openDisk(systemRoot, managedDir, overlay),
    read(shown, largest = LARGEST_TEXT) {
      const draft = laidOver(shown)
      if (draft !== undefined)
        return draft.length > largest
          ? { state: 'too_large', size: draft.length }
          : { state: 'ok', bytes: Buffer.from(draft), size: draft.length }
      const key = `${largest}\0${shown}`
      const known = reads.get(key)
      if (known) return known
      const result = readFile(onDisk(shown), largest)
      reads.set(key, result)
      return result
    },
    list(shown) {
      const known = lists.get(shown)
      if (known) return known
      const result = withDrafts(shown, listRaw(onDisk(shown)), overlay)
      lists.set(shown, result)
      return result
    },
    names(shown) {
      try {
        return fs.readdirSync(onDisk(shown), { withFileTypes: true })
      } catch (error) {
        const code = codeOf(error)
        return code === 'ENOENT' || code === 'ENOTDIR' ? null : { why: explain(code) }
      }
    },
    realPath(shown) {
      const known = reals.get(shown)
      if (known !== undefined) return known
      const real = realOf(shown) ?? (overlay.has(shown) ? shown : null)
      reals.set(shown, real)
      return real
    },
    isLink: (shown) =>
      tryOr(false, () => fs.lstatSync(onDisk(shown), { throwIfNoEntry: false })?.isSymbolicLink() ?? false),
    exists: (shown) => stat(shown) !== null || overlay.has(shown),
    isDirectory: (shown) => stat(shown)?.isDirectory() ?? false,
  }
}

/** A file that is only a draft yet is listed with the others. */
function withDrafts(folder: string, found: DirectoryRead, overlay: DiskOverlay): DirectoryRead {
  if (overlay.size === 0 || found.state !== 'ok') return found
  const names = new Set(found.entries.map(({ name }) => name))
  const drafts = [...overlay.keys()].filter((file) => path.dirname(file) === folder && !names.has(path.basename(file)))
  if (drafts.length === 0) return found
  const added = drafts.map((file): DirectoryEntry => ({ name: path.basename(file), nameBytes: null, kind: 'file' }))
  return { state: 'ok', entries: [...found.entries, ...added] }
}

/** True when `inner` is `outer` or lies below it. Both absolute. */
export function isInside(inner: string, outer: string): boolean {
  if (inner === outer) return true
  return inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep)
}

export function bytesDigest(bytes: Uint8Array | string): Digest {
  return asDigest(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)
}

function readFile(file: string, largest: number): FileRead {
  let handle: number
  try {
    // Non-blocking, so that a named pipe in the place of a file cannot hold the resolver.
    handle = fs.openSync(file, fs.constants.O_RDONLY | (fs.constants.O_NONBLOCK ?? 0))
  } catch (error) {
    return failure(error)
  }
  try {
    const found = fs.fstatSync(handle)
    if (found.isDirectory()) return { state: 'directory' }
    if (!found.isFile()) return { state: 'unreadable', why: 'not a regular file' }
    if (found.size > largest) return { state: 'too_large', size: found.size }
    const bytes = fs.readFileSync(handle)
    return { state: 'ok', bytes, size: bytes.length }
  } catch (error) {
    return failure(error)
  } finally {
    fs.closeSync(handle)
  }
}

function failure(error: unknown): FileRead & { readonly state: 'missing' | 'directory' | 'unreadable' } {
  const code = codeOf(error)
  if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' }
  if (code === 'EISDIR') return { state: 'directory' }
  return { state: 'unreadable', why: explain(code) }
}

/**
 * Names in raw directory order: `readdir` of Node sorts on Linux, `opendir` does not, and the runtime does not either (checked against
 * 2.1.332: rule files enter its prompt in this order).
 */
function listRaw(directory: string): DirectoryRead {
  let handle: fs.Dir
  try {
    handle = fs.opendirSync(directory, { encoding: 'latin1', bufferSize: 256 })
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return { state: 'missing' }
    return { state: 'unreadable', why: explain(code) }
  }
  try {
    const entries: DirectoryEntry[] = []
    for (let entry = handle.readSync(); entry !== null; entry = handle.readSync()) {
      const bytes = Buffer.from(entry.name, 'latin1')
      const name = bytes.toString('utf8')
      entries.push({
        name,
        nameBytes: Buffer.from(name, 'utf8').equals(bytes) ? null : bytes,
        kind: entry.isFile() ? 'file' : entry.isDirectory() ? 'directory' : entry.isSymbolicLink() ? 'link' : 'other',
      })
    }
    return { state: 'ok', entries }
  } catch (error) {
    return { state: 'unreadable', why: explain(codeOf(error)) }
  } finally {
    handle.closeSync()
  }
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : String(error)

function explain(code: string): string {
  switch (code) {
    case 'EACCES':
    case 'EPERM':
      return 'no permission to read it'
    case 'ELOOP':
      return 'its links lead in a circle'
    default:
      return `cannot be read (${code})`
  }
}

function tryOr<T>(otherwise: T, attempt: () => T): T {
  try {
    return attempt()
  } catch {
    return otherwise
  }
}
