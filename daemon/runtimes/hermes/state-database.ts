import { createHash } from 'node:crypto'
import path from 'node:path'
import { asName, asNumber, asRow, type Row } from '../shared/fields.ts'
import type { HomeDatabase } from '../shared/sqlite-home.ts'

/** Schema versions whose tables were read: 25 from a real 0.20.0, 30 from the source of upstream main. */
export const KNOWN_SCHEMAS = [25, 30] as const
export const NEWEST_SCHEMA = 30

export const databaseOf = (home: string): string => path.join(home, 'state.db')

/** How a session came from another (runtime page 7.4). `child`: the parent is named and nothing says why. */
export type Relation = 'continuation' | 'subagent' | 'branch' | 'reset' | 'child'

/**
 * Columns are found, never assumed: migrations run at the start of the program, and users reported databases that were left half
 * migrated (runtime page 7.1).
 */
export interface Columns {
  readonly sessions: ReadonlySet<string>
  readonly messages: ReadonlySet<string>
  readonly tables: ReadonlySet<string>
}

export function columnsOf(db: HomeDatabase): Columns {
  const of = (table: string): ReadonlySet<string> =>
    new Set(db.all(`select name from pragma_table_info('${table}', 'home')`).map(({ name }) => String(name)))
  const tables = new Set(
    db.all("select name from home.sqlite_schema where type = 'table'").map(({ name }) => String(name)),
  )
  return {
    tables,
    sessions: tables.has('sessions') ? of('sessions') : new Set(),
    messages: tables.has('messages') ? of('messages') : new Set(),
  }
}

/** Null when the database names none. */
export function schemaVersion(db: HomeDatabase, { tables }: Columns): number | null {
  return tables.has('schema_version')
    ? asNumber(db.get('select max(version) as version from schema_version')?.version)
    : null
}

export const hasSessions = ({ sessions, messages }: Columns): boolean =>
  sessions.has('id') && messages.has('id') && messages.has('session_id') && messages.has('role')

/** The columns of one row that hold something. Blobs become base64, so that every row can be one line of JSON. */
export function filled(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row)) {
    if (value === null || value === undefined) continue
    if (typeof value === 'bigint') kept[name] = String(value)
    else if (value instanceof Uint8Array) kept[name] = { base64: Buffer.from(value).toString('base64') }
    else kept[name] = value
  }
  return kept
}

/** Text of a column that holds JSON; null when it holds none or something else. */
export function jsonRow(value: unknown): Row | null {
  if (typeof value !== 'string') return asRow(value)
  try {
    return asRow(JSON.parse(value))
  } catch {
    return null
  }
}

/** Relation of a session row to its parent. `parentEnd` is the `end_reason` of the parent. */
export function relationOf(session: Row, parentEnd: string | null): Relation | null {
  const config = jsonRow(session.model_config)
  if (asName(config?._delegate_from) !== null || session.source === 'subagent') return 'subagent'
  if (asName(config?._branched_from) !== null) return 'branch'
  if (asName(config?._reset_from) !== null) return 'reset'
  if (asName(session.parent_session_id) === null) return null
  return parentEnd === 'compression' ? 'continuation' : 'child'
}

/** The session another came from, whichever column says so. */
export function parentOf(session: Row): string | null {
  const config = jsonRow(session.model_config)
  return (
    asName(session.parent_session_id) ??
    asName(config?._delegate_from) ??
    asName(config?._branched_from) ??
    asName(config?._reset_from)
  )
}

/** Epoch seconds of the database as ISO 8601 in UTC with milliseconds (runtime page 7.1). */
export function instantOf(seconds: unknown): string | null {
  const number = asNumber(seconds)
  if (number === null || Math.abs(number) > 8.64e12) return null
  return new Date(Math.round(number * 1000)).toISOString()
}

export const shortDigest = (text: string): string =>
  createHash('sha256').update(text, 'utf8').digest('hex').slice(0, 24)

const TEXTS = ['content', 'api_content', 'tool_calls', 'reasoning', 'reasoning_content', 'display_metadata']

/**
 * The messages of a session in the order of their ids. Content that is a list is stored behind a NUL (source), where the driver would end
 * the text: such a column is taken as bytes.
 */
export function* messagesOf(db: HomeDatabase, { messages }: Columns, session: string): Iterable<Row> {
  const names = [...messages].map((name) => {
    const quoted = `"${name.replaceAll('"', '""')}"`
    return TEXTS.includes(name)
      ? `case when instr(${quoted}, char(0)) > 0 then cast(${quoted} as blob) else ${quoted} end as ${quoted}`
      : quoted
  })
  for (const row of db.each(`select ${names.join(', ')} from messages where session_id = ? order by id`, session)) {
    const bytes = TEXTS.filter((name) => row[name] instanceof Uint8Array)
    yield bytes.length === 0
      ? row
      : {
          ...row,
          ...Object.fromEntries(bytes.map((name) => [name, Buffer.from(row[name] as Uint8Array).toString('utf8')])),
        }
  }
}
