import { z } from 'zod'
import type { Run } from '../../../contract/index.ts'
import type { Statement } from './database.ts'

/** A row of `runs` as SQLite gives it. */
export interface RunRow {
  readonly key: number
  readonly id: string
  readonly home: string
  readonly home_path: string
  readonly runtime: Run['runtime']
  readonly session: string
  readonly relation: Run['relation']
  readonly parent: string | null
  readonly forked_at: number | null
  readonly title: string
  readonly title_from: Run['title_from']
  readonly runtime_version: string | null
  readonly versions: string
  readonly workspace: string | null
  readonly workspaces: string
  readonly models: string
  readonly started_at: string | null
  readonly ended_at: string | null
  readonly sort_at: string
  readonly status: Run['status']
  readonly events: number
  readonly copied: number
  readonly calls: number
  readonly failed_calls: number
  readonly added: number
  readonly changed: number
  readonly deleted: number
  readonly unknown_effects: number
  readonly t_in: number
  readonly t_out: number
  readonly t_read: number
  readonly t_write: number
  readonly lower_bound: number
  readonly manifest: string | null
  readonly task: string | null
  readonly unreadable: number
  readonly broken_links: number
  readonly roots: number
  readonly clock_back: number
  readonly checkpoints: number
  readonly rows: number
  readonly record_types: string
  readonly unknown_records: string
  readonly other_sessions: string
  /** JSON: small facts that stand beside the session. */
  readonly meta: string
  readonly source_state: Run['source_state']
}

export interface StretchRow {
  readonly n: number
  readonly started_at: string | null
  readonly cause: 'start' | 'resume' | 'fork' | 'unknown'
  readonly first_seq: number
  readonly manifest: string | null
}

export const RUN_COLUMNS = 'runs.*, homes.path as home_path'
export const RUN_TABLES = 'runs join homes on homes.id = runs.home'

const strings = z.array(z.string())
export const readStrings = (text: string): string[] => strings.parse(JSON.parse(text))

/** `live`: sessions whose program says it is running now, by home and session. */
export const toRun = (row: RunRow, stretches: Statement, live: (home: string, session: string) => boolean): Run => ({
  id: row.id,
  session: row.session,
  runtime: row.runtime,
  runtime_version: row.runtime_version,
  runtime_versions: readStrings(row.versions),
  home: row.home_path,
  home_id: row.home,
  workspace: row.workspace,
  workspaces: readStrings(row.workspaces),
  title: row.title,
  title_from: row.title_from,
  models: readStrings(row.models),
  started_at: row.started_at,
  ended_at: row.ended_at,
  status: live(row.home, row.session) ? 'running' : row.status,
  parent: row.parent,
  relation: row.relation,
  forked_at: row.forked_at,
  stretches: (stretches.all(row.key) as StretchRow[]).map(({ n, started_at, cause, manifest, first_seq }) => ({
    n,
    started_at,
    cause,
    manifest,
    first_seq,
  })),
  events: row.events,
  copied_events: row.copied,
  calls: { total: row.calls, failed: row.failed_calls },
  effects: { added: row.added, changed: row.changed, deleted: row.deleted, unknown_calls: row.unknown_effects },
  tokens: { input: row.t_in, output: row.t_out, cache_read: row.t_read, cache_write: row.t_write },
  tokens_are_lower_bound: row.lower_bound === 1,
  manifest: row.manifest,
  task: row.task,
  // What an observed run cannot show (exact before and after of shell calls, exchanges) keeps it partial.
  coverage: row.status === 'unreadable' ? 'none' : 'partial',
  unreadable_lines: row.unreadable,
  source_state: row.source_state,
  clock_steps_back: row.clock_back,
})

export const STRETCHES_OF_RUN =
  'select n, started_at, cause, first_seq, manifest from stretches where run = ? order by n'
