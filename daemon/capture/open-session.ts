import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { linesFrom, type RuntimeAdapter, type SessionUnit } from '../runtimes/adapter.ts'

/** The lines of a session as a file that can be read at any place. What is behind `fd` does not change, except that a plain file grows. */
export interface OpenSession {
  readonly fd: number
  /** What tells this state of the session from another: size, time (whole milliseconds) and inode of a plain file, else its stamp and 0. */
  readonly size: number
  readonly mtime: number
  readonly ino: number
  readonly dev: number
  /** The same object for the same content handed out again. */
  readonly content: object
  close(): void
}

/**
 * Opens sessions whatever they lie in. One that is no plain file is written out as lines of JSON into a private file that has no name
 * from the moment it is made: nothing in clear is left behind by a crash. The last few stay open for some seconds, so that reading a
 * large one in steps, keeping it and looking at its events do not write it out again each time.
 */
export interface SessionSources {
  /**
   * Throws the error of the file system (`ENOENT`: it is gone), `SourceBusy`, or what `writeLines` throws. A unit with a stamp is given
   * as it was then or later; without one (put together from the index) the newest at hand is given: compare what it begins with.
   */
  open(unit: SessionUnit, adapter: Pick<RuntimeAdapter, 'writeLines'>): OpenSession
  close(): void
}

interface Written {
  readonly fd: number
  readonly key: string
  readonly bytes: number
  readonly size: number
  readonly mtime: number
  users: number
  usedAt: number
  /** Not handed out any more: closed when its last user is done. */
  dropped: boolean
}

interface SourceParts {
  /** A folder of our own (0700); made when it is needed. */
  readonly folder: string
  readonly nowMs?: () => number
}

/** Sessions written out that stay open, and how much they may hold together. */
const KEPT = 8
const KEPT_BYTES = 512 * 1024 * 1024
const KEPT_MS = 20_000
const CHUNK = 1024 * 1024
/** Files of sessions written out begin with this, for the moment in which they have a name. */
export const WRITTEN_NAME = 'lines-'

export const createSessionSources = ({ folder, nowMs = Date.now }: SourceParts): SessionSources => {
  let written: Written[] = []
  let timer: NodeJS.Timeout | null = null

  const drop = (one: Written): void => {
    one.dropped = true
    if (one.users === 0) fs.closeSync(one.fd)
  }

  /** Oldest use first. What is in use is not counted out before its user is done. */
  const tidy = (): void => {
    const until = nowMs() - KEPT_MS
    written.sort((a, b) => a.usedAt - b.usedAt)
    const total = (): number => written.reduce((sum, { bytes }) => sum + bytes, 0)
    for (let next = written[0]; next; next = written[0]) {
      const spare = next.usedAt <= until || written.length > KEPT || (total() > KEPT_BYTES && written.length > 1)
      if (!spare) break
      written = written.slice(1)
      drop(next)
    }
    if (timer) clearTimeout(timer)
    timer = written.length === 0 ? null : setTimeout(tidy, KEPT_MS).unref()
  }

  const lend = (one: Written): OpenSession => {
    one.users++
    one.usedAt = nowMs()
    let open = true
    const { fd, size, mtime } = one
    return {
      fd,
      size,
      mtime,
      ino: 0,
      dev: 0,
      content: one,
      close() {
        if (!open) return
        open = false
        one.users--
        if (one.dropped && one.users === 0) fs.closeSync(fd)
        else tidy()
      },
    }
  }

  return {
    open(unit, adapter) {
      if (linesFrom(unit) === null) return openPlain(unit.file)
      const key = `${unit.home}\0${unit.file}`
      const { stamp } = unit
      const known = written.find(
        (one) =>
          one.key === key &&
          (stamp === undefined || (one.size === stamp.size && one.mtime === Math.trunc(stamp.mtime))),
      )
      if (known) return lend(known)
      const { fd, bytes } = writeOut(unit, adapter, folder)
      // An older state of the session is of no use to anybody who asks from now on.
      for (const one of written.filter((other) => other.key === key)) drop(one)
      written = written.filter((other) => other.key !== key)
      const one: Written = {
        fd,
        key,
        bytes,
        size: stamp?.size ?? -1,
        mtime: Math.trunc(stamp?.mtime ?? 0),
        users: 0,
        usedAt: nowMs(),
        dropped: false,
      }
      written.push(one)
      const lent = lend(one)
      tidy()
      return lent
    },

    close() {
      if (timer) clearTimeout(timer)
      timer = null
      for (const one of written) drop(one)
      written = []
    },
  }
}

const openPlain = (file: string): OpenSession => {
  const fd = fs.openSync(file, 'r')
  try {
    const { size, mtimeMs, ino, dev } = fs.fstatSync(fd)
    return { fd, size, mtime: Math.trunc(mtimeMs), ino, dev, content: {}, close: () => fs.closeSync(fd) }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

const writeOut = (
  unit: SessionUnit,
  adapter: Pick<RuntimeAdapter, 'writeLines'>,
  folder: string,
): { readonly fd: number; readonly bytes: number } => {
  if (adapter.writeLines === undefined) throw new Error(`nothing can read ${unit.file}: it is no plain file`)
  const fd = openNameless(folder)
  let bytes = 0
  let held: string[] = []
  let length = 0
  const flush = (): void => {
    const block = Buffer.from(held.join(''))
    for (let at = 0; at < block.length; ) at += fs.writeSync(fd, block, at, block.length - at, bytes + at)
    bytes += block.length
    held = []
    length = 0
  }
  try {
    adapter.writeLines(unit, (line) => {
      if (line.includes('\n')) throw new Error(`a record of ${unit.file} is more than one line`)
      held.push(line, '\n')
      length += line.length + 1
      if (length >= CHUNK) flush()
    })
    flush()
    return { fd, bytes }
  } catch (error) {
    fs.closeSync(fd)
    throw error
  }
}

/** A private file to write and read that is gone when it is closed, or when this process ends, however it does. */
const openNameless = (folder: string): number => {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = path.join(folder, `${WRITTEN_NAME}${process.pid}-${randomBytes(8).toString('hex')}`)
  const fd = fs.openSync(name, 'wx+', 0o600)
  try {
    // Nothing is in it yet. Windows takes the name away when it is closed; what a crash leaves there is cleared at the next start.
    fs.unlinkSync(name)
  } catch (error) {
    fs.closeSync(fd)
    fs.rmSync(name, { force: true })
    throw error
  }
  return fd
}
