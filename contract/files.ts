import { z } from 'zod'
import { writerSchema } from './rollback.ts'
import { runtimeNameSchema, shownTextSchema } from './run.ts'

/** Files that steer an agent, as they can be read, edited and brought back. */
export const fileFormats = ['markdown', 'json', 'jsonc', 'json5', 'toml', 'yaml', 'text', 'binary'] as const
export const agentFileSchema = z.object({
  path: z.string(),
  path_bytes: z.string().optional(),
  /** For the list: relative to the home or the workspace. */
  shown: z.string(),
  area: z.enum(['home', 'project', 'system']),
  /** Of the source in the manifest: `instructions`, `rule`, `settings`, `mcp`, `skill`, `memory` … */
  kind: z.string(),
  scope: z.string(),
  format: z.enum(fileFormats),
  state: z.enum(['loaded', 'lazy', 'not_loaded', 'unknown', 'deleted']),
  reason: z.string().nullable(),
  digest: z.string().nullable(),
  bytes: z.number().int().nullable(),
  modified_at: z.string().nullable(),
  versions: z.number().int(),
  editable: z.boolean(),
  /** Why it cannot be edited, or what to know before (a link, a managed file, a credential). */
  note: z.string().nullable(),
  link_target: z.string().nullable(),
})
export type AgentFile = Readonly<z.infer<typeof agentFileSchema>>

export const fileProblemSchema = z.object({
  line: z.number().int().nullable(),
  column: z.number().int().nullable(),
  severity: z.enum(['error', 'warning']),
  /** `syntax`, `unknown_key`, `value`, `secret`, `import_cycle`, `missing_import`, `size`, `provenance` … */
  code: z.string(),
  message: z.string(),
  /** What could be done: "did you mean allow?" */
  repair: z.string().nullable(),
})
export type FileProblem = Readonly<z.infer<typeof fileProblemSchema>>

export const fileEffectSchema = z.object({
  workspace: z.string().nullable(),
  changes: z.array(
    z.object({
      field: z.string(),
      before: z.string().nullable(),
      after: z.string().nullable(),
      rule: z.string().nullable(),
    }),
  ),
  effective_before: z.string().nullable(),
  effective_after: z.string().nullable(),
  why_not: z.string().nullable(),
})
export type FileEffect = Readonly<z.infer<typeof fileEffectSchema>>

export const fileVersionSchema = z.object({
  /** `v_` and 12 hex digits, of path, time and content. */
  id: z.string(),
  path: z.string(),
  at: z.string(),
  digest: z.string().nullable(),
  bytes: z.number().int().nullable(),
  /** The file was not there from then on. */
  deleted: z.boolean(),
  writer: writerSchema,
  why: z.string(),
  name: z.string().nullable(),
  note: z.string().nullable(),
  /** Change of configuration on the timeline that it belongs to. */
  drift: z.string().nullable(),
  /** Its bytes are kept. */
  restorable: z.boolean(),
})
export type FileVersion = Readonly<z.infer<typeof fileVersionSchema>>

export const fileContentSchema = z.object({
  file: agentFileSchema,
  /** Null: binary or over 4 MB. Line ends and byte-order mark are told below and are not in the text. */
  text: shownTextSchema.nullable(),
  /** False: something is covered, so what is shown must not be saved as a whole; single keys and other lines may be. */
  whole: z.boolean(),
  bom: z.boolean(),
  line_end: z.enum(['lf', 'crlf', 'mixed', 'none']),
  problems: z.array(fileProblemSchema),
})
export type FileContent = Readonly<z.infer<typeof fileContentSchema>>

export const blamedLineSchema = z.object({
  line: z.number().int(),
  text: z.string(),
  version: z.string().nullable(),
  at: z.string().nullable(),
  writer: writerSchema,
})
export type BlamedLine = Readonly<z.infer<typeof blamedLineSchema>>

/** A new value for one key of a structured file, or null to remove it; everything else in the file keeps its bytes. */
export const keyEditSchema = z.object({
  key: z.array(z.union([z.string(), z.number().int()])).min(1),
  value: z.json().optional(),
})

export const savedFileSchema = z.object({
  version: fileVersionSchema,
  file: agentFileSchema,
  /** Nothing differed, so nothing was written. */
  unchanged: z.boolean(),
})

export const hookStatusSchema = z.object({
  runtime: runtimeNameSchema,
  home: z.string(),
  /** `altered`: somebody changed what was installed. `cannot`: this runtime or version has no hooks we may use. */
  state: z.enum(['absent', 'installed', 'altered', 'outdated', 'cannot']),
  path: z.string().nullable(),
  why: z.string().nullable(),
  installed_at: z.string().nullable(),
  /** Newest call of a hook. */
  last_call_at: z.string().nullable(),
  calls: z.number().int(),
  /** Calls that found no daemon; the agent went on without waiting. */
  missed: z.number().int(),
})
export type HookStatus = Readonly<z.infer<typeof hookStatusSchema>>

export const hookPlanSchema = z.object({
  runtime: runtimeNameSchema,
  home: z.string(),
  action: z.enum(['install', 'remove']),
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(['add', 'change', 'delete', 'none']),
      before_digest: z.string().nullable(),
      after_digest: z.string().nullable(),
      /** Unified diff, secrets covered. */
      diff: z.string(),
    }),
  ),
  /** What the agent will call, and what it then waits for at most. */
  command: z.string(),
  limit_ms: z.number().int(),
  warnings: z.array(z.string()),
})
export type HookPlan = Readonly<z.infer<typeof hookPlanSchema>>
