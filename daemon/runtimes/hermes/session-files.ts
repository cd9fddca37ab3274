import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import canonicalize from 'canonicalize'
import type { SessionProblem } from '../adapter.ts'
import { asList, asName, asRow, asText, type Row } from '../shared/fields.ts'

type Report = (problem: SessionProblem) => void

/** A file of `sessions/` that tells of one session: an optional snapshot, or the log a chat gateway writes. */
export interface SessionFile {
  readonly session: string
  readonly path: string
  readonly kind: 'snapshot' | 'log'
  readonly size: number
  readonly mtime: number
}

/** Gateway files and dumps that are no session (runtime page 3.1). */
const OTHER = /^(sessions\.json|request_dump_.*|.*\.lock|.*\.tmp|\..*)$/

/**
 * Session files beside the database. Exports, trace exports and trajectories are copies a person made, wherever they lie: they are no
 * sessions of the home, and are told by what their first row looks like.
 */
export function findSessionFiles(home: string, report: Report): readonly SessionFile[] {
  const folder = path.join(home, 'sessions')
  let names: string[]
  try {
    names = fs.readdirSync(folder).sort()
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') report({ path: folder, reason: reasonOf(error) })
    return []
  }
  const files: SessionFile[] = []
  for (const name of names) {
    const file = path.join(folder, name)
    const stats = fs.statSync(file, { throwIfNoEntry: false })
    if (!stats?.isFile() || OTHER.test(name)) continue
    const found = { path: file, size: stats.size, mtime: Math.trunc(stats.mtimeMs) }
    const snapshot = /^session_(.+)\.json$/.exec(name)?.[1]
    if (snapshot !== undefined) files.push({ ...found, session: snapshot, kind: 'snapshot' })
    else if (name.endsWith('.jsonl')) {
      const kind = kindOfLog(file, report)
      if (kind === 'log') files.push({ ...found, session: name.slice(0, -'.jsonl'.length), kind })
      else if (kind === 'unknown') report({ path: file, reason: 'its first row is of no form known for Hermes' })
    }
  }
  return files
}

const HEAD = 256 * 1024

/** A log begins with a row that has a `role`. */
function kindOfLog(file: string, report: Report): 'log' | 'copy' | 'empty' | 'unknown' {
  let head: string
  try {
    const fd = fs.openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(HEAD)
      head = buffer.toString('utf8', 0, fs.readSync(fd, buffer, 0, HEAD, 0))
    } finally {
      fs.closeSync(fd)
    }
  } catch (error) {
    report({ path: file, reason: reasonOf(error) })
    return 'empty'
  }
  const line = head.split('\n').find((text) => text.trim() !== '')
  if (line === undefined) return 'empty'
  let row: Row | null
  try {
    row = asRow(JSON.parse(line))
  } catch {
    // A row longer than the head: an export holds a whole session on one line, a log row begins with its role.
    return /^\s*\{\s*"role"\s*:/.test(line) ? 'log' : 'unknown'
  }
  if (row === null) return 'unknown'
  if (asName(row.role) !== null) return 'log'
  const isExport = Array.isArray(row.messages) || Array.isArray(row.conversations) || row.version === 'hermes-agent'
  return isExport ? 'copy' : 'unknown'
}

export interface Snapshot {
  readonly head: Row
  readonly messages: readonly Row[]
}

/** Null when the file is no snapshot, torn or gone. */
export function readSnapshot(file: string): Snapshot | null {
  let document: Row | null
  try {
    document = asRow(JSON.parse(fs.readFileSync(file, 'utf8')))
  } catch {
    return null
  }
  if (document === null || !Array.isArray(document.messages)) return null
  const { messages, ...head } = document
  return {
    head,
    messages: asList(messages)
      .map(asRow)
      .filter((row) => row !== null),
  }
}

export interface NamedTool {
  readonly name: string
  readonly schema_digest: string | null
}

/** Tool definitions as the model was given them, by digest. */
export function toolsOf(list: unknown): readonly NamedTool[] {
  return asList(list).flatMap((item): readonly NamedTool[] => {
    if (typeof item === 'string') return [{ name: item, schema_digest: null }]
    const tool = asRow(item)
    const made = asRow(tool?.function) ?? tool
    const name = asText(made?.name)
    if (name === null || name === '') return []
    // A bare name is no definition; its digest would say that nothing changed.
    const hasSchema = made !== null && Object.keys(made).length > 1
    return [
      {
        name,
        schema_digest: hasSchema
          ? `sha256:${createHash('sha256')
              .update(canonicalize(item) ?? '', 'utf8')
              .digest('hex')}`
          : null,
      },
    ]
  })
}

export const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')

export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
