import fs from 'node:fs'
import path from 'node:path'
import { asDigest, type RunId } from '../../contract/index.ts'
import type { RuntimeAdapter, SessionReader, SessionUnit } from '../runtimes/adapter.ts'
import { type Database, type Statement, statements } from '../store/index/database.ts'
import { type LineCursor, LineReader, readOneLine, startOfFile, type UnreadableLine } from './line-reader.ts'
import { comparePrefix, fingerprintPrefix, type PrefixFingerprint } from './prefix.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { type RunFeed, type RunWriter, saveTotals } from './run-writer.ts'

/** One line of an archived session, as the store gives it back. */
export interface ArchivedLine {
  readonly line: number
  readonly byte: number
  readonly bytes: number
  readonly text: Uint8Array
}

export interface ImportParts {
  readonly db: Database
  readonly writer: RunWriter
  readonly now: () => Date
  /** Lines of one generation from the archive, with their original places. */
  readonly archived: (run: RunId, file: string, generation: number) => AsyncIterable<ArchivedLine>
}

export interface SourceChange {
  readonly at: string
  readonly message: string
}

/** Outcome of looking at one session file. */
export type ImportStep =
  | { readonly state: 'unchanged' }
  | {
      readonly state: 'read'
      readonly run: number
      readonly bytes: number
      readonly more: boolean
      readonly rewritten: SourceChange | null
    }
  | { readonly state: 'vanished'; readonly run: number | null }
  | { readonly state: 'unreadable'; readonly run: number | null; readonly reason: string }

interface FileRow {
  readonly key: number
  readonly run: number
  readonly dev: number
  readonly ino: number
  readonly size: number
  readonly mtime: number
  readonly generation: number
  readonly offset: number
  readonly lines: number
  readonly open: string | null
  readonly head: string
  readonly tail: string
  readonly archived: number
  readonly state: string
}

/** A session being read: the reader stays for the next growth of its file. */
interface OpenUnit {
  readonly reader: SessionReader
  readonly feed: RunFeed
}

/** How many readers stay for files that may grow again. */
const KEPT = 16
/** Bytes of one transaction; the API answers between two of them. */
const BATCH = 8 * 1024 * 1024
/** How long a file must be still before its unfinished last line counts as damaged. */
const STILL_MS = 60_000
const SMALLEST_READ = 32 * 1024
const LARGEST_READ = 2 * 1024 * 1024

export interface Adoption {
  /** Generation of the file as it is now on disk; that of the archive when the file is gone. */
  readonly generation: number
  /** What the archive holds of that generation. */
  readonly archived: { readonly bytes: number; readonly lines: number } | null
  readonly vanished: boolean
}

export interface UnitImporter {
  /** Reads at most one batch of what is new in the unit's file. Call again while `more`. */
  step(unit: SessionUnit, adapter: RuntimeAdapter): Promise<ImportStep>
  /** Puts a run that only the archive knows into the index: its older generations, all of them when its file is gone. */
  adopt(unit: SessionUnit, adapter: RuntimeAdapter, from: Adoption): Promise<void>
  /** Brings back the reader of a unit that was read in an earlier life of the daemon. False when its file is not there to read. */
  reopen(unit: SessionUnit, adapter: RuntimeAdapter): Promise<boolean>
  /** Reader of a unit that was just read, for what it says of stretches. */
  readerOf(file: string): SessionReader | null
  forgetReaders(): void
}

export const createUnitImporter = ({ db, writer, now, archived }: ImportParts): UnitImporter => {
  const sql = statements(db)
  const open = new Map<string, OpenUnit>()

  const remember = (file: string, unit: OpenUnit): void => {
    open.delete(file)
    open.set(file, unit)
    if (open.size > KEPT) open.delete(open.keys().next().value as string)
  }

  const openRun = (unit: SessionUnit, adapter: RuntimeAdapter, sort: string): number => {
    const home = homeIdOf(adapter.runtime, unit.home)
    const id = runIdOf(home, unit.session)
    const known = sql('select key from runs where id = ?').get(id) as { key: number } | undefined
    if (known) return known.key
    const parent = unit.parentSession === null ? null : runIdOf(home, unit.parentSession)
    const made = sql(
      'insert into runs (id, home, runtime, session, parent_session, relation, parent, sort_at, meta) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(
      id,
      home,
      adapter.runtime,
      unit.session,
      unit.parentSession,
      unit.relation,
      parent,
      sort,
      JSON.stringify(unit.meta),
    )
    return Number(made.lastInsertRowid)
  }

  const reportUnreadable = (run: number, file: string, generation: number) => (report: UnreadableLine) => {
    sql(
      'insert or replace into unreadable (run, path, generation, line, byte, bytes, reason, repaired) values (?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(run, file, generation, report.line, report.byte, report.bytes, report.reason, report.repaired ? 1 : 0)
  }

  /** Brings a fresh reader to where the index already is, without writing anything. */
  const catchUp = async (
    unit: SessionUnit,
    adapter: RuntimeAdapter,
    row: FileRow,
    fd: number,
    id: RunId,
  ): Promise<OpenUnit> => {
    const fresh: OpenUnit = { reader: adapter.openReader(unit), feed: writer.feed(row.run) }
    fresh.feed.writing = false
    fresh.feed.generation = row.generation
    for (let older = 1; older < row.generation; older++)
      for await (const line of archived(id, path.relative(unit.home, unit.file), older))
        feedArchived(fresh, line, () => undefined)
    const lines = new LineReader(fd, { until: row.offset })
    const sink = {
      row: (line: Parameters<SessionReader['readLine']>[0]) => fresh.reader.readLine(line, fresh.feed.sink),
      unreadable: () => undefined,
    }
    while (lines.readBatch(sink) !== null) await nextTurn()
    fresh.feed.writing = true
    return fresh
  }

  return {
    readerOf: (file) => open.get(file)?.reader ?? null,
    forgetReaders: () => open.clear(),

    async reopen(unit, adapter) {
      if (open.has(unit.file)) return true
      const row = sql('select * from files where path = ?').get(Buffer.from(unit.file)) as FileRow | undefined
      if (row?.state !== 'present') return false
      const fd = tryOpen(unit.file)
      if (fd === null) return false
      try {
        remember(
          unit.file,
          await catchUp(unit, adapter, row, fd, runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)),
        )
        return true
      } finally {
        fs.closeSync(fd)
      }
    },

    async adopt(unit, adapter, { generation, archived: kept, vanished }) {
      const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
      const rel = path.relative(unit.home, unit.file)
      db.exec('begin immediate')
      try {
        const run = openRun(unit, adapter, '')
        const row = createFile(sql, run, Buffer.from(unit.file), rel)
        sql('update files set generation = ?, archived = ?, archived_lines = ?, state = ? where key = ?').run(
          generation,
          kept?.bytes ?? 0,
          kept?.lines ?? 0,
          vanished ? 'vanished' : 'present',
          row.key,
        )
        if (vanished) sql("update runs set source_state = 'vanished' where key = ?").run(run)
        const adopted: OpenUnit = { reader: adapter.openReader(unit), feed: writer.feed(run) }
        for (let older = 1; older < generation + (vanished ? 1 : 0); older++) {
          adopted.feed.generation = older
          for await (const line of archived(id, rel, older))
            feedArchived(adopted, line, reportUnreadable(run, unit.file, older))
        }
        adopted.feed.generation = generation
        remember(unit.file, adopted)
        if (vanished) writer.saveSummary(run, adopted.reader.summary())
        db.exec('commit')
      } catch (error) {
        if (db.isTransaction) db.exec('rollback')
        open.delete(unit.file)
        throw error
      }
    },

    async step(unit, adapter) {
      const blob = Buffer.from(unit.file)
      const known = sql('select * from files where path = ?').get(blob) as FileRow | undefined
      let fd: number
      try {
        fd = fs.openSync(unit.file, 'r')
      } catch (error) {
        const { code = 'EIO' } = error as NodeJS.ErrnoException
        if (code === 'ENOENT') return { state: 'vanished', run: known?.run ?? null }
        return { state: 'unreadable', run: known?.run ?? null, reason: code }
      }
      try {
        const stat = fs.fstatSync(fd)
        const mtime = Math.trunc(stat.mtimeMs)
        let row =
          known ??
          createFile(
            sql,
            openRun(unit, adapter, new Date(mtime).toISOString()),
            blob,
            path.relative(unit.home, unit.file),
          )
        const home = homeIdOf(adapter.runtime, unit.home)
        const id = runIdOf(home, unit.session)
        if (known && row.state === 'present' && row.size === stat.size && row.mtime === mtime && row.ino === stat.ino)
          return { state: 'unchanged' }
        if (known && row.state === 'vanished') {
          noteChange(sql, row.run, id, now().toISOString(), 'returned', unit.file, 'the session file is there again')
          sql("update files set state = 'present' where key = ?").run(row.key)
          sql("update runs set source_state = 'present' where key = ?").run(row.run)
        }

        let rewritten: SourceChange | null = null
        if (row.offset > 0) {
          const before: PrefixFingerprint = { bytes: row.offset, head: asDigest(row.head), tail: asDigest(row.tail) }
          const change = comparePrefix(fd, before)
          if (change === 'shrank' || change === 'rewritten') {
            open.delete(unit.file)
            rewritten = startGeneration(sql, row, id, unit.file, stat.size, now().toISOString())
            row = sql('select * from files where key = ?').get(row.key) as FileRow
          }
        }
        let current = open.get(unit.file)
        if (!current || current.feed.generation !== row.generation) current = await catchUp(unit, adapter, row, fd, id)
        remember(unit.file, current)

        const { reader, feed } = current
        const unended = row.open === null ? null : (JSON.parse(row.open) as NonNullable<LineCursor['open']>)
        const cursor: LineCursor =
          unended?.records === 0
            ? // The line was given up as damaged and goes on after all (the machine slept): it is read again from its beginning.
              { byte: unended.byte, line: row.lines - 1, open: null }
            : { byte: row.offset, line: row.lines, open: unended }
        if (cursor.byte !== row.offset)
          sql('delete from unreadable where path = ? and generation = ? and line = ?').run(
            unit.file,
            row.generation,
            row.lines,
          )
        // A small file gets a small buffer: buffers of 2 MB each made the collector run for every session.
        const chunkBytes = Math.min(LARGEST_READ, Math.max(SMALLEST_READ, stat.size - row.offset + 1))
        const lines = new LineReader(fd, { from: row.offset === 0 ? startOfFile : cursor, chunkBytes })
        const sink = {
          row: (line: Parameters<SessionReader['readLine']>[0]) => reader.readLine(line, feed.sink),
          unreadable: reportUnreadable(row.run, unit.file, row.generation),
        }
        // Nobody writes on a line whose file has been still for a while: then it is told of, not waited for (B10).
        const settled = now().getTime() - mtime > STILL_MS
        let bytes = 0
        let more = true
        while (bytes < BATCH) {
          const batch = lines.readBatch(sink, { finished: settled })
          if (batch === null) {
            more = false
            break
          }
          bytes += batch.bytes.length
        }
        const { byte, line, open: openLine } = lines.cursor
        const fingerprint = fingerprintPrefix(fd, byte)
        sql(
          `update files set dev = ?, ino = ?, size = ?, mtime = ?, offset = ?, lines = ?, open = ?, head = ?, tail = ? where key = ?`,
        ).run(
          stat.dev,
          stat.ino,
          // An unfinished last line is looked at again, whether or not the file changes.
          more || lines.incompleteTail !== null ? -1 : stat.size,
          mtime,
          byte,
          line,
          openLine === null ? null : JSON.stringify(openLine),
          fingerprint?.head ?? '',
          fingerprint?.tail ?? '',
          row.key,
        )
        const summary = reader.summary()
        writer.saveSummary(row.run, summary)
        if (summary.startedAt === null && summary.endedAt === null)
          sql('update runs set sort_at = ? where key = ?').run(new Date(mtime).toISOString(), row.run)
        sql(
          'update runs set unreadable = (select count(*) from unreadable where run = ? and repaired = 0) where key = ?',
        ).run(row.run, row.run)
        sql('update runs set linked = 0, settled = 0 where key = ?').run(row.run)
        if (!more) saveTotals(db, row.run)
        else saveRough(sql, row.run, feed)
        return { state: 'read', run: row.run, bytes, more, rewritten }
      } finally {
        fs.closeSync(fd)
      }
    },
  }
}

const tryOpen = (file: string): number | null => {
  try {
    return fs.openSync(file, 'r')
  } catch {
    return null
  }
}

const createFile = (sql: (text: string) => Statement, run: number, file: Uint8Array, rel: string): FileRow => {
  sql('insert into files (run, path, rel, dev, ino, size, mtime) values (?, ?, ?, 0, 0, -1, 0)').run(run, file, rel)
  return sql('select * from files where path = ?').get(file) as FileRow
}

/** The agent replaced its own file (B12): what was read stays, and the new content is read as a further generation of the same run. */
const startGeneration = (
  sql: (text: string) => Statement,
  row: FileRow,
  id: RunId,
  file: string,
  size: number,
  at: string,
): SourceChange => {
  const lost = row.archived < row.offset
  const message = `the agent rewrote the session file: it held ${row.lines} lines and ${row.offset} bytes, now ${size} bytes${lost ? '; its last part had not been kept yet' : ''}`
  noteChange(sql, row.run, id, at, 'shrank', file, message)
  sql("update runs set source_state = 'shrank' where key = ?").run(row.run)
  sql(
    "update files set generation = generation + 1, offset = 0, lines = 0, open = null, head = '', tail = '', archived = 0, archived_lines = 0, size = -1 where key = ?",
  ).run(row.key)
  return { at, message }
}

export const noteChange = (
  sql: (text: string) => Statement,
  run: number,
  id: RunId,
  at: string,
  change: 'shrank' | 'vanished' | 'returned',
  file: string,
  message: string,
): void => {
  sql('insert or replace into source_changes (id, run, at, change, path, message) values (?, ?, ?, ?, ?, ?)').run(
    `${id}:${change}:${at}`,
    run,
    at,
    change,
    file,
    message,
  )
}

/** While a large file is still being read its exact totals would cost a pass over all its events each time. */
const saveRough = (sql: (text: string) => Statement, run: number, feed: RunFeed): void => {
  sql('update runs set events = ? where key = ?').run(feed.counts.events, run)
}

/** A line of the archive goes through the same reading as one from the disk, so that damaged ones are told of again. */
const feedArchived = (unit: OpenUnit, line: ArchivedLine, unreadable: (report: UnreadableLine) => void): void => {
  readOneLine(line, { row: (row) => unit.reader.readLine(row, unit.feed.sink), unreadable })
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
