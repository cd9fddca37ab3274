import { type Drift, driftSchema, RepriseError } from '../../contract/index.ts'
import type { EventFact } from '../manifest/compare/events.ts'
import type { Parts } from '../parts.ts'
import { readEffects } from '../store/index/event-row.ts'
import type { IndexReader } from '../store/index/reader.ts'
import type { Point } from './references.ts'

interface FactRow {
  readonly seq: number
  readonly id: string
  readonly kind: EventFact['kind']
  readonly tool: string | null
  readonly summary: string
  readonly ok: number | null
  readonly model: string | null
  readonly stretch: number
  readonly cwd: string | null
  readonly sub_session: string | null
  readonly effects: string | null
}

/** The events of a run that count for a point or a stretch of it, in order. */
export const readFacts = (index: IndexReader, run: number, point: Pick<Point, 'seq' | 'stretch'>): EventFact[] =>
  (
    index
      .sql(
        `select seq, id, kind, tool, summary, ok, model, stretch, cwd, sub_session, effects from events
         where run = ? and (? is null or seq <= ?) and (? is null or stretch = ?) order by seq`,
      )
      .all(run, point.seq, point.seq, point.stretch, point.stretch) as FactRow[]
  ).map((row) => ({
    seq: row.seq,
    id: row.id,
    kind: row.kind,
    tool: row.tool,
    summary: row.summary,
    ok: row.ok === null ? null : row.ok === 1,
    model: row.model,
    stretch: row.stretch,
    cwd: row.cwd,
    subagent: row.sub_session,
    effects: readEffects(row.effects),
  }))

/** First event of a run whose own words name something: what was typed, called, printed or answered, not what was put into the context. */
export const firstMention = (
  index: IndexReader,
  run: number,
  word: string,
  facts: readonly EventFact[],
): number | null => {
  const row = index
    .sql(
      `select min(seq) as seq from words where run = ? and role in ('prompt', 'answer', 'input', 'output') and instr(text, ?) > 0`,
    )
    .get(run, word) as { seq: number | null }
  const inSummary =
    facts.find(({ kind, summary }) => (kind === 'tool' || kind === 'prompt') && summary.includes(word))?.seq ?? null
  const seqs = [row.seq, inSummary].filter((seq) => seq !== null)
  const last = facts.at(-1)?.seq ?? 0
  const first = seqs.length === 0 ? null : Math.min(...seqs)
  return first !== null && first <= last ? first : null
}

/** The last change of a file by any run between two moments. */
export const lastWriter = (
  parts: Parts,
  file: string,
  from: string | null,
  until: string | null,
): { readonly run: string; readonly seq: number; readonly at: string | null } | null => {
  if (from === null || until === null) return null
  const [first, last] = from <= until ? [from, until] : [until, from]
  const found = parts
    .index()
    .sql(
      `select runs.id as run, events.seq as seq, events.at as at from runs join events on events.run = runs.key
       where runs.started_at < ? and coalesce(runs.ended_at, runs.started_at) >= ? and events.effects is not null
         and events.at >= ? and events.at <= ? and instr(events.effects, ?) > 0
       order by events.at desc limit 1`,
    )
    .get(last, first, first, last, `"path":${JSON.stringify(file)}`) as
    | { run: string; seq: number; at: string | null }
    | undefined
  return found ?? null
}

/** A change is noticed a little after it was made, and may be so only after the start that met it. */
const NOTICED_LATE_MS = 60_000
const MOST_DRIFTS = 500

/** Changes of an agent's configuration that were noticed between two starts, oldest first. */
export const driftsBetween = (parts: Parts, runtime: string, from: string | null, until: string | null): Drift[] => {
  if (from === null || until === null) return []
  const [first, last] = from <= until ? [from, until] : [until, from]
  const late = new Date(Date.parse(last) + NOTICED_LATE_MS).toISOString()
  const rows = parts
    .index()
    .sql(
      `select doc from drifts where runtime = ? and at > ? and at <= ? order by at desc, id desc limit ${MOST_DRIFTS}`,
    )
    .all(runtime, first, late) as { doc: string }[]
  return rows.map(({ doc }) => driftSchema.parse(JSON.parse(doc))).reverse()
}

/** Manifests of the stretches of a run that have one. */
export const manifestsOf = (
  index: IndexReader,
  run: number,
): { readonly digests: readonly { n: number; digest: string }[]; readonly unfrozen: number } => {
  const rows = index.sql('select n, manifest from stretches where run = ? order by n').all(run) as {
    n: number
    manifest: string | null
  }[]
  return {
    digests: rows.flatMap(({ n, manifest }) => (manifest === null ? [] : [{ n, digest: manifest }])),
    unfrozen: rows.filter(({ manifest }) => manifest === null).length,
  }
}

export const mustHaveEvent = (
  index: IndexReader,
  run: { readonly key: number; readonly id: string },
  seq: number,
): void => {
  if (seq > 0 && index.sql('select 1 from events where run = ? and seq = ?').get(run.key, seq) === undefined)
    throw new RepriseError('not_found', `${run.id} has no event ${seq}`)
}
