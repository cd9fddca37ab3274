import { asName, asNumber, asText, type Row } from '../shared/fields.ts'
import { type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { Copies, isArchived, isUndone } from './copies.ts'
import {
  type Columns,
  columnsOf,
  databaseOf,
  filled,
  hasSessions,
  jsonRow,
  messagesOf,
  parentOf,
  relationOf,
} from './state-database.ts'

type Write = (line: string) => void

/**
 * The lines of a session in the database, oldest first (`NOTES.md`): a head of what never changes, the stored system prompt, the messages
 * in the order of their ids. What does change stands elsewhere: the flags of rows in lines of their own, at the place where the compaction
 * that set them wrote its first row; totals, title and end in the unit's `meta`.
 */
export function writeDatabaseLines(home: string, session: string, write: Write): void {
  readDatabase(databaseOf(home), (db) => {
    const columns = columnsOf(db)
    const row = hasSessions(columns) ? db.get('select * from sessions where id = ?', session) : null
    if (row === null) return
    const end = parentEnd(db, row)
    const relation = relationOf(row, end)
    const parent = parentOf(row)
    write(
      JSON.stringify({
        row: 'session',
        id: session,
        source: row.source,
        started_at: row.started_at,
        ...(parent === null ? {} : { parent, relation }),
        ...(relation === 'branch' ? branchPoint(row) : {}),
      }),
    )
    writePrompt(db, columns, row, write)
    const continues = parent !== null && (relation === 'continuation' || relation === 'branch')
    const copies = continues ? new Copies(parent, firstRowsOf(db, columns, parent)) : new Copies()
    writeMessages(messagesOf(db, columns, session), copies, write)
    const into = continuedBy(db, columns, session)
    if (row.end_reason === 'compression' && into !== null) write(JSON.stringify({ row: 'rotated', into }))
  })
}

function writeMessages(rows: Iterable<Row>, copies: Copies, write: Write): void {
  const archived: number[] = []
  const undone: number[] = []
  const flush = (row: 'archived' | 'undone', ids: number[]): void => {
    if (ids.length === 0) return
    write(JSON.stringify({ row, ids: rangesOf(ids) }))
    ids.length = 0
  }
  for (const [row, next] of withNext(rows)) {
    const { startsBlock, isSummary, copyOf } = copies.place(row, next === null ? null : asNumber(next.timestamp))
    if (startsBlock || !isArchived(row)) flush('archived', archived)
    if (!isUndone(row)) flush('undone', undone)
    const { id, session_id: _, active: __, compacted: ___, ...rest } = row
    write(
      JSON.stringify({
        row: 'message',
        id,
        ...withoutDefaults(rest),
        ...(isSummary ? { summary: true } : {}),
        ...(copyOf === null
          ? {}
          : { copy_of: copyOf.id, ...(copyOf.session === null ? {} : { copy_session: copyOf.session }) }),
      }),
    )
    if (isArchived(row)) archived.push(Number(id))
    else if (isUndone(row)) undone.push(Number(id))
  }
  flush('archived', archived)
  flush('undone', undone)
}

/** Flags that are zero say nothing; everything else that is filled is kept, columns of later versions included. */
function withoutDefaults(row: Row): Record<string, unknown> {
  const kept = filled(row)
  for (const name of ['observed', '_compressed_summary']) if (kept[name] === 0) delete kept[name]
  return kept
}

/** The message a branch was made at, where the program noted it (source). */
function branchPoint(session: Row): { readonly parent_message?: number } {
  const message = asNumber(jsonRow(session.model_config)?._branched_from_message)
  return message === null ? {} : { parent_message: message }
}

/** `system_prompts` by its hash, or the column of older rows. */
function writePrompt(db: HomeDatabase, { sessions, tables }: Columns, row: Row, write: Write): void {
  const hash = sessions.has('system_prompt_hash') ? asName(row.system_prompt_hash) : null
  const stored =
    hash !== null && tables.has('system_prompts')
      ? asText(db.get('select prompt from system_prompts where hash = ?', hash)?.prompt)
      : null
  const prompt = stored ?? asName(row.system_prompt)
  if (prompt === null && hash === null) return
  write(
    JSON.stringify({
      row: 'prompt',
      ...(hash === null ? {} : { hash }),
      // Named and not there: the row says so instead of being left out.
      ...(prompt === null ? { missing: true } : { prompt }),
    }),
  )
}

function parentEnd(db: HomeDatabase, session: Row): string | null {
  const parent = asName(session.parent_session_id)
  return parent === null ? null : asName(db.get('select end_reason from sessions where id = ?', parent)?.end_reason)
}

/** First row of every key in the session a copy was taken from. */
function firstRowsOf(db: HomeDatabase, columns: Columns, session: string): ReadonlyMap<string, number> {
  const copies = new Copies()
  for (const [row, next] of withNext(messagesOf(db, columns, session)))
    copies.place(row, next === null ? null : asNumber(next.timestamp))
  return copies.firstRows
}

/** The session that goes on after this one was rotated away; the first where several name it. */
function continuedBy(db: HomeDatabase, { sessions }: Columns, session: string): string | null {
  if (!sessions.has('parent_session_id')) return null
  for (const row of db.all('select * from sessions where parent_session_id = ? order by started_at, id', session))
    if (relationOf(row, 'compression') === 'continuation') return asName(row.id)
  return null
}

function* withNext(rows: Iterable<Row>): Iterable<readonly [Row, Row | null]> {
  let before: Row | null = null
  for (const row of rows) {
    if (before !== null) yield [before, row]
    before = row
  }
  if (before !== null) yield [before, null]
}

/** Ascending ids as pairs of first and last. */
export function rangesOf(ids: readonly number[]): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = []
  for (const id of ids) {
    const last = ranges.at(-1)
    if (last !== undefined && id === last[1] + 1) last[1] = id
    else ranges.push([id, id])
  }
  return ranges
}
