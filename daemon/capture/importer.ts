import path from 'node:path'
import { type Drift, type Progress, RepriseError, type RunId, type RuntimeName } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import type { CompletionParts } from '../manifest/complete/complete-body.ts'
import { linesFrom, type RuntimeAdapter, type SessionUnit, type Surroundings } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import type { RawFiles, WorkspaceState } from '../store/states.ts'
import type { Store } from '../store/store.ts'
import { createActionCapture } from './actions/action-capture.ts'
import { createCaptureRows, rebuildCaptureRows } from './actions/capture-rows.ts'
import { createArchiveAdoption } from './adopt-archived.ts'
import { createBusySources } from './busy-sources.ts'
import type { Collection } from './collection.ts'
import { createConfigurationLooks } from './configuration-looks.ts'
import type { OwnEdit } from './drift/attribute-change.ts'
import { createConfigurationWatch } from './drift/look-at-configuration.ts'
import { isHollow } from './find-archived.ts'
import { createGapNotes } from './gap-notes.ts'
import { createHomeLooks } from './home-looks.ts'
import { scanHome, type Task } from './home-scan.ts'
import { createImportProgress } from './import-progress.ts'
import { createUnitImporter, type ImportStep } from './import-unit.ts'
import { indexWords } from './index-words.ts'
import { createKeepOriginals } from './keep-originals.ts'
import { createKeepRawFiles } from './keep-raw-files.ts'
import { createSideFileKeeper } from './keep-side-files.ts'
import { linkRun } from './link-runs.ts'
import type { SessionSources } from './open-session.ts'
import { createPromptHistory } from './prompt-history.ts'
import { createRunAbouts } from './run-abouts.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { createRunWriter } from './run-writer.ts'
import { createSessionChanges } from './session-changes.ts'
import { createSessionKeeper } from './session-keeper.ts'
import { createSessionReading } from './session-reading.ts'
import { createStretchFreezer } from './stretch-freezer.ts'
import type { WorkspaceLooks } from './workspaces/look.ts'

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
  readonly completion: CompletionParts
  readonly sources: SessionSources
  readonly log: Log
  readonly collection: Collection
  readonly vault: Pick<Vault, 'put'>
  readonly rawFiles: Pick<RawFiles, 'put' | 'has'>
  /** Null: nothing of workspaces is captured. */
  readonly workspaces: { readonly looks: WorkspaceLooks; readonly isOn: () => boolean } | null
  readonly tell: (news: ImportNews) => void
}

/** What the importer says while it works; the receiver decides how often windows hear of it. */
export type ImportNews =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'run'; readonly run: string; readonly events: number; readonly status: string }
  | { readonly type: 'drift'; readonly drift: Drift }
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
  /** Looks at the configuration of homes; resolves with the number of changes found when nothing about them is open any more. */
  look(homes: readonly HomeRef[]): Promise<number>
  /** A file of a home was written by Reprise just now: the change that is found next is told as that. */
  noteEdit(edit: OwnEdit): void
  /** Configuration of these homes may have changed. */
  noteConfiguration(homes: readonly HomeRef[]): void
  /** A state of one workspace now. */
  captureWorkspace(directory: string): Promise<WorkspaceState>
  /** Ends after the step under way; what is not done is done at the next start. */
  stop(): Promise<void>
}

/**
 * One loop that always does the most urgent small step: a session that just grew, then history newest first, then what follows reading
 * (links, manifests, archive, full text). Every step leaves index and store in a state from which the next start can go on.
 */
export const createImporter = (parts: ImporterParts): Importer => {
  const { db, store, adapters, log, surroundings, sources, redactor, collection } = parts
  const { now } = surroundings
  const sql = statements(db)
  const gaps = createGapNotes(sql, now, redactor)
  const originals = createKeepOriginals({ vault: parts.vault, redactor, gaps, now })
  const rawFiles = createKeepRawFiles({ raw: parts.rawFiles, collection, gaps })
  const busy = createBusySources(gaps, now)
  const abouts = createRunAbouts(store)
  const units = createUnitImporter({
    db,
    writer: createRunWriter(db, redactor, collection),
    sources,
    now,
    archived: (run, file, generation) => store.sessions.read(run, file, generation),
  })
  const changes = createSessionChanges({ db, store, units, sources, abouts, gaps, now })
  const sideFiles = createSideFileKeeper({ sql, store, redactor, gaps, now })
  const keeper = createSessionKeeper({
    db,
    store,
    log,
    gaps,
    busy,
    sources,
    abouts,
    adapters,
    sideFiles,
    originals,
    collection,
  })
  const typed = createPromptHistory({ db, store, redactor, log, gaps, abouts, units, collection })
  const freeze = () => ({
    store,
    redactor,
    surroundings,
    completion: parts.completion,
    collection,
    originals,
    rawFiles,
  })
  const freezer = createStretchFreezer({ db, log, gaps, abouts, units, freeze, now })
  const reading = createSessionReading({
    db,
    units,
    changes,
    gaps,
    log,
    adopted: (run, { unit, adapter }) => takeFromArchive(run, unit, adapter),
  })
  let drifts = 0
  const configurationWatch = createConfigurationWatch({
    db,
    store,
    redactor,
    adapters,
    surroundings,
    completion: parts.completion,
    collection,
    originals,
    rawFiles,
    tell(drift) {
      drifts += 1
      parts.tell({ type: 'drift', drift })
    },
    fault: (what, error) => logFault(what, error, null),
  })
  const configuration = createConfigurationLooks(configurationWatch)
  const captureRows = createCaptureRows(sql)
  const actions =
    parts.workspaces === null
      ? null
      : createActionCapture({
          db,
          store,
          looks: parts.workspaces.looks,
          isOn: parts.workspaces.isOn,
          rows: captureRows,
          gaps,
          log,
          now,
          changed(run) {
            const row = sql('select key from runs where id = ?').get(run) as { key: number } | undefined
            if (row) tellRun(row.key)
          },
        })
  /** Rows about what is captured are derived: an index that was made anew gets them from the store. */
  let captureRead = parts.workspaces === null
  const readCaptured = async (): Promise<boolean> => {
    if (captureRead) return false
    captureRead = true
    const { n } = sql('select (select count(*) from commits) + (select count(*) from workspaces) as n').get() as {
      n: number
    }
    if (Number(n) > 0) return false
    await rebuildCaptureRows(captureRows, store.states, store.commits, (what, error) =>
      logFault(`${what} cannot be read`, error, null),
    )
    return true
  }
  /** What was waited for until everything that happened is read: only then are the workspaces known. */
  let workspacesAsked = false
  const progress = createImportProgress(sql, now, (told) => parts.tell({ type: 'progress', progress: told }))

  const known = new Map<string, Task>()
  const urgent = new Map<string, Task>()
  let backlog: Task[] = []
  /** Homes to be looked at because something in them is new, and what a caller waits for. Done by the loop: it alone writes. */
  const looks = createHomeLooks(now)
  const chores: (() => void)[] = []
  const waitingCaptures: (() => Promise<void>)[] = []
  /** Runs whose sessions were listed when their home was last looked at, and what could not be listed then. */
  const listed = new Map<string, { readonly runs: ReadonlySet<string>; readonly busy: readonly string[] }>()
  const unlinked = new Set<number>()
  let watching = false
  let stopped = false
  let wake: () => void = () => undefined
  let idle: Promise<void> = Promise.resolve()
  let becomeIdle: (() => void) | null = null

  /** Homes this importer was ever given. */
  const given = new Set<string>()

  const need = (runtime: string): RuntimeAdapter => {
    const adapter = adapters.get(runtime as RuntimeName)
    if (!adapter) throw new RepriseError('refused', `${runtime} cannot be read yet`)
    return adapter
  }

  const tellRun = (key: number): void => {
    const row = sql('select id, events, status from runs where key = ?').get(key) as {
      id: string
      events: number
      status: string
    }
    parts.tell({ type: 'run', run: row.id, events: Number(row.events), status: row.status })
  }

  /** What follows one step on a session file. True when more of the file is left. */
  const follow = async ({ unit, adapter }: Task, step: ImportStep): Promise<boolean> => {
    if (step.state === 'vanished') {
      if (step.run === null) return false
      // It went between being listed and being read: what an earlier index had of it stands in the archive.
      const archived = await changes.adopt(unit, adapter, 'gone')
      if (archived !== null) takeFromArchive(archived, unit, adapter)
      else if (changes.markVanished(step.run, unit.file) !== null) tellRun(step.run)
      return false
    }
    if (step.state === 'busy') {
      const home = { runtime: adapter.runtime, path: unit.home }
      busy.note(unit.file, homeIdOf(adapter.runtime, unit.home), step.reason, () => looks.ask(home))
      return false
    }
    busy.clear(unit.file)
    if (step.state === 'unreadable' && step.run !== null) tellRun(step.run)
    if (step.state !== 'read') return false
    progress.bytesDone(step.bytes)
    keeper.add(step.run)
    if (step.rewritten) {
      const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
      const about = await abouts.of(id, unit, adapter.runtime)
      about.changes.push({ ...step.rewritten, change: 'shrank' })
    }
    if (step.more) return true
    actions?.runGrew(step.run)
    unlinked.add(step.run)
    freezer.gather(step.run, unit, adapter, watching)
    tellRun(step.run)
    return false
  }

  /** What follows the reading of a run from the archive. */
  const takeFromArchive = (run: number, unit: SessionUnit, adapter: RuntimeAdapter): void => {
    unlinked.add(run)
    freezer.gather(run, unit, adapter, false)
    tellRun(run)
  }

  const readOne = async (task: Task): Promise<boolean> => {
    const began = performance.now()
    const step = await reading.one(task)
    if (linesFrom(task.unit) !== null) looks.spent(task.unit.home, performance.now() - began)
    return step !== null && follow(task, step)
  }

  const readBacklog = async (): Promise<void> => {
    const steps = (await reading.few(backlog)) ?? []
    for (const step of steps) {
      const task = backlog.shift()
      if (task) await follow(task, step)
      progress.fileDone()
    }
    const task = backlog[0]
    if (steps.length > 0 || !task || (await readOne(task))) return
    backlog.shift()
    progress.fileDone()
  }

  const linkStep = (): boolean => {
    const next = unlinked.values().next()
    if (next.done) return false
    unlinked.delete(next.value)
    const changed = inTransaction(db, () => {
      sql('update runs set linked = 1 where key = ?').run(next.value)
      return linkRun(db, next.value)
    })
    for (const run of changed) tellRun(run)
    return true
  }

  const freezeStep = async (): Promise<boolean> => {
    const frozen = await freezer.step(watching)
    for (const run of frozen ?? []) {
      keeper.add(run)
      tellRun(run)
    }
    return frozen !== null
  }

  /** The most urgent step there is. False when nothing is left to do. */
  const oneStep = async (): Promise<boolean> => {
    if (choreStep()) return true
    const waiting = waitingCaptures.shift()
    if (waiting) {
      await waiting()
      return true
    }
    const first = urgent.entries().next()
    if (!first.done) {
      const [file, task] = first.value
      if (!(await readOne(task))) urgent.delete(file)
      return true
    }
    if (freezer.full) return freezeStep()
    if (await readCaptured()) return true
    if (actions !== null && actions.urgentIn() === 0) {
      // First what was configured: the commits name it.
      if (freezer.dueIn() === 0 && (await freezeStep())) return true
      if (await actions.step()) return true
    }
    if (await adoption.step()) return true
    const task = backlog[0]
    if (task) {
      progress.say('reading', task.unit.home)
      await readBacklog()
      return true
    }
    if (linkStep()) return true
    if (await freezeStep()) return true
    if (keeper.waiting > 0) {
      progress.say('archiving', null)
      await keeper.step()
      return true
    }
    if (typed.waiting) {
      for (const run of await typed.step()) tellRun(run)
      return true
    }
    if (inTransaction(db, () => indexWords(db))) {
      progress.say('indexing', null)
      return true
    }
    // Only when everything that happened is read are the workspaces known, and who did what.
    if (await configuration.step(watching)) return true
    if (actions === null) return false
    if (workspacesAsked) {
      workspacesAsked = false
      actions.expectAll()
    }
    return actions.step()
  }

  const loop = async (): Promise<void> => {
    while (!stopped) {
      let worked = false
      try {
        worked = await oneStep()
      } catch (error) {
        // A fault in one step must not end the reading of everything else.
        logFault('import step failed', error, null)
        backlog.shift()
        urgent.clear()
        worked = backlog.length > 0
      }
      if (!worked) await rest()
      // Also after a rest that ended at once: whoever else wants to run comes first, always.
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  const rest = async (): Promise<void> => {
    // Asked for while the last step found nothing to do.
    const dues = [looks.dueIn(), busy.dueIn()]
    const captureDue = actions === null ? null : workspacesAsked ? 0 : actions.dueIn()
    if (captureDue === 0) return
    if (chores.length > 0 || waitingCaptures.length > 0 || urgent.size > 0 || dues.includes(0)) return
    progress.say('idle', null, true)
    if (!busy.hopeful && captureDue === null) {
      becomeIdle?.()
      becomeIdle = null
      if (dues[0] === null) parts.tell({ type: 'idle' })
    }
    const next = [...dues, freezer.dueIn(), configuration.dueIn(watching), captureDue].filter((ms) => ms !== null)
    const timer = next.length === 0 ? null : setTimeout(() => wake(), Math.min(...next) + 10)
    await new Promise<void>((resolve) => {
      wake = resolve
    })
    if (timer) clearTimeout(timer)
  }

  const logFault = (what: string, error: unknown, file: string | null): void => {
    const { message, stack } = error as Error
    const where = stack?.split('\n').slice(1, 5).join(' | ') ?? null
    log('error', what, { path: file, message: message, where })
  }

  const begin = (): void => {
    if (becomeIdle === null)
      idle = new Promise((resolve) => {
        becomeIdle = resolve
      })
    wake()
  }

  /** What a home holds that is not read yet; files that are gone are marked at once. */
  const look = (ref: HomeRef): readonly Task[] => {
    const { runtime, path: home } = ref
    const adapter = need(runtime)
    const id = homeIdOf(runtime, home)
    const found = scanHome(sql, adapter, home, gaps, now)
    const runs = new Set<string>()
    for (const [file, task] of found.all) {
      known.set(file, task)
      runs.add(runIdOf(id, task.unit.session))
      noteSideFiles(task)
    }
    const held = found.busy.map(({ path: where }) => where)
    for (const where of listed.get(id)?.busy ?? []) if (!held.includes(where)) busy.clear(where)
    for (const { path: where, reason } of found.busy) busy.note(where, id, reason, () => looks.ask(ref))
    // Listed before and not now, and nothing of it was read in between: only the archive can still have it.
    const lost = [...(listed.get(id)?.runs ?? [])].some((run) => !runs.has(run) && isHollow(sql, run))
    listed.set(id, { runs, busy: held })
    if (lost) adoption.add(ref)
    const sessions = [...found.all.values()].map(({ unit }) => unit.session)
    typed.expect({ home, adapter, sessions, unlisted: found.unlisted })
    for (const { run, file } of found.gone) if (changes.markVanished(run, file) !== null) tellRun(run)
    return found.tasks
  }

  /** Files beside a session change without it: a note is finished, an output is written before its record. */
  const noteSideFiles = ({ unit, adapter }: Task): void => {
    if (unit.sideFiles.length === 0) return
    const run = sql('select key from runs where id = ?').get(
      runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session),
    ) as { key: number } | undefined
    if (run && sideFiles.isBehind(run.key, unit.home, unit.sideFiles)) keeper.add(run.key)
  }

  const adoption = createArchiveAdoption({
    sql,
    store,
    changes,
    gaps,
    adapterOf: need,
    isRead: (runtime, home) => given.has(`${runtime}\0${home}`),
    listed: (run: RunId) => [...listed.values()].some(({ runs }) => runs.has(run)),
    adopted: takeFromArchive,
    busy: (home, { message }) =>
      busy.note(home.path, homeIdOf(home.runtime, home.path), message, () => adoption.add(home)),
    done: (home) => busy.clear(home.path),
    fault: (error, home) => logFault('archived session not read', error, home?.path ?? null),
  })

  /** What was asked for from outside. */
  const choreStep = (): boolean => {
    const chore = chores.shift()
    if (chore) {
      chore()
      return true
    }
    if (busy.step()) return true
    const home = looks.next()
    if (home === null) return false
    const began = performance.now()
    for (const found of look(home)) urgent.set(found.unit.file, found)
    looks.spent(home.path, performance.now() - began)
    return true
  }

  /** What an earlier life of the daemon read but could not finish: links, manifests, keeping. */
  const takeUpUndone = (): void => {
    keeper.takeUp()
    for (const { key } of sql('select key from runs where linked = 0').all() as { key: number }[]) unlinked.add(key)
    const unsettled = sql(
      "select runs.key as key, files.path as path from runs join files on files.run = runs.key where runs.settled = 0 and files.state = 'present'",
    ).all() as { key: number; path: Uint8Array }[]
    for (const { key, path: file } of unsettled) {
      const task = known.get(Buffer.from(file).toString())
      if (task) freezer.takeUp(key, task.unit, task.adapter)
    }
  }

  const takeUpHomes = (homes: readonly HomeRef[]): void => {
    progress.begin()
    progress.say('discovering', null, true)
    const found = homes.flatMap(look)
    const waiting = new Set(backlog.map((task) => task.unit.file))
    backlog = [...backlog, ...found.filter((task) => !waiting.has(task.unit.file))].sort((a, b) => b.mtime - a.mtime)
    for (const home of homes) adoption.add(home)
    // A home that is forgotten later keeps its runs in the index as it is.
    if (given.size === 0) adoption.addOthers()
    for (const { runtime, path: home } of homes) given.add(`${runtime}\0${home}`)
    takeUpUndone()
    workspacesAsked = true
    configuration.setHomes(homes)
    if (watching) configuration.ask(homes)
    const bytes = backlog.reduce((sum, task) => sum + task.size, 0)
    progress.expect(backlog.length, bytes)
  }

  const running = loop()
  return {
    async sync(homes, watch) {
      watching = watch
      const started = performance.now()
      let failure: unknown = null
      chores.push(() => {
        try {
          takeUpHomes(homes)
        } catch (error) {
          failure = error
        }
      })
      begin()
      await idle
      if (failure !== null) throw failure
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
        const task = known.get(changed)
        // Of a session in several files only a listing tells what belongs to it now.
        if (task && linesFrom(task.unit) === null) urgent.set(changed, task)
        else {
          // A database, a file not seen before, or a folder: listing the home finds out what it means.
          const home = homes.find((one) => changed.startsWith(one.path + path.sep))
          if (home) looks.ask(home)
        }
      }
      if (urgent.size > 0 || looks.dueIn() !== null) begin()
    },

    async look(homes) {
      const before = drifts
      await new Promise<void>((resolve) => {
        chores.push(() => {
          configuration.ask(homes)
          void configuration.finished().then(resolve)
        })
        begin()
      })
      return drifts - before
    },

    noteEdit: (edit) => configurationWatch.noteEdit(edit),
    noteConfiguration(homes) {
      configuration.ask(homes)
      begin()
    },

    async captureWorkspace(directory) {
      if (actions === null) throw new RepriseError('refused', 'nothing of workspaces is captured here')
      return new Promise<WorkspaceState>((resolve, reject) => {
        waitingCaptures.push(() => actions.captureNow(directory).then(resolve, reject))
        begin()
      })
    },

    async stop() {
      stopped = true
      wake()
      await running
    },
  }
}
