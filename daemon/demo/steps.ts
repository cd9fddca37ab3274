/** What a model does in one of its answers. Paths are relative to the workspace. */
export type Step =
  | { readonly text: string }
  | { readonly thinking: string }
  | BashStep
  | { readonly read: string; readonly rule?: NestedRule }
  | { readonly edit: string; readonly from: string; readonly to: string; readonly rule?: NestedRule }
  | { readonly write: string; readonly content: string; readonly rule?: NestedRule }
  | { readonly tool: string; readonly input: Row; readonly fails: string }
  | AgentStep

export interface BashStep {
  readonly bash: string
  readonly why: string
  readonly output?: string
  readonly exit?: number
  readonly ms?: number
  /** The answer never came: the session ended first. */
  readonly open?: true
  /** Files the command itself changes; the record does not say so, as with the real one. */
  readonly writes?: Readonly<Record<string, string>>
}

export interface AgentStep {
  readonly agent: string
  readonly prompt: string
  readonly agentId: string
  readonly answer: string
  readonly tools: readonly string[]
  readonly ms: number
}

/** A path-scoped rule that a Read, Edit or Write brings in (runtime page 2.4). */
export interface NestedRule {
  readonly path: string
  readonly content: string
  readonly rawContent: string
}

/** The blocks of one answer. */
export type Turn = readonly Step[]

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined }
export type Row = Record<string, Json | undefined>
