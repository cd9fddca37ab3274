import type { StretchEvidence } from '../adapter.ts'

/** JSON behind `StretchEvidence.record`. A key that is absent was not in the record: unknown, not none. */
export interface OpenClawRecord {
  readonly agent: string
  readonly session_id: string
  readonly session_key: string | null
  readonly window_reason?: string
  readonly previous_session?: string
  /** Version of the transcript format, from the header. */
  format?: number
  provider?: string
  model?: string
  api?: string
  thinking?: string
  prompt_digest?: string
  used_tools?: readonly string[]
  used_skills?: readonly string[]
  /** From the trajectory, the session entry and the database, as far as they still tell of this stretch. */
  trace?: Trace
  /** How many different configurations the trajectory shows within the stretch. */
  configurations?: number
  report?: PromptReport
  /** Database the session lies in. */
  schema?: number
  database_program?: string
}

/** What the trajectory says of one turn (runtime page 6.3). Texts, arguments and addresses are left out. */
export interface Trace {
  readonly at: string
  readonly version: string | null
  readonly git: string | null
  readonly node: string | null
  readonly platform: string | null
  /** `agent --local`, `agent exec`, `gateway`, or the first word of another command. */
  readonly command: string | null
  readonly provider: string | null
  readonly model: string | null
  readonly api: string | null
  readonly thinking: string | null
  readonly fast: boolean | null
  readonly config_digest: string | null
  readonly tool_policy: {
    readonly profile: string | null
    readonly allow: readonly string[]
    readonly also_allow: readonly string[]
    readonly deny: readonly string[]
  } | null
  readonly plugins: readonly TracedPlugin[] | null
  /**
   * Names only: the report digests their schemas in its own way, and two kinds of digest would look like a change. Null when the list is
   * cut, as it mostly is.
   */
  readonly tools: readonly string[] | null
  /** Files of the workspace as the system prompt of the turn shows them, in its order; null when the trajectory does not hold the prompt. */
  readonly instructions: readonly InstructionText[] | null
  readonly skills: readonly string[] | null
}

export interface InstructionText {
  readonly path: string
  readonly text: string
}

export interface TracedPlugin {
  readonly id: string
  readonly version: string | null
  readonly origin: string | null
  readonly activated: boolean
  readonly reason: string | null
  readonly source: string | null
}

/** `systemPromptReport` of the session entry: the program's own account of what it put into the context (runtime page 5.8). */
export interface PromptReport {
  readonly at: string | null
  readonly workspace: string | null
  readonly files: readonly ReportedFile[]
  readonly tools: readonly { readonly name: string; readonly schema_digest: string | null }[]
  readonly skills: readonly string[]
  readonly prompt: { readonly characters: number | null; readonly hash: string | null }
  readonly max_characters: number | null
  readonly total_max_characters: number | null
  readonly sandbox: string | null
}

export interface ReportedFile {
  readonly name: string
  readonly path: string
  readonly missing: boolean
  readonly raw: number
  readonly injected: number
  readonly truncated: boolean
}

type Seen = 'format' | 'provider' | 'model' | 'api' | 'thinking' | 'prompt_digest'

/** What one stretch leaves behind about its configuration. The first value of a stretch stands; later ones are events. */
export class Evidence {
  readonly n: number
  readonly startedAt: string | null
  /** Time of its last row: what is kept beside the transcript was written before the rows of its turn. */
  lastAt: string | null = null
  cwd: string | null = null
  readonly #seen: Partial<Pick<OpenClawRecord, Seen>>
  readonly #tools = new Set<string>()
  readonly #skills = new Set<string>()

  constructor(n: number, startedAt: string | null, before: Evidence | null = null) {
    this.n = n
    this.startedAt = startedAt
    // What nothing changed goes on: a model is named once, when it is chosen.
    this.#seen = before === null ? {} : { ...before.#seen }
    delete this.#seen.prompt_digest
    this.cwd = before?.cwd ?? null
  }

  /** Sets a value; `over` replaces one taken over from the stretch before. */
  set<K extends Seen>(key: K, value: OpenClawRecord[K] | null, over = false): void {
    if (value === null || value === undefined || (!over && this.#seen[key] !== undefined)) return
    this.#seen[key] = value
  }

  /** Settings in force, as far as a row named them. */
  get chosen(): Readonly<Partial<Pick<OpenClawRecord, Seen>>> {
    return this.#seen
  }

  used(tool: string): void {
    this.#tools.add(tool)
  }

  usedSkill(name: string): void {
    this.#skills.add(name)
  }

  toStretch(
    home: string,
    session: string,
    common: Pick<OpenClawRecord, 'agent' | 'session_id' | 'session_key' | 'window_reason' | 'previous_session'>,
    beside: Partial<OpenClawRecord>,
  ): StretchEvidence {
    const record: OpenClawRecord = {
      ...common,
      ...this.#seen,
      ...beside,
      used_tools: [...this.#tools].sort(),
      used_skills: [...this.#skills].sort(),
    }
    const { n, startedAt, cwd } = this
    return {
      home,
      session,
      n,
      startedAt,
      cwd,
      branch: null,
      version: beside.trace?.version ?? null,
      flags: flagsOf(record),
      record: { ...record },
    }
  }
}

/** The start that a resolution must assume: the agent and the kind of session decide what enters the context. */
function flagsOf({ session_key, agent, trace }: OpenClawRecord): readonly string[] {
  return [
    ...(trace?.command === 'agent --local' ? ['--local'] : []),
    ...(session_key === null ? ['--agent', agent] : ['--session-key', session_key]),
  ]
}
