import { createHash } from 'node:crypto'
import fs from 'node:fs'
import type { CollectionLevel, Digest } from '../../../contract/index.ts'
import { RepriseError } from '../../../contract/index.ts'
import { isCredentialFile } from '../../secrets/credential-files.ts'
import type { Redactor } from '../../secrets/redactor.ts'
import type { OriginalAbout, Vault } from '../../secrets/vault.ts'
import type { FileMode, LargeObjects, StateChange, WorkspaceId } from '../../store/states.ts'
import { asPath, openQuietly, toShown } from './bytes.ts'
import type { LeftOutNote } from './nodes.ts'

/** From here on a file is kept by hash in the large-object store. */
export const LARGE_BYTES = 8 << 20
/** The vault locks a file as a whole, in memory. */
const MOST_VAULT_BYTES = 64 << 20
const WINDOW = 512 << 10
/** Longest secret that is searched for over the border of two windows. */
const OVERLAP = 25_000
const ATTEMPTS = 3

export interface Stamp {
  readonly size: number
  readonly mtimeMs: number
  readonly ctimeMs: number
  readonly ino: number
  readonly seenAt: number
}

export type Taken =
  | {
      readonly is: 'taken'
      readonly mode: FileMode
      /** As in a node. */
      readonly key: string
      /** Id of the content as a blob; null where it was not made (large files). */
      readonly blob: string | null
      /** Of the content; null where it must not be told. */
      readonly digest: Digest | null
      readonly stamp: Stamp
      readonly change: StateChange
      /** Bytes of content that the store gets. */
      readonly stored: number
      readonly note: LeftOutNote | null
    }
  | { readonly is: 'gone' }
  /** No file and no link any more. */
  | { readonly is: 'other' }
  | { readonly is: 'unreadable'; readonly why: string }

export interface ContentParts {
  readonly workspace: WorkspaceId
  readonly level: CollectionLevel
  readonly large: LargeObjects
  readonly vault: Vault
  readonly redactor: Redactor
  readonly now: () => Date
  readonly breathe: () => Promise<void> | null
}

/**
 * Reads what stands at a path, whole and untorn, and decides how it is kept. What changes while it is read is read again, a few times.
 * `known`: key and mode of what the state holds; nothing is put anywhere when it is that.
 */
export async function takeContent(
  parts: ContentParts,
  full: string,
  path: string,
  known: { readonly key: string; readonly mode: FileMode } | null,
): Promise<Taken> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    try {
      const taken = await takeOnce(parts, full, path, known)
      if (taken !== null) return taken
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (code === 'ENOENT' || code === 'ENOTDIR') return { is: 'gone' }
      if (code === 'ELOOP' || code === 'ENXIO' || code === 'EISDIR') continue // it became something else meanwhile
      if (['EACCES', 'EPERM', 'EIO', 'EBUSY', 'ETXTBSY', 'EINVAL', 'ESTALE'].includes(code))
        return { is: 'unreadable', why: `it cannot be read (${code})` }
      throw error
    }
  }
  return { is: 'unreadable', why: `it changed while it was read, ${ATTEMPTS} times` }
}

/** Null: it moved while it was read. */
async function takeOnce(
  parts: ContentParts,
  full: string,
  path: string,
  known: { readonly key: string; readonly mode: FileMode } | null,
): Promise<Taken | null> {
  const place = asPath(full)
  const seenAt = parts.now().getTime()
  const stat = fs.lstatSync(place)
  const stamp = { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, ino: stat.ino, seenAt }
  if (stat.isSymbolicLink()) {
    const target = Buffer.from(fs.readlinkSync(place, 'latin1'), 'latin1')
    return await keepWhole(parts, path, '120000', target, stamp, known)
  }
  if (!stat.isFile()) return { is: 'other' }
  const mode: FileMode = (stat.mode & 0o100) !== 0 ? '100755' : '100644'
  const fd = openQuietly(place)
  try {
    if (moved(fs.fstatSync(fd), stamp)) return null
    if (stat.size >= LARGE_BYTES) return await keepLarge(parts, path, mode, fd, stamp, known)
    const content = readWhole(fd, stat.size)
    if (content === null || moved(fs.fstatSync(fd), stamp)) return null
    return await keepWhole(parts, path, mode, content, stamp, known)
  } finally {
    fs.closeSync(fd)
  }
}

const moved = (stat: fs.Stats, stamp: Stamp): boolean =>
  !stat.isFile() ||
  stat.size !== stamp.size ||
  stat.mtimeMs !== stamp.mtimeMs ||
  stat.ctimeMs !== stamp.ctimeMs ||
  stat.ino !== stamp.ino

/** Null: there is less or more than its stat says. */
function readWhole(fd: number, size: number): Buffer | null {
  const content = Buffer.allocUnsafe(size + 1)
  let at = 0
  while (at <= size) {
    const read = fs.readSync(fd, content, at, size + 1 - at, at)
    if (read === 0) break
    at += read
  }
  return at === size ? content.subarray(0, size) : null
}

async function keepWhole(
  parts: ContentParts,
  path: string,
  mode: FileMode,
  content: Buffer,
  stamp: Stamp,
  known: { readonly key: string; readonly mode: FileMode } | null,
): Promise<Taken> {
  const bytes = content.length
  const oid = blobId(content)
  const base = { is: 'taken', mode, stamp, blob: oid } as const
  if (known !== null && known.mode === mode && known.key === oid)
    return { ...base, key: oid, digest: null, change: { path, mode, oid }, stored: 0, note: null }
  const isLink = mode === '120000'
  if (!isLink && isCredentialFile(path))
    return unkept({ path, mode, stamp, bytes, blob: oid }, parts.redactor.keyed(content))
  const secret = await hasSecret(parts, content)
  if (!secret.found) {
    const digest = sha256(content)
    if (parts.level === 'digests') {
      return {
        ...base,
        key: `unkept:${digest}`,
        digest,
        change: { path, mode, unkept: DIGESTS_ONLY, mark: digest, bytes },
        stored: 0,
        note: null,
      }
    }
    return { ...base, key: oid, digest, change: { path, mode, content }, stored: bytes, note: null }
  }
  const mark = parts.redactor.keyed(content)
  if (parts.level === 'digests') return unkept({ path, mode, stamp, bytes, blob: oid }, mark, DIGESTS_ONLY)
  return await keepInVault(parts, { path, mode, stamp, bytes, blob: oid }, mark, content, secret.families, known)
}

interface Shape {
  readonly path: string
  readonly mode: FileMode
  readonly stamp: Stamp
  readonly bytes: number
  readonly blob: string | null
}

const DIGESTS_ONLY = 'only digests are kept here'
const CREDENTIAL = 'a credential: not restorable, by design'

function unkept({ path, mode, stamp, bytes, blob }: Shape, mark: string, why = CREDENTIAL): Taken {
  return {
    is: 'taken',
    mode,
    key: `unkept:${mark}`,
    blob,
    digest: null,
    stamp,
    change: { path, mode, unkept: why, mark, bytes },
    stored: 0,
    note: why === DIGESTS_ONLY ? null : { reason: 'credential', why, bytes, folder: false },
  }
}

async function keepInVault(
  parts: ContentParts,
  { path, mode, stamp, bytes, blob }: Shape,
  mark: string,
  content: Buffer,
  families: readonly string[],
  known: { readonly key: string; readonly mode: FileMode } | null,
): Promise<Taken> {
  const ref = `file:${parts.workspace}:${mark}:${bytes}`
  const key = `vault:${mark}`
  if (known?.key !== key) {
    try {
      await parts.vault.prepare()
      const at = parts.now().toISOString()
      const about: OriginalAbout = {
        v: 1,
        ref,
        classification: 'secret',
        source: toShown(path),
        families: [...families],
        at,
      }
      await parts.vault.put([{ about, content }])
    } catch (error) {
      if (!(error instanceof RepriseError) || error.code !== 'refused') throw error
      return unkept({ path, mode, stamp, bytes, blob }, mark, `it holds a secret, and ${error.message}`)
    }
  }
  const change: StateChange = { path, mode, vault: ref, mark, bytes }
  return { is: 'taken', mode, key, blob, digest: null, stamp, change, stored: bytes, note: null }
}

/** Read twice, in windows: searched for secrets first, so that none gets into the store, then put there; both must have seen the same. */
async function keepLarge(
  parts: ContentParts,
  path: string,
  mode: FileMode,
  fd: number,
  stamp: Stamp,
  known: { readonly key: string; readonly mode: FileMode } | null,
): Promise<Taken | null> {
  const bytes = stamp.size
  const shape = { path, mode, stamp, bytes, blob: null }
  const credential = isCredentialFile(path)
  const hash = createHash('sha256')
  const families = new Set<string>()
  let tail = ''
  let read = 0
  for await (const piece of pieces(fd, bytes, parts.breathe)) {
    hash.update(piece)
    read += piece.length
    const text = tail + piece.toString('latin1')
    if (!credential && families.size === 0) for (const found of parts.redactor.find(text)) families.add(found.family)
    tail = text.slice(-OVERLAP)
  }
  if (read !== bytes || moved(fs.fstatSync(fd), stamp)) return null
  const digest = `sha256:${hash.digest('hex')}` as Digest
  if (credential) return unkept(shape, parts.redactor.keyed(digest))
  if (families.size > 0) {
    const mark = parts.redactor.keyed(digest)
    if (parts.level === 'digests') return unkept(shape, mark, DIGESTS_ONLY)
    if (bytes > MOST_VAULT_BYTES)
      return unkept(shape, mark, `it holds a secret and is over ${MOST_VAULT_BYTES >> 20} MB, too large for the vault`)
    const content = readWhole(fd, bytes)
    if (content === null || moved(fs.fstatSync(fd), stamp)) return null
    return await keepInVault(parts, shape, mark, content, [...families], known)
  }
  const base = { is: 'taken', mode, digest, stamp, blob: null } as const
  if (parts.level === 'digests') {
    const change: StateChange = { path, mode, unkept: DIGESTS_ONLY, mark: digest, bytes }
    return { ...base, key: `unkept:${digest}`, change, stored: 0, note: null }
  }
  const change: StateChange = { path, mode, large: digest, bytes }
  const note: LeftOutNote | null = null
  if (known?.key === `large:${digest}`) return { ...base, key: known.key, change, stored: 0, note }
  if (!(await parts.large.has(digest))) {
    const put = await parts.large.put(pieces(fd, bytes, parts.breathe))
    if (put.digest !== digest) return null
  }
  return { ...base, key: `large:${digest}`, change, stored: bytes, note }
}

async function* pieces(fd: number, bytes: number, breathe: () => Promise<void> | null): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; ) {
    const piece = Buffer.allocUnsafe(Math.min(WINDOW, bytes - at))
    const read = fs.readSync(fd, piece, 0, piece.length, at)
    if (read === 0) return
    at += read
    yield piece.subarray(0, read)
    const pause = breathe()
    if (pause !== null) await pause
  }
}

/** Searched in windows, so that a large file does not hold up everything else. */
export async function hasSecret(
  { redactor, breathe }: Pick<ContentParts, 'redactor' | 'breathe'>,
  content: Buffer,
): Promise<{ readonly found: boolean; readonly families: readonly string[] }> {
  for (let at = 0; at === 0 || at < content.length; at += WINDOW) {
    const text = content.toString('latin1', Math.max(0, at - OVERLAP), Math.min(content.length, at + WINDOW))
    const found = redactor.find(text)
    if (found.length > 0) return { found: true, families: [...new Set(found.map(({ family }) => family))] }
    if (at + WINDOW >= content.length) break
    const pause = breathe()
    if (pause !== null) await pause
  }
  return { found: false, families: [] }
}

export const blobId = (content: Uint8Array): string =>
  createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')

const sha256 = (content: Uint8Array): Digest => `sha256:${createHash('sha256').update(content).digest('hex')}` as Digest
