import type { RunId } from '../../contract/index.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'

/**
 * Takes a run that is known by its typed prompts only out of the index: its session file is there after all and tells more, or further
 * prompts were found. Its id is that of the session, so it comes back under the same name.
 */
export const dropTypedOnly = (db: Database, id: RunId): boolean => {
  const sql = statements(db)
  const run = sql("select key from runs where id = ? and json_extract(meta, '$.typed_only')").get(id) as
    | { key: number }
    | undefined
  if (!run) return false
  dropRun(db, run.key)
  return true
}

/** Takes all that the index has of a run out of it. What its archive holds stays. */
export const dropRun = (db: Database, run: number): void => {
  const sql = statements(db)
  inTransaction(db, () => {
    // The full text index keeps no text of its own: it must be told what to forget.
    sql(
      `insert into found (found, rowid, text) select 'delete', id, text from words
       where run = ? and id <= (select cast(value as integer) from meta where key = 'found_until')`,
    ).run(run)
    sql('delete from words where run = ?').run(run)
    // Numbers of deleted rows are given again: what gets them must not count as searchable already.
    sql(
      `update meta set value = min(cast(value as integer), (select coalesce(max(id), 0) from words)) where key = 'found_until'`,
    ).run()
    for (const table of [
      'events',
      'event_rows',
      'stretches',
      'files',
      'source_changes',
      'unreadable',
      'side_files',
      'side_copies',
    ])
      sql(`delete from ${table} where run = ?`).run(run)
    sql('delete from runs where key = ?').run(run)
  })
}
