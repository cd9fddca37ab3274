import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { addAgentDatabase, appendEvent, changeDatabase, openclawFixtures } from '../kit/openclaw-home.ts'
import { allEvents } from '../kit/snapshot.ts'

const MAIN = '46362ce9-bc67-41c7-83a6-68ec89201695'
const LEGACY = 'c007a827-6e66-4724-9344-6eb71cd8ed34'

let home: TestHome
let state: string
let database: string
let daemon: TestDaemon
beforeEach(async () => {
  home = makeEmptyHome()
  state = path.join(home.home, '.openclaw')
  database = addAgentDatabase(state, 'main', 'agent-db')
  fs.cpSync(path.join(openclawFixtures, 'legacy-jsonl/agents/main/sessions'), path.join(state, 'agents/old/sessions'), {
    recursive: true,
  })
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const until = async <T>(look: () => Promise<T | null>, within = 15_000): Promise<T> => {
  const began = Date.now()
  while (Date.now() - began < within) {
    const value = await look()
    if (value !== null) return value
    await sleep(50)
  }
  throw new Error(`nothing within ${within} ms`)
}
const runOf = async (session: string) => {
  const { runs } = await daemon.call('runs.list', {})
  return runs.find((run) => run.session === session) ?? null
}

describe('OpenClaw in the daemon', () => {
  it('shows the sessions of every agent with what they changed', async () => {
    const { runs } = await daemon.call('runs.list', {})
    expect(runs.length).toBe(5)
    const run = runs.find(({ session }) => session === MAIN)
    expect(run).toMatchObject({
      runtime: 'openclaw',
      runtime_version: '2026.9.6',
      workspace: '/home/dev/.openclaw/workspace',
      models: ['scripted-1'],
      calls: { total: 6, failed: 1 },
      effects: { added: 1, changed: 1 },
      tokens: { input: 7028, output: 70 },
      source_state: 'present',
      unreadable_lines: 0,
    })
    const events = await allEvents(daemon, run?.id ?? '')
    const last = events.findLast(({ kind }) => kind === 'model')
    const context = await daemon.call('runs.context', { run: run?.id ?? '', seq: last?.seq ?? 0 })
    expect(context).toMatchObject({ exact: false, from: 'disk', model: 'scripted-1' })
    expect(context.messages.length).toBe(14)
    const write = events.find(({ tool }) => tool === 'write')
    const detail = await daemon.call('runs.event', { run: run?.id ?? '', seq: write?.seq ?? 0 })
    expect(detail.changes[0]?.after?.text).toBe('alpha\nbeta\n')
    const manifest = await daemon.call('manifest.get', { target: run?.id ?? '' })
    expect(JSON.stringify(manifest)).toContain('agent:main:main')
  })

  it('follows a session that its gateway writes, in the log of the database', async () => {
    changeDatabase(database, (db) => {
      db.exec('pragma journal_mode = wal')
      appendEvent(db, MAIN, {
        type: 'message',
        id: 'aaaaaaaa-0000-4000-8000-000000000001',
        parentId: 'fa7ab9df-5d4d-4be1-9f7a-de6f0ddbf693',
        timestamp: new Date().toISOString(),
        message: { role: 'user', content: 'what is new?' },
      })
    })
    const run = await until(async () => {
      const found = await runOf(MAIN)
      const events = found === null ? [] : await allEvents(daemon, found.id)
      return events.at(-1)?.summary === 'what is new?' ? found : null
    })
    expect(run?.source_state).toBe('present')
  })

  it('goes on with the same run when a session is imported into the database', async () => {
    const before = await runOf(LEGACY)
    const file = path.join(state, `agents/old/sessions/${LEGACY}.jsonl`)
    const rows = fs.readFileSync(file, 'utf8').trimEnd().split('\n')
    const moved = path.join(state, 'agents/old/session-sqlite-import-archive')
    fs.mkdirSync(moved)
    fs.renameSync(file, path.join(moved, `${LEGACY}.jsonl.imported-1796055300000`))
    const imported = addAgentDatabase(state, 'old', 'agent-db')
    changeDatabase(imported, (db) => {
      db.exec(
        'pragma foreign_keys = off; delete from transcript_events; delete from session_windows; delete from session_nodes',
      )
      for (const row of rows) {
        const event = JSON.parse(row) as Record<string, unknown>
        db.prepare(
          'insert into transcript_events (session_id, seq, event_json, created_at) values (?, (select coalesce(max(seq) + 1, 0) from transcript_events), ?, ?)',
        ).run(
          LEGACY,
          // Written anew: the same content in other bytes.
          JSON.stringify({ ...event, type: event.type }),
          Date.parse(String(event.timestamp)),
        )
      }
      appendEvent(db, LEGACY, {
        type: 'message',
        id: 'bbbbbbbb-0000-4000-8000-000000000001',
        parentId: 'eb23796d',
        timestamp: '2026-11-30T16:20:00.000Z',
        message: { role: 'user', content: 'after the import' },
      })
    })
    await daemon.call('sync.now', {})
    const { runs } = await daemon.call('runs.list', {})
    const found = runs.filter(({ session }) => session === LEGACY)
    expect(found.map(({ id }) => id)).toEqual([before?.id])
    expect(found[0]?.events).toBe((before?.events ?? 0) + 1)
    expect(found[0]?.tokens).toEqual(before?.tokens)
  })
})
