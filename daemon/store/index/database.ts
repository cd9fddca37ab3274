import type { DatabaseSyncInstance, StatementSyncInstance } from '@photostructure/sqlite'

export type Database = DatabaseSyncInstance
export type Statement = StatementSyncInstance

/** Runs `work` in one transaction: all of it is there afterwards, or nothing. */
export const inTransaction = <T>(db: Database, work: () => T): T => {
  db.exec('begin immediate')
  try {
    const result = work()
    db.exec('commit')
    return result
  } catch (error) {
    if (db.isTransaction) db.exec('rollback')
    throw error
  }
}

/** Prepared statements by their text, made once per connection. */
export const statements = (db: Database): ((sql: string) => Statement) => {
  const made = new Map<string, Statement>()
  return (sql) => {
    const known = made.get(sql)
    if (known) return known
    const statement = db.prepare(sql)
    made.set(sql, statement)
    return statement
  }
}
