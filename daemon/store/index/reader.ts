import { RepriseError, type Run } from '../../../contract/index.ts'
import { type Database, type Statement, statements } from './database.ts'
import { RUN_COLUMNS, RUN_TABLES, type RunRow, STRETCHES_OF_RUN, toRun } from './run-row.ts'

/** Read side of the index: one connection, statements made once. */
export interface IndexReader {
  readonly db: Database
  readonly sql: (text: string) => Statement
  toRun(row: RunRow): Run
  /** Finds a run by id, unique prefix of an id, the agent's session id or a unique prefix of it, `last`, `last:<runtime>`. */
  findRun(reference: string): RunRow
  close(): void
}

export type LiveSessions = (home: string, session: string) => boolean

export const createIndexReader = (db: Database, live: LiveSessions): IndexReader => {
  const sql = statements(db)
  const one = (where: string, ...values: readonly (string | number)[]): RunRow[] =>
    sql(`select ${RUN_COLUMNS} from ${RUN_TABLES} where ${where}`).all(...values) as RunRow[]

  return {
    db,
    sql,
    toRun: (row) => toRun(row, sql(STRETCHES_OF_RUN), live),
    findRun(reference) {
      if (reference === 'last' || reference.startsWith('last:')) {
        const runtime = reference.slice('last:'.length)
        const found = one(
          `runs.relation is not 'subagent' and (? = '' or runs.runtime = ?) order by runs.sort_at desc, runs.key desc limit 1`,
          runtime,
          runtime,
        )
        if (found[0]) return found[0]
        throw new RepriseError(
          'not_found',
          runtime === '' ? 'there is no run yet' : `there is no run of ${runtime} yet`,
        )
      }
      if (reference === '')
        throw new RepriseError(
          'wrong_usage',
          'a run is missing',
          'give its id, a unique prefix, its session id, or `last`',
        )
      // `like` wildcards in the reference must not match anything else.
      const prefix = `${reference.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`
      const exact = one('runs.id = ? or runs.session = ? limit 3', reference, reference)
      const found =
        exact.length > 0
          ? exact
          : one(`runs.id like ? escape '\\' or runs.session like ? escape '\\' limit 11`, prefix, prefix)
      if (found.length === 1) return found[0] as RunRow
      if (found.length === 0)
        throw new RepriseError(
          'not_found',
          `no run is called ${JSON.stringify(reference)}`,
          'list them with `reprise runs`',
        )
      throw new RepriseError(
        'ambiguous',
        `${found.length > 10 ? 'more than 10' : found.length} runs begin with ${JSON.stringify(reference)}`,
        'give more of the id',
        found.map((row) => `${row.id}  ${row.session}  ${row.title}`),
      )
    },
    close: () => db.close(),
  }
}
