import { z } from 'zod'
import { runtimeNameSchema } from './run.ts'

/** A change of configuration outside of a start: what changed, who could have made it, and how grave it is. */
export const driftWriterSchema = z.object({
  /** `agent update`: the program changed with it. `agent`: the agent's own bookkeeping. `run`: an action of a run. */
  who: z.enum(['agent update', 'agent', 'run', 'reprise', 'user', 'unknown']),
  run: z.string().nullable(),
  seq: z.number().int().nullable(),
  /** What this rests on, or what stands against knowing more. */
  why: z.string(),
})
export type DriftWriter = Readonly<z.infer<typeof driftWriterSchema>>

export const driftChangeSchema = z.object({
  /** File, or null where the source is none. */
  path: z.string().nullable(),
  /** What about it: `content`, `appeared`, `gone`, a dotted key, or a field of the manifest. */
  what: z.string(),
  /** Short, secrets covered; null: there was or is nothing. */
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** An earlier state of the same file that came back (B18): when it was last seen. */
  same_as: z.string().nullable(),
})

export const driftSchema = z.object({
  id: z.string(),
  at: z.string(),
  home: z.string(),
  home_path: z.string(),
  runtime: runtimeNameSchema,
  /** Directory the configuration was resolved for; null for changes of the home alone. */
  workspace: z.string().nullable(),
  kind: z.enum(['configuration', 'update', 'first_seen']),
  title: z.string(),
  changes: z.array(driftChangeSchema),
  writer: driftWriterSchema,
  /** Something was lost that a person would want to know of at once ("MCP servers 3 → 0"); null when not. */
  alert: z.string().nullable(),
  /** Helper files of the agent that came or went with it, and are no change themselves. */
  helpers: z.array(z.object({ path: z.string(), why: z.string() })),
  /** Manifests before and after; before is null when none was made. */
  before: z.string().nullable(),
  after: z.string(),
})
export type Drift = Readonly<z.infer<typeof driftSchema>>

export const configurationHitSchema = z.object({
  drift: z.string().nullable(),
  manifest: z.string().nullable(),
  home: z.string().nullable(),
  runtime: runtimeNameSchema,
  at: z.string(),
  path: z.string().nullable(),
  what: z.string(),
  /** Secrets covered; the matched words between U+E000 and U+E001. */
  snippet: z.string(),
})
export type ConfigurationHit = Readonly<z.infer<typeof configurationHitSchema>>
