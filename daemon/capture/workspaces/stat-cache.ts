import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { replaceFile } from '../../store/durable.ts'
import type { FileMode, WorkspaceId } from '../../store/states.ts'
import { addFolder, type FileNode, type FolderNode, type LeftOutReason, newFolder, STALE } from './nodes.ts'

/**
 * The memory of a workspace on the disk, so that a restart does not read every file again. Derived: one that is missing, cut or changed
 * costs time and nothing else.
 */
export interface CachedTree {
  readonly commit: string
  readonly tree: string
  readonly folder: FolderNode
}

const MAGIC = 'RPWC2\n'
const headSchema = z.object({ commit: z.string(), tree: z.string(), root: z.string() })
const MODES: readonly FileMode[] = ['100644', '100755', '120000']
const REASONS: readonly LeftOutReason[] = [
  'ignored',
  'oversized',
  'unreadable',
  'special',
  'credential',
  'repository',
  'budget',
  'excluded',
  'cache',
]

const fileOf = (cacheFolder: string, id: WorkspaceId): string => join(cacheFolder, `${id}.stat`)

export async function writeStatCache(
  cacheFolder: string,
  id: WorkspaceId,
  head: { readonly commit: string; readonly tree: string; readonly root: string },
  folder: FolderNode,
  /** Paths of folders that are to be listed again, as something in them was not read. */
  unfinished: ReadonlySet<string>,
  breathe: () => Promise<void> | null,
): Promise<void> {
  await mkdir(cacheFolder, { recursive: true, mode: 0o700 })
  const writer = new Writer()
  writer.text(JSON.stringify(head))
  await writeFolder(writer, folder, '', unfinished, breathe)
  const body = writer.done()
  const sum = createHash('sha1').update(body).digest()
  await replaceFile(fileOf(cacheFolder, id), Buffer.concat([Buffer.from(MAGIC, 'latin1'), sum, body]))
}

/** Null: there is none that can be used. */
export async function readStatCache(
  cacheFolder: string,
  id: WorkspaceId,
  root: string,
  breathe: () => Promise<void> | null,
): Promise<CachedTree | null> {
  let file: Buffer
  try {
    file = readFileSync(fileOf(cacheFolder, id))
  } catch {
    return null
  }
  if (file.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  const sum = file.subarray(MAGIC.length, MAGIC.length + 20)
  const body = file.subarray(MAGIC.length + 20)
  if (!createHash('sha1').update(body).digest().equals(sum)) return null
  try {
    const reader = new Reader(body)
    const head = headSchema.parse(JSON.parse(reader.text()))
    if (head.root !== root) return null
    return { commit: head.commit, tree: head.tree, folder: await readFolder(reader, breathe) }
  } catch {
    return null
  }
}

async function writeFolder(
  writer: Writer,
  folder: FolderNode,
  path: string,
  unfinished: ReadonlySet<string>,
  breathe: () => Promise<void> | null,
): Promise<void> {
  const pause = breathe()
  if (pause !== null) await pause
  writer.number(folder.mtimeMs)
  writer.number(unfinished.has(path) ? STALE : folder.ctimeMs)
  writer.number(folder.ino)
  writer.number(folder.seenAt)
  writer.text(folder.rules)
  writer.byte((folder.askedIndex ? 1 : 0) + ['folder', 'file', 'link'].indexOf(folder.dotGit ?? '') * 2 + 2)
  writer.count(folder.names === null || unfinished.has(path) ? 0xffffffff : folder.names)
  writer.count(folder.others.size)
  for (const [name, note] of folder.others) {
    writer.text(name)
    writer.byte(REASONS.indexOf(note.reason) * 2 + (note.folder ? 1 : 0))
    writer.text(note.why)
    writer.number(note.bytes ?? -1)
  }
  writer.count(folder.children.size)
  for (const [name, child] of folder.children) {
    writer.text(name)
    writer.byte(child.kind === 'folder' ? 1 : 0)
    if (child.kind === 'folder')
      await writeFolder(writer, child, path === '' ? name : `${path}/${name}`, unfinished, breathe)
    else writeFile(writer, child)
  }
}

function writeFile(writer: Writer, file: FileNode): void {
  const plain = /^[0-9a-f]{40}$/.test(file.key)
  writer.byte(MODES.indexOf(file.mode) + (file.searched ? 8 : 0) + (plain ? 16 : 0))
  if (plain) writer.hex(file.key)
  else writer.text(file.key)
  writer.number(file.size)
  writer.number(file.mtimeMs)
  writer.number(file.ctimeMs)
  writer.number(file.ino)
  writer.number(file.seenAt)
}

async function readFolder(reader: Reader, breathe: () => Promise<void> | null): Promise<FolderNode> {
  const pause = breathe()
  if (pause !== null) await pause
  const folder = newFolder()
  folder.mtimeMs = reader.number()
  folder.ctimeMs = reader.number()
  folder.ino = reader.number()
  folder.seenAt = reader.number()
  folder.rules = reader.text()
  const flags = reader.byte()
  folder.askedIndex = (flags & 1) !== 0
  folder.dotGit = ([null, 'folder', 'file', 'link'] as const)[flags >> 1] ?? null
  const names = reader.count()
  folder.names = names === 0xffffffff ? null : names
  for (let n = reader.count(); n > 0; n -= 1) {
    const name = reader.text()
    const kind = reader.byte()
    const why = reader.text()
    const bytes = reader.number()
    const reason = REASONS[kind >> 1] ?? 'special'
    folder.others.set(name, { reason, why, bytes: bytes < 0 ? null : bytes, folder: (kind & 1) !== 0 })
  }
  for (let n = reader.count(); n > 0; n -= 1) {
    const name = reader.text()
    if (reader.byte() === 1) addFolder(folder, name, await readFolder(reader, breathe))
    else {
      const file = readFile(reader)
      folder.children.set(name, file)
      folder.files += 1
      folder.bytes += file.size
    }
  }
  return folder
}

function readFile(reader: Reader): FileNode {
  const flags = reader.byte()
  const mode = MODES[flags & 7]
  if (mode === undefined) throw new Error('no mode')
  return {
    kind: 'file',
    mode,
    searched: (flags & 8) !== 0,
    key: (flags & 16) !== 0 ? reader.hex() : reader.text(),
    size: reader.number(),
    mtimeMs: reader.number(),
    ctimeMs: reader.number(),
    ino: reader.number(),
    seenAt: reader.number(),
  }
}

class Writer {
  private buffer = Buffer.allocUnsafe(1 << 20)
  private at = 0

  private room(bytes: number): void {
    if (this.at + bytes <= this.buffer.length) return
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.at + bytes))
    this.buffer.copy(larger, 0, 0, this.at)
    this.buffer = larger
  }
  byte(value: number): void {
    this.room(1)
    this.at = this.buffer.writeUInt8(value, this.at)
  }
  count(value: number): void {
    this.room(4)
    this.at = this.buffer.writeUInt32LE(value, this.at)
  }
  number(value: number): void {
    this.room(8)
    this.at = this.buffer.writeDoubleLE(value, this.at)
  }
  text(value: string): void {
    this.count(value.length)
    this.room(value.length)
    this.at += this.buffer.write(value, this.at, 'latin1')
  }
  hex(value: string): void {
    this.room(20)
    this.at += this.buffer.write(value, this.at, 'hex')
  }
  done(): Buffer {
    return this.buffer.subarray(0, this.at)
  }
}

class Reader {
  private at = 0
  constructor(private readonly buffer: Buffer) {}
  byte(): number {
    this.at += 1
    return this.buffer.readUInt8(this.at - 1)
  }
  count(): number {
    this.at += 4
    return this.buffer.readUInt32LE(this.at - 4)
  }
  number(): number {
    this.at += 8
    return this.buffer.readDoubleLE(this.at - 8)
  }
  text(): string {
    const length = this.count()
    this.at += length
    if (this.at > this.buffer.length) throw new Error('cut')
    return this.buffer.toString('latin1', this.at - length, this.at)
  }
  hex(): string {
    this.at += 20
    return this.buffer.toString('hex', this.at - 20, this.at)
  }
}
