import { readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { SourceBusy } from '../adapter.ts'
import { asName, asRow, type Row } from '../shared/fields.ts'
import { readDatabase } from '../shared/sqlite-home.ts'
import {
  type ColdTranscript,
  type DatabaseArchive,
  type DatabaseSession,
  firstWindows,
  KNOWN_SCHEMA,
  readAbout,
  readArchives,
  readColdTranscripts,
  readSessions,
  whyUnreadable,
} from './agent-database.ts'
import { type AgentPlace, listNames, type Report, reasonOf } from './places.ts'
import { headerOf } from './read-source.ts'
import { looksLikeSession, readFileName, type SessionFile } from './session-files.ts'

/** A file that holds a session, or a part or an older form of it. */
export interface FoundFile extends SessionFile {
  readonly path: string
  readonly size: number
  readonly mtime: number
}

/** All that one agent keeps of its sessions, wherever it lies. */
export interface AgentSessions {
  readonly place: AgentPlace
  readonly sessions: readonly DatabaseSession[]
  readonly archives: readonly DatabaseArchive[]
  readonly cold: readonly ColdTranscript[]
  /** Windows of every session key, oldest first. */
  readonly windows: ReadonlyMap<string, readonly { readonly session: string; readonly at: number }[]>
  readonly files: readonly FoundFile[]
  /** Session keys as `sessions.json` of older versions has them, by session id. */
  readonly keys: ReadonlyMap<string, LegacyEntry>
}

export interface LegacyEntry {
  readonly key: string
  readonly parentKey: string | null
  readonly title: string | null
}

export function readAgent(place: AgentPlace, report: Report): AgentSessions {
  const fromDatabase = readAgentDatabase(place, report)
  const files = [
    ...filesIn(place.sessions, report),
    ...filesIn(place.imported, report),
    ...coldFiles(place, fromDatabase.cold, report),
  ]
  return { place, ...fromDatabase, files, keys: readKeys(place, files, report) }
}

type FromDatabase = Pick<AgentSessions, 'sessions' | 'archives' | 'cold' | 'windows'>
const nothing: FromDatabase = { sessions: [], archives: [], cold: [], windows: new Map() }

function readAgentDatabase({ database }: AgentPlace, report: Report): FromDatabase {
  if (statOf(database) === null) return nothing
  try {
    return readDatabase(database, (db) => {
      const { schema } = readAbout(db)
      const why = whyUnreadable(db)
      if (schema !== null && schema > KNOWN_SCHEMA)
        report({
          path: database,
          reason: `its schema ${schema} is newer than ${KNOWN_SCHEMA}, the newest known here: what has the same names is read, the rest is not`,
        })
      if (why !== null) {
        report({ path: database, reason: why })
        return nothing
      }
      return {
        sessions: readSessions(db),
        archives: readArchives(db),
        cold: readColdTranscripts(db),
        windows: firstWindows(db),
      }
    })
  } catch (error) {
    // Nothing is said of what it holds then: sessions known from before stay, they are not gone.
    report({ path: database, reason: reasonOf(error), ...(error instanceof SourceBusy ? { busy: true } : {}) })
    return nothing
  }
}

function filesIn(folder: string, report: Report): readonly FoundFile[] {
  return listNames(folder, report).flatMap((name) => {
    const path = join(folder, name)
    const stat = statOf(path)
    if (stat === null || !stat.isFile()) return []
    const file = readFileName(name)
    if (file === null) {
      if (looksLikeSession(name) && !name.includes('.trajectory.'))
        report({ path, reason: 'its name is of no kind of session file that is known' })
      return []
    }
    return [{ ...file, path, size: stat.size, mtime: Math.trunc(stat.mtimeMs) }]
  })
}

/** Cold files are named by their content; the database says whose they are, without it their first line does. */
function coldFiles({ cold }: AgentPlace, known: readonly ColdTranscript[], report: Report): readonly FoundFile[] {
  const sessions = new Map(known.map(({ name, session }) => [name, session]))
  return listNames(cold, report).flatMap((name) => {
    const path = join(cold, name)
    const stat = statOf(path)
    if (stat === null || !stat.isFile() || !name.endsWith('.jsonl.zst')) return []
    let session = sessions.get(name) ?? null
    try {
      session ??= asName(headerOf(path)?.id)
    } catch (error) {
      report({ path, reason: reasonOf(error) })
      return []
    }
    if (session === null) {
      report({ path, reason: 'neither the database nor its first line says which session it is' })
      return []
    }
    const plain = name.slice(0, -'.zst'.length)
    return [
      { session, kind: 'imported', name: plain, stamp: null, path, size: stat.size, mtime: Math.trunc(stat.mtimeMs) },
    ]
  })
}

/** An index that is empty or damaged hides nothing: sessions are found from their files, it only gives them their keys (R15). */
function readKeys(place: AgentPlace, files: readonly FoundFile[], report: Report): ReadonlyMap<string, LegacyEntry> {
  const keys = new Map<string, LegacyEntry>()
  const moved = listNames(place.imported, () => {}).filter((name) => /^sessions\.json\.(imported|migrated)/.test(name))
  for (const path of [...moved.map((name) => join(place.imported, name)), join(place.sessions, 'sessions.json')]) {
    const index = readIndex(path, files.length, report)
    for (const [key, value] of Object.entries(index ?? {})) {
      const entry = asRow(value)
      const session = asName(entry?.sessionId)
      if (entry === null || session === null) continue
      keys.set(session, {
        key,
        parentKey: asName(entry.spawnedBy) ?? asName(entry.parentSessionKey),
        title: asName(entry.label) ?? asName(entry.displayName),
      })
    }
  }
  return keys
}

function readIndex(path: string, sessions: number, report: Report): Row | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      report({ path, reason: reasonOf(error) })
    return null
  }
  try {
    const index = asRow(JSON.parse(text))
    if (index !== null) return index
  } catch {
    // Told of below, with an empty file.
  }
  report({
    path,
    reason: `the index of sessions is ${text.trim() === '' ? 'empty' : 'no valid JSON'}; ${sessions} files were found without it, their session keys are not known`,
  })
  return null
}

export function statOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}
