import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import type { SessionUnit, Surroundings } from '../../daemon/runtimes/adapter.ts'
import { hermes } from '../../daemon/runtimes/hermes/index.ts'

export const hermesFixtures = join(import.meta.dirname, '../fixtures/hermes')

export function surroundingsFor(
  userHome: string,
  env: Record<string, string> = {},
  systemRoot = userHome,
): Surroundings {
  return { platform: 'linux', userHome, env, systemRoot, now: () => new Date('2026-11-30T12:00:00.000Z') }
}

/** A home with the database of a fixture folder. */
export function layHermesHome(root: string, database: 'state-db-v25' | 'state-db-v30-synthetic'): string {
  const home = join(root, '.hermes')
  mkdirSync(join(home, 'sessions'), { recursive: true })
  cpSync(join(hermesFixtures, database, 'state.db'), join(home, 'state.db'))
  return home
}

/** Writes to the database as the program would. */
export function writeDatabase(home: string, write: (db: DatabaseSyncInstance) => void): void {
  const db = new DatabaseSync(join(home, 'state.db'))
  try {
    write(db)
  } finally {
    db.close()
  }
}

export function unitOf(home: string, session: string): SessionUnit {
  const unit = [...hermes.listSessions(home, () => {})].find((one) => one.session === session)
  if (unit === undefined) throw new Error(`no session ${session}`)
  return unit
}
