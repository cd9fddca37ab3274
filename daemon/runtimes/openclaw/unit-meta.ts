import type { LinesFrom, SessionUnit } from '../adapter.ts'
import { asList, asName, asNumber, asRow } from '../shared/fields.ts'

/** One place in which events of a session lie. */
export type SessionSource =
  /** The transcript tables of the agent's database. */
  | { readonly from: 'database' }
  /** A transcript the database set aside, by its name there. */
  | { readonly from: 'archive'; readonly name: string }
  /** A transcript moved out of the tables but kept in the database. */
  | { readonly from: 'cold' }
  /** A file, relative to the state directory. */
  | { readonly from: 'file'; readonly path: string }

/** What goes with a unit wherever it goes (`SessionUnit.meta`). */
export interface UnitMeta {
  readonly agent: string
  /** The runtime's own session id; the unit's `session` has more where two sessions share one id. */
  readonly sessionId: string
  readonly key: string | null
  /** Why the window of the session began: initial, reset, rollover, fork, rewind, switch, recovery, compaction. */
  readonly reason: string | null
  readonly previous: string | null
  readonly title: string | null
  readonly sources: readonly SessionSource[]
}

export function readMeta({ meta, session }: Pick<SessionUnit, 'meta' | 'session'>): UnitMeta {
  return {
    agent: asName(meta.agent) ?? 'main',
    sessionId: asName(meta.session_id) ?? session,
    key: asName(meta.session_key),
    reason: asName(meta.window_reason),
    previous: asName(meta.previous_session),
    title: asName(meta.title),
    sources: asList(meta.sources).flatMap((item): SessionSource[] => {
      const source = asRow(item)
      const name = asName(source?.name)
      const path = asName(source?.path)
      if (source?.from === 'database' || source?.from === 'cold') return [{ from: source.from }]
      if (source?.from === 'archive' && name !== null) return [{ from: 'archive', name }]
      return source?.from === 'file' && path !== null ? [{ from: 'file', path }] : []
    }),
  }
}

export function writeMeta(linesFrom: LinesFrom | null, meta: UnitMeta): SessionUnit['meta'] {
  return {
    ...(linesFrom === null ? {} : { lines_from: linesFrom }),
    agent: meta.agent,
    session_id: meta.sessionId,
    session_key: meta.key,
    window_reason: meta.reason,
    previous_session: meta.previous,
    title: meta.title,
    sources: meta.sources,
  }
}

/** Milliseconds since 1970 as the rows have them, as an instant. */
export const instantOf = (ms: unknown): string | null => {
  const number = asNumber(ms)
  return number === null || Math.abs(number) > 8.64e15 ? null : new Date(number).toISOString()
}
