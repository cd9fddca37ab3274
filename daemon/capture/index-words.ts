import { type Database, statements } from '../store/index/database.ts'

/** Words of one step: about 1 MB of text, some 60 ms. */
const STEP = 1_000_000

/** Makes the next words searchable. False when all are. The timeline never waits for it: full text is ten times slower than reading. */
export const indexWords = (db: Database): boolean => {
  const sql = statements(db)
  const until = Number((sql("select value from meta where key = 'found_until'").get() as { value: string }).value)
  let last = until
  let size = 0
  const insert = sql('insert into found (rowid, text) values (?, ?)')
  for (const row of sql('select id, text from words where id > ? order by id').iterate(until) as Iterable<{
    id: number
    text: string
  }>) {
    insert.run(row.id, row.text)
    last = row.id
    size += row.text.length
    if (size >= STEP) break
  }
  if (last === until) return false
  sql("update meta set value = ? where key = 'found_until'").run(String(last))
  return true
}
