import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { type RuntimeAdapter, SourceBusy } from '../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { readDatabase } from '../../daemon/runtimes/shared/sqlite-home.ts'

/**
 * A runtime for tests whose sessions lie in one SQLite database, `<home>/state.db`: the records are those of Claude Code, one a row. It
 * counts how often a session was written out.
 */
export interface DatabaseRuntime {
  readonly adapter: RuntimeAdapter
  readonly writtenOut: string[]
  /** The next times something is read, the database is busy. */
  busyFor(times: number): void
  /** Called before the database is looked at, each time. */
  beforeReading(act: () => void): void
}

export const stateOf = (home: string): string => path.join(home, 'state.db')

export const createDatabaseRuntime = (): DatabaseRuntime => {
  const writtenOut: string[] = []
  let busy = 0
  let before = (): void => undefined
  const mayBeBusy = (): void => {
    if (busy-- > 0) throw new SourceBusy('somebody writes')
  }
  const adapter: RuntimeAdapter = {
    ...claudeCode,
    describeHome: () => ({ state: 'ok', reason: null, programVersion: null, retention: null, live: [] }),
    watchPlaces: (home) => [{ path: home, depth: 0, what: 'sessions' }],
    promptHistoryFile: () => null,
    listSideFiles: () => [],
    *listSessions(home, report) {
      const file = stateOf(home)
      if (!fs.existsSync(file)) return
      let rows: readonly { readonly id: string; readonly changes: number; readonly at: number }[]
      try {
        mayBeBusy()
        rows = readDatabase(file, (db) =>
          db.all('select id, changes, at from session order by id').map(({ id, changes, at }) => ({
            id: String(id),
            changes: Number(changes),
            at: Number(at),
          })),
        )
      } catch (error) {
        const { message: reason } = error as Error
        report(error instanceof SourceBusy ? { path: file, reason, busy: true } : { path: file, reason })
        return
      }
      for (const { id, changes, at } of rows)
        yield {
          home,
          session: id,
          parentSession: null,
          relation: null,
          file: `${file}#${id}`,
          sideFiles: [],
          meta: { lines_from: 'database' },
          stamp: { size: changes, mtime: at },
        }
    },
    writeLines({ home, session }, write) {
      before()
      mayBeBusy()
      writtenOut.push(session)
      readDatabase(stateOf(home), (db) => {
        for (const { line } of db.each('select line from record where session = ? order by n', session))
          write(String(line))
      })
    },
  }
  return {
    adapter,
    writtenOut,
    busyFor(times) {
      busy = times
    },
    beforeReading(act) {
      before = act
    },
  }
}

/** The program that owns the database, open while it works. */
export interface DatabaseOwner {
  append(session: string, lines: readonly string[]): void
  /** Changes a record in its place; `n` counts from 0. */
  change(session: string, n: number, change: (line: string) => string): void
  remove(session: string): void
  close(): void
}

export const openOwner = (home: string): DatabaseOwner => {
  fs.mkdirSync(home, { recursive: true })
  const db = new DatabaseSync(stateOf(home))
  db.exec(`pragma journal_mode = wal;
    create table if not exists session (id text primary key, changes integer not null, at integer not null);
    create table if not exists record (session text not null, n integer not null, line text not null, primary key (session, n))`)
  const transaction = (session: string, work: () => void): void => {
    db.exec('begin immediate')
    work()
    db.prepare('update session set changes = changes + 1, at = ? where id = ?').run(Date.now(), session)
    db.exec('commit')
  }
  return {
    append(session, lines) {
      db.prepare('insert or ignore into session values (?, 0, 0)').run(session)
      transaction(session, () => {
        const add = db.prepare('insert into record select ?, (select count(*) from record where session = ?), ?')
        for (const line of lines) add.run(session, session, line)
      })
    },
    change(session, n, change) {
      transaction(session, () => {
        const row = db.prepare('select line from record where session = ? and n = ?').get(session, n) as {
          line: string
        }
        db.prepare('update record set line = ? where session = ? and n = ?').run(change(row.line), session, n)
      })
    },
    remove(session) {
      db.prepare('delete from record where session = ?').run(session)
      db.prepare('delete from session where id = ?').run(session)
    },
    close() {
      if (!db.isOpen) return
      // All of it is in the one file then, whatever statements still hold the connection.
      db.exec('pragma wal_checkpoint(truncate)')
      db.close()
    },
  }
}
