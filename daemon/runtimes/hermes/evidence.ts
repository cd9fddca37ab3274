import { textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { asName, asNames, asNumber, asRow, type Row } from '../shared/fields.ts'
import type { PromptParts } from './prompt-parts.ts'
import type { NamedTool } from './session-files.ts'
import type { Hint } from './tool-results.ts'

/** JSON behind `StretchEvidence.record`. A key that is absent was not in the record: unknown, not none. */
export interface HermesRecord {
  /** Where the session was read from. */
  from?: 'database' | 'document' | 'log'
  schema?: number
  newer_schema?: true
  source?: string
  profile?: string
  model?: string
  model_config?: Row
  provider?: string
  base_url?: string
  platform?: string
  started_line?: string
  prompt?: {
    /** As the database names it: SHA-256 of the text, lower-case hex. */
    readonly hash: string | null
    readonly digest: string
    readonly characters: number
    /** Null when the row says it is missing. */
    readonly head: string | null
    readonly skills_index: string | null
    readonly workspace: string | null
    readonly project: PromptParts['project']
    readonly memory: string | null
    readonly user: string | null
    readonly skills: PromptParts['skills']
  }
  tools?: readonly NamedTool[]
  git_branch?: string
  git_root?: string
  parent?: string
  relation?: string
  prompt_digest?: string
  used_tools?: readonly string[]
  used_skills?: readonly string[]
  /** Context files that tool results brought in. */
  lazy?: readonly {
    readonly path: string
    readonly text_digest: string
    readonly at: string | null
    readonly trigger: string | null
    readonly blocked: readonly string[] | null
    readonly truncated: boolean
  }[]
  /** Times of a log have no zone: as they stand there. */
  local_start?: string
}

/** What a session leaves behind about its configuration. The prompt is frozen per session, so one stretch has it all (runtime page 1). */
export class Evidence {
  readonly record: HermesRecord = {}
  readonly #usedTools = new Set<string>()
  readonly #usedSkills = new Set<string>()
  startedAt: string | null = null
  cwd: string | null = null
  branch: string | null = null

  set<K extends keyof HermesRecord>(key: K, value: HermesRecord[K] | null): void {
    if (value !== null && value !== undefined && this.record[key] === undefined) this.record[key] = value
  }

  /** Facts that stand beside the lines. They are those of now: only what does not change after the start is taken. */
  meta(meta: Row): void {
    const usage = asRow(meta.usage)
    const schema = asNumber(meta.schema)
    if (meta.lines_from === 'database') this.set('from', 'database')
    if (meta.lines_from === 'document') this.set('from', 'document')
    if (schema !== null) this.set('schema', schema)
    if (meta.newer_schema === true) this.set('newer_schema', true)
    this.set('source', asName(meta.source))
    this.set('profile', asName(meta.profile_name))
    this.set('model', asName(meta.model))
    this.set('model_config', asRow(meta.model_config))
    this.set('provider', asName(usage?.provider))
    this.set('base_url', asName(usage?.base_url))
    this.set('git_branch', asName(meta.git_branch))
    this.set('git_root', asName(meta.git_repo_root))
    this.set('parent', asName(meta.parent))
    this.set('relation', asName(meta.relation))
    this.cwd ??= asName(meta.cwd)
    this.branch ??= asName(meta.git_branch)
    if (Array.isArray(meta.tools)) this.set('tools', meta.tools as readonly NamedTool[])
  }

  prompt(hash: string | null, text: string | null, parts: PromptParts | null): void {
    this.set('prompt', {
      hash,
      digest: text === null ? (hash === null ? '' : `sha256:${hash}`) : textDigest(text),
      characters: text === null ? 0 : [...text].length,
      head: parts?.head ?? null,
      skills_index: parts?.skillsIndex ?? null,
      workspace: parts?.workspace ?? null,
      project: parts?.project ?? [],
      memory: parts?.memory ?? null,
      user: parts?.user ?? null,
      skills: parts?.skills ?? [],
    })
    this.set('model', parts?.model ?? null)
    this.set('provider', parts?.provider ?? null)
    this.set('platform', parts?.platform ?? null)
    this.set('started_line', parts?.started ?? null)
  }

  used(tool: string, input: Row | null): void {
    this.#usedTools.add(tool)
    if (tool !== 'skill_view' && tool !== 'skill_manage') return
    const skill = asName(input?.name) ?? asName(input?.skill) ?? asNames(input?.names)[0]
    if (skill !== undefined && skill !== null) this.#usedSkills.add(skill)
  }

  lazy({ path, text, blocked, truncated }: Hint, at: string | null, trigger: string | null): void {
    this.record.lazy = [
      ...(this.record.lazy ?? []),
      { path, text_digest: textDigest(text), at, trigger, blocked, truncated },
    ]
  }

  toStretch(home: string, session: string): StretchEvidence {
    const record: HermesRecord = {
      ...this.record,
      used_tools: [...this.#usedTools].sort(),
      used_skills: [...this.#usedSkills].sort(),
    }
    const { startedAt, cwd, branch } = this
    return { home, session, n: 1, startedAt, cwd, branch, version: null, record: { ...record } }
  }
}
