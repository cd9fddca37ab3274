import type { HomeId, RunId, RuntimeName } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import { linesFrom, type RuntimeAdapter, type SessionUnit, SourceBusy } from '../runtimes/adapter.ts'
import { type Database, statements } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { type AboutRun, archiveStep } from './archive-run.ts'
import type { BusySources } from './busy-sources.ts'
import type { Collection } from './collection.ts'
import type { FileRow as IndexedFile } from './file-rows.ts'
import type { GapNotes } from './gap-notes.ts'
import type { KeepOriginals } from './keep-originals.ts'
import type { SideFileKeeper } from './keep-side-files.ts'
import { openAsRead } from './open-as-read.ts'
import type { OpenSession, SessionSources } from './open-session.ts'
import type { RunAbouts } from './run-abouts.ts'

/** Sessions whose lines go into the store together: they share its commits. */
const TOGETHER = 48
/** A session with more than this waiting goes alone, for the memory's sake. */
const ALONE_BYTES = 1024 * 1024

export interface SessionKeeper {
  /** The run has lines, or something in its `run.json`, that the store does not have yet. */
  add(run: number): void
  /** Takes up what an earlier life of the daemon read and did not keep. */
  takeUp(): void
  readonly waiting: number
  step(): Promise<void>
}

interface KeeperParts {
  readonly db: Database
  readonly store: Store
  readonly log: Log
  readonly gaps: GapNotes
  readonly busy: BusySources
  readonly sources: SessionSources
  readonly abouts: RunAbouts
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly sideFiles: SideFileKeeper
  readonly originals: KeepOriginals
  readonly collection: Collection
}

interface FileRow extends IndexedFile {
  readonly run_id: RunId
  readonly home: HomeId
  readonly runtime: RuntimeName
  readonly home_path: string
  readonly session: string
  readonly workspaces: string
  readonly parent_session: string | null
  readonly relation: string | null
  readonly meta: string
}

/** Brings the lines of sessions into the archive, secrets covered, behind the reading of them. */
export const createSessionKeeper = ({
  db,
  store,
  log,
  gaps,
  busy,
  sources,
  abouts,
  adapters,
  sideFiles,
  collection,
  originals,
}: KeeperParts): SessionKeeper => {
  const sql = statements(db)
  const behind = new Set<number>()

  const waitingBytes = (run: number): number => {
    const row = sql('select coalesce(sum(offset - archived), 0) as n from files where run = ?').get(run) as {
      n: number
    }
    return Number(row.n)
  }

  const levelOf = ({ home_path: home, workspaces }: FileRow) =>
    collection({ home, workspaces: JSON.parse(workspaces) as string[] })

  const keepOne = async (run: number): Promise<void> => {
    const file = sql(
      `select files.*, runs.id as run_id, runs.home, runs.session, runs.workspaces, runs.parent_session, runs.relation, runs.meta, runs.runtime, homes.path as home_path
       from files join runs on runs.key = files.run join homes on homes.id = runs.home where files.run = ?`,
    ).get(run) as FileRow | undefined
    if (!file || levelOf(file) === 'digests') {
      behind.delete(run)
      return
    }
    try {
      if (await keepNext(file)) {
        behind.delete(run)
        await keepBeside(file)
      }
      gaps.drop('not_archived', file.run_id)
    } catch (error) {
      behind.delete(run)
      const { message } = error as Error
      if (error instanceof SourceBusy) {
        busy.note(Buffer.from(file.path).toString(), file.home, message, () => behind.add(run))
        return
      }
      log('error', 'session not kept', { run: file.run_id, message: message })
      gaps.save({
        kind: 'not_archived',
        run: file.run_id,
        where: file.run_id,
        message: `a part of ${Buffer.from(file.path)} is not kept yet: ${message}`,
        hint: 'it is tried again when the file changes and at the next start',
      })
    }
  }

  /** A run is described by what its session lies in now, be it that only typed prompts were known of it (B13) or that it was packed. */
  const aboutOf = async (file: FileRow): Promise<AboutRun> => {
    const unit = unitOf(file, Buffer.from(file.path).toString())
    const about = await abouts.of(file.run_id, unit, file.runtime)
    if (about.file !== file.rel || JSON.stringify(about.meta) !== file.meta)
      Object.assign(about, { file: file.rel, meta: { ...unit.meta } })
    return about
  }

  const keepBeside = async (file: FileRow): Promise<void> => {
    const adapter = adapters.get(file.runtime)
    if (!adapter || file.state !== 'present') return
    const unit = unitOf(file, Buffer.from(file.path).toString())
    await sideFiles.keep({ run: file.run, id: file.run_id, unit, adapter, about: await aboutOf(file) })
  }

  /** True when nothing of the file is left to keep. The store says how far it got: after a crash it may be further than the index knows. */
  const keepNext = async (file: FileRow): Promise<boolean> => {
    const path = Buffer.from(file.path).toString()
    const about = await aboutOf(file)
    const kept = (await store.sessions.state(file.run_id)).find(({ file: rel }) => rel === file.rel)
    const current = kept?.generation === file.generation ? kept : null
    const from = { byte: current?.bytes ?? 0, line: current?.lines ?? 0 }
    const save = sql('update files set archived = ?, archived_lines = ? where key = ?')
    if (current && from.byte >= file.offset) {
      await store.sessions.append(file.run_id, about, [], false)
      save.run(from.byte, from.line, file.key)
      return true
    }
    const newGeneration = kept !== undefined && kept.generation < file.generation
    const source = openRead(file, path)
    // It is not what was read any more: the next look at it finds that out, and says what was lost.
    if (source === null) return true
    let to: typeof from
    try {
      const { rel, offset: until } = file
      to = await archiveStep(store, {
        run: file.run_id,
        fd: source.fd,
        rel,
        about,
        generation: file.generation,
        from,
        until,
        newGeneration,
        originals: levelOf(file) === 'originals' ? originals : null,
      })
    } finally {
      source.close()
    }
    busy.clear(path)
    save.run(to.byte, to.line, file.key)
    return to.byte >= file.offset || to.byte === from.byte
  }

  /** The session as it was read; null when it is another by now. A plain file is as long as what was read of it, or it is not kept. */
  const openRead = (file: FileRow, path: string): OpenSession | null => {
    const unit = unitOf(file, path)
    const adapter = adapters.get(file.runtime) ?? {}
    if (linesFrom(unit) === null) return sources.open(unit, adapter)
    const opened = openAsRead(sources, adapter, unit, file)
    if ('fd' in opened) return opened
    if (opened.busy) throw new SourceBusy(opened.why)
    return null
  }

  return {
    add(run) {
      behind.add(run)
    },
    takeUp() {
      for (const { run } of sql('select run from files where archived < offset').all() as { run: number }[])
        behind.add(run)
    },
    get waiting() {
      return behind.size
    },
    async step() {
      const next = [...behind].slice(0, TOGETHER)
      const small = next.filter((run) => waitingBytes(run) <= ALONE_BYTES)
      await Promise.all((small.length > 0 ? small : next.slice(0, 1)).map(keepOne))
    },
  }
}

const unitOf = (file: FileRow, path: string): SessionUnit => ({
  home: file.home_path,
  session: file.session,
  parentSession: file.parent_session,
  relation: file.relation === 'subagent' ? 'subagent' : null,
  file: path,
  sideFiles: [],
  meta: JSON.parse(file.meta) as Record<string, unknown>,
})
