import fs from 'node:fs'
import path from 'node:path'
import { type HomeDescription, SourceBusy, type Surroundings } from '../adapter.ts'
import { openDisk } from '../shared/disk.ts'
import { readDatabase } from '../shared/sqlite-home.ts'
import { managedDirectory } from './homes.ts'
import { findProgram } from './program.ts'
import { readSettings, settingOf } from './resolve/settings.ts'
import { codeOf, reasonOf } from './session-files.ts'
import { columnsOf, databaseOf, hasSessions, KNOWN_SCHEMAS, NEWEST_SCHEMA, schemaVersion } from './state-database.ts'

/** What the home says of itself. A damaged file becomes part of `reason`; it never hides the rest. */
export function describeHome(home: string, surroundings: Surroundings): HomeDescription {
  const { state, reason } = stateOf(home)
  const programVersion = findProgram(home, surroundings)?.version ?? null
  // Hermes keeps no file that names the sessions of running processes (0.20.0).
  if (state === 'missing' || state === 'unreadable') return { state, reason, programVersion, retention: null, live: [] }
  const problems = reason === null ? [] : [reason]
  problems.push(...databaseProblems(home))
  const managed = managedDirectory(surroundings)
  const disk = openDisk(surroundings.env.HERMES_MANAGED_DIR ? '' : surroundings.systemRoot, managed)
  const settings = readSettings(disk, path.join(managed, 'config.yaml'), path.join(home, 'config.yaml'), null)
  problems.push(...settings.problems.map(({ path: file, message }) => `${file}: ${message}`))
  const days = settingOf(settings.layers, 'sessions.retention_days')
  const prune = settingOf(settings.layers, 'sessions.auto_prune')
  return {
    state,
    reason: problems.length === 0 ? null : problems.join('; '),
    programVersion,
    // Old sessions are deleted only where a setting says so (source).
    retention:
      prune?.value === true && typeof days?.value === 'number'
        ? { days: days.value, from: days.origin }
        : { days: null, from: prune?.origin ?? 'default' },
    live: [],
  }
}

function stateOf(home: string): { state: HomeDescription['state']; reason: string | null } {
  try {
    if (!fs.statSync(home).isDirectory()) return { state: 'unreadable', reason: `${home} is no directory` }
    const names = fs.readdirSync(home)
    if (names.length === 0) return { state: 'empty', reason: 'the directory is empty' }
    const sessions =
      names.includes('state.db') ||
      (names.includes('sessions') && fs.readdirSync(path.join(home, 'sessions')).length > 0)
    return sessions ? { state: 'ok', reason: null } : { state: 'empty', reason: 'no session was written here yet' }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { state: 'missing', reason: 'there is no such directory' }
    return { state: 'unreadable', reason: reasonOf(error) }
  }
}

function databaseProblems(home: string): readonly string[] {
  const file = databaseOf(home)
  if (!fs.existsSync(file)) return []
  try {
    return readDatabase(file, (db) => {
      const columns = columnsOf(db)
      if (!hasSessions(columns)) return [`${file} has no tables of sessions and messages`]
      const schema = schemaVersion(db, columns)
      if (schema === null) return [`${file} names no schema version`]
      if (schema > NEWEST_SCHEMA)
        return [
          `${file} has schema ${schema}, newer than ${KNOWN_SCHEMAS.join(' and ')}, which were read: what it adds may be missed`,
        ]
      return []
    })
  } catch (error) {
    // Being written to is no fault of the home.
    return error instanceof SourceBusy ? [] : [`${file}: ${reasonOf(error)}`]
  }
}
