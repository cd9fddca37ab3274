import fs from 'node:fs'
import { asDigest, type HomeId } from '../../contract/index.ts'
import type { RuntimeAdapter } from '../runtimes/adapter.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import type { GapNotes } from './gap-notes.ts'
import { LineReader, readOneLine, startOfFile, type UnreadableLine } from './line-reader.ts'
import { comparePrefix, fingerprintPrefix } from './prefix.ts'

/** Bytes of one transaction. */
const BATCH = 4 * 1024 * 1024

/** Where in the prompt history of a home each typed prompt stands: the file is read once per change, not once per session. */
export interface TypedPromptPlaces {
  /** Reads at most one batch of what is new. True when more is left. */
  readOn(home: HomeId, file: string, adapter: RuntimeAdapter): boolean
  /** Sessions with prompts that were not brought anywhere yet. */
  waiting(home: HomeId): readonly string[]
  /** These prompts, one JSON record a line, in the order of the file. */
  linesOf(home: HomeId, file: string, session: string, adapter: RuntimeAdapter): readonly Uint8Array[]
  markKept(home: HomeId, session: string): void
}

interface FileRow {
  readonly size: number
  readonly mtime: number
  readonly ino: number
  readonly offset: number
  readonly lines: number
  readonly open: string | null
  readonly head: string
  readonly tail: string
  readonly nameless: number
}

export const createTypedPromptPlaces = (db: Database, gaps: GapNotes): TypedPromptPlaces => {
  const sql = statements(db)

  const forget = (home: HomeId, file: string): void => {
    sql('delete from typed_files where home = ?').run(home)
    sql('delete from typed_prompts where home = ?').run(home)
    sql('delete from unreadable where path = ?').run(file)
  }

  const saveUnreadable = (file: string, { line, byte, bytes, reason, repaired }: UnreadableLine): void => {
    sql(
      'insert or replace into unreadable (run, path, generation, line, byte, bytes, reason, repaired) values (null, ?, 1, ?, ?, ?, ?, ?)',
    ).run(file, line, byte, bytes, reason, repaired ? 1 : 0)
  }

  const tellLost = (home: HomeId, file: string, nameless: number): void => {
    const { n } = sql('select count(*) as n from unreadable where path = ? and repaired = 0').get(file) as { n: number }
    if (n === 0) gaps.drop('unreadable_line', file)
    else
      gaps.save({
        kind: 'unreadable_line',
        home,
        where: file,
        message: `${n} unreadable ${n === 1 ? 'line' : 'lines'} in ${file}`,
        hint: 'listed under Health with line and byte; the other prompts are read',
      })
    if (nameless === 0) gaps.drop('unknown_record', file)
    else
      gaps.save({
        kind: 'unknown_record',
        home,
        where: file,
        message: `${nameless} typed ${nameless === 1 ? 'prompt' : 'prompts'} in ${file} without the session they belong to`,
        hint: 'older versions of the agent did not write it down; they are on no timeline',
      })
  }

  const readBatch = (home: HomeId, file: string, adapter: RuntimeAdapter, fd: number): boolean => {
    const stat = fs.fstatSync(fd)
    let row = sql('select * from typed_files where home = ?').get(home) as FileRow | undefined
    if (row && row.size === stat.size && row.mtime === stat.mtimeMs && row.ino === stat.ino) return false
    if (row && row.offset > 0) {
      const change = comparePrefix(fd, { bytes: row.offset, head: asDigest(row.head), tail: asDigest(row.tail) })
      // What was brought to its session is not brought again: the archive knows it by its content.
      if (change === 'shrank' || change === 'rewritten') {
        forget(home, file)
        row = undefined
      }
    }
    let nameless = Number(row?.nameless ?? 0)
    const sink = {
      row: (line: { line: number; byte: number; bytes: number; value: unknown }) => {
        const prompt = adapter.readTypedPrompt(line.value)
        if (prompt === null)
          saveUnreadable(file, { ...line, reason: 'a record without a typed prompt', repaired: false })
        else if (prompt.session === null) nameless++
        else
          sql('insert or ignore into typed_prompts (home, byte, bytes, session) values (?, ?, ?, ?)').run(
            home,
            line.byte,
            line.bytes,
            prompt.session,
          )
      },
      unreadable: (report: UnreadableLine) => saveUnreadable(file, report),
    }
    const from =
      row && row.offset > 0
        ? { byte: row.offset, line: row.lines, open: row.open === null ? null : JSON.parse(row.open) }
        : startOfFile
    const lines = new LineReader(fd, { from })
    let more = true
    for (let bytes = 0; bytes < BATCH; ) {
      const batch = lines.readBatch(sink)
      if (batch === null) {
        more = false
        break
      }
      bytes += batch.bytes.length
    }
    const { byte, line, open } = lines.cursor
    const print = fingerprintPrefix(fd, byte)
    sql(
      `insert or replace into typed_files (home, size, mtime, ino, offset, lines, open, head, tail, nameless)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ).run(
      home,
      more ? -1 : stat.size,
      stat.mtimeMs,
      stat.ino,
      byte,
      line,
      open === null ? null : JSON.stringify(open),
      print?.head ?? '',
      print?.tail ?? '',
      nameless,
    )
    if (!more) tellLost(home, file, nameless)
    return more
  }

  return {
    readOn(home, file, adapter) {
      let fd: number
      try {
        fd = fs.openSync(file, 'r')
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        inTransaction(db, () => forget(home, file))
        return false
      }
      try {
        return inTransaction(db, () => readBatch(home, file, adapter, fd))
      } finally {
        fs.closeSync(fd)
      }
    },

    waiting: (home) =>
      (
        sql('select distinct session from typed_prompts where home = ? and kept = 0').all(home) as { session: string }[]
      ).map(({ session }) => session),

    linesOf(home, file, session, adapter) {
      const places = sql(
        'select byte, bytes from typed_prompts where home = ? and session = ? and kept = 0 order by byte',
      ).all(home, session) as { byte: number; bytes: number }[]
      const lines: Uint8Array[] = []
      const fd = fs.openSync(file, 'r')
      try {
        for (const { byte, bytes } of places) {
          const text = Buffer.alloc(bytes)
          if (fs.readSync(fd, text, 0, bytes, byte) !== bytes) continue
          const values: unknown[] = []
          let whole = true
          const unreadable = (): void => {
            whole = false
          }
          readOneLine({ line: 1, byte, bytes, text }, { row: ({ value }) => values.push(value), unreadable })
          // The file may be another one by now: only what is said to be of this session is.
          const own = values.filter((value) => adapter.readTypedPrompt(value)?.session === session)
          if (whole && own.length === 1) lines.push(Buffer.concat([text, Buffer.from('\n')]))
          else for (const value of own) lines.push(Buffer.from(`${JSON.stringify(value)}\n`))
        }
      } finally {
        fs.closeSync(fd)
      }
      return lines
    },

    markKept(home, session) {
      sql('update typed_prompts set kept = 1 where home = ? and session = ? and kept = 0').run(home, session)
    },
  }
}
