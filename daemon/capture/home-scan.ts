import fs from 'node:fs'
import {
  linesFrom,
  type RuntimeAdapter,
  type SessionProblem,
  type SessionUnit,
  SourceBusy,
} from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { GapNotes } from './gap-notes.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'

/** A session file that may have something new. */
export interface Task {
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  /** Bytes, as far as they are known; a session that is no plain file has none before it is written out. */
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
  /** Sources that were being written to and could not be listed now: to be looked at again a moment later. */
  readonly busy: readonly SessionProblem[]
}

interface KnownFile {
  readonly size: number
  readonly mtime: number
  readonly ino: number
  readonly state: string
  readonly offset: number
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
  const busy: SessionProblem[] = []
  const report = (problem: SessionProblem): void => {
    const { path: where, reason } = problem
    problems.push(where)
    if (problem.busy) {
      busy.push(problem)
      return
    }
    gaps.save({
      kind: 'unreadable_file',
      home: id,
      where,
      message: `${where} could not be listed: ${reason}`,
      hint: 'check its permissions',
    })
  }
  const listed = new Set<string>()
  for (const unit of list(adapter, home, report)) {
    const now = lookAt(unit)
    const known = sql('select size, mtime, ino, state, offset from files where path = ?').get(Buffer.from(unit.file)) as
      | KnownFile
      | undefined
    const plain = linesFrom(unit) === null
    const task: Task = { unit, adapter, size: plain ? (now?.size ?? 0) : (known?.offset ?? 0), mtime: now?.mtime ?? 0 }
    all.set(unit.file, task)
    listed.add(runIdOf(id, unit.session))
    const same =
      now !== null &&
      known?.state === 'present' &&
      known.size === now.size &&
      known.mtime === now.mtime &&
      known.ino === now.ino
    if (!same) tasks.push(task)
  }
  // What could be looked at this time is no gap any more; files have their own say when they are read.
  for (const { path: where } of sql("select path from gaps where kind = 'unreadable_file' and home = ?").all(id) as {
    path: string
  }[])
    if (!problems.includes(where) && !all.has(where)) gaps.drop('unreadable_file', where)
  const present = sql(
    "select files.path as path, files.run as run, runs.id as id, runs.meta as meta from files join runs on runs.key = files.run where runs.home = ? and files.state <> 'vanished'",
  ).all(id) as { path: Uint8Array; run: number; id: string; meta: string }[]
  // A folder that could not be listed says nothing about the files in it: unknown is not absent. A session listed under another name
  // was moved.
  const homeListed = !isUnlistable(home) && fs.existsSync(home)
  const gone = present
    .filter((row) => !listed.has(row.id))
    .map(({ path: bytes, run, meta }) => ({ run, file: Buffer.from(bytes).toString(), meta }))
    .filter(
      ({ file, meta }) =>
        !problems.some((where) => file.startsWith(where)) &&
        (linesFrom({ meta: JSON.parse(meta) as Record<string, unknown> }) === null ? isGone(file) : homeListed),
    )
  return { tasks, all, gone, unlisted: problems.filter(isUnlistable), busy }
}

/** All sessions of a home; a fault while they are listed leaves the rest of the home unknown, and is told like any other. */
function* list(
  adapter: RuntimeAdapter,
  home: string,
  report: (problem: SessionProblem) => void,
): Generator<SessionUnit> {
  try {
    yield* adapter.listSessions(home, report)
  } catch (error) {
    const reason = (error as Error).message
    report(error instanceof SourceBusy ? { path: home, reason, busy: true } : { path: home, reason })
  }
}

/** What tells this state of a session from another, without reading it; null when that cannot be told. */
const lookAt = (unit: SessionUnit): { readonly size: number; readonly mtime: number; readonly ino: number } | null => {
  if (linesFrom(unit) !== null)
    return unit.stamp ? { size: unit.stamp.size, mtime: Math.trunc(unit.stamp.mtime), ino: 0 } : null
  try {
    const { size, mtimeMs, ino } = fs.statSync(unit.file)
    return { size, mtime: Math.trunc(mtimeMs), ino }
  } catch {
    return null
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
