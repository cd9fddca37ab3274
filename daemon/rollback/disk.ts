import fs from 'node:fs'
import path from 'node:path'

/** An absolute path; its bytes as latin1, so that no name is lost. */
export type BytePath = string & { readonly bytePath: unique symbol }
export const asBytePath = (latin1: string): BytePath => latin1 as BytePath
export const fromText = (text: string): BytePath => Buffer.from(text, 'utf8').toString('latin1') as BytePath
/** For people; what is no UTF-8 shows as replacement characters. */
export const toText = (at: BytePath): string => Buffer.from(at, 'latin1').toString('utf8')
export const parentOf = (at: BytePath): BytePath => path.posix.dirname(at) as BytePath
export const bytesOf = (at: BytePath): Buffer => Buffer.from(at, 'latin1')

/**
 * The file system as a rollback uses it. Every operation that changes something is one call here, so that a test can end the process, or
 * let the disk fail, before each of them.
 */
export interface Disk {
  lstat(at: BytePath): fs.Stats | null
  readlink(at: BytePath): Buffer
  list(at: BytePath): readonly string[]
  read(at: BytePath): AsyncIterable<Uint8Array>

  /** A new file with this content, on the disk when it resolves. Fails where something is. */
  create(at: BytePath, content: AsyncIterable<Uint8Array>, like: NewFile): Promise<void>
  symlink(target: Buffer, at: BytePath): void
  /** A second name; fails where something is. */
  link(from: BytePath, to: BytePath): void
  /** Replaces a file or link at `to`. */
  rename(from: BytePath, to: BytePath): void
  unlink(at: BytePath): void
  mkdir(at: BytePath): void
  /** Of an empty folder. */
  rmdir(at: BytePath): void
  syncFolder(at: BytePath): void
}

export interface NewFile {
  readonly mode: number
  /** Kept where only the mode changes. */
  readonly mtimeMs?: number
  readonly owner?: { readonly uid: number; readonly gid: number }
}

/** Errors of a disk on which nothing is there, or something on the way is no folder. */
const ABSENT = new Set(['ENOENT', 'ENOTDIR'])
const PASSING = new Set(['EPERM', 'EACCES', 'EBUSY'])
export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

export const realDisk = (wait: (ms: number) => void = sleepNow): Disk => ({
  lstat(at) {
    try {
      return fs.lstatSync(bytesOf(at))
    } catch (error) {
      if (ABSENT.has(codeOf(error))) return null
      throw error
    }
  },
  readlink: (at) => fs.readlinkSync(bytesOf(at), { encoding: 'buffer' }),
  list: (at) => fs.readdirSync(bytesOf(at), { encoding: 'latin1' }),
  async *read(at) {
    // Not followed if it became a link since it was looked at.
    const fd = fs.openSync(bytesOf(at), fs.constants.O_RDONLY | (fs.constants.O_NOFOLLOW ?? 0))
    try {
      for (;;) {
        const piece = Buffer.allocUnsafe(1024 * 1024)
        const got = fs.readSync(fd, piece, 0, piece.length, null)
        if (got === 0) return
        yield piece.subarray(0, got)
      }
    } finally {
      fs.closeSync(fd)
    }
  },

  async create(at, content, { mode, mtimeMs, owner }) {
    const fd = fs.openSync(bytesOf(at), 'wx', 0o600)
    try {
      for await (const piece of content) writeAll(fd, piece)
      if (owner && process.getuid?.() === 0) fs.fchownSync(fd, owner.uid, owner.gid)
      fs.fchmodSync(fd, mode)
      if (mtimeMs !== undefined) fs.futimesSync(fd, mtimeMs / 1000, mtimeMs / 1000)
      fs.fsyncSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  },
  symlink: (target, at) => fs.symlinkSync(target, bytesOf(at)),
  link: (from, to) => fs.linkSync(bytesOf(from), bytesOf(to)),
  rename: (from, to) => patiently(wait, () => fs.renameSync(bytesOf(from), bytesOf(to))),
  unlink: (at) => patiently(wait, () => fs.unlinkSync(bytesOf(at))),
  mkdir: (at) => fs.mkdirSync(bytesOf(at)),
  rmdir: (at) => fs.rmdirSync(bytesOf(at)),
  syncFolder(at) {
    try {
      const fd = fs.openSync(bytesOf(at), 'r')
      try {
        fs.fsyncSync(fd)
      } finally {
        fs.closeSync(fd)
      }
    } catch (error) {
      // Folders cannot be synced everywhere (Windows, some network file systems).
      if (!['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP', 'ENOENT'].includes(codeOf(error))) throw error
    }
  },
})

function writeAll(fd: number, piece: Uint8Array): void {
  for (let at = 0; at < piece.length; ) at += fs.writeSync(fd, piece, at)
}

/** Somebody else may hold the target open for a moment (R28): about two seconds of patience where the system refuses for that. */
function patiently(wait: (ms: number) => void, work: () => void): void {
  const waits = process.platform === 'win32' ? [10, 20, 40, 80, 150, 300, 500, 900] : []
  for (let attempt = 0; ; attempt += 1) {
    try {
      work()
      return
    } catch (error) {
      const ms = waits[attempt]
      if (ms === undefined || !PASSING.has(codeOf(error))) throw error
      wait(ms)
    }
  }
}

function sleepNow(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
