import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import { type Cap, cut } from './caps.ts'
import { blockedFile, scan } from './scan.ts'
import { makeSource, type Source } from './sources.ts'
import { readText, strip, type TextRead } from './text.ts'
import type { Rules } from './versions.ts'

export type ContextKind = 'hermes' | 'agents' | 'claude' | 'cursor'

export interface ContextRequest {
  readonly disk: Disk
  /** Links resolved. */
  readonly cwd: string
  readonly rules: Rules
  readonly cap: Cap
  /** Null, or why no context file is read at all. */
  readonly off: string | null
}

export interface ProjectContext {
  /** Null when nothing entered. */
  readonly kind: ContextKind | null
  /** The block as it stands below its heading in the prompt; '' when nothing entered. */
  readonly body: string
  readonly loaded: readonly Source[]
  readonly leftOut: readonly Source[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

interface Candidate {
  readonly kind: ContextKind
  readonly file: string
  /** Heading in the prompt. */
  readonly label: string
  /** Name in the marker of a cut text, which is not always the label. */
  readonly name: string
}

interface Section extends Candidate {
  readonly raw: Uint8Array
  readonly content: string
  readonly ids: readonly string[]
  readonly text: string
  readonly truncated: Source['truncated']
}

const RANK: Readonly<Record<ContextKind, string>> = {
  hermes: '.hermes.md, HERMES.md',
  agents: 'AGENTS.md',
  claude: 'CLAUDE.md',
  cursor: '.cursorrules',
}
const HERMES = ['.hermes.md', 'HERMES.md']
const AGENTS: Readonly<Record<Rules, readonly string[]>> = {
  '0.20.0': ['AGENTS.md', 'agents.md'],
  '0.20.4': ['AGENTS.override.md', 'AGENTS.md', 'agents.md'],
}
const CLAUDE = ['CLAUDE.md', 'claude.md']

/**
 * The project context: the first kind that yields text wins, the others are not read at all (R49, runtime page 5.2). Whatever was there
 * and lost is told with the reason (R50).
 */
export function resolveProjectContext(request: ContextRequest): ProjectContext {
  const { cwd, off, rules } = request
  const root = gitRootOf(request.disk, cwd)
  const rule = `first match: ${Object.values(RANK).join(' > ')} (${rules})`
  const kinds: readonly ContextKind[] = ['hermes', 'agents', 'claude', 'cursor']
  let won: { readonly kind: ContextKind; readonly made: Made } | null = null
  const unknown: { field: string; why: string }[] = []
  const reads = new Map<string, TextRead>()
  const read = (file: string): TextRead => {
    const known = reads.get(file)
    if (known !== undefined) return known
    const found = readText(request.disk, file)
    reads.set(file, found)
    return found
  }
  if (off === null) {
    for (const kind of kinds) {
      const made = makeKind(request, kind, root, read)
      if (made === null) continue
      won = { kind, made }
      break
    }
  }
  const loaded = won === null ? [] : won.made.sections.map((section) => loadedSource(section, rule, won.made))
  if (won?.made.sections.some(({ truncated }) => truncated !== null) && request.cap.unsure !== null)
    unknown.push({ field: 'instructions.sources.truncated', why: request.cap.unsure })
  const isIn = new Set(won?.made.sections.map(({ file }) => file))
  const leftOut: Source[] = []
  for (const candidate of everyCandidate(request, root)) {
    if (isIn.has(candidate.file)) continue
    const found = read(candidate.file)
    if (found.state === 'missing') continue
    leftOut.push(leftOutSource(candidate, found, whyLeftOut(request, candidate, found, won, root), rule))
    if (found.state === 'unreadable' && off === null)
      unknown.push({ field: `instructions.sources ${candidate.file}`, why: found.why })
  }
  return { kind: won?.kind ?? null, body: won?.made.body ?? '', loaded, leftOut, unknown }
}

/** Nearest ancestor with any entry named `.git`, an empty folder included (seen on both versions). */
export function gitRootOf(disk: Disk, cwd: string): string | null {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    if (disk.exists(path.join(folder, '.git'))) return folder
    if (path.dirname(folder) === folder) return null
  }
}

interface Made {
  readonly sections: readonly Section[]
  readonly body: string
  /** The merged text was cut as a whole: no section stands in it unchanged. */
  readonly cutAsOne: boolean
}

type Read = (file: string) => TextRead

function makeKind(request: ContextRequest, kind: ContextKind, root: string | null, read: Read): Made | null {
  switch (kind) {
    case 'hermes':
      return makeHermes(request, root, read)
    case 'agents':
      return makeAgents(request, root, read)
    case 'claude':
      return makeFirst(
        request,
        CLAUDE.map((name) => candidateOf(request, 'claude', path.join(request.cwd, name))),
        read,
      )
    case 'cursor':
      return makeCursor(request, read)
  }
}

/** The nearest file that is there decides; a blank one yields nothing, and no other is looked for. */
function makeHermes(request: ContextRequest, root: string | null, read: Read): Made | null {
  for (const directory of upTo(request.cwd, root)) {
    for (const name of HERMES) {
      const file = path.join(directory, name)
      const found = read(file)
      if (found.state === 'missing' || (found.state === 'ignored' && found.raw === null)) continue
      return makeFirst(request, [candidateOf(request, 'hermes', file)], read)
    }
  }
  return null
}

function makeAgents(request: ContextRequest, root: string | null, read: Read): Made | null {
  const names = AGENTS[request.rules]
  if (request.rules === '0.20.0')
    return makeFirst(
      request,
      names.map((name) => candidateOf(request, 'agents', path.join(request.cwd, name))),
      read,
    )
  const sections: Section[] = []
  for (const directory of [...upTo(request.cwd, root)].reverse()) {
    for (const name of names) {
      const section = sectionOf(request, candidateOf(request, 'agents', path.join(directory, name)), read)
      if (section === null) continue
      // The same text again further down is skipped.
      if (!sections.some(({ content }) => content === section.content)) sections.push(section)
      break
    }
  }
  if (sections.length === 0) return null
  const body = sections.map(({ text }) => text).join('\n\n')
  if (sections.length === 1) return { sections, body, cutAsOne: false }
  const whole = cut(body, request.cap.characters, 'AGENTS.md (directory chain)', path.join(request.cwd, 'AGENTS.md'))
  return { sections, body: whole.text, cutAsOne: whole.truncated !== null }
}

function makeCursor(request: ContextRequest, read: Read): Made | null {
  const sections = cursorFiles(request).flatMap((candidate) => sectionOf(request, candidate, read, false) ?? [])
  if (sections.length === 0) return null
  const whole = cut(
    sections.map(({ text }) => `${text}\n\n`).join(''),
    request.cap.characters,
    '.cursorrules',
    path.join(request.cwd, '.cursorrules'),
  )
  return { sections, body: whole.text, cutAsOne: whole.truncated !== null }
}

function cursorFiles(request: ContextRequest): readonly Candidate[] {
  const { disk, cwd } = request
  const folder = path.join(cwd, '.cursor', 'rules')
  const found = disk.list(folder)
  const names =
    found.state === 'ok' ? found.entries.map(({ name }) => name).filter((name) => name.endsWith('.mdc')) : []
  return [path.join(cwd, '.cursorrules'), ...names.sort(byPoints).map((name) => path.join(folder, name))].map((file) =>
    candidateOf(request, 'cursor', file),
  )
}

/** The first of several files that has text. */
function makeFirst(request: ContextRequest, candidates: readonly Candidate[], read: Read): Made | null {
  for (const candidate of candidates) {
    const section = sectionOf(request, candidate, read)
    if (section !== null) return { sections: [section], body: section.text, cutAsOne: false }
  }
  return null
}

function sectionOf(request: ContextRequest, candidate: Candidate, read: Read, cutAlone = true): Section | null {
  const found = read(candidate.file)
  if (found.state !== 'text') return null
  const stripped = strip(found.text)
  if (stripped === '') return null
  const content = candidate.kind === 'hermes' ? withoutFrontMatter(stripped) : stripped
  const ids = scan(content, 'everywhere')
  const whole = `## ${candidate.label}\n\n${ids.length === 0 ? content : blockedFile(candidate.label, ids)}`
  const { text, truncated } = cutAlone
    ? cut(whole, request.cap.characters, candidate.name, candidate.file)
    : { text: whole, truncated: null }
  return { ...candidate, raw: found.raw, content: stripped, ids, text, truncated }
}

/** Front matter goes in `.hermes.md` only; one that is all there is stays. */
function withoutFrontMatter(text: string): string {
  if (!text.startsWith('---')) return text
  const end = text.indexOf('\n---', 3)
  if (end === -1) return text
  return text.slice(end + 4).replace(/^\n+/, '') || text
}

function candidateOf({ cwd }: ContextRequest, kind: ContextKind, file: string): Candidate {
  const name = path.basename(file)
  const inside = path.dirname(file) === cwd
  switch (kind) {
    case 'hermes':
      return { kind, file, label: name, name: '.hermes.md' }
    case 'agents': {
      const label = inside ? name : path.relative(cwd, file).split(path.sep).join('/')
      return { kind, file, label, name: label }
    }
    case 'claude':
      return { kind, file, label: name, name: 'CLAUDE.md' }
    case 'cursor':
      return { kind, file, label: inside ? name : `.cursor/rules/${name}`, name: '.cursorrules' }
  }
}

/** Every file of a name the runtime knows, between the git root and the start directory, whether its rules look there or not. */
function everyCandidate(request: ContextRequest, root: string | null): readonly Candidate[] {
  const found: Candidate[] = []
  for (const directory of upTo(request.cwd, root)) {
    const take = (kind: ContextKind, names: readonly string[]): void => {
      for (const name of names) found.push(candidateOf(request, kind, path.join(directory, name)))
    }
    take('hermes', HERMES)
    take('agents', AGENTS['0.20.4'])
    take('claude', CLAUDE)
    if (directory === request.cwd) found.push(...cursorFiles(request))
    else take('cursor', ['.cursorrules'])
  }
  return found
}

function whyLeftOut(
  { cwd, off, rules }: ContextRequest,
  candidate: Candidate,
  found: TextRead,
  won: { readonly kind: ContextKind; readonly made: Made } | null,
  root: string | null,
): string {
  if (off !== null) return off
  if (found.state === 'ignored') return `it counts as absent: ${found.why}`
  if (found.state === 'unreadable') return found.why
  if (found.state === 'text' && strip(found.text) === '') return 'it is blank and counts as absent'
  const directory = path.dirname(candidate.file)
  const isBelow = candidate.kind === 'cursor' && directory === path.join(cwd, '.cursor', 'rules')
  const here = directory === cwd || isBelow
  if (candidate.kind === 'agents' && rules === '0.20.0') {
    if (path.basename(candidate.file) === 'AGENTS.override.md') return '0.20.0 does not know AGENTS.override.md'
    if (!here) return '0.20.0 reads AGENTS.md from the start directory only'
  }
  if ((candidate.kind === 'claude' || candidate.kind === 'cursor') && !here)
    return `${RANK[candidate.kind]} is read from the start directory only`
  if (won === null) return root === null ? 'outside git only the start directory is looked at' : 'it yields no text'
  if (won.kind !== candidate.kind) {
    const winner = won.made.sections[0]?.file ?? ''
    return `shadowed: ${winner} is of a kind that comes first (${RANK[won.kind]})`
  }
  const same = won.made.sections.find(({ file }) => path.dirname(file) === directory)
  if (same !== undefined) return `shadowed by ${same.file}, which comes first in its directory`
  const first = won.made.sections[0]
  return candidate.kind === 'agents'
    ? 'its text equals that of a directory above, which is kept'
    : `shadowed by ${first?.file ?? ''}, which is nearer`
}

function loadedSource(section: Section, rule: string, { cutAsOne }: Made): Source {
  const { ids } = section
  return makeSource({
    path: section.file,
    scope: 'project',
    kind: 'instructions',
    label: section.label,
    status: 'loaded',
    rule,
    reason:
      ids.length > 0
        ? `kept out by the security scan (${ids.join(', ')}): only a note of it enters`
        : cutAsOne
          ? 'the merged text of all context files is longer than the limit and was cut as one'
          : null,
    raw: section.raw,
    text: section.text,
    truncated: section.truncated,
    scan: { result: ids.length > 0 ? 'rejected' : 'clean', rules: [...ids] },
    extra: { context_kind: section.kind, ...(cutAsOne ? { cut_as_one: true } : {}) },
  })
}

function leftOutSource(candidate: Candidate, found: TextRead, reason: string, rule: string): Source {
  return makeSource({
    path: candidate.file,
    scope: 'project',
    kind: 'instructions',
    label: candidate.label,
    status: found.state === 'unreadable' ? 'unknown' : 'not_loaded',
    reason,
    rule,
    raw: 'raw' in found ? found.raw : null,
    extra: { context_kind: candidate.kind, shadowed: reason.startsWith('shadowed') },
  })
}

/** From the start directory up to the root, both included; only the start directory where there is no root. */
function upTo(cwd: string, root: string | null): readonly string[] {
  const found = [cwd]
  if (root === null) return found
  for (let folder = cwd; folder !== root; ) {
    folder = path.dirname(folder)
    found.push(folder)
  }
  return found
}

/** Names in the order of their code points. */
const byPoints = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))
