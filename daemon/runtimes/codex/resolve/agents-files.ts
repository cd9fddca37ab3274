import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import type { Layers } from './layers.ts'
import { directoriesAbove } from './places.ts'
import { settingOf } from './settings.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { textsOf, trimmed } from './values.ts'

const OVERRIDE = 'AGENTS.override.md'
const NAME = 'AGENTS.md'
const DEFAULT_BUDGET = 32_768
const LARGEST = 1024 * 1024 * 1024

export interface AgentsRequest {
  readonly disk: Disk
  readonly home: string
  readonly cwd: string
  readonly layers: Layers
}

export interface AgentsFiles {
  /** In the order they enter the context. */
  readonly loaded: readonly Source[]
  readonly leftOut: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * The global file, then one file per directory from the project root down to the start directory. A blank override falls through to
 * AGENTS.md in the home and shadows it in a project (0.171.0).
 */
export function resolveAgentsFiles(request: AgentsRequest): AgentsFiles {
  const global = globalFile(request)
  const project = projectFiles(request)
  return {
    loaded: [...global.loaded, ...project.loaded],
    leftOut: [...global.leftOut, ...project.leftOut],
    unknown: [...global.unknown, ...project.unknown],
  }
}

type Found = { -readonly [Key in keyof AgentsFiles]: AgentsFiles[Key][number][] }
const nothing = (): Found => ({ loaded: [], leftOut: [], unknown: [] })

function globalFile({ disk, home, layers }: AgentsRequest): Found {
  const found = nothing()
  const rule = `the first of ${OVERRIDE} and ${NAME} that is not blank, trimmed (${VERIFIED_VERSION})`
  let taken: string | null = null
  for (const name of [OVERRIDE, NAME]) {
    const file = path.join(home, name)
    const draft = { path: file, scope: 'user', kind: 'instructions' as const, rule }
    const read = readCandidate(disk, file)
    if (read.state === 'missing') continue
    if (read.state !== 'ok') {
      found.leftOut.push(makeSource({ ...draft, status: read.status, reason: read.why }))
      continue
    }
    const text = trimmed(read.bytes.toString('utf8'))
    const reason =
      taken !== null
        ? `${path.basename(taken)} of the same folder is used`
        : text === ''
          ? 'blank: the next name is tried'
          : null
    if (reason === null) {
      taken = file
      found.loaded.push(makeSource({ ...draft, ...linkTo(disk, file), status: 'loaded', raw: read.bytes, text }))
    } else found.leftOut.push(makeSource({ ...draft, status: 'not_loaded', reason, raw: read.bytes }))
  }
  nearMisses(disk, home, [OVERRIDE, NAME], 'user', found)
  const fallbacks = textsOf(settingOf(layers.active, 'project_doc_fallback_filenames')?.value).filter(
    (name) => name !== '',
  )
  for (const name of fallbacks)
    noteUnused(disk, path.join(home, name.trim()), 'user', 'fallback names are not used in the home', found)
  return found
}

function noteUnused(disk: Disk, file: string, scope: string, reason: string, found: Found): void {
  const read = readCandidate(disk, file)
  if (read.state !== 'ok') return
  const draft = { path: file, scope, kind: 'instructions' as const }
  found.leftOut.push(makeSource({ ...draft, status: 'not_loaded', reason, raw: read.bytes }))
}

function projectFiles({ disk, cwd, home, layers }: AgentsRequest): Found {
  const found = nothing()
  const { active, trust, projectRoot, projectDirs } = layers
  const fallbacks = textsOf(settingOf(active, 'project_doc_fallback_filenames')?.value)
  const names = candidateNames(fallbacks)
  const withSlash = fallbacks.filter((name) => SLASH.test(name))
  const budgetSetting = settingOf(active, 'project_doc_max_bytes')?.value
  const budget = typeof budgetSetting === 'number' ? budgetSetting : DEFAULT_BUDGET
  const untrusted =
    trust.level === 'untrusted'
      ? `present, not applied: untrusted (${trust.entry?.directory} in ${trust.entry?.origin})`
      : null
  const rule = `one file a directory, from ${projectRoot} down to ${cwd}: ${names.join(', ')}; ${budget} bytes for all (${VERIFIED_VERSION})`
  let left = budget

  for (const directory of projectDirs) {
    let taken: string | null = null
    for (const name of names) {
      const file = path.join(directory, name)
      const draft = { path: file, scope: 'project', kind: 'instructions' as const, rule }
      const read = readCandidate(disk, file)
      if (read.state === 'missing') continue
      if (read.state !== 'ok') {
        // What is no regular file does not stand in the way of the next name; what cannot be read may.
        if (read.status === 'unknown') taken ??= name
        found.leftOut.push(makeSource({ ...draft, status: read.status, reason: read.why }))
        continue
      }
      const leaveOut = (reason: string): void => {
        found.leftOut.push(makeSource({ ...draft, status: 'not_loaded', reason, raw: read.bytes }))
      }
      if (taken !== null) {
        leaveOut(`shadowed: ${taken} of the same folder comes first`)
        continue
      }
      taken = name
      if (untrusted !== null) leaveOut(untrusted)
      else if (budget <= 0) leaveOut('project_doc_max_bytes is 0: no project file is read')
      else if (left <= 0) leaveOut(`over budget: the ${budget} bytes of project_doc_max_bytes are used up`)
      else {
        const cut = read.bytes.subarray(0, left)
        const text = cut.toString('utf8')
        if (trimmed(text) === '') {
          leaveOut('blank: it adds no text, and no other name is tried in this folder')
          continue
        }
        left -= cut.length
        found.loaded.push(
          makeSource({
            ...draft,
            ...linkTo(disk, file),
            status: 'loaded',
            raw: read.bytes,
            text,
            truncated: cut.length < read.bytes.length ? { at: cut.length, unit: 'bytes' } : null,
          }),
        )
      }
    }
    nearMisses(disk, directory, names, 'project', found)
    for (const name of withSlash)
      noteUnused(disk, path.join(directory, name), 'project', 'a fallback name with a slash is not used', found)
  }

  for (const directory of directoriesAbove(projectRoot)) {
    if (directory === home) continue
    for (const name of names) {
      const file = path.join(directory, name)
      noteUnused(disk, file, 'parent folder', `above the project root (${projectRoot})`, found)
    }
  }
  return found
}

const SLASH = /[/\\]/

/** A fallback name with a slash is not used. */
function candidateNames(fallbacks: readonly string[]): readonly string[] {
  const usable = fallbacks.map((name) => name.trim()).filter((name) => name !== '' && !SLASH.test(name))
  return [...new Set([OVERRIDE, NAME, ...usable])]
}

/** Where a link leads, which may be outside the project. */
const linkTo = (disk: Disk, file: string): Pick<Source, 'extra'> | undefined =>
  disk.isLink(file) ? { extra: { links_to: disk.realPath(file) } } : undefined

type Candidate =
  | { readonly state: 'ok'; readonly bytes: Buffer }
  | { readonly state: 'missing' }
  | { readonly state: 'not a file'; readonly status: 'not_loaded' | 'unknown'; readonly why: string }

function readCandidate(disk: Disk, file: string): Candidate {
  // Most candidates are not there, and asking for them is cheaper than opening them. A folder that cannot be searched is told by its list.
  if (!disk.exists(file) && !disk.isLink(file)) return { state: 'missing' }
  const read = disk.read(file, LARGEST)
  switch (read.state) {
    case 'ok':
      return read
    case 'missing':
      return disk.isLink(file)
        ? { state: 'not a file', status: 'not_loaded', why: 'a link that leads nowhere' }
        : { state: 'missing' }
    case 'directory':
      return { state: 'not a file', status: 'not_loaded', why: 'a directory stands where a file is expected' }
    case 'too_large':
      return { state: 'not a file', status: 'unknown', why: `too large to be looked at (${read.size} bytes)` }
    case 'unreadable':
      return read.why === 'not a regular file'
        ? { state: 'not a file', status: 'not_loaded', why: read.why }
        : { state: 'not a file', status: 'unknown', why: read.why }
  }
}

/** Names that look as if they counted: another case, and what other agents read. */
function nearMisses(disk: Disk, directory: string, names: readonly string[], scope: string, found: Found): void {
  const listing = disk.names(directory)
  if (listing === null) return
  if ('why' in listing) {
    found.unknown.push({ field: 'instructions', why: `${directory}: ${listing.why}` })
    return
  }
  const lower = new Map(names.map((name) => [name.toLowerCase(), name]))
  for (const entry of listing) {
    const right = lower.get(entry.name.toLowerCase())
    const isOther = entry.name === 'CLAUDE.md' && right === undefined
    if ((right === undefined && !isOther) || right === entry.name || entry.isDirectory()) continue
    const file = path.join(directory, entry.name)
    const read = disk.read(file)
    found.leftOut.push(
      makeSource({
        path: file,
        scope,
        kind: 'instructions',
        status: 'not_loaded',
        reason: isOther
          ? 'read only when project_doc_fallback_filenames names it'
          : `wrong case: the program looks for ${right}`,
        ...(read.state === 'ok' ? { raw: read.bytes } : {}),
      }),
    )
  }
}
