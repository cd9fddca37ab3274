import fs from 'node:fs'
import path from 'node:path'
import { type Digest, type Progress, RepriseError, type RunId, type RuntimeName } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import type { RuntimeAdapter, SessionUnit, StretchEvidence, Surroundings } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { type AboutRun, aboutRunSchema, archiveStep } from './archive-run.ts'
import { freezeStretch } from './freeze-stretches.ts'
import { createUnitImporter, noteChange } from './import-unit.ts'
import { indexWords } from './index-words.ts'
import { linkRun } from './link-runs.ts'
import { digestPrefix } from './prefix.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { createRunWriter, saveTotals } from './run-writer.ts'

export interface HomeRef {
  readonly runtime: RuntimeName
  readonly path: string
}

export interface ImporterParts {
  readonly db: Database
  readonly store: Store
  readonly redactor: Redactor
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly surroundings: Surroundings
  readonly log: Log
  readonly keepTexts: () => boolean
  readonly tell: (news: ImportNews) => void
}

/** What the importer says while it works; the receiver decides how often windows hear of it. */
export type ImportNews =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'run'; readonly run: string; readonly events: number; readonly status: string }
  | { readonly type: 'idle' }

export interface SyncTotals {
  readonly sessions: number
  readonly events: number
  readonly seconds: number
}

export interface Importer {
  /** Looks at everything below the homes; resolves when all of it is read, kept and searchable. */
  sync(homes: readonly HomeRef[], watching: boolean): Promise<SyncTotals>
  /** Something at or below these paths may have changed: looked at before anything else. */
  hint(paths: readonly string[], homes: readonly HomeRef[]): void
  /** Ends after the step under way; what is not done is done at the next start. */
  stop(): Promise<void>
}

interface Task {
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  readonly size: number
}

interface Unfrozen {
  readonly run: number
  readonly id: RunId
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  readonly evidence: StretchEvidence
  /** It began while we watched: its configuration is resolved from the disk as well. */
  readonly fresh: boolean
  /** Nothing more will be used in it. */
  readonly over: boolean
}

/** Sessions whose manifests or lines go into the store together. */
const TOGETHER = 48
/** A session with more than this waiting is kept by itself. */
const ALONE_BYTES = 1024 * 1024
/** How long a stretch that has no answer yet may wait for the rows that belong to its start. */
const SETTLE_MS = 10_000
/** A stretch is resolved rather than inferred when it began this recently, under our eyes. */
const FRESH_MS = 60_000
/** A stretch whose last record is older than this is taken to be over. */
const OVER_MS = 10 * 60_000

export const createImporter = (parts: ImporterParts): Importer => {
  const { db, store, adapters, log, surroundings } = parts
  const sql = statements(db)
  const writer = createRunWriter(db, parts.redactor)
  const importer = createUnitImporter({
    db,
    writer,
    now: surroundings.now,
    archived: (run, file, generation) => store.sessions.read(run, file, generation),
  })

  const units = new Map<string, Task>()
  const urgent = new Map<string, Task>()
  let backlog: Task[] = []
  const unlinked = new Set<number>()
  const behind = new Set<number>()
  const unsettled = new Map<
    number,
    { readonly unit: SessionUnit; readonly adapter: RuntimeAdapter; readonly due: number }
  >()
  const unfrozen: Unfrozen[] = []
  const abouts = new Map<string, AboutRun>()
  let watching = false
  let stopped = false
  let wake: () => void = () => undefined
  let idle: Promise<void> = Promise.resolve()
  let becomeIdle: (() => void) | null = null
  const progress = { done: 0, total: 0, bytesDone: 0, bytesTotal: 0, startedAt: '', said: 0 }

  const need = (runtime: RuntimeName): RuntimeAdapter => {
    const adapter = adapters.get(runtime)
    if (!adapter) throw new RepriseError('refused', `${runtime} cannot be read yet`)
    return adapter
  }

  const say = (phase: Progress['phase'], home: string | null, force = false): void => {
    const now = surroundings.now().getTime()
    if (!force && now - progress.said < 250) return
    progress.said = now
    const counts = sql('select count(*) as runs, coalesce(sum(events), 0) as events from runs').get() as {
      runs: number
      events: number
    }
    const words = sql(
      "select (select cast(value as integer) from meta where key = 'found_until') as done, (select coalesce(max(id), 0) from words) as total",
    ).get() as { done: number; total: number }
    parts.tell({
      type: 'progress',
      progress: {
        home,
        phase,
        files_done: progress.done,
        files_total: progress.total,
        bytes_done: progress.bytesDone,
        bytes_total: progress.bytesTotal,
        sessions: Number(counts.runs),
        events: Number(counts.events),
        searchable: words.total === 0 ? 1 : Math.min(1, Number(words.done) / Number(words.total)),
        started_at: progress.startedAt,
      },
    })
  }

  const saveGap = (
    kind: string,
    home: string | null,
    run: string | null,
    where: string | null,
    count: number,
    message: string,
    hint: string | null,
  ): void => {
    sql(
      'insert or replace into gaps (id, kind, home, run, path, at, count, message, hint) values (?, ?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(
      `${kind}:${where ?? run ?? home ?? ''}`,
      kind,
      home,
      run,
      where,
      surroundings.now().toISOString(),
      count,
      message,
      hint,
    )
  }
  const dropGap = (kind: string, where: string): void => {
    sql('delete from gaps where id = ?').run(`${kind}:${where}`)
  }

  const aboutOf = async (id: RunId, unit: SessionUnit, runtime: RuntimeName): Promise<AboutRun> => {
    const known = abouts.get(id)
    if (known) return known
    const kept = await store.sessions.about(id)
    const parsed = kept === null ? null : aboutRunSchema.safeParse(kept)
    const about: AboutRun = parsed?.success
      ? parsed.data
      : {
          version: 1,
          runtime,
          home: unit.home,
          session: unit.session,
          parent_session: unit.parentSession,
          relation: unit.relation,
          file: path.relative(unit.home, unit.file),
          meta: { ...unit.meta },
          manifests: {},
          changes: [],
        }
    abouts.set(id, about)
    if (abouts.size > 256) abouts.delete(abouts.keys().next().value as string)
    return about
  }

  /** A file the index does not know may be one the archive does: older generations come first, from there. */
  const adopt = async (task: Task): Promise<void> => {
    const { unit, adapter } = task
    if (sql('select 1 from files where path = ?').get(Buffer.from(unit.file)) !== undefined) return
    const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
    const rel = path.relative(unit.home, unit.file)
    const kept = (await store.sessions.state(id)).find(({ file }) => file === rel)
    if (!kept) return
    const about = await aboutOf(id, unit, adapter.runtime)
    const same = samePrefix(unit.file, kept.bytes, kept.prefixDigest)
    const generation = same === true ? kept.generation : kept.generation + (same === null ? 0 : 1)
    await importer.adopt(unit, adapter, { generation, archived: same === true ? kept : null, vanished: same === null })
    const run = (sql('select key from runs where id = ?').get(id) as { key: number }).key
    for (const { at, change, message } of about.changes) noteChange(sql, run, id, at, change, unit.file, message)
    if (about.changes.some(({ change }) => change === 'shrank'))
      sql("update runs set source_state = 'shrank' where key = ?").run(run)
    if (same === false)
      recordChange(run, id, about, 'shrank', unit.file, 'the agent rewrote the session file while Reprise was away')
  }

  const recordChange = (
    run: number,
    id: RunId,
    about: AboutRun,
    change: 'shrank' | 'vanished' | 'returned',
    file: string,
    message: string,
  ): void => {
    const at = surroundings.now().toISOString()
    about.changes.push({ at, change, message })
    noteChange(sql, run, id, at, change, file, message)
  }

  /** One step on one session file. True when more of it is left. */
  const readStep = async (task: Task): Promise<boolean> => {
    const { unit, adapter } = task
    const home = homeIdOf(adapter.runtime, unit.home)
    let step: Awaited<ReturnType<typeof importer.step>>
    try {
      await adopt(task)
      db.exec('begin immediate')
      try {
        step = await importer.step(unit, adapter)
        db.exec('commit')
      } catch (error) {
        if (db.isTransaction) db.exec('rollback')
        // What readers remember no longer agrees with what is stored.
        importer.forgetReaders()
        throw error
      }
    } catch (error) {
      log('error', 'session not read', {
        path: unit.file,
        message: (error as Error).message.slice(0, 200),
        stack: (error as Error).stack?.split('\n').slice(1, 5).join(' | ') ?? null,
      })
      saveGap(
        'unreadable_file',
        home,
        null,
        unit.file,
        1,
        `${unit.file} could not be read: ${(error as Error).message}`,
        'it is tried again when it changes',
      )
      return false
    }
    if (step.state === 'unreadable') {
      saveGap(
        'unreadable_file',
        home,
        null,
        unit.file,
        1,
        `${unit.file} could not be opened (${step.reason})`,
        'check its permissions; it is tried again at the next look',
      )
      return false
    }
    dropGap('unreadable_file', unit.file)
    if (step.state === 'vanished') {
      if (step.run !== null) markVanished(step.run, unit.file)
      return false
    }
    if (step.state === 'unchanged') return false
    progress.bytesDone += step.bytes
    behind.add(step.run)
    if (step.rewritten) {
      const about = await aboutOf(runIdOf(home, unit.session), unit, adapter.runtime)
      about.changes.push({ ...step.rewritten, change: 'shrank' })
    }
    if (step.more) return true
    unlinked.add(step.run)
    gatherStretches(step.run, unit, adapter)
    if (unfrozen.length >= TOGETHER) await freezeStep()
    const row = sql('select id, events, status from runs where key = ?').get(step.run) as {
      id: string
      events: number
      status: string
    }
    parts.tell({ type: 'run', run: row.id, events: Number(row.events), status: row.status })
    return false
  }

  const markVanished = (run: number, file: string): void => {
    const state = sql('select state from files where path = ?').get(Buffer.from(file)) as { state: string } | undefined
    if (!state || state.state === 'vanished') return
    const id = (sql('select id from runs where key = ?').get(run) as { id: string }).id as RunId
    inTransaction(db, () => {
      sql("update files set state = 'vanished' where path = ?").run(Buffer.from(file))
      sql("update runs set source_state = 'vanished' where key = ?").run(run)
      const message = 'the session file is gone; what was read of it is kept here'
      noteChange(sql, run, id, surroundings.now().toISOString(), 'vanished', file, message)
      abouts.get(id)?.changes.push({ at: surroundings.now().toISOString(), change: 'vanished', message })
    })
    parts.tell({ type: 'run', run: id, events: -1, status: 'vanished' })
  }

  /** Notes every stretch whose start is complete for freezing; the others are looked at again. */
  const gatherStretches = (run: number, unit: SessionUnit, adapter: RuntimeAdapter): void => {
    const reader = importer.readerOf(unit.file)
    if (!reader) return
    const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
    const { stretches, endedAt } = reader.summary()
    const now = surroundings.now().getTime()
    let settled = true
    for (const evidence of stretches) {
      const row = sql('select manifest from stretches where run = ? and n = ?').get(run, evidence.n) as
        | { manifest: string | null }
        | undefined
      if (!row || row.manifest !== null) continue
      const last = evidence.n === stretches.at(-1)?.n
      const answered =
        sql("select 1 from events where run = ? and stretch = ? and kind in ('model', 'error') limit 1").get(
          run,
          evidence.n,
        ) !== undefined
      const age = evidence.startedAt === null ? Number.POSITIVE_INFINITY : now - Date.parse(evidence.startedAt)
      if (!answered && age < SETTLE_MS && last) {
        unsettled.set(run, { unit, adapter, due: now + SETTLE_MS })
        settled = false
        continue
      }
      const over = !last || endedAt === null || now - Date.parse(endedAt) > OVER_MS
      unfrozen.push({ run, id, unit, adapter, evidence, fresh: watching && age < FRESH_MS, over })
    }
    if (settled && !unfrozen.some((stretch) => stretch.run === run))
      sql('update runs set settled = 1 where key = ?').run(run)
  }

  /** Freezes what was gathered, many at a time: they share the store's commits. True when there was something. */
  const freezeStep = async (): Promise<boolean> => {
    const batch = unfrozen.splice(0)
    if (batch.length === 0) return false
    const digests = await Promise.all(batch.map(freezeOne))
    inTransaction(db, () => {
      for (const [n, { run, evidence }] of batch.entries()) {
        const digest = digests[n]
        if (digest === null || digest === undefined) continue
        sql('update stretches set manifest = ? where run = ? and n = ?').run(digest, run, evidence.n)
        sql(
          'update runs set manifest = (select manifest from stretches where run = runs.key and manifest is not null order by n desc limit 1) where key = ?',
        ).run(run)
      }
      for (const { run } of batch) if (!unsettled.has(run)) sql('update runs set settled = 1 where key = ?').run(run)
    })
    for (const { run } of batch) behind.add(run)
    return true
  }

  const freezeOne = async ({ id, unit, adapter, evidence, fresh, over }: Unfrozen): Promise<string | null> => {
    try {
      const about = await aboutOf(id, unit, adapter.runtime)
      const known = about.manifests[String(evidence.n)]
      if (known !== undefined) return known
      const frozen = await freezeStretch(
        { store, redactor: parts.redactor, surroundings, keepTexts: parts.keepTexts() },
        adapter,
        id,
        evidence,
        fresh,
        over,
      )
      about.manifests[String(evidence.n)] = frozen.digest
      for (const problem of frozen.problems)
        saveGap('resolve_failed', null, id, `${id}#${evidence.n}`, 1, problem, null)
      return frozen.digest
    } catch (error) {
      log('error', 'manifest not frozen', {
        run: id,
        stretch: evidence.n,
        message: (error as Error).message.slice(0, 300),
      })
      saveGap(
        'resolve_failed',
        null,
        id,
        `${id}#${evidence.n}`,
        1,
        `no manifest for stretch ${evidence.n}: ${(error as Error).message}`,
        null,
      )
      return null
    }
  }

  /** Keeps what was read but is not in the store yet. True when something was done. */
  const keepStep = async (): Promise<boolean> => {
    const batch = [...behind].slice(0, TOGETHER)
    // Parts of several sessions share the store's commits; a large one goes alone, for the memory's sake.
    const small = batch.filter((run) => waitingBytes(run) <= ALONE_BYTES)
    const together = small.length > 0 ? small : batch.slice(0, 1)
    await Promise.all(together.map(keepOne))
    return together.length > 0
  }

  const waitingBytes = (run: number): number =>
    Number(
      (sql('select coalesce(sum(offset - archived), 0) as n from files where run = ?').get(run) as { n: number }).n,
    )

  const keepOne = async (run: number): Promise<void> => {
    const file = sql(
      `select files.*, runs.id as run_id, runs.session, runs.parent_session, runs.relation, runs.meta, runs.runtime, homes.path as home_path
       from files join runs on runs.key = files.run join homes on homes.id = runs.home where files.run = ?`,
    ).get(run) as
      | {
          key: number
          run_id: RunId
          rel: string
          path: Uint8Array
          offset: number
          archived: number
          archived_lines: number
          generation: number
          runtime: RuntimeName
          home_path: string
          session: string
          parent_session: string | null
          relation: 'subagent' | null
          meta: string
        }
      | undefined
    const finished = (): void => {
      behind.delete(run)
    }
    if (!file || !parts.keepTexts()) return finished()
    const target = Buffer.from(file.path).toString()
    const unit: SessionUnit = {
      home: file.home_path,
      session: file.session,
      parentSession: file.parent_session,
      relation: file.relation === 'subagent' ? 'subagent' : null,
      file: target,
      sideFiles: [],
      meta: JSON.parse(file.meta),
    }
    try {
      const about = await aboutOf(file.run_id, unit, file.runtime)
      const kept = (await store.sessions.state(file.run_id)).find(({ file: rel }) => rel === file.rel)
      const current = kept && kept.generation === file.generation ? kept : null
      const from = { byte: current?.bytes ?? 0, line: current?.lines ?? 0 }
      if (from.byte >= file.offset && current) {
        sql('update files set archived = ?, archived_lines = ? where key = ?').run(from.byte, from.line, file.key)
        await store.sessions.append(file.run_id, about, [], false)
        return finished()
      }
      const to = await archiveStep(store, {
        run: file.run_id,
        file: target,
        rel: file.rel,
        about,
        from,
        until: file.offset,
        newGeneration: kept !== undefined && kept.generation < file.generation,
      })
      sql('update files set archived = ?, archived_lines = ? where key = ?').run(to.byte, to.line, file.key)
      dropGap('not_archived', file.run_id)
      if (to.byte >= file.offset || to.byte === from.byte) finished()
    } catch (error) {
      log('error', 'session not kept', { run: file.run_id, message: (error as Error).message.slice(0, 300) })
      saveGap(
        'not_archived',
        null,
        file.run_id,
        file.run_id,
        1,
        `a part of ${target} is not kept yet: ${(error as Error).message}`,
        'it is tried again when the file changes and at the next start',
      )
      finished()
    }
  }

  const settleStep = async (): Promise<boolean> => {
    const now = surroundings.now().getTime()
    for (const [run, { unit, adapter, due }] of unsettled)
      if (due <= now) {
        unsettled.delete(run)
        if (await importer.reopen(unit, adapter)) gatherStretches(run, unit, adapter)
        return true
      }
    return false
  }

  const linkStep = (): boolean => {
    const next = unlinked.values().next()
    if (next.done) return false
    unlinked.delete(next.value)
    const changed = inTransaction(db, () => {
      sql('update runs set linked = 1 where key = ?').run(next.value)
      return linkRun(db, next.value)
    })
    for (const run of changed) {
      const row = sql('select id, events, status from runs where key = ?').get(run) as {
        id: string
        events: number
        status: string
      }
      parts.tell({ type: 'run', run: row.id, events: Number(row.events), status: row.status })
    }
    return true
  }

  const oneStep = async (): Promise<boolean> => {
    const first = urgent.entries().next()
    if (!first.done) {
      const [file, task] = first.value
      if (!(await readStep(task))) urgent.delete(file)
      return true
    }
    if (urgent.size === 0 && unlinked.size > 0 && backlog.length === 0) return linkStep()
    const task = backlog[0]
    if (task) {
      say('reading', task.unit.home)
      if (!(await readStep(task))) {
        backlog.shift()
        progress.done += 1
      }
      return true
    }
    if (linkStep()) return true
    if (await settleStep()) return true
    if (await freezeStep()) return true
    if (behind.size > 0) {
      say('archiving', null)
      return keepStep()
    }
    if (inTransaction(db, () => indexWords(db))) {
      say('indexing', null)
      return true
    }
    return false
  }

  const loop = async (): Promise<void> => {
    while (!stopped) {
      let worked = false
      try {
        worked = await oneStep()
      } catch (error) {
        // A fault in one step must not end the reading of everything else.
        log('error', 'import step failed', {
          message: (error as Error).message.slice(0, 300),
          stack: (error as Error).stack?.split('\n').slice(1, 5).join(' | ') ?? null,
        })
        backlog.shift()
        urgent.clear()
      }
      if (worked) {
        await new Promise((resolve) => setImmediate(resolve))
        continue
      }
      say('idle', null, true)
      becomeIdle?.()
      becomeIdle = null
      parts.tell({ type: 'idle' })
      const timer = unsettled.size > 0 ? setTimeout(() => wake(), SETTLE_MS) : null
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      if (timer) clearTimeout(timer)
    }
  }
  const running = loop()

  const begin = (): void => {
    if (becomeIdle === null)
      idle = new Promise((resolve) => {
        becomeIdle = resolve
      })
    wake()
  }

  /** All units of a home now; files that were there before and are not any more are marked. */
  const scan = ({ runtime, path: home }: HomeRef): Task[] => {
    const adapter = need(runtime)
    const id = homeIdOf(runtime, home)
    sql(
      'insert into homes (id, runtime, path, read_at) values (?, ?, ?, ?) on conflict (id) do update set read_at = excluded.read_at',
    ).run(id, runtime, home, surroundings.now().toISOString())
    const found: Task[] = []
    const seen = new Set<string>()
    const problems: string[] = []
    for (const unit of adapter.listSessions(home, (problem) => {
      problems.push(problem.path)
      saveGap(
        'unreadable_file',
        id,
        null,
        problem.path,
        1,
        `${problem.path} could not be listed: ${problem.reason}`,
        'check its permissions',
      )
    })) {
      seen.add(unit.file)
      let size = 0
      let mtime = 0
      try {
        const stat = fs.statSync(unit.file)
        size = stat.size
        mtime = Math.trunc(stat.mtimeMs)
        const known = sql('select size, mtime, ino, state from files where path = ?').get(Buffer.from(unit.file)) as
          | { size: number; mtime: number; ino: number; state: string }
          | undefined
        const task = { unit, adapter, size }
        units.set(unit.file, task)
        if (
          known &&
          known.state === 'present' &&
          known.size === size &&
          known.mtime === mtime &&
          known.ino === stat.ino
        )
          continue
        found.push(task)
      } catch {
        found.push({ unit, adapter, size: 0 })
      }
    }
    // A folder that could not be listed says nothing about the files in it: unknown is not absent.
    for (const row of sql(
      "select files.path as path, files.run as run from files join runs on runs.key = files.run where runs.home = ? and files.state = 'present'",
    ).all(id) as { path: Uint8Array; run: number }[]) {
      const file = Buffer.from(row.path).toString()
      if (!seen.has(file) && !problems.some((problem) => file.startsWith(problem)) && isGone(file))
        markVanished(row.run, file)
    }
    return found
  }

  return {
    async sync(homes, watch) {
      watching = watch
      const started = performance.now()
      progress.startedAt = surroundings.now().toISOString()
      progress.done = 0
      progress.bytesDone = 0
      say('discovering', null, true)
      const found: Task[] = []
      for (const home of homes) {
        found.push(...scan(home))
        await adoptVanished(home)
      }
      const newest = (task: Task): number => {
        try {
          return fs.statSync(task.unit.file).mtimeMs
        } catch {
          return 0
        }
      }
      const times = new Map(found.map((task) => [task, newest(task)]))
      found.sort((a, b) => (times.get(b) ?? 0) - (times.get(a) ?? 0))
      const waiting = new Set(backlog.map((task) => task.unit.file))
      backlog = [...backlog, ...found.filter((task) => !waiting.has(task.unit.file))]
      takeUpUndone()
      progress.total = backlog.length
      progress.bytesTotal = backlog.reduce((sum, task) => sum + task.size, 0)
      begin()
      await idle
      // An update of the numbers of every run whose import was cut short by a crash before its totals were saved.
      const totals = sql('select count(*) as sessions, coalesce(sum(events), 0) as events from runs').get() as {
        sessions: number
        events: number
      }
      return {
        sessions: Number(totals.sessions),
        events: Number(totals.events),
        seconds: (performance.now() - started) / 1000,
      }
    },

    hint(paths, homes) {
      for (const changed of paths) {
        const known = units.get(changed)
        if (known) {
          urgent.set(changed, known)
          continue
        }
        // A file not seen before, or a folder: listing the home finds out what it is.
        const home = homes.find((one) => changed.startsWith(one.path + path.sep))
        if (home) for (const task of scan(home)) urgent.set(task.unit.file, task)
      }
      if (urgent.size > 0) begin()
    },

    async stop() {
      stopped = true
      wake()
      await running
    },
  }

  /** What an earlier life of the daemon read but could not finish: links, manifests, keeping. */
  function takeUpUndone(): void {
    for (const row of sql('select run from files where archived < offset').all() as { run: number }[])
      behind.add(row.run)
    for (const row of sql('select key from runs where linked = 0').all() as { key: number }[]) unlinked.add(row.key)
    const open = sql(
      "select runs.key as key, files.path as path from runs join files on files.run = runs.key where runs.settled = 0 and files.state = 'present'",
    ).all() as { key: number; path: Uint8Array }[]
    for (const { key, path: file } of open) {
      const task = units.get(Buffer.from(file).toString())
      if (task) unsettled.set(key, { unit: task.unit, adapter: task.adapter, due: 0 })
    }
  }

  /** Runs that only the archive still knows (B13): their files are gone, and the index may be new. */
  async function adoptVanished({ runtime, path: home }: HomeRef): Promise<void> {
    const adapter = need(runtime)
    for await (const { run, about } of store.sessions.list()) {
      const parsed = aboutRunSchema.safeParse(about)
      if (!parsed.success || parsed.data.home !== home || parsed.data.runtime !== runtime) continue
      if (sql('select 1 from runs where id = ?').get(run) !== undefined) continue
      const file = path.join(home, parsed.data.file)
      if (!isGone(file)) continue
      const unit: SessionUnit = {
        home,
        session: parsed.data.session,
        parentSession: parsed.data.parent_session,
        relation: parsed.data.relation,
        file,
        sideFiles: [],
        meta: parsed.data.meta,
      }
      await adopt({ unit, adapter, size: 0 })
      const key = (sql('select key from runs where id = ?').get(run) as { key: number } | undefined)?.key
      if (key === undefined) continue
      saveTotals(db, key)
      unlinked.add(key)
      gatherStretches(key, unit, adapter)
    }
  }
}

const isGone = (file: string): boolean => {
  try {
    fs.lstatSync(file)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

/** Whether the file still begins with what was kept of it; null when it is gone or cannot be read. */
const samePrefix = (file: string, bytes: number, digest: Digest): boolean | null => {
  let fd: number
  try {
    fd = fs.openSync(file, 'r')
  } catch {
    return null
  }
  try {
    return digestPrefix(fd, bytes) === digest
  } finally {
    fs.closeSync(fd)
  }
}
