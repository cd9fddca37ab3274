import fs from 'node:fs'
import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import type { RuntimeAdapter, SessionUnit } from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { aboutRunSchema } from './archive-run.ts'
import type { GapNotes } from './gap-notes.ts'
import { homeIdOf } from './run-ids.ts'

/** A session file that may have something new. */
export interface Task {
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  readonly size: number
  /** Milliseconds; newer files are read first. */
  readonly mtime: number
}

export interface HomeScan {
  /** Files that are new, changed, or could not be looked at. */
  readonly tasks: readonly Task[]
  /** Every session of the home, whether changed or not, by file. */
  readonly all: ReadonlyMap<string, Task>
  /** Files the index knows and the disk no longer has. */
  readonly gone: readonly { readonly run: number; readonly file: string }[]
  /** Folders that could not be listed: what they hold is unknown. */
  readonly unlisted: readonly string[]
}

interface KnownFile {
  readonly size: number
  readonly mtime: number
  readonly ino: number
  readonly state: string
}

/** Looks at a home as it is now: which session files differ from what was read of them. Reads none of them. */
export const scanHome = (
  sql: (text: string) => Statement,
  adapter: RuntimeAdapter,
  home: string,
  gaps: GapNotes,
  now: () => Date,
): HomeScan => {
  const id = homeIdOf(adapter.runtime, home)
  sql(
    'insert into homes (id, runtime, path, read_at) values (?, ?, ?, ?) on conflict (id) do update set read_at = excluded.read_at',
  ).run(id, adapter.runtime, home, now().toISOString())
  const all = new Map<string, Task>()
  const tasks: Task[] = []
  const problems: string[] = []
  const units = adapter.listSessions(home, ({ path: where, reason }) => {
    problems.push(where)
    gaps.save({
      kind: 'unreadable_file',
      home: id,
      where,
      message: `${where} could not be listed: ${reason}`,
      hint: 'check its permissions',
    })
  })
  for (const unit of units) {
    const stat = fs.statSync(unit.file, { throwIfNoEntry: false })
    const mtime = Math.trunc(stat?.mtimeMs ?? 0)
    const task: Task = { unit, adapter, size: stat?.size ?? 0, mtime }
    all.set(unit.file, task)
    const known = sql('select size, mtime, ino, state from files where path = ?').get(Buffer.from(unit.file)) as
      | KnownFile
      | undefined
    const same =
      stat !== undefined &&
      known?.state === 'present' &&
      known.size === stat.size &&
      known.mtime === mtime &&
      known.ino === stat.ino
    if (!same) tasks.push(task)
  }
  // What could be looked at this time is no gap any more; files have their own say when they are read.
  for (const { path: where } of sql("select path from gaps where kind = 'unreadable_file' and home = ?").all(id) as {
    path: string
  }[])
    if (!problems.includes(where) && !all.has(where)) gaps.drop('unreadable_file', where)
  const present = sql(
    "select files.path as path, files.run as run from files join runs on runs.key = files.run where runs.home = ? and files.state = 'present'",
  ).all(id) as { path: Uint8Array; run: number }[]
  // A folder that could not be listed says nothing about the files in it: unknown is not absent.
  const gone = present
    .map(({ path: bytes, run }) => ({ run, file: Buffer.from(bytes).toString() }))
    .filter(({ file }) => !all.has(file) && !problems.some((where) => file.startsWith(where)) && isGone(file))
  return { tasks, all, gone, unlisted: problems.filter(isUnlistable) }
}

/** Sessions of a home that only the archive still knows (B13): their files are gone, and the index may be new. */
export async function* findArchivedOnly(
  sql: (text: string) => Statement,
  store: Store,
  adapter: RuntimeAdapter,
  home: string,
): AsyncGenerator<{
  readonly run: RunId
  readonly unit: SessionUnit
  /** Side files that were left out, relative to the home, and why. */
  readonly notKept: Readonly<Record<string, string>>
}> {
  for await (const { run, about } of store.sessions.list()) {
    const parsed = aboutRunSchema.safeParse(about)
    if (!parsed.success || parsed.data.home !== home || parsed.data.runtime !== adapter.runtime) continue
    if (sql('select 1 from runs where id = ?').get(run) !== undefined) continue
    const { session, parent_session, relation, meta, not_kept: notKept = {} } = parsed.data
    const file = path.join(home, parsed.data.file)
    if (isGone(file))
      yield {
        run,
        unit: { home, session, parentSession: parent_session, relation, file, sideFiles: [], meta },
        notKept,
      }
  }
}

const isUnlistable = (folder: string): boolean => {
  try {
    fs.readdirSync(folder)
    return false
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')
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
