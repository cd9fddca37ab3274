import { z } from 'zod'

/** Runs, events and what they changed, as the daemon tells them. Field names are those of the command's JSON form. */
export const runtimeNames = ['claude-code', 'codex', 'openclaw', 'hermes', 'native', 'command'] as const
export const runtimeNameSchema = z.enum(runtimeNames)
export type RuntimeName = z.infer<typeof runtimeNameSchema>

export const coverageStateSchema = z.enum(['complete', 'partial', 'none'])
export type CoverageState = z.infer<typeof coverageStateSchema>

/** One boundary or category of a run and how completely it was captured, always with a reason when it was not. */
export const coverageItemSchema = z.object({
  what: z.string(),
  state: coverageStateSchema,
  why: z.string().nullable(),
  count: z.number().int().nullable(),
})
export const coverageSchema = z.object({
  /** `observed`: read from the agent's own files. `recorded`: run under Reprise. */
  mode: z.enum(['observed', 'recorded']),
  state: coverageStateSchema,
  items: z.array(coverageItemSchema),
})
export type Coverage = Readonly<z.infer<typeof coverageSchema>>

export const tokensSchema = z.object({
  input: z.number().int(),
  output: z.number().int(),
  cache_read: z.number().int(),
  cache_write: z.number().int(),
})
export type Tokens = Readonly<z.infer<typeof tokensSchema>>

export const stretchSchema = z.object({
  n: z.number().int(),
  started_at: z.string().nullable(),
  /** What began it. */
  cause: z.enum(['start', 'resume', 'fork', 'unknown']),
  manifest: z.string().nullable(),
  /** First event of the stretch. */
  first_seq: z.number().int(),
})

export const runStatusSchema = z.enum(['running', 'done', 'failed', 'open', 'no_conversation', 'unreadable'])
export type RunStatus = z.infer<typeof runStatusSchema>

export const runSchema = z.object({
  id: z.string(),
  session: z.string(),
  runtime: runtimeNameSchema,
  runtime_version: z.string().nullable(),
  /** All versions seen, in order of appearance. */
  runtime_versions: z.array(z.string()),
  home: z.string(),
  home_id: z.string(),
  /** Directory the run started in, as written in its records; null when no record names one. */
  workspace: z.string().nullable(),
  /** Every directory its records name, in order (R16: it can change in mid-run). */
  workspaces: z.array(z.string()),
  title: z.string(),
  /** Where the title came from: the agent's own, the first prompt, or nothing. */
  title_from: z.enum(['agent', 'prompt', 'none']),
  models: z.array(z.string()),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  status: runStatusSchema,
  parent: z.string().nullable(),
  relation: z.enum(['fork', 'subagent', 'replay']).nullable(),
  /** Sequence number in the parent after which this run begins. */
  forked_at: z.number().int().nullable(),
  stretches: z.array(stretchSchema),
  /** Own events; copied ones are counted in the parent and stand in `copied_events`. */
  events: z.number().int(),
  copied_events: z.number().int(),
  calls: z.object({ total: z.number().int(), failed: z.number().int() }),
  /** Paths changed by own events, by kind of change, as far as they were seen. */
  effects: z.object({
    added: z.number().int(),
    changed: z.number().int(),
    deleted: z.number().int(),
    unknown_calls: z.number().int(),
  }),
  /** Own usage, once per reply; `tokens_are_lower_bound` when the runtime wrote counts of the start of the stream. */
  tokens: tokensSchema,
  tokens_are_lower_bound: z.boolean(),
  manifest: z.string().nullable(),
  /** Runs that began with the same words are of the same task; null when no prompt is recorded. */
  task: z.string().nullable(),
  coverage: coverageStateSchema,
  unreadable_lines: z.number().int(),
  /** The session's files as they are now: still there, shrunk, vanished. */
  source_state: z.enum(['present', 'shrank', 'vanished']),
  /** Times stepped back inside the record (R30): order is file order. */
  clock_steps_back: z.number().int(),
})
export type Run = Readonly<z.infer<typeof runSchema>>

export const effectSchema = z.object({
  path: z.string(),
  change: z.enum(['add', 'change', 'delete', 'mode', 'unknown']),
  by: z.enum(['edit tool', 'shell', 'background process', 'another run', 'user', 'unknown']),
  before: z.string().nullable(),
  after: z.string().nullable(),
  added_lines: z.number().int().nullable(),
  removed_lines: z.number().int().nullable(),
  /** Where this is known from: `session` (its own record) or `files` (states before and after); `both` agree. */
  seen_in: z.enum(['session', 'files', 'both']).optional(),
  /** What the label in `by` rests on. */
  why: z.string().optional(),
})
export type Effect = Readonly<z.infer<typeof effectSchema>>

export const eventKinds = [
  'prompt',
  'model',
  'tool',
  'instructions',
  'rule',
  'memory',
  'skill',
  'plugin',
  'tool_schema',
  'denied',
  'context',
  'hook',
  'error',
  'compact',
  'resume',
  'checkpoint',
  'note',
  'unknown',
] as const
export const eventKindSchema = z.enum(eventKinds)
export type EventKind = z.infer<typeof eventKindSchema>

export const originSchema = z.enum(['live', 'historical', 'synthetic', 'fault'])

export const eventSchema = z.object({
  /** From 1, in file order. */
  seq: z.number().int(),
  id: z.string(),
  /** Event this one hangs on in the runtime's own tree; null for a root. `broken_link` when the record names a parent that is not there. */
  parent: z.string().nullable(),
  broken_link: z.boolean(),
  kind: eventKindSchema,
  at: z.string().nullable(),
  tool: z.string().nullable(),
  tool_use_id: z.string().nullable(),
  /** One redacted line. */
  summary: z.string(),
  /** null: still open, or not applicable. */
  ok: z.boolean().nullable(),
  duration_ms: z.number().nullable(),
  origin: originSchema,
  pre_state: z.string().nullable(),
  post_state: z.string().nullable(),
  effects: z.array(effectSchema),
  /** Whether `effects` is known to be all of them. */
  effects_state: z.enum(['complete', 'partial', 'none', 'not_applicable']),
  tokens: tokensSchema.nullable(),
  model: z.string().nullable(),
  /** Part of a side conversation inside the same file. */
  lane: z.enum(['main', 'sidechain']),
  /** Run of the subagent this call started. */
  subagent: z.string().nullable(),
  /** `RUN@SEQ` of the original when this event was copied by a fork. */
  copied_from: z.string().nullable(),
  stretch: z.number().int(),
  cwd: z.string().nullable(),
  line: z.number().int().nullable(),
  commit: z.string().nullable(),
  exchange: z.string().nullable(),
})
export type RunEvent = Readonly<z.infer<typeof eventSchema>>

/** A piece of text whose secrets are covered; `hidden` says what and how to open it. */
export const hiddenSpanSchema = z.object({
  ref: z.string(),
  family: z.string(),
  /** 0: not known, as only the covered text is at hand. */
  characters: z.number().int(),
  placeholder: z.string(),
})
export const shownTextSchema = z.object({
  text: z.string(),
  /** Characters of the whole; larger than `text.length` when cut. */
  total: z.number().int(),
  hidden: z.array(hiddenSpanSchema),
})
export type ShownText = Readonly<z.infer<typeof shownTextSchema>>

export const eventDetailSchema = z.object({
  event: eventSchema,
  /** Words of a person or a model, thinking, and what a call was given and gave. */
  parts: z.array(
    z.object({
      role: z.enum(['prompt', 'text', 'thinking', 'input', 'output', 'error', 'context', 'raw']),
      label: z.string(),
      body: shownTextSchema,
      format: z.enum(['markdown', 'text', 'json', 'ansi']),
    }),
  ),
  changes: z.array(
    z.object({
      path: z.string(),
      change: effectSchema.shape.change,
      before: shownTextSchema.nullable(),
      after: shownTextSchema.nullable(),
      /** Why a side is missing although it existed. */
      why: z.string().nullable(),
    }),
  ),
  source: z
    .object({ path: z.string(), line: z.number().int(), byte: z.number().int(), bytes: z.number().int() })
    .nullable(),
  /** Other events that name this one: what it saw, what it fed. */
  fed_by: z.array(z.number().int()),
  feeds: z.array(z.number().int()),
})
export type EventDetail = Readonly<z.infer<typeof eventDetailSchema>>

const contextBlockSchema = z.object({
  kind: z.enum(['text', 'thinking', 'call', 'result', 'image', 'other']),
  label: z.string(),
  body: shownTextSchema,
  format: z.enum(['markdown', 'text', 'json', 'ansi']),
  /** The provider was asked to cache everything up to here. */
  cached: z.boolean(),
})
export type ContextBlock = Readonly<z.infer<typeof contextBlockSchema>>

/** What the model was given for one reply. */
export const contextSchema = z.object({
  /** Run and event of the reply the request led to. Another run than asked for where a fork copied the reply. */
  run: z.string(),
  at_seq: z.number().int(),
  /** The digest of what was rebuilt is the one the agent recorded of what it sent. */
  exact: z.boolean(),
  /** Why it is not exact. */
  why: z.string().nullable(),
  /** Digest the agent recorded. */
  digest: z.string().nullable(),
  /** `archive`: rebuilt from the kept copy, in which secrets are covered. */
  from: z.enum(['disk', 'archive']),
  model: z.string().nullable(),
  /** JSON. */
  parameters: shownTextSchema,
  system: z.array(contextBlockSchema),
  tools: z.array(z.object({ name: z.string(), schema_digest: z.string(), definition: shownTextSchema })),
  messages: z.array(
    z.object({
      role: z.string(),
      /** The record vouches for this message; otherwise it is the best that could be put together. */
      as_sent: z.boolean(),
      blocks: z.array(contextBlockSchema),
    }),
  ),
  /** The request before: the event of its reply, and how many of its messages this one begins with. */
  before: z
    .object({
      seq: z.number().int(),
      kept: z.number().int(),
      messages: z.number().int(),
      /** System prompt or tools are others; null when not known. */
      shape_changed: z.boolean().nullable(),
      parameters_changed: z.boolean().nullable(),
    })
    .nullable(),
})
export type ModelContext = Readonly<z.infer<typeof contextSchema>>

export const unreadableSchema = z.object({
  path: z.string(),
  line: z.number().int(),
  /** Offset of the line in the file. */
  byte: z.number().int(),
  bytes: z.number().int(),
  reason: z.string(),
  /** True when complete records were recovered from it all the same. */
  repaired: z.boolean(),
  run: z.string().nullable(),
})
export type Unreadable = Readonly<z.infer<typeof unreadableSchema>>
