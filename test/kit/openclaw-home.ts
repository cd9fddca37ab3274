import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import type { Surroundings } from '../../daemon/runtimes/adapter.ts'

/** Recorded databases and files of OpenClaw; copies of them go into throw-away homes. */
export const openclawFixtures = join(import.meta.dirname, '../fixtures/openclaw')

export const surroundingsOf = (userHome: string, env: Readonly<Record<string, string>> = {}): Surroundings => ({
  platform: 'linux',
  userHome,
  env,
  systemRoot: userHome,
  now: () => new Date(0),
})

/** Puts a recorded database, with its write-ahead log where it has one, in the place of an agent's. */
export function addAgentDatabase(home: string, agent: string, fixture: string): string {
  const folder = join(home, 'agents', agent, 'agent')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'openclaw-agent.sqlite')
  for (const suffix of ['', '-wal'])
    cpSync(join(openclawFixtures, fixture, `openclaw-agent.sqlite${suffix}`), `${file}${suffix}`, {
      force: true,
      filter: (source) => suffix === '' || fixture === 'hot-wal' || !source.endsWith('-wal'),
    })
  return file
}

/** Changes an agent's database as its owner would. */
export function changeDatabase(file: string, change: (db: DatabaseSyncInstance) => void): void {
  const db = new DatabaseSync(file)
  try {
    change(db)
  } finally {
    db.close()
  }
}

/** Adds an event at the end of a session, as the program appends one. */
export function appendEvent(db: DatabaseSyncInstance, session: string, event: Readonly<Record<string, unknown>>): void {
  const { seq } = db.prepare('select max(seq) + 1 as seq from transcript_events where session_id = ?').get(session) as {
    seq: number
  }
  db.prepare('insert into transcript_events (session_id, seq, event_json, created_at) values (?, ?, ?, ?)').run(
    session,
    seq,
    JSON.stringify(event),
    Date.parse(String(event.timestamp)),
  )
}
