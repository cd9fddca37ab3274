import { z } from 'zod'
import { effectSchema, shownTextSchema } from './run.ts'

/** What is known of a directory agents work in, and what of it is captured. */
export const leftOutSchema = z.object({
  /** Relative to the workspace; a folder ends in `/`. */
  path: z.string(),
  /** `ignored`: by the rules in the workspace. `large` files are kept, by hash; they are listed for their size. */
  reason: z.enum([
    'ignored',
    'oversized',
    'unreadable',
    'special',
    'credential',
    'repository',
    'budget',
    'excluded',
    'cache',
  ]),
  why: z.string(),
  bytes: z.number().int().nullable(),
})
export type LeftOut = Readonly<z.infer<typeof leftOutSchema>>

export const unitSchema = z.object({
  /** Relative to the workspace; empty for the workspace itself. */
  path: z.string(),
  kind: z.enum(['repository', 'submodule', 'worktree', 'plain']),
  head: z.string().nullable(),
  branch: z.string().nullable(),
  dirty: z.boolean().nullable(),
})
export type WorkspaceUnit = Readonly<z.infer<typeof unitSchema>>

export const workspaceSchema = z.object({
  /** `w_` and 12 hex digits, of its real path. */
  id: z.string(),
  path: z.string(),
  state: z.enum(['captured', 'partial', 'waiting', 'refused', 'gone', 'off']),
  why: z.string().nullable(),
  first_seen_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
  /** Newest captured state (tree). */
  tree: z.string().nullable(),
  states: z.number().int(),
  files: z.number().int(),
  bytes: z.number().int(),
  runs: z.number().int(),
  units: z.array(unitSchema),
  left_out: z.array(leftOutSchema),
  left_out_count: z.number().int(),
})
export type Workspace = Readonly<z.infer<typeof workspaceSchema>>

/** One side of a path at a point of a run. */
export const fileAtSchema = z.object({
  path: z.string(),
  exists: z.boolean().nullable(),
  kind: z.enum(['file', 'link', 'directory']).nullable(),
  mode: z.number().int().nullable(),
  bytes: z.number().int().nullable(),
  digest: z.string().nullable(),
  text: shownTextSchema.nullable(),
  /** Why there is no text, or why it is not known. */
  why: z.string().nullable(),
})
export type FileAt = Readonly<z.infer<typeof fileAtSchema>>

/** An event that changed a path, newest first; for a line: an event that wrote it as it stands, then those before. */
export const blameChangeSchema = z.object({
  run: z.string(),
  seq: z.number().int(),
  commit: z.string().nullable(),
  line: z.number().int().nullable(),
  at: z.string().nullable(),
  summary: z.string(),
  effect: effectSchema,
})
export type BlameChange = Readonly<z.infer<typeof blameChangeSchema>>

export const storeSizesSchema = z.object({
  bytes: z.number().int(),
  cap_bytes: z.number().int(),
  parts: z.array(z.object({ what: z.string(), bytes: z.number().int() })),
  workspaces: z.array(
    z.object({
      id: z.string(),
      path: z.string(),
      gone: z.boolean(),
      bytes: z.number().int(),
      states: z.number().int(),
      runs: z.number().int(),
    }),
  ),
  runtimes: z.array(z.object({ runtime: z.string(), bytes: z.number().int(), runs: z.number().int() })),
  runs: z.array(
    z.object({ run: z.string(), title: z.string(), bytes: z.number().int(), kept_by: z.array(z.string()) }),
  ),
  large: z.object({ objects: z.number().int(), bytes: z.number().int(), content_bytes: z.number().int() }),
  measured_at: z.string(),
})
export type StoreSizes = Readonly<z.infer<typeof storeSizesSchema>>

export const pruneResultSchema = z.object({
  dry_run: z.boolean(),
  before: z.number().int(),
  after: z.number().int(),
  cap_bytes: z.number().int(),
  /** False: what must be kept is larger than the cap; `kept` says what and why. */
  enough: z.boolean(),
  dropped: z.array(
    z.object({
      what: z.string(),
      run: z.string().nullable(),
      workspace: z.string().nullable(),
      bytes: z.number().int(),
      why: z.string(),
    }),
  ),
  kept: z.array(z.object({ what: z.string(), run: z.string().nullable(), why: z.string() })),
})
export type PruneResult = Readonly<z.infer<typeof pruneResultSchema>>
