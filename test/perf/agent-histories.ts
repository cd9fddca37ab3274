import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'
import { z } from 'zod'
import { seeded } from '../../daemon/demo/seeded.ts'
import { textPool } from './generate.ts'

const fixtures = join(import.meta.dirname, '../fixtures')

/** Sessions to be written into one home; each is a recorded one, repeated with ids and texts of its own until it is long enough. */
export interface HistoryPlan {
  readonly home: string
  readonly workspace: string
  readonly sessions: number
  readonly bytesPerSession: number
  readonly seed: number
}

export interface WrittenSession {
  readonly session: string
  /** Adds one event to it, as the program would. */
  readonly append: () => void
}

export const agentRuntimes = ['claude-code', 'codex', 'openclaw', 'hermes'] as const
export type AgentRuntime = (typeof agentRuntimes)[number]

type Row = Record<string, unknown>
const rowSchema = z.record(z.string(), z.unknown())
const parseRow = (text: string): Row => rowSchema.parse(JSON.parse(text))

const random = seeded(11)
const pool = textPool(random)
const hex = (n: number, length: number): string => n.toString(16).padStart(length, '0').slice(-length)
const sessionId = ({ seed }: HistoryPlan, n: number): string => `01a22d2b-0000-7000-8${hex(seed, 3)}-${hex(n, 12)}`

/** The row once more, under ids nothing else has; the session keeps its own. */
const again = (text: string, session: string, round: number): string =>
  text
    .replaceAll(
      /(?<![0-9a-f])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4})-([0-9a-f]{12})\b/g,
      (whole, head, tail) =>
        whole === session ? whole : `${head}-${tail.slice(8)}${session.slice(-3)}${hex(round, 5)}`,
    )
    .replaceAll(/"((?:call|msg|rs|fc|ctc|resp)_[A-Za-z0-9_]+)"/g, `"$1_${session.slice(-6)}_${round}"`)

function writeClaudeCode(plan: HistoryPlan): readonly WrittenSession[] {
  const folder = join(plan.home, 'projects', plan.workspace.replaceAll(/[^A-Za-z0-9]/g, '-'))
  mkdirSync(folder, { recursive: true })
  return Array.from({ length: plan.sessions }, (_, n) => {
    const session = sessionId(plan, n)
    const file = join(folder, `${session}.jsonl`)
    let rows = 0
    const prompt = (): string =>
      `${JSON.stringify({
        parentUuid: null,
        isSidechain: false,
        type: 'user',
        message: { role: 'user', content: pool.words(120) },
        uuid: `${session.slice(0, 24)}${hex(n, 4)}${hex(++rows, 8)}`,
        timestamp: new Date().toISOString(),
        cwd: plan.workspace,
        sessionId: session,
        version: '2.1.332',
        userType: 'external',
        gitBranch: '',
      })}\n`
    let text = ''
    while (text.length < plan.bytesPerSession) text += prompt()
    writeFileSync(file, text)
    return { session, append: () => writeFileSync(file, prompt(), { flag: 'a' }) }
  })
}

function writeCodex(plan: HistoryPlan): readonly WrittenSession[] {
  const original = '01a22d2b-ab68-7b53-b1dd-1edef54f91f7'
  const day = new Date().toISOString().slice(0, 10)
  const lines = readFileSync(join(fixtures, 'codex/rollouts/direct-edit-test-fix.jsonl'), 'utf8').trimEnd().split('\n')
  return Array.from({ length: plan.sessions }, (_, n) => {
    const session = sessionId(plan, n)
    // Sessions that begin alike at the same time would count as forks of each other.
    const typed = pool.words(8)
    const own = lines.map((line) =>
      line
        .replaceAll(original, session)
        .replaceAll('/home/dev/demo', plan.workspace)
        .replaceAll('2026-11-30T', `${day}T`)
        .replaceAll('make calc and test it', typed),
    )
    const file = join(plan.home, 'sessions', ...day.split('-'), `rollout-${day}T15-56-06-${session}.jsonl`)
    mkdirSync(dirname(file), { recursive: true })
    let ordinal = 0
    const write = (line: string, round: number): string => {
      const row = parseRow(again(line, session, round))
      const payload = rowSchema.parse(row.payload)
      if (typeof payload.output === 'string') payload.output += pool.code(20)
      return `${JSON.stringify({ ...row, ordinal: ordinal++, payload })}\n`
    }
    let text = ''
    for (let round = 0; round === 0 || text.length < plan.bytesPerSession; round += 1)
      for (const line of round === 0 ? own : own.slice(7)) text += write(line, round)
    writeFileSync(file, text)
    let more = 100_000
    const prompt = own.find((line) => line.includes('"role":"user"') && line.includes(typed)) ?? ''
    return { session, append: () => writeFileSync(file, write(prompt, ++more), { flag: 'a' }) }
  })
}

const insert = (db: DatabaseSyncInstance, table: string, row: Row): void => {
  const columns = Object.keys(row)
  db.prepare(`insert into ${table} (${columns.join(', ')}) values (${columns.map(() => '?').join(', ')})`).run(
    ...columns.map((column) => row[column] as string | number | null | Uint8Array),
  )
}

/** A copy of a recorded database; merely reading the original would leave files beside it. */
function openCopy(file: string, fixture: string): DatabaseSyncInstance {
  mkdirSync(dirname(file), { recursive: true })
  cpSync(join(fixtures, fixture), file)
  const db = new DatabaseSync(file)
  db.exec('pragma foreign_keys = off; pragma journal_mode = wal; pragma synchronous = off')
  return db
}

const empty = (db: DatabaseSyncInstance, tables: readonly string[]): void => {
  for (const table of tables) db.exec(`delete from ${table}`)
}

const changing = (file: string, change: (db: DatabaseSyncInstance) => void): void => {
  const db = new DatabaseSync(file)
  try {
    change(db)
  } finally {
    db.close()
  }
}

function writeOpenClaw(plan: HistoryPlan): readonly WrittenSession[] {
  const original = '46362ce9-bc67-41c7-83a6-68ec89201695'
  const file = join(plan.home, 'agents/main/agent/openclaw-agent.sqlite')
  const db = openCopy(file, 'openclaw/agent-db/openclaw-agent.sqlite')
  const pick = (table: string, column: string): Row[] =>
    db.prepare(`select * from ${table} where ${column} = ? order by rowid`).all(original) as Row[]
  const [window] = pick('session_windows', 'session_id')
  const [node] = pick('session_nodes', 'current_session_id')
  const events = pick('transcript_events', 'session_id')
  empty(db, [
    'transcript_events',
    'trajectory_runtime_events',
    'transcript_event_identities',
    'session_transcript_active_events',
    'session_transcript_index_state',
    'session_windows',
    'session_nodes',
  ])
  const sessions: WrittenSession[] = []
  db.exec('begin')
  for (let n = 0; n < plan.sessions; n++) {
    const session = sessionId(plan, n)
    const key = `agent:main:perf-${n}`
    const place = (text: string): string =>
      text.replaceAll(original, session).replaceAll('/home/dev/.openclaw/workspace', plan.workspace)
    insert(db, 'session_nodes', {
      ...node,
      session_key: key,
      current_session_id: session,
      entry_json: place(String(node?.entry_json)),
    })
    insert(db, 'session_windows', { ...window, session_id: session, session_key: key })
    let seq = 0
    const add = (to: DatabaseSyncInstance, event: Row, round: number): number => {
      const row = parseRow(again(place(String(event.event_json)), session, round))
      const message = rowSchema.safeParse(row.message).data
      if (message?.role === 'toolResult') message.content = [{ type: 'text', text: pool.code(20) }]
      else if (message?.role === 'user') message.content = pool.words(60)
      const text = JSON.stringify({ ...row, ...(message ? { message } : {}) })
      insert(to, 'transcript_events', { ...event, session_id: session, seq: seq++, event_json: text })
      return text.length
    }
    let bytes = 0
    for (let round = 0; round === 0 || bytes < plan.bytesPerSession; round += 1)
      for (const event of round === 0 ? events : events.slice(4)) bytes += add(db, event, round)
    let more = 100_000
    const prompt = events.find((event) => String(event.event_json).includes('"role":"user"'))
    sessions.push({ session, append: () => changing(file, (to) => void (prompt && add(to, prompt, ++more))) })
  }
  db.exec('commit')
  db.close()
  return sessions
}

function writeHermes(plan: HistoryPlan): readonly WrittenSession[] {
  const original = '20261130_161525_c9524f'
  const file = join(plan.home, 'state.db')
  const db = openCopy(file, 'hermes/state-db-v25/state.db')
  const about = db.prepare('select * from sessions where id = ?').get(original) as Row
  const messages = db.prepare('select * from messages where session_id = ? order by id').all(original) as Row[]
  empty(db, ['messages', 'session_model_usage', 'async_delegations', 'sessions'])
  const sessions: WrittenSession[] = []
  db.exec('begin')
  for (let n = 0; n < plan.sessions; n++) {
    const session = `20261130_${hex(plan.seed, 3)}_${hex(n, 6)}`
    insert(db, 'sessions', { ...about, id: session, cwd: plan.workspace })
    const add = (to: DatabaseSyncInstance, message: Row, round: number): number => {
      const { id: _, ...row } = message
      const content =
        row.role === 'tool' ? JSON.stringify({ output: pool.code(20), exit_code: 0, error: null }) : pool.words(60)
      const own = (value: unknown): unknown =>
        typeof value === 'string'
          ? value.replaceAll(/\b(call|fc)_[A-Za-z0-9_]+/g, `$&_${session.slice(-6)}_${round}`)
          : value
      const changed = { ...row, session_id: session, content }
      const [tool_calls, tool_call_id] = [own(row.tool_calls), own(row.tool_call_id)]
      insert(to, 'messages', { ...changed, tool_calls, tool_call_id })
      return content.length + String(tool_calls ?? '').length
    }
    let bytes = 0
    for (let round = 0; round === 0 || bytes < plan.bytesPerSession; round += 1)
      for (const message of messages) bytes += add(db, message, round)
    const [prompt] = messages
    let more = 100_000
    sessions.push({ session, append: () => changing(file, (to) => void (prompt && add(to, prompt, ++more))) })
  }
  db.exec('commit')
  db.close()
  return sessions
}

export const writeHistory: Readonly<Record<AgentRuntime, (plan: HistoryPlan) => readonly WrittenSession[]>> = {
  'claude-code': writeClaudeCode,
  codex: writeCodex,
  openclaw: writeOpenClaw,
  hermes: writeHermes,
}
