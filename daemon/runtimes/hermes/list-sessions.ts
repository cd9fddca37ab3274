import fs from 'node:fs'
import path from 'node:path'
import { type SessionProblem, type SessionUnit, type SideFile, SourceBusy } from '../adapter.ts'
import { asName, asNames, asNumber, asRow, type Row } from '../shared/fields.ts'
import { type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { findSessionFiles, type NamedTool, readSnapshot, reasonOf, type SessionFile, toolsOf } from './session-files.ts'
import {
  columnsOf,
  databaseOf,
  filled,
  hasSessions,
  jsonRow,
  NEWEST_SCHEMA,
  parentOf,
  type Relation,
  relationOf,
  schemaVersion,
  shortDigest,
} from './state-database.ts'

type Report = (problem: SessionProblem) => void

/**
 * Every session of one home: those of `state.db`, and those of `sessions/` that the database does not have. A session in both is one
 * unit; the database tells it, the files add what it lacks (runtime page 7 and 8).
 */
export function* listSessions(home: string, report: Report): Iterable<SessionUnit> {
  const files = new Map<string, SessionFile[]>()
  for (const file of findSessionFiles(home, report)) {
    const known = files.get(file.session)
    if (known === undefined) files.set(file.session, [file])
    else known.push(file)
  }
  const stored = readStored(home, report)
  // While the database gives no state nobody knows which files it tells of too.
  if (stored === null) return
  for (const one of stored) {
    const beside = files.get(one.id) ?? []
    files.delete(one.id)
    yield databaseUnit(home, one, beside)
  }
  for (const [session, found] of files) yield fileUnit(home, session, found, report)
}

interface Stored {
  readonly id: string
  readonly row: Row
  readonly schema: number | null
  readonly relation: Relation | null
  readonly parent: string | null
  /** Rows by their flags, and what tells that any of them changed. */
  readonly counts: {
    readonly rows: number
    readonly active: number
    readonly archived: number
    readonly last: number
    readonly bytes: number
  }
  readonly lastTime: number | null
  readonly usage: readonly Row[]
  readonly children: readonly { readonly session: string; readonly started_at: number | null }[]
}

/** Null while it is being written to. A damaged database is reported and hides no file beside it. */
function readStored(home: string, report: Report): readonly Stored[] | null {
  const file = databaseOf(home)
  if (!fs.existsSync(file)) return []
  try {
    return readDatabase(file, (db) => sessionsIn(db, file, report))
  } catch (error) {
    const busy = error instanceof SourceBusy
    report({ path: file, reason: reasonOf(error), ...(busy ? { busy } : {}) })
    return busy ? null : []
  }
}

function sessionsIn(db: HomeDatabase, file: string, report: Report): readonly Stored[] {
  const columns = columnsOf(db)
  if (!hasSessions(columns)) {
    report({ path: file, reason: 'it has no tables of sessions and messages' })
    return []
  }
  const schema = schemaVersion(db, columns)
  // An inline prompt of an older row is long; that it changed shows in its length.
  const names = [...columns.sessions]
    .filter((name) => name !== 'system_prompt')
    .map((name) => `"${name.replaceAll('"', '""')}"`)
  const inline = columns.sessions.has('system_prompt')
    ? ', coalesce(octet_length(system_prompt), 0) as prompt_bytes'
    : ''
  const rows = db.all(`select ${names.join(', ')}${inline} from sessions order by started_at, id`)
  const ends = new Map(rows.map((row) => [String(row.id), asName(row.end_reason)]))
  // The program hardly ever changes a text in place; that it did shows in the lengths, which stand in the heads of the rows.
  const lengths = ['content', 'tool_calls', 'api_content', 'reasoning']
    .filter((name) => columns.messages.has(name))
    .map((name) => `coalesce(octet_length(${name}), 0)`)
    .join(' + ')
  const flag = (name: string, otherwise: number): string => (columns.messages.has(name) ? name : String(otherwise))
  const counted = new Map<string, Row>()
  for (const row of db.each(
    `select session_id, count(*) as rows, max(id) as last, max(timestamp) as time, sum(${flag('active', 1)} = 1) as active,
       sum(${flag('active', 1)} = 0 and ${flag('compacted', 0)} = 1) as archived, sum(${lengths === '' ? '0' : lengths}) as bytes from messages group by session_id`,
  ))
    counted.set(String(row.session_id), row)
  const usage = new Map<string, Row[]>()
  if (columns.tables.has('session_model_usage')) {
    for (const row of db.each('select * from session_model_usage order by session_id, model, task')) {
      const known = usage.get(String(row.session_id))
      if (known === undefined) usage.set(String(row.session_id), [row])
      else known.push(row)
    }
  }
  const stored = rows.map((row): Stored => {
    const id = String(row.id)
    const of = counted.get(id)
    const parent = parentOf(row)
    return {
      id,
      row,
      schema,
      relation: relationOf(row, parent === null ? null : (ends.get(parent) ?? null)),
      parent,
      counts: {
        rows: asNumber(of?.rows) ?? 0,
        active: asNumber(of?.active) ?? 0,
        archived: asNumber(of?.archived) ?? 0,
        last: asNumber(of?.last) ?? 0,
        bytes: asNumber(of?.bytes) ?? 0,
      },
      lastTime: asNumber(of?.time),
      usage: usage.get(id) ?? [],
      children: [],
    }
  })
  const children = new Map<string, Stored['children'][number][]>()
  for (const { id, row, relation, parent } of stored) {
    if (relation !== 'subagent' || parent === null) continue
    const child = { session: id, started_at: asNumber(row.started_at) }
    const known = children.get(parent)
    if (known === undefined) children.set(parent, [child])
    else known.push(child)
  }
  return stored.map((one) => ({ ...one, children: children.get(one.id) ?? [] }))
}

/** Columns that stand in `meta`: they change while the session goes on, and no line may (`NOTES.md`). */
const IN_META = [
  'source',
  'model',
  'cwd',
  'git_branch',
  'git_repo_root',
  'title',
  'ended_at',
  'end_reason',
  'profile_name',
  'rewind_count',
  'archived',
  'hidden',
  'display_name',
  'chat_type',
  'created_source',
  'last_activity_at',
] as const

function databaseUnit(home: string, stored: Stored, beside: readonly SessionFile[]): SessionUnit {
  const { id, row, relation, parent, counts, schema } = stored
  const columns = filled(row)
  const config = jsonRow(row.model_config)
  const tools = toolNames(row, beside)
  const meta: Record<string, unknown> = {
    lines_from: 'database',
    database: 'state.db',
    schema,
    ...(schema !== null && schema > NEWEST_SCHEMA ? { newer_schema: true } : {}),
    ...(relation === null ? {} : { relation, parent }),
    ...Object.fromEntries(IN_META.flatMap((name) => (columns[name] === undefined ? [] : [[name, columns[name]]]))),
    ...(config === null ? {} : { model_config: config }),
    usage: usageOf(row, stored.usage),
    rows: { all: counts.rows, active: counts.active, archived: counts.archived },
    ...(stored.children.length === 0 ? {} : { children: stored.children }),
    ...(tools.length === 0 ? {} : { tools }),
    ...(beside.length === 0 ? {} : { beside: beside.map((file) => path.relative(home, file.path)) }),
  }
  const files = beside.map(({ size, mtime }) => [size, mtime])
  const times = [row.started_at, row.ended_at, row.last_activity_at, stored.lastTime].map((time) => asNumber(time) ?? 0)
  return {
    home,
    session: id,
    parentSession: relation === 'subagent' ? parent : null,
    relation: relation === 'subagent' ? 'subagent' : null,
    file: `${databaseOf(home)}#${id}`,
    sideFiles: beside.map((file) => file.path),
    meta,
    stamp: { size: numberOf([meta, counts, columns, files]), mtime: Math.trunc(Math.max(...times) * 1000) },
  }
}

/** A session that no row of the database tells of: its log is a plain file, its snapshot one document. */
function fileUnit(home: string, session: string, found: readonly SessionFile[], report: Report): SessionUnit {
  const log = found.find(({ kind }) => kind === 'log')
  const main = log ?? found[0]
  if (main === undefined) throw new Error('a session without a file')
  const others = found.filter((file) => file !== main)
  const unit = { home, session, parentSession: null, relation: null, file: main.path } as const
  if (log !== undefined) {
    const tools = toolNames({}, others)
    return { ...unit, sideFiles: others.map((file) => file.path), meta: tools.length === 0 ? {} : { tools } }
  }
  if (readSnapshot(main.path) === null) report({ path: main.path, reason: 'no snapshot of a session' })
  return {
    ...unit,
    sideFiles: [],
    meta: { lines_from: 'document' },
    stamp: { size: numberOf([main.size, main.mtime]), mtime: main.mtime },
  }
}

export function* listSideFiles(unit: SessionUnit, _report: Report): Iterable<SideFile> {
  // A unit that was put together again from what is kept has them in its meta only.
  const files = new Set([...unit.sideFiles, ...asNames(unit.meta.beside).map((name) => path.join(unit.home, name))])
  for (const file of files) if (fs.existsSync(file)) yield { path: file, isCopy: false }
}

/**
 * Counters of the session row are those of the conversation; calls for compaction and titles stand in `session_model_usage` only, by
 * their task (seen in 0.20.0).
 */
function usageOf(row: Row, byModel: readonly Row[]): Row {
  const kept = (from: Row): Record<string, unknown> => ({
    calls: asNumber(from.api_call_count) ?? 0,
    input: asNumber(from.input_tokens) ?? 0,
    output: asNumber(from.output_tokens) ?? 0,
    cache_read: asNumber(from.cache_read_tokens) ?? 0,
    cache_write: asNumber(from.cache_write_tokens) ?? 0,
    reasoning: asNumber(from.reasoning_tokens) ?? 0,
  })
  const other = byModel.filter(({ task }) => asName(task) !== null)
  const models = [...new Set(byModel.filter(({ task }) => asName(task) === null).map(({ model }) => String(model)))]
  return {
    ...kept(row),
    cost: {
      estimated_usd: asNumber(row.estimated_cost_usd),
      actual_usd: asNumber(row.actual_cost_usd),
      status: asName(row.cost_status),
      source: asName(row.cost_source),
    },
    provider: asName(row.billing_provider),
    base_url: asName(row.billing_base_url),
    ...(models.length > 1 ? { models } : {}),
    ...(other.length === 0 ? {} : { other: other.map((one) => ({ task: one.task, model: one.model, ...kept(one) })) }),
  }
}

/** Names the database froze (schema 30), else definitions from the files beside it. */
function toolNames(row: Row, beside: readonly SessionFile[]): readonly NamedTool[] {
  const frozen = typeof row.tool_names === 'string' ? toolsOf(parseList(row.tool_names)) : []
  const written = beside.flatMap((file) => {
    if (file.kind === 'snapshot') return toolsOf(readSnapshot(file.path)?.head.tools)
    return toolsOf(asRow(firstLine(file.path))?.tools)
  })
  if (frozen.length === 0) return written
  return frozen.map((tool) => written.find(({ name }) => name === tool.name) ?? tool)
}

function parseList(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const FIRST_LINE = 1024 * 1024

function firstLine(file: string): unknown {
  try {
    const fd = fs.openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(FIRST_LINE)
      return parseList(buffer.toString('utf8', 0, fs.readSync(fd, buffer, 0, FIRST_LINE, 0)).split('\n')[0] ?? '')
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    return null
  }
}

/** 48 bits of a digest: another number whenever anything is another. */
const numberOf = (value: unknown): number => Number.parseInt(shortDigest(JSON.stringify(value)).slice(0, 12), 16)
