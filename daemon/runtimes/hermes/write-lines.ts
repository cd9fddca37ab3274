import fs from 'node:fs'
import path from 'node:path'
import { linesFrom, type SessionUnit } from '../adapter.ts'
import { asNames, asRow, type Row } from '../shared/fields.ts'
import { writeDatabaseLines } from './database-lines.ts'
import { readSnapshot } from './session-files.ts'

/** Lines of a unit that is no plain file. What is gone writes nothing: it is then told as vanished, not as empty. */
export function writeLines(unit: SessionUnit, write: (line: string) => void): void {
  switch (linesFrom(unit)) {
    case 'database':
      writeDatabaseLines(unit.home, unit.session, write)
      if (asRow(unit.meta.rows)?.all === 0) writeMessagesBeside(unit, write)
      return
    case 'document':
      writeSnapshotLines(unit, write)
      return
    default:
      throw new Error(`${unit.file} is a plain file`)
  }
}

/**
 * An optional snapshot is written anew as a whole after every turn. What is its own each time (`last_updated`, the private marks of the
 * program) is left out, so that a longer conversation begins with the lines of the shorter one.
 */
function writeSnapshotLines(unit: SessionUnit, write: (line: string) => void): void {
  const snapshot = readSnapshot(unit.file)
  if (snapshot === null) return
  const { head, messages } = snapshot
  write(
    JSON.stringify({
      row: 'session',
      id: unit.session,
      source: head.platform,
      model: head.model,
      base_url: head.base_url,
      session_start: head.session_start,
      tools: head.tools,
    }),
  )
  if (typeof head.system_prompt === 'string') write(JSON.stringify({ row: 'prompt', prompt: head.system_prompt }))
  writeMessages(messages, write)
}

/** The database has a row for the session and none of its messages: the files beside it add them, the snapshot before the log. */
function writeMessagesBeside(unit: SessionUnit, write: (line: string) => void): void {
  for (const name of [...asNames(unit.meta.beside)].sort(
    (a, b) => Number(b.endsWith('.json')) - Number(a.endsWith('.json')),
  )) {
    const file = path.join(unit.home, name)
    const messages = name.endsWith('.json') ? (readSnapshot(file)?.messages ?? []) : logMessages(file)
    if (messages.length === 0) continue
    writeMessages(messages, write)
    return
  }
}

function logMessages(file: string): readonly Row[] {
  let text: string
  try {
    text = fs.readFileSync(file, 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    try {
      const row = asRow(JSON.parse(line))
      return row === null || row.role === 'session_meta' ? [] : [row]
    } catch {
      return []
    }
  })
}

function writeMessages(messages: readonly Row[], write: (line: string) => void): void {
  messages.forEach((message, at) => {
    const kept = Object.entries(message).filter(([name, value]) => !name.startsWith('_') && value !== null)
    write(JSON.stringify({ row: 'message', id: at + 1, ...Object.fromEntries(kept) }))
  })
}
