import { DatabaseSync, type DatabaseSyncInstance } from '@photostructure/sqlite'

/**
 * A program with a database of its own, run as a child: it writes as fast as it can without ever waiting for a lock, and counts how often
 * it was refused one. Every state it commits has as many rows as its counter says, all of them with the counter's round or an earlier one.
 *
 * Arguments: the file, the journal mode, how many milliseconds, and what it does beside writing (`steady`, `reopen`).
 */
const [file = '', mode = 'wal', forMs = '1000', manner = 'steady'] = process.argv.slice(2)

const open = (): DatabaseSyncInstance => {
  const db = new DatabaseSync(file, { timeout: 0 })
  db.exec(`pragma journal_mode = ${mode}; pragma synchronous = off; pragma cache_size = 20`)
  return db
}

let refused = 0
const attempt = (work: () => void): void => {
  try {
    work()
  } catch (error) {
    if (!/locked|busy/i.test(String(error))) throw error
    refused++
  }
}

const end = Date.now() + Number(forMs)
let db = open()
attempt(() =>
  db.exec(
    'create table if not exists counter (rows integer, round integer); create table if not exists entry (id integer primary key, round integer, text text); insert into counter select 0, 0 where not exists (select 1 from counter)',
  ),
)
process.stdout.write('ready\n')
let rounds = 0
while (Date.now() < end) {
  rounds++
  attempt(() => {
    db.exec('begin immediate')
    try {
      db.exec('update counter set round = round + 1')
      for (let n = 0; n < 20; n++)
        db.exec('insert into entry (round, text) select round, hex(randomblob(400)) from counter')
      db.exec('update counter set rows = rows + 20')
      if (rounds % 7 === 0) {
        db.exec('delete from entry where id % 3 = 0')
        db.exec('update counter set rows = (select count(*) from entry)')
      }
      db.exec('commit')
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      throw error
    }
  })
  if (rounds % 10 === 0) attempt(() => db.exec('pragma wal_checkpoint(truncate)'))
  if (manner === 'reopen' && rounds % 5 === 0) {
    db.close()
    db = open()
  }
  if (rounds % 50 === 0)
    attempt(() => db.exec('begin immediate; delete from entry; update counter set rows = 0; commit; vacuum'))
}
// An owner that closes during a read leaves its log behind, as with any other reader: the reader stops first.
process.stdout.write('closing\n')
await new Promise((resolve) => setTimeout(resolve, 1000))
db.close()
process.stdout.write(`${JSON.stringify({ rounds, refused })}\n`)
