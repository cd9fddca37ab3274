import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import json5 from 'json5'
import type { HomeDescription, Surroundings } from '../adapter.ts'
import { asName, asNumber, asRow, type Row } from '../shared/fields.ts'
import { readDatabase } from '../shared/sqlite-home.ts'
import { columnsOf, parseRow, readAbout } from './agent-database.ts'
import { statOf } from './agent-sessions.ts'
import { configFileOf } from './homes.ts'
import { agentsOf, listNames, reasonOf } from './places.ts'
import { findProgram } from './program.ts'

/** Age at which sessions are set aside when no setting says otherwise (`session.maintenance.pruneAfter`, documented for 2026.9.6). */
const DEFAULT_DAYS = 30

/** What the state directory says of itself. A damaged file becomes part of `reason`; it never hides the rest. */
export function describeHome(home: string, surroundings: Surroundings): HomeDescription {
  const { state, reason } = stateOf(home)
  const installed = findProgram(home, surroundings)?.version ?? null
  if (state === 'missing' || state === 'unreadable')
    return { state, reason, programVersion: installed, retention: null, live: [] }
  const problems: string[] = reason === null ? [] : [reason]
  const config = readConfig(configFileOf(home, surroundings), problems)
  const databases = readDatabases(home, problems)
  return {
    state,
    programVersion: installed ?? asName(asRow(config?.meta)?.lastTouchedVersion) ?? databases.program,
    retention: readRetention(config, configFileOf(home, surroundings), problems),
    live: liveSessions(home, databases.running),
    reason: problems.length === 0 ? null : problems.join('; '),
  }
}

function stateOf(home: string): { state: HomeDescription['state']; reason: string | null } {
  try {
    if (!statSync(home).isDirectory()) return { state: 'unreadable', reason: `${home} is no directory` }
    const names = readdirSync(home)
    if (names.length === 0) return { state: 'empty', reason: 'the directory is empty' }
    if (!names.includes('agents')) return { state: 'empty', reason: 'no agent has run here yet' }
    return { state: 'ok', reason: null }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT') return { state: 'missing', reason: 'there is no such directory' }
    return { state: 'unreadable', reason: reasonOf(error) }
  }
}

/** The root file only: what it includes and substitutes is the resolution's. */
function readConfig(file: string, problems: string[]): Row | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'ENOENT') problems.push(`${file}: ${reasonOf(error)}`)
    return null
  }
  try {
    const config = asRow(json5.parse(text.replace(/^\uFEFF/, '')))
    if (config === null) problems.push(`${file}: no JSON5 object`)
    return config
  } catch (error) {
    problems.push(`${file}: not valid JSON5 (${reasonOf(error)})`)
    return null
  }
}

function readRetention(config: Row | null, file: string, problems: string[]): HomeDescription['retention'] {
  const given = asRow(asRow(config?.session)?.maintenance)?.pruneAfter
  if (given === undefined) return { days: DEFAULT_DAYS, from: 'default' }
  const days = daysOf(given)
  if (days === null) problems.push(`${file}: session.maintenance.pruneAfter is no duration`)
  return { days, from: file }
}

const units: Readonly<Record<string, number>> = {
  ms: 1 / 86_400_000,
  s: 1 / 86_400,
  m: 1 / 1440,
  h: 1 / 24,
  d: 1,
  w: 7,
}

function daysOf(value: unknown): number | null {
  if (typeof value === 'number') return value >= 0 ? value : null
  const found = typeof value === 'string' ? /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(value.trim()) : null
  return found === null ? null : Number(found[1]) * (units[found[2] ?? ''] ?? 1)
}

interface Databases {
  readonly program: string | null
  readonly running: readonly string[]
}

function readDatabases(home: string, problems: string[]): Databases {
  let program: string | null = null
  const running: string[] = []
  const report = ({ path, reason }: { path: string; reason: string }): void => {
    problems.push(`${path}: ${reason}`)
  }
  for (const { database } of agentsOf(home, report)) {
    if (statOf(database) === null) continue
    try {
      readDatabase(database, (db) => {
        program = readAbout(db).program ?? program
        const found = columnsOf(db, 'session_windows')
        if (!found.has('status')) return
        for (const { session_id } of db.all("select session_id from home.session_windows where status = 'running'"))
          if (typeof session_id === 'string') running.push(session_id)
      })
    } catch (error) {
      problems.push(`${database}: ${reasonOf(error)}`)
    }
  }
  return { program, running }
}

/** Sessions marked as running while the owner of the state directory is alive; a mark that a killed owner left says nothing. */
function liveSessions(home: string, running: readonly string[]): HomeDescription['live'] {
  if (running.length === 0) return []
  const folders = listNames(join(home, 'tmp'), () => {}).filter((name) => /^openclaw(-\d+)?$/.test(name))
  for (const folder of folders) {
    for (const name of listNames(join(home, 'tmp', folder), () => {})) {
      if (!/^gateway\..*\.lock$/.test(name)) continue
      const owner = parseLock(join(home, 'tmp', folder, name))
      const pid = asNumber(owner?.pid)
      if (pid !== null && isAlive(pid)) return running.map((session) => ({ session, pid, cwd: null, version: null }))
    }
  }
  return []
}

function parseLock(file: string): Row | null {
  try {
    return parseRow(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
