import fs from 'node:fs'
import path from 'node:path'
import type { Digest, RunId } from '../../contract/index.ts'
import {
  linesFrom,
  type RuntimeAdapter,
  type SessionReader,
  type SessionUnit,
  SourceBusy,
} from '../runtimes/adapter.ts'
import { type Database, type Statement, statements } from '../store/index/database.ts'
import {
  createFile,
  type FileRow,
  findFile,
  fingerprintOf,
  moveFile,
  noteChange,
  type SourceChange,
  startGeneration,
} from './file-rows.ts'
import { type LineCursor, LineReader, readOneLine, startOfFile, type UnreadableLine } from './line-reader.ts'
import type { OpenSession, SessionSources } from './open-session.ts'
import { comparePrefix, digestPrefix, fingerprintPrefix } from './prefix.ts'
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
  readonly sources: SessionSources
  readonly now: () => Date
  /** Lines of one generation from the archive, with their original places. */
  readonly archived: (run: RunId, file: string, generation: number) => AsyncIterable<ArchivedLine>
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
  /** Written to without a consistent state to be had: to be tried again a moment later. */
  | { readonly state: 'busy'; readonly reason: string }
  | { readonly state: 'unreadable'; readonly run: number | null; readonly reason: string }

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
  /** Generation of the file as it is now on disk; the newest of the archive when the file cannot be read. */
  readonly generation: number
  /** The name of the session in the archive. */
  readonly rel: string
  /** What the archive holds of that generation. */
  readonly archived: { readonly bytes: number; readonly lines: number; readonly prefixDigest: Digest } | null
  /**
   * `unknown`: whether it is there cannot be told now. `forgotten`: its home is not read any more. With all but `there`, everything comes
   * from the archive.
   */
  readonly disk: 'there' | 'gone' | 'unknown' | 'forgotten'
}

export interface UnitImporter {
  /** Reads at most one batch of what is new in the unit's file. Call again while `more`. */
  step(unit: SessionUnit, adapter: RuntimeAdapter): Promise<ImportStep>
  /** Puts a run that only the archive knows into the index: its older generations, all of them when its file is gone. */
  adopt(unit: SessionUnit, adapter: RuntimeAdapter, from: Adoption): Promise<void>
  /** Brings back the reader of a unit that was read in an earlier life of the daemon. False when what was read is not there any more. */
  reopen(unit: SessionUnit, adapter: RuntimeAdapter): Promise<boolean>
  /** Reader of a unit that was just read, for what it says of stretches. */
  readerOf(file: string): SessionReader | null
  forgetReaders(): void
}

export const createUnitImporter = ({ db, writer, sources, now, archived }: ImportParts): UnitImporter => {
  const sql = statements(db)
  const open = new Map<string, OpenUnit>()

  const remember = (file: string, unit: OpenUnit): void => {
    open.delete(file)
    open.set(file, unit)
    if (open.size > KEPT) open.delete(open.keys().next().value as string)
  }

  const openRun = (unit: SessionUnit, adapter: RuntimeAdapter, id: RunId, sort: string): number => {
    const home = homeIdOf(adapter.runtime, unit.home)
    const meta = JSON.stringify(unit.meta)
    const known = sql('select key, meta from runs where id = ?').get(id) as { key: number; meta: string } | undefined
    if (known) {
      // What a session lies in may change: a plain file is packed, or goes on in a second one.
      if (known.meta !== meta) sql('update runs set meta = ? where key = ?').run(meta, known.key)
      return known.key
    }
    const parent = unit.parentSession === null ? null : runIdOf(home, unit.parentSession)
    const made = sql(
      'insert into runs (id, home, runtime, session, parent_session, relation, parent, sort_at, meta) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(id, home, adapter.runtime, unit.session, unit.parentSession, unit.relation, parent, sort, meta)
    return Number(made.lastInsertRowid)
  }

  /** The row of the unit's file, also under the name it had before. */
  const rowOf = (unit: SessionUnit, id: RunId): FileRow | undefined => {
    const known = findFile(sql, unit.file)
    if (known) return known
    const before = sql('select files.* from files join runs on runs.key = files.run where runs.id = ?').get(id) as
      | FileRow
      | undefined
    return before && moveFile(sql, before, unit.file)
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
      for await (const line of archived(id, row.rel, older)) feedArchived(fresh, line, () => undefined)
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
      const row = findFile(sql, unit.file)
      if (row?.state !== 'present') return false
      const source = tryOpen(sources, unit, adapter)
      if (source === null) return false
      try {
        if (row.offset > 0 && isRewritten(source.fd, row)) return false
        const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
        remember(unit.file, await catchUp(unit, adapter, row, source.fd, id))
        return true
      } finally {
        source.close()
      }
    },

    async adopt(unit, adapter, { generation, rel, archived: kept, disk }) {
      const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
      db.exec('begin immediate')
      try {
        const run = openRun(unit, adapter, id, '')
        const row = createFile(sql, run, unit.file, rel)
        const whole = disk !== 'there'
        sql('update files set generation = ?, archived = ?, archived_lines = ?, state = ? where key = ?').run(
          generation,
          kept?.bytes ?? 0,
          kept?.lines ?? 0,
          disk === 'gone' ? 'vanished' : disk === 'forgotten' ? 'forgotten' : 'present',
          row.key,
        )
        // Should it come back, it goes on behind what the archive holds of it.
        if (whole && kept)
          sql('update files set offset = ?, lines = ?, prefix = ? where key = ?').run(
            kept.bytes,
            kept.lines,
            kept.prefixDigest,
            row.key,
          )
        if (disk === 'gone') sql("update runs set source_state = 'vanished' where key = ?").run(run)
        const adopted: OpenUnit = { reader: adapter.openReader(unit), feed: writer.feed(run) }
        for (let older = 1; older < generation + (whole ? 1 : 0); older++) {
          adopted.feed.generation = older
          for await (const line of archived(id, rel, older))
            feedArchived(adopted, line, reportUnreadable(run, unit.file, older))
        }
        adopted.feed.generation = generation
        remember(unit.file, adopted)
        if (whole) {
          adopted.reader.readMeta?.(unit.meta, adopted.feed.sink)
          writer.saveSummary(run, adopted.reader.summary())
          saveTotals(db, run)
        }
        db.exec('commit')
      } catch (error) {
        if (db.isTransaction) db.exec('rollback')
        open.delete(unit.file)
        throw error
      }
    },

    async step(unit, adapter) {
      const home = homeIdOf(adapter.runtime, unit.home)
      const id = runIdOf(home, unit.session)
      const known = rowOf(unit, id)
      // A session that is no plain file is not written out again to find out that it is the same.
      if (known && unit.stamp && isUnchanged(known, { ...unit.stamp, mtime: Math.trunc(unit.stamp.mtime), ino: 0 }))
        return { state: 'unchanged' }
      let source: OpenSession
      try {
        source = sources.open(unit, adapter)
      } catch (error) {
        if (error instanceof SourceBusy) return { state: 'busy', reason: error.message }
        const { code, message } = error as NodeJS.ErrnoException
        if (code === 'ENOENT') return { state: 'vanished', run: known?.run ?? null }
        return { state: 'unreadable', run: known?.run ?? null, reason: linesFrom(unit) ? message : (code ?? message) }
      }
      const { fd, mtime } = source
      try {
        const bytesThere = fs.fstatSync(fd).size
        let row =
          known ??
          createFile(
            sql,
            openRun(unit, adapter, id, new Date(mtime).toISOString()),
            unit.file,
            path.relative(unit.home, unit.file),
          )
        if (known && isUnchanged(known, source)) return { state: 'unchanged' }
        // Its last row went between the listing and now: the next listing tells whether the session did.
        if (known && (row.offset > 0 || row.archived > 0) && bytesThere === 0 && linesFrom(unit) !== null)
          return { state: 'vanished', run: row.run }
        if (known) openRun(unit, adapter, id, '')
        // Its home was forgotten and is read again: nothing happened to the session.
        if (known && row.state === 'forgotten') sql("update files set state = 'present' where key = ?").run(row.key)
        if (known && row.state === 'vanished') {
          noteChange(sql, row.run, id, now().toISOString(), 'returned', unit.file, 'the session is there again')
          sql("update files set state = 'present' where key = ?").run(row.key)
          sql("update runs set source_state = 'present' where key = ?").run(row.run)
        }

        let rewritten: SourceChange | null = null
        if (row.offset > 0 && isRewritten(fd, row)) {
          open.delete(unit.file)
          rewritten = startGeneration(sql, row, id, unit.file, bytesThere, now().toISOString())
          row = findFile(sql, unit.file) as FileRow
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
        const chunkBytes = Math.min(LARGEST_READ, Math.max(SMALLEST_READ, bytesThere - row.offset + 1))
        const lines = new LineReader(fd, { from: row.offset === 0 ? startOfFile : cursor, chunkBytes })
        const sink = {
          row: (line: Parameters<SessionReader['readLine']>[0]) => reader.readLine(line, feed.sink),
          unreadable: reportUnreadable(row.run, unit.file, row.generation),
        }
        // Nobody writes on a line whose file has been still for a while: then it is told of, not waited for (B10).
        const settled = now().getTime() - mtime > STILL_MS || linesFrom(unit) !== null
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
        // Databases change rows in place; a file that is appended to does not, and may be too large to be read again for each line.
        const all = linesFrom(unit) !== null && !more ? digestPrefix(fd, byte) : null
        sql(
          `update files set dev = ?, ino = ?, size = ?, mtime = ?, offset = ?, lines = ?, open = ?, head = ?, tail = ?, prefix = ? where key = ?`,
        ).run(
          source.dev,
          source.ino,
          // An unfinished last line is looked at again, whether or not the file changes.
          more || lines.incompleteTail !== null ? -1 : source.size,
          mtime,
          byte,
          line,
          openLine === null ? null : JSON.stringify(openLine),
          fingerprint?.head ?? '',
          fingerprint?.tail ?? '',
          all ?? '',
          row.key,
        )
        if (!more) reader.readMeta?.(unit.meta, feed.sink)
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
        source.close()
      }
    },
  }
}

const isUnchanged = (row: FileRow, now: Pick<OpenSession, 'size' | 'mtime' | 'ino'>): boolean =>
  row.state === 'present' && row.size === now.size && row.mtime === now.mtime && row.ino === now.ino

const isRewritten = (fd: number, row: FileRow): boolean => {
  const change = comparePrefix(fd, fingerprintOf(row))
  return change === 'shrank' || change === 'rewritten'
}

const tryOpen = (sources: SessionSources, unit: SessionUnit, adapter: RuntimeAdapter): OpenSession | null => {
  try {
    return sources.open(unit, adapter)
  } catch {
    return null
  }
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
