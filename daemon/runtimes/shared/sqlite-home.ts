import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite'
import { SourceBusy, type UnitStamp } from '../adapter.ts'
import { copyLiveFile } from './copy-live-file.ts'

/**
 * An agent's database while it is read: one state of it. Tables are named as usual; a pragma of the database itself needs its name, `home`
 * (`pragma home.user_version`, `home.sqlite_schema`). Parameters are bound by place (`?`).
 */
export interface HomeDatabase {
  all(sql: string, ...values: readonly SqlValue[]): readonly Row[]
  /** Row by row, in fixed memory. */
  each(sql: string, ...values: readonly SqlValue[]): Iterable<Row>
  get(sql: string, ...values: readonly SqlValue[]): Row | null
}
/** Whole numbers that a `number` cannot hold come as `bigint`, blobs as bytes. */
export type SqlValue = null | number | bigint | string | Uint8Array
export type Row = Readonly<Record<string, SqlValue>>

/**
 * Reads an agent's SQLite database in one consistent state, write-ahead log included. Nothing is created, changed or touched beside the
 * user's file, and its owner never waits for us. `NOTES.md` has the experiments behind the three ways:
 *
 * - no log (closed, or a rollback-journal database at rest): without any lock; discarded when the file changed meanwhile;
 * - a log and its index (an owner is at work, or was killed): a read transaction that maps the index for reading only;
 * - a log without index, or a journal that stays (a crashed owner): a private copy, which SQLite repairs there.
 *
 * `read` is called at most once and must not keep the database. What it gave away before `SourceBusy` is thrown is worthless.
 * Throws `SourceBusy` when no consistent state was to be had now, the error of the file system when the file cannot be reached, and
 * `UnreadableDatabase` when it is no database or a damaged one.
 */
export function readDatabase<T>(
  file: string,
  read: (db: HomeDatabase) => T,
  { temporary = os.tmpdir() }: { readonly temporary?: string } = {},
): T {
  for (let attempt = 0; ; attempt++) {
    const patient = attempt < WAITS.length
    const found = lookAt(file)
    if (found.journal && patient && ageOf(found.journal) < LONG_MS) {
      // A transaction is being written. Almost always over in a moment; a journal that stays is a crash's or a long transaction's.
      pause(WAITS[attempt] ?? 0)
      continue
    }
    if (found.journal || (found.log && !found.hasIndex)) return readCopy(file, found, read, temporary)
    if (found.log) {
      const taken = readBesideOwner(file, found.log, read)
      if (taken === 'copy') return readCopy(file, found, read, temporary)
      if (taken !== 'again') return taken.result
    } else if (isSettled(found.main)) {
      const taken = readWithoutLock(file, found, read)
      if (taken !== 'again') return taken.result
    }
    if (!patient) throw new SourceBusy(`${file} is being written to`)
    pause(WAITS[attempt] ?? 0)
  }
}

/** The file is no SQLite database, a damaged one, or one that needs a newer SQLite. */
export class UnreadableDatabase extends Error {
  override readonly name = 'UnreadableDatabase'
}

/**
 * What changes whenever the database may have changed: equal stamps mean that no row is another. A checkpoint changes it too, although
 * no row did. Null when there is no such file; throws when it cannot be looked at.
 */
export function databaseStamp(file: string): UnitStamp | null {
  const main = statOf(file)
  if (!main) return null
  const log = statOf(`${file}-wal`)
  return {
    size: Number(main.size) + Number(log?.size ?? 0),
    mtime: Math.max(milliseconds(main), log ? milliseconds(log) : 0),
  }
}

/** Files beside a database whose change is a change of it. */
export const databaseFiles = (file: string): readonly string[] => [file, `${file}-wal`, `${file}-journal`]

/** Folders of private copies begin with this and the id of the process; those of a dead one may be removed. */
export const COPY_FOLDER = 'reprise-copy-'

/** Milliseconds between attempts: 200 ms in all, then the caller is told. */
const WAITS = [2, 5, 10, 20, 40, 60, 63] as const
/** Two writes within one tick of the kernel's clock leave the same time; a file as young as this may change again without a trace. */
const TICK_MS = 20

/** A journal that was not written to for so long will not be gone in a moment. */
const LONG_MS = 2000

interface Found {
  readonly main: fs.BigIntStats
  /** Null when there is none or nothing in it. */
  readonly log: fs.BigIntStats | null
  readonly hasIndex: boolean
  /** A rollback journal with something in it. */
  readonly journal: fs.BigIntStats | null
}

type Taken<T> = { readonly result: T } | 'again'

function lookAt(file: string): Found {
  const main = fs.statSync(file, { bigint: true })
  if (!main.isFile()) throw new UnreadableDatabase(`${file} is no regular file`)
  const log = statOf(`${file}-wal`)
  const journal = statOf(`${file}-journal`)
  return {
    main,
    log: log && log.size > 0n ? log : null,
    hasIndex: statOf(`${file}-shm`) !== null,
    // A journal that is kept between transactions has its head overwritten with zeros (`journal_mode` PERSIST).
    journal: journal && journal.size > 0n && firstByte(`${file}-journal`) !== 0 ? journal : null,
  }
}

/**
 * The log and its index are there. `readonly_shm` keeps SQLite from making or changing an index; the lock it takes is one that holds up
 * neither a writer nor a checkpoint beyond the state being read.
 */
function readBesideOwner<T>(file: string, log: fs.BigIntStats, read: (db: HomeDatabase) => T): Taken<T> | 'copy' {
  const head = headOfLog(file)
  const opened = openAt(file, 'mode=ro&readonly_shm=1')
  if ('error' in opened) {
    // Its owner holds it alone (being closed, or repaired), it was closed between our look and our lock, or its index cannot be used as
    // it is: only a writer may put it right, so that must be done in a copy.
    if (!stillThere(file, log)) return 'again'
    if (isLock(opened.error)) return 'again'
    const code = codeOf(opened.error)
    if (code === READ_ONLY || code === CANNOT_OPEN || code === PROTOCOL) return 'copy'
    throw asUnreadable(file, opened.error)
  }
  let result: T
  try {
    result = read(opened.db)
  } catch (error) {
    if (!stillThere(file, log)) throw new SourceBusy(`${file} was closed by its owner`)
    throw asUnreadable(file, error)
  } finally {
    opened.close()
  }
  // Another part of this process that opened the same file would have taken our lock with it when it closed (POSIX locks are the
  // process's); only then can the owner have folded the log into the file meanwhile, and it removes the log when it does.
  // A log made anew within one tick of the clock can have number and time of the old one, but never its salts.
  if (!stillThere(file, log) || head !== headOfLog(file)) throw new SourceBusy(`${file} was closed by its owner`)
  return { result }
}

/** Salts of the log; null when there is none. The log itself carries no locks, so looking into it takes none away. */
function headOfLog(file: string): string | null {
  try {
    return readHead(`${file}-wal`, LOG_HEAD)
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** No log: all is in the main file, which changes only by what shows in its times, its change counter or a journal. */
function readWithoutLock<T>(file: string, found: Found, read: (db: HomeDatabase) => T): Taken<T> {
  const head = readHead(file, HEAD)
  const opened = openAt(file, 'immutable=1')
  if ('error' in opened) {
    if (!isSame(file, found, head)) return 'again'
    throw asUnreadable(file, opened.error)
  }
  let result: T
  try {
    result = read(opened.db)
  } catch (error) {
    if (!isSame(file, found, head)) throw new SourceBusy(`${file} was written to`)
    throw asUnreadable(file, error)
  } finally {
    opened.close()
  }
  if (!isSame(file, found, head)) throw new SourceBusy(`${file} was written to`)
  return { result }
}

function isSame(file: string, found: Found, head: string): boolean {
  const now = statOf(file)
  return now !== null && sameFile(now, found.main) && readHead(file, HEAD) === head && lookAt(file).journal === null
}

/**
 * A copy of the file and its log is consistent when the log was not begun anew meanwhile: within one log, the main file changes only in
 * pages that the log holds too. A copy with a journal is consistent when neither changed.
 */
function readCopy<T>(file: string, found: Found, read: (db: HomeDatabase) => T, temporary: string): T {
  const busy = new SourceBusy(`${file} is being written to`)
  if (found.journal && !(isSettled(found.main) && isSettled(found.journal))) throw busy
  const folder = fs.mkdtempSync(path.join(temporary, `${COPY_FOLDER}${process.pid}-`))
  try {
    const copy = path.join(folder, 'copy.db')
    const head = found.log ? headOfLog(file) : null
    if (found.log && head === null) throw busy
    copyPrivately(file, copy)
    if (found.log) {
      copyPrivately(`${file}-wal`, `${copy}-wal`)
      const now = statOf(`${file}-wal`)
      if (!now || now.size < found.log.size || head !== headOfLog(file)) throw busy
    }
    if (found.journal) {
      copyPrivately(`${file}-journal`, `${copy}-journal`)
      const main = statOf(file)
      const journal = statOf(`${file}-journal`)
      if (!main || !journal || !sameFile(main, found.main) || !sameFile(journal, found.journal)) throw busy
    } else if (lookAt(file).journal) throw busy
    const opened = openAt(copy, 'mode=rw')
    if ('error' in opened) throw asUnreadable(file, opened.error)
    try {
      // Open files need no names: what is in them is gone when this process is, whatever ends it. (Not so on Windows.)
      for (const name of fs.readdirSync(folder)) tryTo(() => fs.rmSync(path.join(folder, name)))
      return read(opened.db)
    } catch (error) {
      throw asUnreadable(file, error)
    } finally {
      opened.close()
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true })
  }
}

interface Opened {
  readonly db: HomeDatabase
  close(): void
}

/**
 * The file is attached to a connection of our own instead of being opened as one: a statement lives until it is collected, and the
 * connection, its locks and open files with it; only detaching lets go of the file at once.
 */
function openAt(file: string, query: string): Opened | { readonly error: unknown } {
  const connection = new DatabaseSync(':memory:', { timeout: 0 })
  const close = (): void => {
    if (connection.isTransaction) connection.exec('rollback')
    connection.exec('detach home')
    connection.close()
  }
  try {
    connection.prepare('attach ? as home').run(`${pathToFileURL(file).href}?${query}`)
  } catch (error) {
    connection.close()
    return { error }
  }
  try {
    // The schema is somebody else's: it may call no function with effects, and nothing is written.
    connection.exec('pragma trusted_schema = 0; pragma query_only = 1; begin')
    // `begin` alone takes no state.
    connection.prepare('select count(*) from home.sqlite_schema').get()
  } catch (error) {
    close()
    return { error }
  }
  const prepared = (sql: string): StatementSyncInstance => {
    const statement = connection.prepare(sql)
    statement.setReadBigInts(true)
    return statement
  }
  const db: HomeDatabase = {
    all: (sql, ...values) =>
      prepared(sql)
        .all(...values)
        .map(asRow),
    *each(sql, ...values) {
      for (const row of prepared(sql).iterate(...values)) yield asRow(row)
    },
    get(sql, ...values) {
      const row: unknown = prepared(sql).get(...values)
      return row === undefined ? null : asRow(row)
    },
  }
  return { db, close }
}

function asRow(found: unknown): Row {
  const row: Record<string, SqlValue> = Object.create(null)
  for (const [name, value] of Object.entries(found ?? {})) {
    row[name] =
      typeof value === 'bigint' && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : value
  }
  return row
}

function stillThere(file: string, log: fs.BigIntStats): boolean {
  const now = statOf(`${file}-wal`)
  return now !== null && now.ino === log.ino && now.birthtimeNs === log.birthtimeNs
}

const sameFile = (a: fs.BigIntStats, b: fs.BigIntStats): boolean =>
  a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeNs === b.mtimeNs

/** A time in the future says nothing; the other signs (counter, journal, log) must do then. */
const isSettled = (stats: fs.BigIntStats): boolean => Math.abs(ageOf(stats)) > TICK_MS
const ageOf = (stats: fs.BigIntStats): number => Date.now() - milliseconds(stats)

const milliseconds = (stats: fs.BigIntStats): number => Number(stats.mtimeNs / 1000n) / 1000

/** Of the main file: its bytes 24–27 count the transactions of a rollback-journal database, 18–19 tell the kind. */
const HEAD = 100
/** Of the log: its salts are others whenever it is begun anew. */
const LOG_HEAD = 32

const firstByte = (file: string): number => {
  try {
    return Number.parseInt(readHead(file, 1) || '0', 16)
  } catch (error) {
    if (isMissing(error)) return 0
    throw error
  }
}

/** The first bytes as hex. */
function readHead(file: string, length: number): string {
  const fd = fs.openSync(file, 'r')
  try {
    const head = Buffer.alloc(length)
    return head.toString('hex', 0, fs.readSync(fd, head, 0, length, 0))
  } finally {
    fs.closeSync(fd)
  }
}

function copyPrivately(from: string, to: string): void {
  try {
    copyLiveFile(from, to)
  } catch (error) {
    if (isMissing(error)) throw new SourceBusy(`${from} went away while it was copied`)
    throw error
  }
}

function statOf(file: string): fs.BigIntStats | null {
  return fs.statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null
}

/** Worker threads and the main thread of Node may wait; `read` is synchronous for the sake of one state. */
const pause = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const CANNOT_OPEN = 14
const PROTOCOL = 15
const CORRUPT = 11
const NO_DATABASE = 26

/** The low byte is the code, the rest says more. */
const codeOf = (error: unknown): number | null =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : null

const isLock = (error: unknown): boolean => codeOf(error) === BUSY || codeOf(error) === LOCKED

const asUnreadable = (file: string, error: unknown): unknown => {
  const code = codeOf(error)
  if (isLock(error)) return new SourceBusy(`${file} is locked by its owner`)
  if (code === NO_DATABASE) return new UnreadableDatabase(`${file} is no SQLite database`, { cause: error })
  if (code === CORRUPT) return new UnreadableDatabase(`${file} is damaged: ${String(error)}`, { cause: error })
  if (code === CANNOT_OPEN) return new UnreadableDatabase(`${file} cannot be opened`, { cause: error })
  return error
}

const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT'

function tryTo(action: () => void): void {
  try {
    action()
  } catch {
    // Removed with its folder when the database is closed.
  }
}
