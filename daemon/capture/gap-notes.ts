import type { Gap } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Statement } from '../store/index/database.ts'

export interface GapNote {
  readonly kind: Gap['kind']
  readonly home?: string
  readonly run?: string
  /** Path, or another name of the place; a later note of the same kind and place replaces this one. */
  readonly where: string
  readonly message: string
  readonly hint: string | null
}

/** What could not be captured, kept until it could: nothing is skipped in silence. */
export interface GapNotes {
  save(note: GapNote): void
  drop(kind: Gap['kind'], where: string): void
}

/** What a message quotes of a damaged file is covered. */
export const createGapNotes = (
  sql: (text: string) => Statement,
  now: () => Date,
  redactor: Pick<Redactor, 'redact'>,
): GapNotes => ({
  save({ kind, home, run, where, message, hint }) {
    sql(
      'insert or replace into gaps (id, kind, home, run, path, at, count, message, hint) values (?, ?, ?, ?, ?, ?, 1, ?, ?)',
    ).run(
      `${kind}:${where}`,
      kind,
      home ?? null,
      run ?? null,
      where,
      now().toISOString(),
      redactor.redact(message).text,
      hint,
    )
  },
  drop(kind, where) {
    sql('delete from gaps where id = ?').run(`${kind}:${where}`)
  },
})
