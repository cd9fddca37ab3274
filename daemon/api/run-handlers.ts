import { RepriseError } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { EVENTS_OF_RUN, type EventRow, readEffects, toEvent } from '../store/index/event-row.ts'
import { RUN_COLUMNS, RUN_TABLES, type RunRow } from '../store/index/run-row.ts'
import { queryTimeline } from '../store/index/timeline-query.ts'
import { withCaptured } from './captured-events.ts'
import { coverageOf } from './coverage.ts'
import { withDamage } from './damage.ts'
import { readEventDetail } from './event-detail.ts'
import type { SomeHandlers } from './handlers.ts'
import { parsePoint } from './references.ts'
import { readContext } from './run-context.ts'
import { unreadableOf } from './unreadable.ts'

const PAGE = 200

export const createRunHandlers = (parts: Parts) =>
  ({
    'timeline.page': ({ filter, cursor, limit, density_buckets }) =>
      queryTimeline(parts.index(), {
        filter: filter ?? {},
        cursor: cursor ?? null,
        limit: limit ?? PAGE,
        buckets: density_buckets ?? 0,
        rollbacks: parts.rollbacks(),
      }),

    'runs.list': ({ runtime, workspace, since, until, limit }) => {
      const index = parts.index()
      const where: string[] = []
      const values: (string | number)[] = []
      const add = (sql: string, value: string): void => {
        where.push(sql)
        values.push(value)
      }
      if (runtime) add('runs.runtime = ?', runtime)
      if (workspace)
        add('exists (select 1 from json_each(runs.workspaces) where value = ?)', workspace.replace(/(?<=.)\/+$/, ''))
      if (since) add('runs.sort_at >= ?', since)
      if (until) add('runs.sort_at < ?', until)
      const rows = index
        .sql(
          `select ${RUN_COLUMNS} from ${RUN_TABLES} ${where.length > 0 ? `where ${where.join(' and ')}` : ''} order by runs.sort_at desc, runs.key desc limit ?`,
        )
        .all(...values, limit ?? 100_000) as RunRow[]
      return { runs: rows.map(index.toRun) }
    },

    'runs.get': async ({ run: reference }) => {
      const index = parts.index()
      const { run: name, seq, stretch } = parsePoint(reference)
      const row = index.findRun(name)
      if (
        stretch !== null &&
        index.sql('select 1 from stretches where run = ? and n = ?').get(row.key, stretch) === undefined
      )
        throw new RepriseError('not_found', `${row.id} has no stretch ${stretch}`)
      const branches = index
        .sql(`select ${RUN_COLUMNS} from ${RUN_TABLES} where runs.parent = ? order by runs.sort_at, runs.key`)
        .all(row.id) as RunRow[]
      const files = index
        .sql('select path, size, offset, state, lines, generation from files where run = ?')
        .all(row.key) as {
        path: Uint8Array
        size: number
        offset: number
        state: string
        lines: number
        generation: number
      }[]
      if (
        seq !== null &&
        seq > 0 &&
        index.sql('select 1 from events where run = ? and seq = ?').get(row.key, seq) === undefined
      )
        throw new RepriseError(
          'not_found',
          `${row.id} has no event ${seq}`,
          `it has events up to ${lastSeq(parts, row.key)}`,
        )
      return {
        run: index.toRun(row),
        at: seq,
        stretch,
        coverage: await withDamage(parts, row, coverageOf(index, row)),
        branches: branches.map(index.toRun),
        files: files.map(({ path, offset, state, lines }) => ({
          path: Buffer.from(path).toString(),
          bytes: offset,
          state,
          lines,
        })),
        unreadable: unreadableOf(index, row.key, 1000),
      }
    },

    'runs.events': ({ run, after, limit }) => {
      const index = parts.index()
      const row = index.findRun(run)
      const rows = index
        .sql(`${EVENTS_OF_RUN} and events.seq > ? order by events.seq limit ?`)
        .all(row.key, after ?? 0, (limit ?? PAGE) + 1) as EventRow[]
      const shown = rows.slice(0, limit ?? PAGE)
      const total = index.sql('select count(*) as n from events where run = ?').get(row.key) as { n: number }
      return {
        events: withCaptured(index, row.id, shown.map(toEvent)),
        total: Number(total.n),
        next: rows.length > shown.length ? (shown.at(-1)?.seq ?? null) : null,
      }
    },

    'runs.event': ({ run, seq, whole }) => readEventDetail(parts, run, seq, whole === true),

    'runs.context': ({ run, seq, whole }) => readContext(parts, run, seq ?? null, whole === true),

    'runs.ticks': ({ run }) => {
      const index = parts.index()
      const row = index.findRun(run)
      const rows = index
        .sql(
          `select seq, kind, ok, effects is not null or exists (select 1 from captured where captured.run = ? and captured.seq = events.seq) as changed,
             effects_state, exists (select 1 from commits where commits.run = ? and commits.seq = events.seq) as sealed
           from events where run = ? order by seq`,
        )
        .all(row.id, row.id, row.key) as {
        seq: number
        kind: string
        ok: number | null
        changed: number
        effects_state: string
        sealed: number
      }[]
      return {
        seqs: rows.map(({ seq }) => seq),
        kinds: rows.map(({ kind }) => kind),
        failed: rows.map(({ ok, kind }) => ok === 0 || kind === 'error'),
        changed: rows.map(({ changed }) => changed === 1),
        captured: rows.map(({ effects_state, sealed }) => effects_state !== 'none' || sealed === 1),
      }
    },

    'runs.files': ({ run, seq }) => {
      const index = parts.index()
      const row = index.findRun(run)
      const files = new Map<string, { path: string; change: string; last_seq: number; deleted: boolean }>()
      for (const event of index
        .sql('select seq, effects from events where run = ? and seq <= ? and effects is not null order by seq')
        .all(row.key, seq) as { seq: number; effects: string }[])
        for (const { path, change } of readEffects(event.effects)) {
          const first = files.get(path)
          // A file that this run added stays "added" however often it was changed since.
          files.set(path, {
            path,
            change: first?.change === 'add' && change === 'change' ? 'add' : change,
            last_seq: event.seq,
            deleted: change === 'delete',
          })
        }
      const blind = index
        .sql(`select count(*) as n from events where run = ? and seq <= ? and effects_state = 'none'`)
        .get(row.key, seq) as { n: number }
      return {
        files: [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
        complete: Number(blind.n) === 0,
        why:
          Number(blind.n) === 0
            ? null
            : `${blind.n} ${Number(blind.n) === 1 ? 'call' : 'calls'} may have changed files without leaving it in the record`,
      }
    },

    'runs.recover': async ({ run }) => {
      const row = parts.index().findRun(run)
      const file = parts.index().sql('select rel from files where run = ?').get(row.key) as { rel: string } | undefined
      if (!file) throw new RepriseError('not_found', `nothing was kept of ${row.id}`)
      const chunks: string[] = []
      let size = 0
      for await (const line of parts.store.sessions.read(row.id as never, file.rel)) {
        const text = Buffer.from(line.text).toString()
        size += text.length
        if (size > 64 * 1024 * 1024)
          throw new RepriseError('too_large', 'the transcript is larger than 64 MB', 'read it with git from the store')
        chunks.push(text.endsWith('\n') ? text : `${text}\n`)
      }
      return { lines: chunks.length, text: chunks.join('') }
    },
  }) satisfies SomeHandlers

const lastSeq = (parts: Parts, run: number): number =>
  Number((parts.index().sql('select coalesce(max(seq), 0) as n from events where run = ?').get(run) as { n: number }).n)
