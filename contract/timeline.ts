import { z } from 'zod'
import { driftSchema } from './drift.ts'
import { rollbackRecordSchema } from './rollback.ts'
import { coverageStateSchema, runSchema, runtimeNameSchema } from './run.ts'

/** Everything that happened, newest first: runs and what happened outside of them. */
export const timelineItemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('run'), at: z.string(), run: runSchema, children: z.array(z.string()) }),
  z.object({
    type: z.literal('source'),
    at: z.string(),
    id: z.string(),
    change: z.enum(['shrank', 'vanished', 'returned']),
    run: z.string(),
    path: z.string(),
    message: z.string(),
  }),
  z.object({ type: z.literal('configuration'), at: z.string(), id: z.string(), drift: driftSchema }),
  z.object({ type: z.literal('rollback'), at: z.string(), id: z.string(), rollback: rollbackRecordSchema }),
  z.object({
    type: z.literal('gap'),
    at: z.string(),
    id: z.string(),
    until: z.string().nullable(),
    message: z.string(),
  }),
])
export type TimelineItem = Readonly<z.infer<typeof timelineItemSchema>>

export const timelineFilterSchema = z.object({
  text: z.string().optional(),
  runtime: z.array(runtimeNameSchema).optional(),
  home: z.string().optional(),
  workspace: z.string().optional(),
  status: z.array(z.string()).optional(),
  relation: z.array(z.enum(['none', 'fork', 'subagent', 'replay'])).optional(),
  tool: z.string().optional(),
  model: z.string().optional(),
  changed: z.string().optional(),
  has: z.array(z.enum(['gap', 'failure', 'changes', 'manifest'])).optional(),
  manifest: z.string().optional(),
  /** Runs of one task: its id, or the digest of its input (R100). */
  task: z.string().optional(),
  /** What kinds of items to show; all when left out. */
  kind: z.array(z.enum(['run', 'configuration', 'source', 'gap', 'rollback'])).optional(),
  since: z.string().optional(),
  until: z.string().optional(),
})
export type TimelineFilter = Readonly<z.infer<typeof timelineFilterSchema>>

export const densityBucketSchema = z.object({
  at: z.string(),
  events: z.number().int(),
  runs: z.number().int(),
  failures: z.number().int(),
})
export const timelinePageSchema = z.object({
  items: z.array(timelineItemSchema),
  /** Pass as `cursor` for the next page; null at the end. */
  next: z.string().nullable(),
  total: z.number().int(),
  /** Matching the same filter without its time window. */
  total_any_time: z.number().int(),
  density: z.object({ since: z.string(), until: z.string(), buckets: z.array(densityBucketSchema) }).nullable(),
  facets: z.object({
    runtimes: z.array(z.object({ value: z.string(), count: z.number().int() })),
    workspaces: z.array(z.object({ value: z.string(), count: z.number().int() })),
    statuses: z.array(z.object({ value: z.string(), count: z.number().int() })),
  }),
  coverage: coverageStateSchema,
})
export type TimelinePage = Readonly<z.infer<typeof timelinePageSchema>>

export const searchHitSchema = z.object({
  run: z.string(),
  seq: z.number().int(),
  at: z.string().nullable(),
  title: z.string(),
  runtime: runtimeNameSchema,
  kind: z.string(),
  /** Redacted; the matched words between U+E000 and U+E001. */
  snippet: z.string(),
})
export const searchResultSchema = z.object({
  hits: z.array(searchHitSchema),
  total: z.number().int(),
  next: z.string().nullable(),
  /** Share of the text that is searchable so far, 0 to 1. */
  searchable: z.number(),
})
export type SearchResult = Readonly<z.infer<typeof searchResultSchema>>
