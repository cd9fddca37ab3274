import { z } from 'zod'

/** What a run really used of what its manifests declare, and how it ended (R92–R98). Derived from its events; never part of a manifest. */
export const usedItemSchema = z.object({
  kind: z.enum([
    'rule',
    'instructions',
    'memory',
    'skill',
    'plugin',
    'hook',
    'tool',
    'mcp tool',
    'agent',
    'command',
    'model',
    'retrieval',
    'denied',
  ]),
  name: z.string(),
  /** Named in the manifest of the stretch; null when the manifest cannot know. */
  declared: z.boolean().nullable(),
  times: z.number().int(),
  first_seq: z.number().int().nullable(),
  /** Version or schema digest actually seen, where the record shows one. */
  version: z.string().nullable(),
})
export const mismatchSchema = z.object({
  what: z.enum([
    'model',
    'program version',
    'tool',
    'tool schema',
    'working directory',
    'environment',
    'permission',
    'instructions',
  ]),
  declared: z.string().nullable(),
  actual: z.string(),
  seq: z.number().int().nullable(),
  message: z.string(),
})
export const useSchema = z.object({
  run: z.string(),
  manifests: z.array(z.string()),
  used: z.array(usedItemSchema),
  /** Declared and never used; empty lists of a kind that cannot be told stand in `unknown`. */
  unused: z.array(z.object({ kind: z.string(), name: z.string() })),
  mismatches: z.array(mismatchSchema),
  reconciled: z.object({
    /** `open` while the run goes on. */
    state: z.enum(['open', 'done', 'failed']),
    /** Paths with their last known content, by digest. */
    final: z.array(
      z.object({ path: z.string(), change: z.string(), after: z.string().nullable(), seq: z.number().int() }),
    ),
    /** Commands that look like a test run, and how they ended. */
    tests: z.array(z.object({ seq: z.number().int(), command: z.string(), ok: z.boolean().nullable() })),
    effects: z.array(z.object({ seq: z.number().int(), id: z.string(), kind: z.string() })),
    models: z.array(z.string()),
    tools: z.array(z.object({ name: z.string(), schema_digest: z.string().nullable() })),
    policy_revision: z.string().nullable(),
  }),
  /** The steps of R23, in order, and where the run stands in each. */
  steps: z.array(
    z.object({
      step: z.enum(['discover', 'resolve', 'validate', 'freeze', 'execute', 'use', 'reconcile']),
      state: z.enum(['done', 'partial', 'failed', 'open', 'not_possible']),
      why: z.string().nullable(),
    }),
  ),
  unknown: z.array(z.object({ field: z.string(), why: z.string() })),
})
export type RunUse = Readonly<z.infer<typeof useSchema>>
