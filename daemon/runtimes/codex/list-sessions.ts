import { isUtf8 } from 'node:buffer'
import { closeSync, openSync, readdirSync, readSync, type Stats, statSync } from 'node:fs'
import { basename, join, relative, sep } from 'node:path'
import type { SessionProblem, SessionUnit } from '../adapter.ts'
import { asRow, type Row } from '../shared/fields.ts'
import { originOf } from './evidence.ts'
import { readFirstLine } from './session-lines.ts'
import { readTitles } from './titles.ts'

type Report = (problem: SessionProblem) => void

/** A session file by its name: `rollout-<local time>-<thread>[_<part>].jsonl[.zst]`, or `.json` of the first format. */
interface Rollout {
  readonly path: string
  /** Name without place and form: archiving moves a file, compressing renames it. */
  readonly stem: string
  readonly thread: string | null
  readonly form: 'plain' | 'compressed' | 'document'
  readonly stat: Stats
}

const NAME = /^(rollout-.+?)\.(jsonl|jsonl\.zst|json)$/
const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const THREAD = new RegExp(`(${UUID})(?:_${UUID})?$`)

/**
 * Every thread of a home, found from its session files alone: the databases beside them are caches (0.171.0) and are not believed (R15).
 * The files of one thread are one unit: a revert begins a second one. Archived sessions are sessions like any other.
 */
export function* listSessions(home: string, report: Report): Iterable<SessionUnit> {
  const threads = new Map<string, Rollout[]>()
  for (const rollout of findRollouts(home, report)) {
    const id = rollout.thread ?? rollout.stem
    const known = threads.get(id)
    if (known === undefined) threads.set(id, [rollout])
    else known.push(rollout)
  }
  const titles = readTitles(home, report)
  for (const [thread, found] of threads) {
    const unit = unitOf(home, thread, oneEach(found, report), titles.get(thread) ?? null, report)
    if (unit !== null) yield unit
  }
}

function* findRollouts(home: string, report: Report): Iterable<Rollout> {
  for (const place of ['sessions', 'archived_sessions']) {
    for (const path of walk(join(home, place), report)) {
      const [, stem, end] = NAME.exec(basename(path)) ?? []
      if (stem === undefined) {
        if (/\.jsonl?(\.zst)?$/.test(path)) report({ path, reason: 'is not named like a session of Codex' })
        continue
      }
      try {
        yield {
          path,
          stem,
          thread: THREAD.exec(stem)?.[1] ?? null,
          form: end === 'jsonl' ? 'plain' : end === 'json' ? 'document' : 'compressed',
          stat: statSync(path),
        }
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') report({ path, reason: reasonOf(error) })
      }
    }
  }
}

/** A file may be there twice for a moment, while it is moved or compressed: the plain one counts, then the longer one. */
function oneEach(rollouts: readonly Rollout[], report: Report): readonly Rollout[] {
  const best = new Map<string, Rollout>()
  for (const rollout of rollouts) {
    const other = best.get(rollout.stem)
    const wins =
      other === undefined ||
      (rollout.form === other.form ? rollout.stat.size > other.stat.size : other.form !== 'plain')
    if (other !== undefined) {
      const [kept, left] = wins ? [rollout, other] : [other, rollout]
      report({ path: left.path, reason: `stands a second time in ${kept.path}` })
    }
    if (wins) best.set(rollout.stem, rollout)
  }
  return [...best.values()].sort((a, b) => (a.stem < b.stem ? -1 : 1))
}

function unitOf(
  home: string,
  thread: string,
  files: readonly Rollout[],
  title: string | null,
  report: Report,
): SessionUnit | null {
  const [first] = files
  if (first === undefined) return null
  const head = headOf(first, report)
  const origin = originOf(head ?? {})
  const { source, parent_thread: parent } = origin
  const isSubagent = source === 'subagent' && parent !== null
  const from = files.length > 1 ? 'files' : first.form === 'plain' ? null : first.form
  return {
    home,
    session: thread,
    parentSession: isSubagent ? parent : null,
    relation: isSubagent ? 'subagent' : null,
    // The first file keeps its place when a revert adds another one.
    file: first.path,
    sideFiles: [],
    meta: {
      ...(title === null ? {} : { title }),
      ...(from === null
        ? {}
        : { lines_from: from, files: files.map(({ path }) => relative(home, path).split(sep).join('/')) }),
    },
    ...(from === null
      ? {}
      : {
          stamp: {
            size: files.reduce((sum, { stat }) => sum + stat.size, 0),
            mtime: Math.trunc(Math.max(...files.map(({ stat }) => stat.mtimeMs))),
          },
        }),
  }
}

function headOf({ path, form }: Rollout, report: Report): Row | null {
  if (form === 'plain') return readHead(path, report)
  if (form === 'document') return null
  try {
    const row = parse(readFirstLine(path) ?? '')
    return asRow(row?.payload) ?? row
  } catch (error) {
    report({ path, reason: reasonOf(error) })
    return null
  }
}

/** Enough for the head of a file up to its long base instructions. */
const HEAD = 8 * 1024
const LONGEST_HEAD = 4 * 1024 * 1024

/** The payload of the first line, as far as it tells how the thread came to be; the long texts in it are left out. */
function readHead(file: string, report: Report): Row | null {
  let fd: number
  try {
    fd = openSync(file, 'r')
  } catch (error) {
    report({ path: file, reason: reasonOf(error) })
    return null
  }
  try {
    for (let size = HEAD; size <= LONGEST_HEAD; size *= 16) {
      const buffer = Buffer.allocUnsafe(size)
      const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, size, 0))
      const end = text.indexOf('\n')
      const long = text.indexOf(',"base_instructions":')
      const row = end === -1 ? null : parse(text.slice(0, end))
      if (row !== null) return asRow(row.payload) ?? row
      // What stands before the long texts is enough when it says where the thread comes from.
      const cut = long === -1 ? null : asRow(parse(`${text.slice(0, long)}}}`)?.payload)
      if (cut !== null && 'source' in cut) return cut
      if (end !== -1 || text.length < size) return null
    }
    return null
  } finally {
    closeSync(fd)
  }
}

function parse(text: string): Row | null {
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}

/** Files below a directory, sorted by name; links to directories are not followed, so a circle of them ends. */
function* walk(path: string, report: Report): Iterable<string> {
  const directories: string[] = []
  const files: string[] = []
  try {
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      if (!isUtf8(entry.name)) {
        report({ path: join(path, entry.name.toString('latin1')), reason: 'the name is not valid UTF-8' })
        continue
      }
      const name = entry.name.toString('utf8')
      if (entry.isDirectory()) directories.push(name)
      else if (entry.isFile() || entry.isSymbolicLink()) files.push(name)
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') report({ path, reason: reasonOf(error) })
  }
  for (const name of files.sort()) yield join(path, name)
  for (const name of directories.sort()) yield* walk(join(path, name), report)
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
