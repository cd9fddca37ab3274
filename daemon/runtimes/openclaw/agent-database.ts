import { decompress } from 'fzstd'
import { asName, asNumber, asRow, type Row } from '../shared/fields.ts'
import type { HomeDatabase, Row as SqlRow } from '../shared/sqlite-home.ts'

/** `PRAGMA user_version` of the agent database this page was verified with (2026.9.6). */
export const KNOWN_SCHEMA = 23

export interface DatabaseAbout {
  /** Null when the database does not say. */
  readonly schema: number | null
  readonly agent: string | null
  /** Program that created or last migrated the database; not the one that ran a session. */
  readonly program: string | null
}

/** A session of the database: one window of one session key. */
export interface DatabaseSession {
  readonly session: string
  readonly key: string | null
  readonly events: number
  /** Bytes of its events as they are stored. */
  readonly bytes: number
  /** Milliseconds of its last change. */
  readonly changed: number
  readonly started: number | null
  readonly reason: string | null
  readonly previous: string | null
  readonly parentKey: string | null
  readonly title: string | null
  readonly forkOf: string | null
}

/** A transcript the database set aside. Several may be there for one session id, and one that is still in use. */
export interface DatabaseArchive {
  readonly session: string
  readonly key: string | null
  readonly reason: string | null
  readonly name: string
  readonly created: number
  readonly bytes: number
}

/** A transcript moved out of the tables; it lies in a file of the cold folder or in the row itself. */
export interface ColdTranscript {
  readonly session: string
  readonly name: string
  readonly inDatabase: boolean
  readonly events: number
  readonly archived: number
}

/**
 * Columns of a table; empty when there is no such table. Nothing is assumed of a schema but what it shows itself, so that older and newer
 * ones are read as far as they are alike.
 */
export function columnsOf(db: HomeDatabase, table: string): ReadonlySet<string> {
  return new Set(
    db.all(`pragma home.table_info("${table}")`).flatMap(({ name }) => (typeof name === 'string' ? [name] : [])),
  )
}

/** The wanted columns of every row; one that the table lacks is null. Empty when there is no such table. */
function rowsOf(db: HomeDatabase, table: string, wanted: readonly string[], rest = ''): readonly SqlRow[] {
  const found = columnsOf(db, table)
  if (found.size === 0) return []
  return db.all(
    `select ${wanted.map((name) => (found.has(name) ? name : `null as ${name}`)).join(', ')} from home.${table} ${rest}`,
  )
}

export function readAbout(db: HomeDatabase): DatabaseAbout {
  const version = db.get('pragma home.user_version')
  const meta = rowsOf(db, 'schema_meta', ['schema_version', 'agent_id', 'app_version'])[0]
  return {
    schema: asNumber(meta?.schema_version) ?? asNumber(version?.user_version),
    agent: asName(meta?.agent_id),
    program: asName(meta?.app_version),
  }
}

/** Why the transcripts of a database cannot be read; null when they can. */
export function whyUnreadable(db: HomeDatabase): string | null {
  const found = columnsOf(db, 'transcript_events')
  if (found.size === 0) return 'it has no table of transcript events'
  const missing = ['session_id', 'seq', 'event_json'].filter((name) => !found.has(name))
  return missing.length === 0 ? null : `its transcript events have no ${missing.join(', ')}`
}

export function readSessions(db: HomeDatabase): readonly DatabaseSession[] {
  const windows = new Map(
    rowsOf(db, 'session_windows', [
      'session_id',
      'session_key',
      'previous_session_id',
      'reason',
      'created_at',
      'started_at',
      'transcript_updated_at',
      'parent_session_key',
      'spawned_by',
      'display_name',
    ]).map((row) => [asName(row.session_id) ?? '', row]),
  )
  const nodes = new Map(
    rowsOf(db, 'session_nodes', [
      'session_key',
      'parent_session_key',
      'spawned_by',
      'fork_source_session_id',
      'label',
      'display_name',
      'current_session_id',
    ]).map((row) => [asName(row.session_key) ?? '', row]),
  )
  const rewritten = new Map(
    rowsOf(db, 'transcript_rewrite_watermarks', ['session_id', 'updated_at']).map((row) => [
      asName(row.session_id) ?? '',
      asNumber(row.updated_at) ?? 0,
    ]),
  )
  return countEvents(db).map(({ session, events, bytes, last }): DatabaseSession => {
    const window = windows.get(session)
    const key = asName(window?.session_key)
    const node = key === null ? undefined : nodes.get(key)
    const current = node?.current_session_id === session ? node : undefined
    return {
      session,
      key,
      events,
      bytes,
      changed: Math.max(last, asNumber(window?.transcript_updated_at) ?? 0, rewritten.get(session) ?? 0),
      started: asNumber(window?.started_at) ?? asNumber(window?.created_at),
      reason: asName(window?.reason),
      previous: asName(window?.previous_session_id),
      parentKey:
        asName(window?.spawned_by) ??
        asName(window?.parent_session_key) ??
        asName(node?.spawned_by) ??
        asName(node?.parent_session_key),
      title: asName(current?.label) ?? asName(window?.display_name) ?? asName(current?.display_name),
      forkOf: asName(current?.fork_source_session_id),
    }
  })
}

/** Sizes come from the heads of the rows; no event is read for them. */
function countEvents(db: HomeDatabase): readonly { session: string; events: number; bytes: number; last: number }[] {
  const found = columnsOf(db, 'transcript_events')
  const size = found.has('event_zstd')
    ? 'coalesce(octet_length(event_json), octet_length(event_zstd), 0)'
    : 'coalesce(octet_length(event_json), 0)'
  const last = found.has('created_at') ? 'max(created_at)' : '0'
  return db
    .all(
      `select session_id, count(*) as events, sum(${size}) as bytes, ${last} as last from home.transcript_events group by session_id order by session_id`,
    )
    .map((row) => ({
      session: asName(row.session_id) ?? '',
      events: asNumber(row.events) ?? 0,
      bytes: asNumber(row.bytes) ?? 0,
      last: asNumber(row.last) ?? 0,
    }))
}

/** First window of every session key: where a subagent that this key names began. */
export function firstWindows(db: HomeDatabase): ReadonlyMap<string, readonly { session: string; at: number }[]> {
  const found = new Map<string, { session: string; at: number }[]>()
  for (const row of rowsOf(db, 'session_windows', ['session_key', 'session_id', 'created_at'])) {
    const key = asName(row.session_key)
    const session = asName(row.session_id)
    if (key === null || session === null) continue
    const windows = found.get(key) ?? []
    windows.push({ session, at: asNumber(row.created_at) ?? 0 })
    found.set(key, windows)
  }
  for (const windows of found.values()) windows.sort((a, b) => a.at - b.at || (a.session < b.session ? -1 : 1))
  return found
}

export function readArchives(db: HomeDatabase): readonly DatabaseArchive[] {
  if (!columnsOf(db, 'session_transcript_archives').has('archive_name')) return []
  return db
    .all(
      `select session_id, session_key, reason, archive_name, created_at, length(archive_blob) as bytes from home.session_transcript_archives
       order by created_at, archive_name`,
    )
    .flatMap((row) => {
      const session = asName(row.session_id)
      const name = asName(row.archive_name)
      if (session === null || name === null) return []
      return [
        {
          session,
          key: asName(row.session_key),
          reason: asName(row.reason),
          name,
          created: asNumber(row.created_at) ?? 0,
          bytes: asNumber(row.bytes) ?? 0,
        },
      ]
    })
}

export function readColdTranscripts(db: HomeDatabase): readonly ColdTranscript[] {
  return rowsOf(
    db,
    'session_transcript_cold_archives',
    ['session_id', 'archive_name', 'storage', 'event_count', 'archived_at'],
    'order by session_id',
  ).flatMap((row) => {
    const session = asName(row.session_id)
    const name = asName(row.archive_name)
    if (session === null || name === null) return []
    return [
      {
        session,
        name,
        inDatabase: row.storage === 'sqlite',
        events: asNumber(row.event_count) ?? 0,
        archived: asNumber(row.archived_at) ?? 0,
      },
    ]
  })
}

/** Events of one session in the order they were written, as texts. */
export function* eventTexts(db: HomeDatabase, session: string): Iterable<string> {
  const blob = columnsOf(db, 'transcript_events').has('event_zstd') ? 'event_zstd' : 'null as event_zstd'
  for (const row of db.each(
    `select seq, event_json, ${blob} from home.transcript_events where session_id = ? order by seq`,
    session,
  )) {
    if (typeof row.event_json === 'string') yield row.event_json
    else yield unpackEvent(session, row.seq, row.event_zstd)
  }
}

/** Larger events are zstd frames (runtime page 6.1); one that cannot be unpacked keeps its place and says so. */
function unpackEvent(session: string, seq: unknown, blob: unknown): string {
  try {
    if (!(blob instanceof Uint8Array)) throw new Error('neither text nor compressed')
    return unpack(blob)
  } catch (error) {
    return JSON.stringify({
      type: UNREADABLE_EVENT,
      session_id: session,
      seq: typeof seq === 'bigint' ? Number(seq) : seq,
      why: error instanceof Error ? error.message : String(error),
    })
  }
}

/** Type of the line that stands where an event could not be unpacked. */
export const UNREADABLE_EVENT = 'reprise.unreadable_event'

export const unpack = (bytes: Uint8Array): string => Buffer.from(decompress(bytes)).toString('utf8')

/** Content of an archive row; null when it is not there any more. */
export function archiveText(db: HomeDatabase, name: string): string | null {
  const row = db.get('select encoding, archive_blob from home.session_transcript_archives where archive_name = ?', name)
  return row === null ? null : textOf(row.archive_blob, row.encoding === 'zstd')
}

export function coldText(db: HomeDatabase, session: string): string | null {
  const row = db.get('select archive_blob from home.session_transcript_cold_archives where session_id = ?', session)
  return row === null ? null : textOf(row.archive_blob, true)
}

function textOf(blob: unknown, compressed: boolean): string | null {
  if (!(blob instanceof Uint8Array)) return null
  return compressed ? unpack(blob) : Buffer.from(blob).toString('utf8')
}

/** `entry_json` of the session key, when this session is its current one; null otherwise. */
export function readEntry(db: HomeDatabase, session: string): Row | null {
  const found = columnsOf(db, 'session_nodes')
  if (!found.has('entry_json') || !found.has('current_session_id')) return null
  const row = db.get('select entry_json from home.session_nodes where current_session_id = ?', session)
  return typeof row?.entry_json === 'string' ? parseRow(row.entry_json) : null
}

export function parseRow(text: string): Row | null {
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}
