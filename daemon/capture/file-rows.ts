import { asDigest, type RunId } from '../../contract/index.ts'
import { linesFrom } from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { PrefixDigest, PrefixFingerprint } from './prefix.ts'

/** What the index knows of the file of a session, or of what stands for it. One row for each run. */
export interface FileRow {
  readonly key: number
  readonly run: number
  readonly path: Uint8Array
  /** The name in the archive: that under which the session was first seen, relative to its home. */
  readonly rel: string
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
  readonly prefix: string
  readonly archived: number
  readonly state: string
}

export interface SourceChange {
  readonly at: string
  readonly message: string
}

type Sql = (text: string) => Statement

export const findFile = (sql: Sql, file: string): FileRow | undefined =>
  sql('select * from files where path = ?').get(Buffer.from(file)) as FileRow | undefined

export const createFile = (sql: Sql, run: number, file: string, rel: string): FileRow => {
  const blob = Buffer.from(file)
  sql('insert into files (run, path, rel, dev, ino, size, mtime) values (?, ?, ?, 0, 0, -1, 0)').run(run, blob, rel)
  return findFile(sql, file) as FileRow
}

/**
 * A session that is listed under another name than before was moved, packed, or goes on in a further file: it is the same run, and its
 * archive keeps its name.
 */
export const moveFile = (sql: Sql, row: FileRow, file: string): FileRow => {
  sql('update files set path = ?, size = -1 where key = ?').run(Buffer.from(file), row.key)
  sql('update or replace unreadable set path = ? where run = ? and path = ?').run(
    file,
    row.run,
    Buffer.from(row.path).toString(),
  )
  return findFile(sql, file) as FileRow
}

/** What the part of a file that was read looked like; only for a row of which something was read. */
export const fingerprintOf = ({
  offset: bytes,
  head,
  tail,
  prefix,
}: Pick<FileRow, 'offset' | 'head' | 'tail' | 'prefix'>): PrefixFingerprint | PrefixDigest =>
  prefix === '' ? { bytes, head: asDigest(head), tail: asDigest(tail) } : { bytes, all: asDigest(prefix) }

/** What a session lies in, in words. */
export const nameOfSource = (sql: Sql, run: number): string => {
  const found = sql("select json_extract(meta, '$.lines_from') as lines_from from runs where key = ?").get(run) as
    | { lines_from: unknown }
    | undefined
  switch (linesFrom({ meta: { lines_from: found?.lines_from } })) {
    case 'database':
      return 'the session in its database'
    case 'document':
      return 'the session in its document'
    case 'files':
      return 'the files of the session'
    case 'compressed':
      return 'the packed session file'
    case null:
      return 'the session file'
  }
}

/** The agent replaced its own file (B12): what was read stays, and the new content is read as a further generation of the same run. */
export const startGeneration = (
  sql: Sql,
  row: FileRow,
  id: RunId,
  file: string,
  bytes: number,
  at: string,
): SourceChange => {
  const what = nameOfSource(sql, row.run)
  const lost = row.archived < row.offset
  const message = `the agent rewrote ${what}: it held ${row.lines} lines and ${row.offset} bytes, now ${bytes} bytes${lost ? '; its last part had not been kept yet' : ''}`
  noteChange(sql, row.run, id, at, 'shrank', file, message)
  sql("update runs set source_state = 'shrank' where key = ?").run(row.run)
  sql(
    "update files set generation = generation + 1, offset = 0, lines = 0, open = null, head = '', tail = '', prefix = '', archived = 0, archived_lines = 0, size = -1 where key = ?",
  ).run(row.key)
  return { at, message }
}

export const noteChange = (
  sql: Sql,
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
