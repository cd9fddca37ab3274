import { Buffer } from 'node:buffer'
import { z } from 'zod'
import {
  driftSchema,
  RepriseError,
  type RollbackRecord,
  type TimelineFilter,
  type TimelineItem,
  type TimelinePage,
} from '../../../contract/index.ts'
import type { IndexReader } from './reader.ts'
import { RUN_COLUMNS, RUN_TABLES, type RunRow } from './run-row.ts'
import { matchExpression } from './search-query.ts'

interface Condition {
  readonly sql: string
  readonly values: readonly (string | number)[]
}

/** Subagents and replays hang under their parent and are not rows of their own unless asked for. */
const conditionsOf = (filter: TimelineFilter, withTime: boolean): Condition => {
  const parts: string[] = []
  const values: (string | number)[] = []
  const add = (sql: string, ...more: readonly (string | number)[]): void => {
    parts.push(`(${sql})`)
    values.push(...more)
  }
  const among = (column: string, wanted: readonly string[] | undefined): void => {
    if (wanted && wanted.length > 0) add(`${column} in (${wanted.map(() => '?').join(', ')})`, ...wanted)
  }
  const escaped = (text: string): string => `%${text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`

  if (filter.relation && filter.relation.length > 0) among(`coalesce(runs.relation, 'none')`, filter.relation)
  else add(`runs.relation is not 'subagent' and runs.relation is not 'replay'`)
  among('runs.runtime', filter.runtime)
  among('runs.status', filter.status)
  if (filter.home) add('runs.home = ? or homes.path = ?', filter.home, filter.home)
  if (filter.workspace) add(`runs.workspaces like ? escape '\\'`, escaped(filter.workspace))
  if (filter.model) add(`runs.models like ? escape '\\'`, escaped(filter.model))
  if (filter.manifest)
    add(
      `exists (select 1 from stretches where stretches.run = runs.key and stretches.manifest like ? escape '\\')`,
      escaped(filter.manifest),
    )
  if (filter.task) {
    const wanted = filter.task.replace(/^sha256:/, '')
    add('runs.task = ?', wanted.startsWith('task_') ? wanted : `task_${wanted.slice(0, 12)}`)
  }
  if (filter.tool) add('exists (select 1 from events where events.run = runs.key and events.tool = ?)', filter.tool)
  if (filter.changed)
    add(
      `exists (select 1 from events where events.run = runs.key and events.effects like ? escape '\\')`,
      escaped(filter.changed),
    )
  for (const what of filter.has ?? []) {
    if (what === 'gap') add(`runs.unreadable > 0 or runs.source_state <> 'present' or runs.unknown_records <> '{}'`)
    if (what === 'failure') add(`runs.failed_calls > 0 or runs.status = 'failed'`)
    if (what === 'changes') add('runs.added + runs.changed + runs.deleted > 0')
    if (what === 'manifest') add('runs.manifest is not null')
  }
  if (filter.kind && !filter.kind.includes('run')) add('0')
  const words = filter.text?.trim()
  if (words) {
    const expression = matchExpression(words)
    add(
      `runs.title like ? escape '\\' or runs.id like ? escape '\\' or runs.session like ? escape '\\'
       or runs.key in (select words.run from found join words on words.id = found.rowid where found match ?)`,
      escaped(words),
      escaped(words),
      escaped(words),
      expression,
    )
  }
  if (withTime) {
    if (filter.since) add('runs.sort_at >= ?', filter.since)
    if (filter.until) add('runs.sort_at < ?', filter.until)
  }
  return { sql: parts.length > 0 ? parts.join(' and ') : '1', values }
}

const cursorSchema = z.tuple([z.string(), z.number().int()])
const writeCursor = (row: RunRow): string => Buffer.from(JSON.stringify([row.sort_at, row.key])).toString('base64url')
const readCursor = (text: string): readonly [string, number] => {
  try {
    return cursorSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
  } catch {
    throw new RepriseError('wrong_usage', 'cursor: not one of ours', 'ask for the first page again')
  }
}

export interface TimelineQuery {
  readonly filter: TimelineFilter
  readonly cursor: string | null
  readonly limit: number
  readonly buckets: number
  /** All there are; those of the same stretch of time are shown. */
  readonly rollbacks: readonly RollbackRecord[]
}

/** One page, newest first, with density and facets of the same filter on the first page. */
export const queryTimeline = (
  index: IndexReader,
  { filter, cursor, limit, buckets, rollbacks }: TimelineQuery,
): TimelinePage => {
  const where = conditionsOf(filter, true)
  const after = cursor === null ? null : readCursor(cursor)
  const rows = index
    .sql(
      `select ${RUN_COLUMNS} from ${RUN_TABLES} where ${where.sql} ${after ? 'and (runs.sort_at, runs.key) < (?, ?)' : ''}
       order by runs.sort_at desc, runs.key desc limit ?`,
    )
    .all(...where.values, ...(after ?? []), limit + 1) as RunRow[]
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next = rows.length > limit && last ? writeCursor(last) : null

  const children = index.sql(`select id from runs where parent = ? and relation is not 'fork' order by sort_at, key`)
  const runs = shown.map(
    (row): TimelineItem => ({
      type: 'run',
      at: row.sort_at,
      run: index.toRun(row),
      children: (children.all(row.id) as { id: string }[]).map(({ id }) => id),
    }),
  )
  const items = [
    ...runs,
    ...otherItems(index, filter, newest(after, filter), next === null ? (filter.since ?? '') : (last?.sort_at ?? '')),
    ...rollbackItems(
      rollbacks,
      filter,
      newest(after, filter),
      next === null ? (filter.since ?? '') : (last?.sort_at ?? ''),
    ),
    ...configurationItems(
      index,
      filter,
      newest(after, filter),
      next === null ? (filter.since ?? '') : (last?.sort_at ?? ''),
    ),
  ]
  items.sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))

  const count = (condition: Condition): number =>
    Number(
      (
        index.sql(`select count(*) as n from ${RUN_TABLES} where ${condition.sql}`).get(...condition.values) as {
          n: number
        }
      ).n,
    )
  const total = count(where)
  const facet = (column: string): { value: string; count: number }[] =>
    index
      .sql(
        `select ${column} as value, count(*) as count from ${RUN_TABLES} where ${where.sql} and ${column} is not null group by 1 order by 2 desc, 1 limit 200`,
      )
      .all(...where.values) as { value: string; count: number }[]
  return {
    items,
    next,
    total,
    total_any_time: filter.since || filter.until ? count(conditionsOf(filter, false)) : total,
    density: cursor === null && buckets > 0 ? queryDensity(index, where, filter, buckets) : null,
    facets:
      cursor === null
        ? { runtimes: facet('runs.runtime'), workspaces: facet('runs.workspace'), statuses: facet('runs.status') }
        : { runtimes: [], workspaces: [], statuses: [] },
    coverage: 'partial',
  }
}

const newest = (after: readonly [string, number] | null, filter: TimelineFilter): string =>
  after?.[0] ?? filter.until ?? '9999'

/** Changes of configuration, in the same stretch of time. First looks are no changes. */
const configurationItems = (
  index: IndexReader,
  filter: TimelineFilter,
  before: string,
  since: string,
): TimelineItem[] => {
  const onlyRuns =
    filter.status || filter.tool || filter.model || filter.manifest || filter.relation || filter.task || filter.has
  if (onlyRuns || (filter.kind && !filter.kind.includes('configuration'))) return []
  const parts = [`drifts.kind <> 'first_seen'`, 'drifts.at < ?', 'drifts.at >= ?']
  const values: string[] = [before, since]
  const among = filter.runtime ?? []
  if (among.length > 0) {
    parts.push(`drifts.runtime in (${among.map(() => '?').join(', ')})`)
    values.push(...among)
  }
  if (filter.home) {
    parts.push('(drifts.home = ? or exists (select 1 from homes where homes.id = drifts.home and homes.path = ?))')
    values.push(filter.home, filter.home)
  }
  // What concerns the home alone concerns every workspace.
  if (filter.workspace) {
    parts.push(`(drifts.workspace is null or instr(drifts.workspace, ?) > 0)`)
    values.push(filter.workspace)
  }
  if (filter.changed) {
    parts.push(
      'exists (select 1 from drift_words where drift_words.drift = drifts.id and instr(drift_words.text, ?) > 0)',
    )
    values.push(filter.changed)
  }
  const words = filter.text?.trim()
  if (words) {
    parts.push(
      'drifts.id in (select drift_words.drift from drifts_found join drift_words on drift_words.id = drifts_found.rowid where drifts_found match ?)',
    )
    values.push(matchExpression(words))
  }
  const rows = index
    .sql(`select doc from drifts where ${parts.join(' and ')} order by drifts.at desc limit 1000`)
    .all(...values) as { doc: string }[]
  return rows.map(({ doc }) => {
    const drift = driftSchema.parse(JSON.parse(doc))
    return { type: 'configuration', at: drift.at, id: drift.id, drift }
  })
}

/** Rollbacks, in the same stretch of time. */
const rollbackItems = (
  all: readonly RollbackRecord[],
  filter: TimelineFilter,
  before: string,
  since: string,
): TimelineItem[] => {
  const onlyRuns =
    filter.status || filter.tool || filter.model || filter.relation || filter.task || filter.has || filter.text
  if (onlyRuns || (filter.kind && !filter.kind.includes('rollback'))) return []
  return all
    .filter(({ at, target, paths }) => {
      if (at >= before || at < since) return false
      if (
        filter.runtime &&
        filter.runtime.length > 0 &&
        (target.runtime === null || !filter.runtime.includes(target.runtime))
      )
        return false
      if (filter.workspace && !(target.workspace ?? '').includes(filter.workspace)) return false
      if (filter.manifest && !(target.manifest ?? '').includes(filter.manifest)) return false
      const { changed } = filter
      return changed === undefined || paths.some(({ path }) => path.includes(changed))
    })
    .map((rollback) => ({ type: 'rollback', at: rollback.at, id: rollback.id, rollback }))
}

/** What happened outside of runs, in the same stretch of time. Left out when the filter asks for something only runs have. */
const otherItems = (index: IndexReader, filter: TimelineFilter, before: string, since: string): TimelineItem[] => {
  const onlyRuns =
    filter.text ||
    filter.runtime ||
    filter.status ||
    filter.tool ||
    filter.model ||
    filter.changed ||
    filter.manifest ||
    filter.relation ||
    filter.workspace ||
    filter.home ||
    filter.task
  if (onlyRuns || (filter.kind && !filter.kind.includes('source'))) return []
  const rows = index
    .sql(
      `select source_changes.*, runs.id as run_id from source_changes join runs on runs.key = source_changes.run
       where source_changes.at < ? and source_changes.at >= ? order by source_changes.at desc limit 500`,
    )
    .all(before, since) as {
    id: string
    run_id: string
    at: string
    change: 'shrank' | 'vanished' | 'returned'
    path: string
    message: string
  }[]
  return rows.map(({ id, run_id, at, change, path, message }) => ({
    type: 'source',
    id,
    run: run_id,
    at,
    change,
    path,
    message,
  }))
}

/** Runs and events over time in at most `buckets` equal parts. */
const queryDensity = (
  index: IndexReader,
  where: Condition,
  filter: TimelineFilter,
  buckets: number,
): TimelinePage['density'] => {
  const range = index
    .sql(
      `select min(runs.sort_at) as first, max(runs.sort_at) as last from ${RUN_TABLES} where ${where.sql} and runs.sort_at <> ''`,
    )
    .get(...where.values) as { first: string | null; last: string | null }
  if (range.first === null || range.last === null) return null
  const since = Date.parse(filter.since ?? range.first)
  const until = Math.max(Date.parse(filter.until ?? range.last) + 1, since + 1)
  const width = (until - since) / buckets
  const rows = index
    .sql(
      `select cast((unixepoch(runs.sort_at, 'subsec') * 1000 - ?) / ? as integer) as bucket, count(*) as runs, sum(runs.events) as events,
         sum(runs.status = 'failed' or runs.failed_calls > 0) as failures
       from ${RUN_TABLES} where ${where.sql} and runs.sort_at <> '' group by 1`,
    )
    .all(since, width, ...where.values) as { bucket: number; runs: number; events: number; failures: number }[]
  const filled = new Map(rows.map((row) => [Math.min(buckets - 1, Math.max(0, Number(row.bucket))), row]))
  return {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    buckets: Array.from({ length: buckets }, (_, n) => {
      const row = filled.get(n)
      return {
        at: new Date(since + n * width).toISOString(),
        events: Number(row?.events ?? 0),
        runs: Number(row?.runs ?? 0),
        failures: Number(row?.failures ?? 0),
      }
    }),
  }
}
