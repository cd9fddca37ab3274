import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { StretchEvidence } from '../adapter.ts'
import { asList, asName, asRow, asText, type Row } from '../shared/fields.ts'

/** JSON behind `StretchEvidence.record`. A key that is absent was not in the record: unknown, not none. */
export interface RolloutEvidence {
  /** How the session came to be: surface, client, provider, parent. */
  origin?: Origin
  git?: { readonly sha: string | null; readonly branch: string | null }
  base_prompt_digest?: string
  /** A base prompt that is not the model's own; null when the record says that it is. */
  base?: string | null
  /** The block of AGENTS.md texts as it entered the context; null when the record shows that there was none. */
  agents?: { readonly directory: string | null; readonly text: string } | null
  developer?: string
  memory?: string
  skills?: readonly { readonly name: string; readonly path: string | null }[]
  tools?: readonly { readonly name: string; readonly schema_digest: string }[]
  deferred_tools?: readonly string[]
  settings?: Settings
  environment?: { readonly shell: string | null; readonly timezone: string | null; readonly date: string | null }
  plugins_off?: readonly string[]
  prompt_digest?: string
  used_tools?: readonly string[]
  used_skills?: readonly string[]
  /** Why it is not known what began this one. */
  doubt?: string
  /** Keys taken over from the stretch before: a resume goes on with what the conversation already holds. */
  carried?: readonly string[]
}

export interface Origin {
  readonly source: string | null
  readonly client: string | null
  readonly thread_source: string | null
  readonly provider: string | null
  readonly history_mode: string | null
  readonly root_session: string | null
  readonly parent_thread: string | null
  readonly agent_path: string | null
  readonly agent_role: string | null
  readonly forked_from: string | null
  readonly forked_at: number | null
}

/** Settings of a turn, as `turn_context` has them. */
export interface Settings {
  readonly model: string | null
  readonly effort: string | null
  readonly summary: string | null
  readonly approval: string | null
  readonly reviewer: string | null
  readonly sandbox: string | null
  readonly network: boolean | null
  readonly writable: readonly string[]
  readonly permission_profile: string | null
  readonly collaboration_mode: string | null
  readonly multi_agent: string | null
  readonly personality: string | null
}

type Key = Exclude<keyof RolloutEvidence, 'carried' | 'used_tools' | 'used_skills'>

/** Of one start only: what a resume does not take over. */
const ownKeys = ['prompt_digest', 'settings', 'doubt'] as const

/** What one stretch leaves behind about its configuration. The first value of a stretch stands; later ones are events. */
export class Evidence {
  readonly n: number
  startedAt: string | null
  cwd: string | null = null
  version: string | null = null
  readonly #record: RolloutEvidence
  readonly #carried: Set<string>
  readonly #usedTools = new Set<string>()
  readonly #usedSkills = new Set<string>()

  constructor(n: number, startedAt: string | null, before: Evidence | null = null) {
    this.n = n
    this.startedAt = startedAt
    this.#record = before === null ? {} : { ...before.#record }
    for (const key of ownKeys) delete this.#record[key]
    this.#carried = new Set(Object.keys(this.#record))
  }

  /** Sets a value unless this stretch has shown one already. */
  set<K extends Key>(key: K, value: RolloutEvidence[K]): void {
    if (value === undefined || (key in this.#record && !this.#carried.has(key))) return
    this.#carried.delete(key)
    this.#record[key] = value
  }

  addTools(tools: NonNullable<RolloutEvidence['tools']>): void {
    const known = this.#carried.has('tools') ? [] : (this.#record.tools ?? [])
    this.#carried.delete('tools')
    this.#record.tools = [...known, ...tools.filter(({ name }) => !known.some((tool) => tool.name === name))]
  }

  usedTool(name: string): void {
    this.#usedTools.add(name)
  }

  usedSkill(name: string): void {
    this.#usedSkills.add(name)
  }

  toStretch(home: string, session: string): StretchEvidence {
    const record: RolloutEvidence = {
      ...this.#record,
      used_tools: [...this.#usedTools].sort(),
      used_skills: [...this.#usedSkills].sort(),
      carried: [...this.#carried].sort(),
    }
    const { n, startedAt, cwd, version } = this
    return { home, session, n, startedAt, cwd, branch: record.git?.branch ?? null, version, record: { ...record } }
  }
}

export function originOf(meta: Row): Origin {
  const spawn = spawnOf(meta)
  const base = asRow(meta.history_base)
  const ordinal = meta.forked_from_ordinal_exclusive ?? base?.end_ordinal_exclusive
  return {
    source: sourceOf(meta.source),
    client: asName(meta.originator),
    thread_source: asName(meta.thread_source),
    provider: asName(meta.model_provider),
    history_mode: asName(meta.history_mode),
    root_session: asName(meta.session_id),
    parent_thread: asName(spawn?.parent_thread_id) ?? asName(meta.parent_thread_id),
    agent_path: asName(spawn?.agent_path) ?? asName(meta.agent_path),
    agent_role: asName(spawn?.agent_role) ?? asName(meta.agent_role),
    forked_from: asName(meta.forked_from_id),
    forked_at: typeof ordinal === 'number' ? ordinal : null,
  }
}

/** `exec`, `cli`, `vscode`; an object names another kind, such as `subagent`, by its key. */
function sourceOf(source: unknown): string | null {
  return asName(source) ?? Object.keys(asRow(source) ?? {})[0] ?? null
}

export function spawnOf(meta: Row): Row | null {
  return asRow(asRow(asRow(meta.source)?.subagent)?.thread_spawn)
}

export function settingsOf(turn: Row): Settings {
  const sandbox = asRow(turn.sandbox_policy)
  const profile = asRow(turn.permission_profile)
  const mode = asRow(turn.collaboration_mode)
  const inMode = asRow(mode?.settings)
  const network = sandbox?.network_access
  return {
    model: asName(turn.model),
    effort: asName(turn.effort) ?? asName(inMode?.reasoning_effort),
    summary: asName(turn.summary),
    approval: asName(turn.approval_policy) ?? Object.keys(asRow(turn.approval_policy) ?? {})[0] ?? null,
    reviewer: asName(turn.approvals_reviewer),
    // `mode` in 0.41, `type` in 0.171.
    sandbox: asName(sandbox?.type) ?? asName(sandbox?.mode) ?? asName(turn.sandbox_policy),
    network: typeof network === 'boolean' ? network : network === 'enabled' ? true : networkOf(profile),
    writable: asList(sandbox?.writable_roots).filter((root): root is string => typeof root === 'string'),
    permission_profile: asName(asRow(turn.active_permission_profile)?.id) ?? asName(profile?.type),
    collaboration_mode: asName(mode?.mode),
    multi_agent: asName(turn.multi_agent_version),
    personality: asName(turn.personality),
  }
}

function networkOf(profile: Row | null): boolean | null {
  switch (profile?.network) {
    case 'restricted':
      return false
    case 'enabled':
    case 'unrestricted':
      return true
    default:
      return null
  }
}

/** Tools of an `additional_tools` item or a `tool_search_output`, those of a namespace under its name. */
export function toolsOf(item: Row): NonNullable<RolloutEvidence['tools']> {
  return asList(item.tools).flatMap((value): { name: string; schema_digest: string }[] => {
    const tool = asRow(value)
    const name = asName(tool?.name) ?? asName(tool?.type)
    if (tool === null || name === null) return []
    if (tool.type !== 'namespace') return [{ name, schema_digest: jsonDigest(tool) }]
    return asList(tool.tools).flatMap((inner) => {
      const own = asName(asRow(inner)?.name)
      if (own === null) return []
      const full = name.startsWith('mcp__') ? `${name}__${own}` : `${name}.${own}`
      return [{ name: full, schema_digest: jsonDigest(inner) }]
    })
  })
}

/**
 * Skills as the listing in the context names them: `- name: description (file: r0/name/SKILL.md)` below the roots `r0` stands for
 * (0.171), or with whole paths.
 */
export function skillsOf(listing: string): NonNullable<RolloutEvidence['skills']> {
  const roots = new Map<string, string>()
  for (const [, name = '', path = ''] of listing.matchAll(/^- `(\w+)` = `([^`]+)`$/gm)) roots.set(name, path)
  const skills: { name: string; path: string | null }[] = []
  for (const [, name = '', file = ''] of listing.matchAll(
    /^- ([^\n:`]+(?::[^\n:` ]+)?): .*?\(file: ([^)\n]+)\)\s*$/gm,
  )) {
    const [head = '', ...rest] = file.split('/')
    const root = roots.get(head)
    skills.push({ name, path: root === undefined ? file : [root, ...rest].join('/') })
  }
  return skills
}

/** SHA-256 of the RFC 8785 form. */
export function jsonDigest(value: unknown): string {
  return `sha256:${createHash('sha256')
    .update(canonicalize(value) ?? 'null', 'utf8')
    .digest('hex')}`
}

/** The memory summary inside its part of the developer message; null when the part has another form. */
export function readMemorySummary(part: string): string | null {
  return /^=+ MEMORY_SUMMARY BEGINS =+\n([\s\S]*?)\n=+ MEMORY_SUMMARY ENDS =+$/m.exec(part)?.[1] ?? null
}

/** The text inside the block that shows AGENTS.md to the model (page 4), and the directory it names. */
export function readAgentsBlock(shown: string): { readonly directory: string | null; readonly text: string } | null {
  const found = /^# AGENTS\.md instructions(?: for ([^\n]*))?\n\n<INSTRUCTIONS>\n([\s\S]*?)\n<\/INSTRUCTIONS>\s*$/.exec(
    shown,
  )
  if (found !== null) return { directory: found[1] ?? null, text: found[2] ?? '' }
  // Until September 2025 (bare items).
  const older = /^<user_instructions>\n\n([\s\S]*?)\n\n<\/user_instructions>\s*$/.exec(shown)
  return older === null ? null : { directory: null, text: older[1] ?? '' }
}

export function environmentOf(state: Row): RolloutEvidence['environment'] {
  const environments = Object.values(asRow(state.environments) ?? {}).map(asRow)
  return {
    shell: environments.map((each) => asText(each?.shell)).find((shell) => shell !== null) ?? null,
    timezone: asText(state.timezone),
    date: asText(state.current_date),
  }
}
