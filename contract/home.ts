import { z } from 'zod'
import { runtimeNameSchema } from './run.ts'

export const homeSchema = z.object({
  id: z.string(),
  runtime: runtimeNameSchema,
  path: z.string(),
  /** Why it is here: the default place, a variable, or the user added it. */
  found_by: z.string(),
  /** Version of the program installed now, if one could be found; else the newest version its sessions name. */
  version: z.string().nullable(),
  version_from: z.enum(['program', 'sessions', 'unknown']),
  state: z.enum(['ok', 'missing', 'unreadable', 'empty']),
  reason: z.string().nullable(),
  watched: z.boolean(),
  /** Directories watched now of those worth watching; the rest is polled. */
  watching: z.object({
    watched: z.number().int(),
    wanted: z.number().int(),
    polling: z.boolean(),
    why: z.string().nullable(),
  }),
  sessions: z.number().int(),
  /** Unreadable lines plus unreadable files below it. */
  unreadable: z.number().int(),
  bytes: z.number().int(),
  /** The agent's own clean-up of sessions. */
  retention: z.object({ days: z.number().nullable(), from: z.string(), expiring_soon: z.number().int() }).nullable(),
  last_read_at: z.string().nullable(),
})
export type Home = Readonly<z.infer<typeof homeSchema>>

export const lookedSchema = z.object({
  runtime: runtimeNameSchema,
  places: z.array(z.string()),
  found: z.number().int(),
  supported: z.boolean(),
})
export type Looked = Readonly<z.infer<typeof lookedSchema>>

export const gapSchema = z.object({
  id: z.string(),
  kind: z.enum([
    'unreadable_line',
    'unreadable_file',
    'watch_exhausted',
    'watch_failed',
    'source_shrank',
    'source_vanished',
    'unknown_record',
    'newer_version',
    'broken_link',
    'not_archived',
    'resolve_failed',
    'mixed_folder',
    'settings_damaged',
    'store_damaged',
    'daemon_was_away',
    'capture_stalled',
    'workspace_partial',
    'workspace_refused',
    'workspace_not_captured',
    'rollback_interrupted',
    'store_full',
  ]),
  home: z.string().nullable(),
  run: z.string().nullable(),
  path: z.string().nullable(),
  at: z.string(),
  count: z.number().int(),
  message: z.string(),
  hint: z.string().nullable(),
})
export type Gap = Readonly<z.infer<typeof gapSchema>>

export const importPhaseSchema = z.enum(['discovering', 'reading', 'archiving', 'indexing', 'idle'])
export const progressSchema = z.object({
  home: z.string().nullable(),
  phase: importPhaseSchema,
  files_done: z.number().int(),
  files_total: z.number().int(),
  bytes_done: z.number().int(),
  bytes_total: z.number().int(),
  sessions: z.number().int(),
  events: z.number().int(),
  /** Share of the text that is searchable, 0 to 1. */
  searchable: z.number(),
  started_at: z.string(),
})
export type Progress = Readonly<z.infer<typeof progressSchema>>

export const statusSchema = z.object({
  daemon: z.object({
    pid: z.number().int(),
    version: z.string(),
    contract: z.number().int(),
    started_at: z.string(),
    data_dir: z.string(),
    socket: z.string(),
    url: z.string().nullable(),
    /** `starting` until the homes were looked at once; reading them goes on afterwards, with `progress`. */
    state: z.enum(['starting', 'ready', 'draining']),
    /** This data directory holds the sample, not the user's own history. */
    sample: z.boolean(),
  }),
  homes: z.array(homeSchema),
  looked: z.array(lookedSchema),
  watches: z.object({ count: z.number().int(), limit: z.number().int().nullable(), polling: z.number().int() }),
  /** Milliseconds between the last change seen on disk and it being on the timeline. */
  lag_ms: z.number(),
  store: z.object({
    bytes: z.number().int(),
    runs: z.number().int(),
    events: z.number().int(),
    manifests: z.number().int(),
  }),
  gaps: z.array(gapSchema),
  gap_count: z.number().int(),
  progress: z.array(progressSchema),
  /** `none`: there is no vault yet, or its key cannot be reached; `note` says which. */
  vault: z.object({
    key_store: z.enum(['os', 'file', 'none']),
    note: z.string().nullable(),
    /** Originals kept. */
    objects: z.number().int(),
  }),
  rollbacks: z.object({
    last: z.object({ id: z.string(), at: z.string(), undone: z.boolean(), paths: z.number().int() }).nullable(),
    /** Interrupted by a crash and not decided, or waiting for an agent to end. */
    open: z.array(z.object({ id: z.string(), state: z.enum(['waiting', 'interrupted']) })),
  }),
})
export type Status = Readonly<z.infer<typeof statusSchema>>

/**
 * What is kept of texts. `digests`: no text at all. `redacted`: texts with secrets covered. `originals`: besides, what holds a secret is
 * kept encrypted in the vault.
 */
export const collectionLevels = ['digests', 'redacted', 'originals'] as const
export const collectionLevelSchema = z.enum(collectionLevels)
export type CollectionLevel = z.infer<typeof collectionLevelSchema>

/** Another level for everything at or below a path: of a home of an agent, or of the directories it works in. */
export const collectionOverrideSchema = z.object({
  of: z.enum(['home', 'workspace']),
  path: z.string().min(1),
  level: collectionLevelSchema,
})
export type CollectionOverride = Readonly<z.infer<typeof collectionOverrideSchema>>

export const settingsSchema = z.object({
  version: z.literal(1),
  theme: z.enum(['system', 'light', 'dark']),
  density: z.enum(['compact', 'normal']),
  single_key_shortcuts: z.boolean(),
  collection: collectionLevelSchema,
  /** A workspace's own level goes before that of its home, the longer path before the shorter; `collection` is for the rest. */
  collection_overrides: z.array(collectionOverrideSchema).max(200).optional(),
  /** Homes the user added or dropped by hand. */
  homes: z.array(z.object({ runtime: runtimeNameSchema, path: z.string(), watch: z.boolean() })),
  /** Off: nothing of any workspace is captured. Left out: on. */
  capture_workspaces: z.boolean().optional(),
  /** Limits of one state of a workspace; what is over them makes it partial, and is named. */
  workspace_budget: z
    .object({ files: z.number().int().min(1), bytes: z.number().int().min(1), seconds: z.number().min(1) })
    .partial()
    .optional(),
  /** Patterns, as in a .gitignore, of what is never captured in any workspace. */
  workspace_excludes: z.array(z.string().min(1)).max(200).optional(),
  /** Largest size of the store; what is older gives way first. Left out: 20 GB. */
  store_cap_bytes: z.number().int().min(10_000_000).optional(),
  poll_seconds: z.number().int().min(5).max(3600),
  welcome_closed: z.boolean(),
})
export type Settings = Readonly<z.infer<typeof settingsSchema>>
