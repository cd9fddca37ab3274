import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { type EffectivePiece, effectiveDigest, textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { asList, asName, asNames, asRow, asText, type Row } from '../shared/fields.ts'
import { coverMemoryNotice } from './resolve/memory.ts'

/** One instruction file as the record shows it in the context. */
export interface SeenInstruction {
  readonly path: string
  readonly type: string | null
  readonly label: string | null
  readonly text: string
  readonly rule: boolean
  readonly imported_by: string | null
}

/** An instruction file that came in later, and what brought it in. */
export interface SeenLazily extends SeenInstruction {
  readonly at: string | null
  readonly trigger: string | null
  readonly raw_digest: string | null
}

/** JSON behind `StretchEvidence.record`. A key that is absent was not in the record: unknown, not none. */
export interface ClaudeRecord {
  instructions?: readonly SeenInstruction[]
  lazy?: readonly SeenLazily[]
  environment?: Row
  model?: string
  requested_model?: string
  effort?: string
  params?: Row
  shape?: {
    readonly hash: string
    readonly tools: readonly { readonly name: string; readonly schema_digest: string }[]
    readonly system_digest: string
  }
  deferred_tools?: readonly string[]
  /** Deferred tools whose definition was asked for. */
  resolved_tools?: readonly { readonly name: string; readonly schema_digest: string }[]
  failed_mcp?: readonly string[]
  pending_mcp?: readonly string[]
  mcp_instructions?: readonly { readonly name: string; readonly digest: string }[]
  skills?: readonly { readonly name: string; readonly digest: string | null }[]
  agents?: readonly { readonly name: string; readonly built_in: boolean }[]
  hooks?: readonly { readonly event: string; readonly name: string; readonly command_digest: string | null }[]
  permission_mode?: string
  entrypoint?: string
  git_status_digest?: string
  /** Lines of the short form of `git status`, as the model was shown them. */
  git_changes?: readonly string[]
  /** The row that stands behind the instructions of a start was there: if there were none, none had entered the context (2.1.332). */
  session_context?: true
  prompt_digest?: string
  used_tools?: readonly string[]
  used_skills?: readonly string[]
  used_agents?: readonly string[]
  /** Keys taken over from the stretch before: a resume goes on with what the conversation already holds (2.1.332). */
  carried?: readonly string[]
}

type Key = Exclude<keyof ClaudeRecord, 'carried'>

/** What one stretch leaves behind about its configuration. The first value of a stretch stands; later ones are events, not configuration. */
export class Evidence {
  readonly n: number
  startedAt: string | null
  readonly #record: ClaudeRecord
  readonly #carried: Set<string>
  readonly #usedTools: Set<string>
  readonly #usedSkills = new Set<string>()
  readonly #usedAgents = new Set<string>()
  cwd: string | null
  branch: string | null
  version: string | null

  constructor(n: number, startedAt: string | null, before: Evidence | null = null) {
    this.n = n
    this.startedAt = startedAt
    this.#record = before === null ? {} : { ...before.#record }
    for (const key of [
      'lazy',
      'hooks',
      'resolved_tools',
      'prompt_digest',
      'model',
      'params',
      'entrypoint',
      'permission_mode',
    ] as const)
      delete this.#record[key]
    this.#carried = new Set(Object.keys(this.#record))
    this.#usedTools = new Set()
    this.cwd = null
    this.branch = null
    this.version = null
  }

  /** Sets a value unless this stretch has shown one already. */
  set<K extends Key>(key: K, value: ClaudeRecord[K]): void {
    if (value === undefined || (this.#record[key] !== undefined && !this.#carried.has(key))) return
    this.#carried.delete(key)
    this.#record[key] = value
  }

  addLazily(file: SeenLazily): void {
    this.#record.lazy = [...(this.#record.lazy ?? []), file]
  }

  addResolved(tools: NonNullable<ClaudeRecord['resolved_tools']>): void {
    const known = this.#record.resolved_tools ?? []
    const added = tools.filter(({ name }) => !known.some((tool) => tool.name === name))
    if (added.length > 0) this.#record.resolved_tools = [...known, ...added]
  }

  addHook(hook: { readonly event: string; readonly name: string; readonly command: string | null }): void {
    const hooks = this.#record.hooks ?? []
    const command_digest = hook.command === null ? null : textDigest(hook.command)
    if (hooks.some((known) => known.name === hook.name && known.command_digest === command_digest)) return
    this.#record.hooks = [...hooks, { event: hook.event, name: hook.name, command_digest }]
  }

  used(tool: string, input: Row | null): void {
    this.#usedTools.add(tool)
    const skill = asName(input?.skill)
    if (tool === 'Skill' && skill !== null) this.#usedSkills.add(skill)
    const agent = asName(input?.subagent_type)
    if ((tool === 'Agent' || tool === 'Task') && agent !== null) this.#usedAgents.add(agent)
  }

  toStretch(home: string, session: string): StretchEvidence {
    const record: ClaudeRecord = {
      ...this.#record,
      used_tools: [...this.#usedTools].sort(),
      used_skills: [...this.#usedSkills].sort(),
      used_agents: [...this.#usedAgents].sort(),
      carried: [...this.#carried].sort(),
    }
    const { n, startedAt, cwd, branch, version } = this
    return { home, session, n, startedAt, cwd, branch, version, record: { ...record } }
  }
}

/** `attachment.instructions`: the files of the first block of the first message, in order (runtime page 3.6, 2.1.332). */
export function readInstructions(attachment: Row, rendered: unknown, home: string): readonly SeenInstruction[] {
  const shown = asList(rendered)
    .map((part) => asText(asRow(part)?.content) ?? '')
    .join('\n')
  const files: SeenInstruction[] = []
  for (const item of asList(attachment.files)) {
    const file = asRow(item)
    const path = asName(file?.path)
    if (file === null || path === null) continue
    const type = asText(file.type)
    files.push({
      path,
      type,
      label: labelIn(shown, path) ?? labelOf(type),
      text: type === 'AutoMem' ? coverMemoryNotice(asText(file.content) ?? '') : (asText(file.content) ?? ''),
      rule: file.isRule === true || isRulePath(path, home),
      imported_by: asText(file.parent),
    })
  }
  return files
}

export function piecesOf(files: readonly SeenInstruction[]): readonly EffectivePiece[] {
  return files.map(({ path, label, text }) => ({ path, label, text }))
}

export function effectiveDigestOf(files: readonly SeenInstruction[]): string | null {
  return effectiveDigest(piecesOf(files))
}

/** Label as the record itself shows it beside the path. */
function labelIn(shown: string, path: string): string | null {
  const start = shown.indexOf(`Contents of ${path} (`)
  if (start === -1) return null
  const from = start + `Contents of ${path} (`.length
  const end = shown.indexOf('):', from)
  return end === -1 || end - from > 200 ? null : shown.slice(from, end)
}

/** Labels by type, runtime page 2.2 (2.1.332); used where the record does not show its own. */
function labelOf(type: string | null): string | null {
  switch (type) {
    case 'Managed':
      return 'organization-managed policy instructions'
    case 'User':
      return "user's private global instructions for all projects"
    case 'Project':
      return 'project instructions, checked into the codebase'
    case 'Local':
      return "user's private project instructions, not checked in"
    case 'AutoMem':
      return "user's auto-memory, persists across conversations"
    default:
      return null
  }
}

/** Rules stand in `.claude/rules` of a project and in `rules` of the home, whatever its name (runtime page 2.2). */
export function isRulePath(path: string, home: string): boolean {
  return /[\\/]\.claude[\\/]rules[\\/]/.test(path) || path.startsWith(`${home}/rules/`)
}

/** `attachment.nested_memory`, both as 2.1.332 writes it (an object) and as older versions do (a text). */
export function readNested(
  attachment: Row,
  at: string | null,
  trigger: string | null,
  home: string,
): SeenLazily | null {
  const content = asRow(attachment.content)
  const path = asName(content?.path) ?? asName(attachment.path)
  const text = asText(content?.content) ?? asText(attachment.content)
  if (path === null || text === null) return null
  const raw = asText(content?.rawContent) ?? asText(attachment.rawContent)
  return {
    path,
    type: asText(content?.type),
    label: null,
    // Here the row keeps the line end that files loaded at start have lost; without it the same text has the same digest.
    text: text.trimEnd(),
    rule: content?.isRule === true || isRulePath(path, home),
    imported_by: asText(content?.parent),
    at,
    trigger,
    raw_digest: raw === null ? (content?.contentDiffersFromDisk === false ? textDigest(text) : null) : textDigest(raw),
  }
}

/** `api-request-shape`: the system prompt and the tool definitions; only digests are kept. */
export function readShape(row: Row): NonNullable<ClaudeRecord['shape']> | null {
  const shape = asRow(row.shape)
  const hash = asName(row.shapeHash)
  if (shape === null || hash === null) return null
  const tools: { name: string; schema_digest: string }[] = []
  for (const item of asList(shape.tools)) {
    const name = asName(asRow(item)?.name)
    if (name !== null) tools.push({ name, schema_digest: jsonDigest(item) })
  }
  return { hash, tools, system_digest: jsonDigest(shape.system ?? null) }
}

/** The changed files in the text about git that a start shows its model (`Status:`, 2.1.332); null when it has another form. */
export function readGitChanges(text: string): readonly string[] | null {
  const part = /(?:^|\n)Status:\n([\s\S]*?)(?:\n\n|$)/.exec(text)?.[1]
  if (part === undefined) return null
  return part.split('\n').filter((line) => /^[ MTADRCU?!]{2} ./.test(line))
}

/** SHA-256 of the RFC 8785 form. */
export function jsonDigest(value: unknown): string {
  return `sha256:${createHash('sha256')
    .update(canonicalize(value) ?? 'null', 'utf8')
    .digest('hex')}`
}

export function readNamed(names: unknown, digests: unknown): readonly { name: string; digest: string | null }[] {
  const all = asList(digests)
  return asNames(names).map((name, at) => ({ name, digest: asText(all[at]) }))
}
