import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { HomeDescription, Surroundings } from '../adapter.ts'
import { asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import { managedDirectory } from './homes.ts'
import { findProgramVersion, namesIn } from './program.ts'

/** Days after which the program deletes session files when no setting says otherwise (documented). */
const DEFAULT_DAYS = 30

/** What the home says of itself. A damaged file becomes part of `reason`; it never hides the rest. */
export function describeHome(home: string, surroundings: Surroundings): HomeDescription {
  const { state, reason } = stateOf(home)
  const problems: string[] = reason === null ? [] : [reason]
  if (state === 'missing' || state === 'unreadable') {
    return { state, reason, programVersion: findProgramVersion(home, surroundings), retention: null, live: [] }
  }
  const retention = readRetention(home, surroundings, problems)
  const live = readLive(home, problems)
  const programVersion = findProgramVersion(home, surroundings)
  return { state, reason: problems.length === 0 ? null : problems.join('; '), programVersion, retention, live }
}

function stateOf(home: string): { state: HomeDescription['state']; reason: string | null } {
  try {
    if (!statSync(home).isDirectory()) return { state: 'unreadable', reason: `${home} is no directory` }
    const names = readdirSync(home)
    if (names.length === 0) return { state: 'empty', reason: 'the directory is empty' }
    if (!names.includes('projects')) return { state: 'empty', reason: 'no session was written here yet' }
    return { state: 'ok', reason: null }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT') return { state: 'missing', reason: 'there is no such directory' }
    return { state: 'unreadable', reason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * `cleanupPeriodDays`, highest source first: managed settings, then those of the user. A project can set it too; that is known only
 * where a session starts, so this is the value for projects that say nothing.
 */
function readRetention(home: string, surroundings: Surroundings, problems: string[]): HomeDescription['retention'] {
  const managed = managedDirectory(surroundings)
  const extra = join(managed, 'managed-settings.d')
  const files = [
    ...namesIn(extra)
      .filter((name) => name.endsWith('.json'))
      .reverse()
      .map((name) => join(extra, name)),
    join(managed, 'managed-settings.json'),
    join(home, 'settings.json'),
  ]
  for (const file of files) {
    const settings = readSettings(file, problems)
    if (settings === null || !('cleanupPeriodDays' in settings)) continue
    const days = asNumber(settings.cleanupPeriodDays)
    if (days !== null && days >= 0) return { days, from: file }
    problems.push(`${file}: cleanupPeriodDays is no number of days`)
  }
  return { days: DEFAULT_DAYS, from: 'default' }
}

function readSettings(file: string, problems: string[]): Row | null {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      problems.push(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    return null
  }
  try {
    const settings = asRow(JSON.parse(text.replace(/^\uFEFF/, '')))
    if (settings === null) problems.push(`${file}: no JSON object`)
    return settings
  } catch {
    problems.push(`${file}: not valid JSON`)
    return null
  }
}

/** `sessions/<pid>.json` of processes that are alive. The `.key` files beside them are secrets and are never opened. */
function readLive(home: string, problems: string[]): HomeDescription['live'] {
  const live: HomeDescription['live'][number][] = []
  const directory = join(home, 'sessions')
  for (const name of namesIn(directory)) {
    if (!/^\d+\.json$/.test(name)) continue
    let row: Row | null
    try {
      row = asRow(JSON.parse(readFileSync(join(directory, name), 'utf8')))
    } catch {
      problems.push(`${join(directory, name)}: not valid JSON`)
      continue
    }
    const session = asName(row?.sessionId)
    const pid = asNumber(row?.pid) ?? Number(name.slice(0, -'.json'.length))
    if (session !== null && isAlive(pid))
      live.push({ session, pid, cwd: asText(row?.cwd), version: asText(row?.version) })
  }
  return live
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
