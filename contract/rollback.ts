import { z } from 'zod'
import { runtimeNameSchema } from './run.ts'

/**
 * Going back: a plan that changes nothing, and the record of what was done. A plan names every path it would touch and every one it leaves
 * alone, with the reason. Paths are absolute; `path_bytes` (base64) stands beside one that is not valid UTF-8.
 */
export const rollbackAreas = ['home', 'project', 'workspace'] as const
/** `home`: configuration of the agent's home and beside it. `project`: files of the agent in the workspace. `workspace`: all its files. */
export const rollbackAreaSchema = z.enum(rollbackAreas)
export type RollbackArea = z.infer<typeof rollbackAreaSchema>

/** One path, or one key of a structured file (`permissions.deny`), or hunks of a text, as the plan of that path numbers them. */
export const chosenPathSchema = z.object({
  path: z.string(),
  path_bytes: z.string().optional(),
  key: z.string().optional(),
  hunks: z.array(z.number().int().min(1)).optional(),
})
export type ChosenPath = Readonly<z.infer<typeof chosenPathSchema>>

export const rollbackScopeSchema = z.object({
  home: z.boolean().optional(),
  project: z.boolean().optional(),
  workspace: z.boolean().optional(),
  only: z.array(chosenPathSchema).optional(),
})
export type RollbackScope = Readonly<z.infer<typeof rollbackScopeSchema>>

export const rollbackTargetSchema = z.object({
  /** As it was asked for. */
  text: z.string(),
  kind: z.enum(['run', 'point', 'stretch', 'manifest', 'pin', 'version', 'safety', 'now_minus']),
  run: z.string().nullable(),
  seq: z.number().int().nullable(),
  manifest: z.string().nullable(),
  /** Workspace state (tree) the target stands for. */
  state: z.string().nullable(),
  at: z.string().nullable(),
  runtime: runtimeNameSchema.nullable(),
  home: z.string().nullable(),
  workspace: z.string().nullable(),
})
export type RollbackTarget = Readonly<z.infer<typeof rollbackTargetSchema>>

export const writerSchema = z.object({
  who: z.enum([
    'edit tool',
    'shell',
    'background process',
    'another run',
    'user',
    'agent update',
    'agent',
    'reprise',
    'unknown',
  ]),
  run: z.string().nullable(),
  seq: z.number().int().nullable(),
  at: z.string().nullable(),
})
export type Writer = Readonly<z.infer<typeof writerSchema>>

const place = { path: z.string(), path_bytes: z.string().optional(), area: rollbackAreaSchema }
const side = z.object({
  kind: z.enum(['file', 'link', 'directory', 'other']),
  /** SHA-256 of the content (of a link: of its target); null where it is not known, as for a whole directory. */
  digest: z.string().nullable(),
  mode: z.number().int().nullable(),
  bytes: z.number().int().nullable(),
})
export type PathSide = Readonly<z.infer<typeof side>>

export const planWriteSchema = z.object({
  ...place,
  change: z.enum(['add', 'change', 'mode', 'type']),
  /** Only this key of a structured file; null: the whole file. */
  key: z.string().nullable(),
  before: side.nullable(),
  after: side,
  added_lines: z.number().int().nullable(),
  removed_lines: z.number().int().nullable(),
  /** What in the file keeps its present value, and why: secrets, counters, what belongs to other projects. */
  keeps: z.array(z.object({ key: z.string(), why: z.string() })),
  /** What the installed agent would not take, or would take otherwise. */
  warnings: z.array(z.string()),
  /** Done unless the caller says otherwise. */
  ticked: z.boolean(),
})
export type PlanWrite = Readonly<z.infer<typeof planWriteSchema>>

export const planDeleteSchema = z.object({
  ...place,
  before: side,
  /** How it is known that the target had no such path. */
  why: z.string(),
  ticked: z.boolean(),
})
export const planKeptSchema = z.object({
  ...place,
  why: z.string(),
  /** It may be deleted all the same, path by path; it is in the safety snapshot then. */
  deletable: z.boolean(),
})
export const planConflictSchema = z.object({
  ...place,
  expected: z.string().nullable(),
  found: z.string().nullable(),
  last_writer: writerSchema,
  why: z.string(),
  /** What may be chosen; `disk` is what happens when nothing is. */
  choices: z.array(z.enum(['disk', 'target', 'hunks'])),
  after: side.nullable(),
})
export const notRestorableSchema = z.object({
  path: z.string().nullable(),
  area: rollbackAreaSchema.nullable(),
  what: z.string(),
  why: z.string(),
})
export const runningAgentSchema = z.object({
  runtime: runtimeNameSchema,
  pid: z.number().int().nullable(),
  session: z.string().nullable(),
  cwd: z.string().nullable(),
  why: z.string(),
})

export const rollbackPlanSchema = z.object({
  /** Changes whenever anything the plan rests on does; an apply names it. */
  id: z.string(),
  target: rollbackTargetSchema,
  scope: rollbackScopeSchema,
  /** False: files only, without the configuration that led to them; that is no rollback and is not called one (R107). */
  is_rollback: z.boolean(),
  writes: z.array(planWriteSchema),
  deletes: z.array(planDeleteSchema),
  kept: z.array(planKeptSchema),
  /** How many more are kept than are listed. */
  kept_more: z.number().int(),
  conflicts: z.array(planConflictSchema),
  not_restorable: z.array(notRestorableSchema),
  safety: z.object({
    paths: z.number().int(),
    bytes: z.number().int(),
    complete: z.boolean(),
    cannot: z.array(z.object({ path: z.string(), why: z.string() })),
  }),
  running: z.array(runningAgentSchema),
  /** External state that is gone makes the result not fully reproducible (R109); null when it is. */
  not_reproducible: z.string().nullable(),
})
export type RollbackPlan = Readonly<z.infer<typeof rollbackPlanSchema>>

/** One path of a plan in full: both texts, secrets covered, and the hunks between them. */
export const planPathSchema = z.object({
  path: z.string(),
  disk: z.string().nullable(),
  target: z.string().nullable(),
  /** Why a side is not shown: binary, too large, holds a secret. */
  why: z.string().nullable(),
  hunks: z.array(
    z.object({
      n: z.number().int(),
      disk_line: z.number().int(),
      target_line: z.number().int(),
      removed: z.array(z.string()),
      added: z.array(z.string()),
    }),
  ),
  keys: z.array(z.object({ key: z.string(), disk: z.string().nullable(), target: z.string().nullable() })),
})
export type PlanPath = Readonly<z.infer<typeof planPathSchema>>

export const rollbackChoiceSchema = z.object({
  path: z.string(),
  choice: z.enum(['disk', 'target', 'hunks']),
  hunks: z.array(z.number().int().min(1)).optional(),
})

export const rollbackRequestSchema = z.object({
  target: z.string(),
  scope: rollbackScopeSchema,
  /** Home or workspace, where the target leaves it open. */
  of: z.string().optional(),
  runtime: runtimeNameSchema.optional(),
})
export type RollbackRequest = Readonly<z.infer<typeof rollbackRequestSchema>>

export const rollbackApplySchema = rollbackRequestSchema.extend({
  /** `id` of the plan that was seen; another one now is a conflict, and nothing is done. Left out: whatever the plan is now. */
  plan: z.string().optional(),
  /** Left out: every ticked write and delete. */
  paths: z.array(z.string()).optional(),
  /** Paths from `kept` to be deleted as well, one by one. */
  delete_kept: z.array(z.string()).optional(),
  choices: z.array(rollbackChoiceSchema).optional(),
  reason: z.string().max(500).optional(),
  /** `refuse` is what happens when nothing is said and an agent is running. */
  while_running: z.enum(['refuse', 'wait', 'go_on']).optional(),
  /** Paths that may be changed although the safety snapshot cannot hold them. */
  unprotected: z.array(z.string()).optional(),
})
export type RollbackApply = Readonly<z.infer<typeof rollbackApplySchema>>

export const appliedPathSchema = z.object({
  ...place,
  key: z.string().nullable(),
  change: z.enum(['add', 'change', 'mode', 'type', 'delete']),
  before: z.string().nullable(),
  after: z.string().nullable(),
  /** Read back after writing and found to be what was wanted. */
  verified: z.boolean(),
  result: z.enum(['done', 'conflict', 'failed', 'taken_back']),
  why: z.string().nullable(),
})

export const rollbackStates = [
  'waiting',
  'applied',
  'undone',
  'taken_back',
  'failed',
  'interrupted',
  'cancelled',
] as const
export const rollbackRecordSchema = z.object({
  v: z.literal(1),
  /** `b_` and 12 hex digits; the safety snapshot has the same id. */
  id: z.string(),
  at: z.string(),
  target: rollbackTargetSchema,
  scope: rollbackScopeSchema,
  is_rollback: z.boolean(),
  reason: z.string().nullable(),
  /** `waiting`: until the agent ends. `interrupted`: a crash, nothing decided yet. `taken_back`: it could not be finished, all is as before. */
  state: z.enum(rollbackStates),
  paths: z.array(appliedPathSchema),
  not_restorable: z.array(notRestorableSchema),
  /** The rollback this one takes back, and the one that took this one back. */
  undo_of: z.string().nullable(),
  undone_by: z.string().nullable(),
  verification: z
    .object({
      /** Null: nothing to compare, as for files alone. */
      reached: z.boolean().nullable(),
      target_digest: z.string().nullable(),
      effective_digest: z.string().nullable(),
      differences: z.array(z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() })),
      why: z.string().nullable(),
    })
    .nullable(),
  not_reproducible: z.string().nullable(),
  error: z.string().nullable(),
})
export type RollbackRecord = Readonly<z.infer<typeof rollbackRecordSchema>>
