import { isUtf8 } from 'node:buffer'
import { closeSync, existsSync, openSync, readdirSync, readSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isTypedOnly, type SessionProblem, type SessionUnit, type SideFile } from '../adapter.ts'
import { asName, asRow, type Row } from '../shared/fields.ts'

type Report = (problem: SessionProblem) => void

/**
 * Every session below `projects/`, found from the files alone: no index of the program is believed, because an empty or stale one would
 * hide them (R15). One session is its main file with its side files; a subagent's file is a session of its own.
 */
export function* listSessions(home: string, report: Report): Iterable<SessionUnit> {
  const projects = join(home, 'projects')
  const folders = list(projects, report, true)
  const units = new Map<string, string>()
  for (const folder of folders.directories) {
    for (const unit of listFolder(home, projects, folder, report)) {
      const before = units.get(unit.session)
      units.set(unit.session, unit.file)
      if (before === undefined) yield unit
      else {
        // The same id in two folders: two files are two records, neither hides the other.
        report({ path: unit.file, reason: `the same session id as ${before}` })
        yield { ...unit, session: `${unit.session}@${folder}` }
      }
    }
  }
}

function* listFolder(home: string, projects: string, folder: string, report: Report): Iterable<SessionUnit> {
  const path = join(projects, folder)
  const { files, directories } = list(path, report)
  const sessions = new Set<string>()
  for (const file of files) {
    if (!file.endsWith('.jsonl')) continue
    const name = file.slice(0, -'.jsonl'.length)
    if (!UUID.test(name) && isTraceExport(join(path, file), report)) continue
    if (name.startsWith('agent-')) yield oldSubagent(home, join(path, file), folder, report)
    else {
      sessions.add(name)
      yield {
        home,
        session: name,
        parentSession: null,
        relation: null,
        file: join(path, file),
        sideFiles: sideFilesOf(home, path, name, report),
        meta: { folder },
      }
    }
  }
  for (const directory of directories) {
    if (directory === 'memory') continue
    yield* subagentsOf(home, path, directory, folder, report)
    if (!sessions.has(directory) && hasFiles(join(path, directory), report)) {
      report({ path: join(path, directory), reason: 'belongs to a session whose own file is not there' })
    }
  }
}

/** What lies beside one session now; a subagent has its `.meta.json` only, its outputs are spilled into the folder of the session. */
export function* listSideFiles(unit: SessionUnit, report: Report): Iterable<SideFile> {
  if (isTypedOnly(unit)) return
  const name = unit.file.slice(0, -'.jsonl'.length)
  if (unit.relation === 'subagent') {
    const path = `${name}.meta.json`
    if (existsSync(path)) yield { path, isCopy: false }
    return
  }
  const copies = join(unit.home, 'file-history', basename(name))
  for (const path of sideFilesOf(unit.home, dirname(unit.file), basename(name), report))
    yield { path, isCopy: dirname(path) === copies }
}

/** Folder of the spilled outputs of a unit, and that of its checkpoints. */
export function sideFoldersOf(unit: SessionUnit): { readonly session: string; readonly checkpoints: string } {
  const inside = /^(.+)[\\/]subagents[\\/]/.exec(unit.file)?.[1]
  const own = unit.file.slice(0, -'.jsonl'.length)
  const session =
    unit.relation === null
      ? own
      : (inside ?? (unit.parentSession === null ? own : join(dirname(unit.file), unit.parentSession)))
  return { session, checkpoints: join(unit.home, 'file-history', basename(session)) }
}

/** Spilled outputs and checkpoints of a session (runtime page 5.1). Files of subagents belong to their own sessions. */
function sideFilesOf(home: string, folder: string, session: string, report: Report): readonly string[] {
  const own = [...walk(join(folder, session), report)].filter(
    (file) => !/[\\/]subagents[\\/](.*[\\/])?agent-[^\\/]*$/.test(file),
  )
  return [...own, ...walk(join(home, 'file-history', session), report)]
}

function* subagentsOf(
  home: string,
  path: string,
  session: string,
  folder: string,
  report: Report,
): Iterable<SessionUnit> {
  for (const file of walk(join(path, session, 'subagents'), report)) {
    const name = basename(file)
    if (!name.startsWith('agent-') || !name.endsWith('.jsonl')) continue
    const metaFile = `${file.slice(0, -'.jsonl'.length)}.meta.json`
    const meta = readMeta(metaFile, report)
    yield {
      home,
      session: `${session}/${name.slice('agent-'.length, -'.jsonl'.length)}`,
      parentSession: session,
      relation: 'subagent',
      file,
      sideFiles: meta === null ? [] : [metaFile],
      meta: { folder, ...meta },
    }
  }
}

/** Versions of 2.0 kept a subagent's file beside the sessions; only its rows name the session it belongs to. */
function oldSubagent(home: string, file: string, folder: string, report: Report): SessionUnit {
  const agent = basename(file).slice('agent-'.length, -'.jsonl'.length)
  const parent = asName(firstRow(file, report)?.sessionId)
  return {
    home,
    session: parent === null ? `agent-${agent}` : `${parent}/${agent}`,
    parentSession: parent,
    relation: 'subagent',
    file,
    sideFiles: [],
    meta: { folder },
  }
}

/** The program names its own files; only one of another name may be somebody else's, and is looked into. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/**
 * Hermes exports sessions in this very form, with the directory and the time of the export instead of those of the session (0.20.0). Such
 * a copy is no session of this program; it is told by its version.
 */
function isTraceExport(file: string, report: Report): boolean {
  if (firstRow(file, report)?.version !== 'hermes-agent') return false
  report({ path: file, reason: 'a trace export of Hermes, no session of Claude Code' })
  return true
}

const HEAD = 256 * 1024

/** The first complete row that is an object and names its session, within the head of the file. */
function firstRow(file: string, report: Report): Row | null {
  try {
    const fd = openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(HEAD)
      const text = buffer.toString('utf8', 0, readSync(fd, buffer, 0, HEAD, 0))
      for (const line of text.split('\n')) {
        const row = parse(line)
        if (row !== null && asName(row.sessionId) !== null) return row
      }
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    report({ path: file, reason: reasonOf(error) })
  }
  return null
}

function readMeta(file: string, report: Report): Row | null {
  try {
    const fd = openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(HEAD)
      const meta = parse(buffer.toString('utf8', 0, readSync(fd, buffer, 0, HEAD, 0)))
      if (meta === null) report({ path: file, reason: 'no JSON object' })
      return meta
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') report({ path: file, reason: reasonOf(error) })
    return null
  }
}

function parse(text: string): Row | null {
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}

interface Listing {
  readonly files: readonly string[]
  readonly directories: readonly string[]
}

/** Names in a directory, sorted. What cannot be read is reported; that there is nothing is no problem. */
function list(path: string, report: Report, followLinks = false): Listing {
  const files: string[] = []
  const directories: string[] = []
  try {
    for (const entry of readdirSync(path, { withFileTypes: true, encoding: 'buffer' })) {
      if (!isUtf8(entry.name)) {
        report({ path: join(path, entry.name.toString('latin1')), reason: 'the name is not valid UTF-8' })
        continue
      }
      const name = entry.name.toString('utf8')
      if (entry.isDirectory()) directories.push(name)
      else if (entry.isFile()) files.push(name)
      else if (entry.isSymbolicLink()) (isDirectory(join(path, name)) && followLinks ? directories : files).push(name)
    }
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') report({ path, reason: reasonOf(error) })
  }
  return { files: files.sort(), directories: directories.sort() }
}

function isDirectory(path: string): boolean {
  try {
    readdirSync(path)
    return true
  } catch {
    return false
  }
}

/** All files below a directory; links are not followed, so a circle of them ends. */
function* walk(path: string, report: Report): Iterable<string> {
  const { files, directories } = list(path, report)
  for (const file of files) yield join(path, file)
  for (const directory of directories) yield* walk(join(path, directory), report)
}

function hasFiles(path: string, report: Report): boolean {
  for (const _ of walk(path, report)) return true
  return false
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
