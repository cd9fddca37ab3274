import { DatabaseSync } from '@photostructure/sqlite'

/** The least any importer must do with a database of sessions: reads every row of them, parses what is JSON in it. */
const [file = '', table = ''] = process.argv.slice(2)
const started = performance.now()
let bytes = 0
let rows = 0
const db = new DatabaseSync(file, { readOnly: true })
for (const row of db.prepare(`select * from ${table}`).iterate()) {
  rows += 1
  for (const value of Object.values(row as Record<string, unknown>)) {
    if (typeof value !== 'string') continue
    bytes += Buffer.byteLength(value)
    if (value.startsWith('{') || value.startsWith('[')) JSON.parse(value)
  }
}
db.close()
process.stdout.write(JSON.stringify({ bytes, rows, ms: performance.now() - started }))
