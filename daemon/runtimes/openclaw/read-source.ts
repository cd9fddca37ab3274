import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Row } from '../shared/fields.ts'
import type { HomeDatabase } from '../shared/sqlite-home.ts'
import { archiveText, coldText, eventTexts, parseRow, unpack } from './agent-database.ts'
import type { SessionSource } from './unit-meta.ts'

const CHUNK = 1024 * 1024

/** The lines of one source of a session, oldest first, without line ends and blank lines. `db` is needed for what lies in it. */
export function* linesOf(
  home: string,
  source: SessionSource,
  session: string,
  db: HomeDatabase | null,
): Iterable<string> {
  switch (source.from) {
    case 'database':
      if (db !== null) yield* oneLineEach(eventTexts(db, session))
      return
    case 'archive':
      if (db !== null) yield* splitLines(archiveText(db, source.name) ?? '')
      return
    case 'cold':
      if (db !== null) yield* splitLines(coldText(db, session) ?? '')
      return
    case 'file':
      yield* linesOfFile(join(home, source.path))
  }
}

export function* linesOfFile(path: string): Iterable<string> {
  if (isPacked(path)) {
    yield* splitLines(unpack(readFileSync(path)))
    return
  }
  const fd = openSync(path, 'r')
  try {
    const decoder = new StringDecoder('utf8')
    const buffer = Buffer.allocUnsafe(CHUNK)
    let rest = ''
    for (let got = readSync(fd, buffer); got > 0; got = readSync(fd, buffer)) {
      const lines = (rest + decoder.write(buffer.subarray(0, got))).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield withoutReturn(line)
    }
    rest += decoder.end()
    if (rest.trim() !== '') yield withoutReturn(rest)
  } finally {
    closeSync(fd)
  }
}

/** An archive keeps its `.zst` in the middle when the import moved it: `….jsonl.reset.<time>.zst.imported-<ms>`. */
export const isPacked = (path: string): boolean => /\.zst(\.(imported-[0-9]+|migrated(\.[0-9]+)?))?$/.test(path)

function* splitLines(text: string): Iterable<string> {
  for (const line of text.split('\n')) if (line.trim() !== '') yield withoutReturn(line)
}

/** The program writes an event without line breaks; another writer's event is put into one line. */
function* oneLineEach(texts: Iterable<string>): Iterable<string> {
  for (const text of texts) {
    const row = text.includes('\n') ? parseRow(text) : null
    yield row === null ? text.replaceAll(/[\r\n]+/g, ' ') : JSON.stringify(row)
  }
}

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line)

/** The first line of a file when it is the header of a session. */
export function headerOf(path: string): Row | null {
  for (const line of linesOfFile(path)) {
    const row = parseRow(line)
    return row?.type === 'session' ? row : null
  }
  return null
}
