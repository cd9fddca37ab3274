import { type Database, type Statement, statements } from '../store/index/database.ts'
import { saveTotals } from './run-writer.ts'

/**
 * Finds out which run was copied from which (B16). A fork repeats its parent's conversation, with the same row ids or with new ones, and
 * nothing in it need say so. Of two runs of one home that share a beginning, one is the fork of the other when
 *   – rows of the shared beginning carry the same ids, or
 *   – it did not ask the model for the shared replies itself, and either the model's own ids of them are the same in the same directory
 *     (a model never gives an id twice), or two or more are equal word for word and were written in an instant or at the very same times.
 * A run that asked for every reply itself lived through them, however alike: a replay answered from the record, or the same task again.
 * The answer depends on what is in the index only, never on the order in which files were read.
 */
interface Shared {
  readonly other: number
  readonly seq: number
  readonly other_seq: number
}

interface RunFacts {
  readonly key: number
  readonly id: string
  readonly session: string
  readonly workspace: string | null
  readonly relation: string | null
  readonly sort_at: string
  readonly requests: number | null
}

/** No model answers this fast: replies closer together than this were copied, not received. */
const INSTANT_MS = 20

export const linkRun = (db: Database, run: number): readonly number[] => {
  const sql = statements(db)
  const self = facts(sql, run)
  if (!self || self.relation === 'subagent' || self.relation === 'replay') return []
  const touched = new Set<number>()
  for (const other of candidates(sql, run)) {
    const them = facts(sql, other)
    if (them && them.relation !== 'subagent' && them.relation !== 'replay') touched.add(other)
  }
  if (touched.size === 0 && self.relation === null) return []
  const changed: number[] = []
  // A new run can be the parent of runs that were read before it, so its relatives are judged again too.
  for (const one of [run, ...touched]) if (judge(db, sql, one)) changed.push(one)
  return changed
}

const facts = (sql: (text: string) => Statement, run: number): RunFacts | undefined =>
  sql('select key, id, session, workspace, relation, sort_at, requests from runs where key = ?').get(run) as
    | RunFacts
    | undefined

const candidates = (sql: (text: string) => Statement, run: number): number[] =>
  (
    sql(
      // `cross join` fixes the order: from this run's events to equal ones elsewhere. The planner would try every run of the home for each.
      `select distinct other.run as other from events mine cross join events other on other.chain = mine.chain and other.run <> mine.run
       where mine.run = ?1 and mine.kind = 'model' and mine.chain is not null
         and (select home from runs where key = other.run) = (select home from runs where key = ?1)
       union
       select distinct theirs.run from event_rows mine cross join event_rows theirs on theirs.row = mine.row and theirs.run <> mine.run
       where mine.run = ?1 and (select home from runs where key = theirs.run) = (select home from runs where key = ?1)`,
    ).all(run) as { other: number }[]
  ).map(({ other }) => other)

/** Settles parent and copied events of one run. True when something changed. */
const judge = (db: Database, sql: (text: string) => Statement, run: number): boolean => {
  const self = facts(sql, run)
  if (!self || self.relation === 'subagent' || self.relation === 'replay') return false
  let best: { parent: RunFacts; shared: Shared; byRows: boolean } | null = null
  for (const other of candidates(sql, run)) {
    const them = facts(sql, other)
    if (!them || them.relation === 'subagent' || them.relation === 'replay') continue
    const found = sharedBeginning(sql, self, them)
    if (!found || !isParent(sql, them, self, found.shared)) continue
    if (
      !best ||
      found.shared.seq > best.shared.seq ||
      (found.shared.seq === best.shared.seq &&
        firstOwn(sql, them.key, found.shared.other_seq) < firstOwn(sql, best.parent.key, best.shared.other_seq))
    )
      best = { parent: them, ...found }
  }
  const before = sql('select parent, forked_at, copied from runs where key = ?').get(run) as {
    parent: string | null
    forked_at: number | null
    copied: number
  }
  if (!best) {
    if (before.parent === null) return false
    sql("update runs set relation = null, parent = null, forked_at = null where key = ? and relation = 'fork'").run(run)
    sql('update events set copied_from = null where run = ? and copied_from is not null').run(run)
    saveTotals(db, run)
    return true
  }
  const { parent, shared, byRows } = best
  sql("update runs set relation = 'fork', parent = ?, forked_at = ? where key = ?").run(
    parent.id,
    shared.other_seq,
    run,
  )
  sql("update stretches set cause = 'fork' where run = ? and n = 1").run(run)
  sql('update events set copied_from = null where run = ? and copied_from is not null').run(run)
  if (byRows)
    sql(
      `update events set copied_from = (
         select ? || '@' || min(theirs.seq) from event_rows mine cross join event_rows theirs on theirs.row = mine.row and theirs.run = ? where mine.run = events.run and mine.seq = events.seq)
       where run = ?`,
    ).run(parent.id, parent.key, run)
  // Rewritten ids, and notes between copied rows: all of the shared beginning is the parent's.
  sql(
    `update events set copied_from = coalesce(copied_from,
       (select ? || '@' || min(theirs.seq) from events theirs where theirs.run = ? and theirs.chain = events.chain), ? || '@' || ?)
     where run = ? and seq <= ? and (chain is not null or lane = 0 and seq < ? and ?)`,
  ).run(parent.id, parent.key, parent.id, shared.other_seq, run, shared.seq, shared.seq, byRows ? 0 : 1)
  saveTotals(db, run)
  const after = sql('select parent, forked_at, copied from runs where key = ?').get(run) as typeof before
  return before.parent !== after.parent || before.forked_at !== after.forked_at || before.copied !== after.copied
}

/** The last event both share, and on what evidence; null when likeness proves nothing. */
const sharedBeginning = (
  sql: (text: string) => Statement,
  self: RunFacts,
  them: RunFacts,
): { shared: Shared; byRows: boolean } | null => {
  const rows = sql(
    `select max(mine.seq) as seq, max(theirs.seq) as other_seq from event_rows mine cross join event_rows theirs on theirs.row = mine.row and theirs.run = ?
     where mine.run = ?`,
  ).get(them.key, self.key) as { seq: number | null; other_seq: number | null }
  if (rows.seq !== null && rows.other_seq !== null)
    return { shared: { other: them.key, seq: rows.seq, other_seq: rows.other_seq }, byRows: true }

  const chain = sql(
    `select mine.seq as seq, min(theirs.seq) as other_seq from events mine cross join events theirs on theirs.chain = mine.chain and theirs.run = ?
     where mine.run = ? group by mine.seq order by mine.seq desc limit 1`,
  ).get(them.key, self.key) as { seq: number; other_seq: number } | undefined
  if (!chain) return null
  const shared: Shared = { other: them.key, ...chain }
  const replies = sql(
    `select count(*) as n, count(*) filter (where mine.message is not null and mine.message = theirs.message) as same,
       count(*) filter (where mine.at = theirs.at) as same_time
     from events mine cross join events theirs on theirs.chain = mine.chain and theirs.run = ?
     where mine.run = ? and mine.kind = 'model' and mine.seq <= ?`,
  ).get(them.key, self.key, chain.seq) as { n: number; same: number; same_time: number }
  const all = sql("select count(*) as n from events where run = ? and kind = 'model' and lane = 0").get(self.key) as {
    n: number
  }
  if (replies.n === 0 || (self.requests !== null && self.requests >= all.n)) return null
  if (replies.same === replies.n && self.workspace !== null && self.workspace === them.workspace)
    return { shared, byRows: false }
  if (replies.n >= 2 && (replies.same_time === replies.n || isInstant(sql, self.key, chain.seq, replies.n)))
    return { shared, byRows: false }
  return null
}

const isInstant = (sql: (text: string) => Statement, run: number, seq: number, replies: number): boolean => {
  const span = sql(
    'select min(at) as first, max(at) as last from events where run = ? and seq <= ? and chain is not null',
  ).get(run, seq) as { first: string | null; last: string | null }
  return (
    span.first !== null && span.last !== null && Date.parse(span.last) - Date.parse(span.first) <= INSTANT_MS * replies
  )
}

/** Of two runs with a shared beginning, which is the original. Antisymmetric, so that no two runs are each other's parent. */
const isParent = (sql: (text: string) => Statement, them: RunFacts, self: RunFacts, shared: Shared): boolean => {
  const named = (run: number, session: string): boolean =>
    sql('select 1 from events where run = ? and origin_session = ? limit 1').get(run, session) !== undefined
  const weAreNamed = named(them.key, self.session)
  const theyAreNamed = named(self.key, them.session)
  if (weAreNamed !== theyAreNamed) return theyAreNamed
  const ours = firstOwn(sql, self.key, shared.seq)
  const theirs = firstOwn(sql, them.key, shared.other_seq)
  if (ours !== theirs) return theirs < ours
  return them.sort_at !== self.sort_at ? them.sort_at < self.sort_at : them.id < self.id
}

/** When a run first went its own way; '' when it never did: then it is a mere beginning of the other, its parent. */
const firstOwn = (sql: (text: string) => Statement, run: number, seq: number): string =>
  (
    sql('select min(at) as at from events where run = ? and seq > ? and chain is not null').get(run, seq) as {
      at: string | null
    }
  ).at ?? ''
