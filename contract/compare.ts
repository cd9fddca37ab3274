import { z } from 'zod'
import { effectSchema, runtimeNameSchema } from './run.ts'

/** Why two runs, or two configurations, differ. Field names `causes`, `fields` and `use` are those of the command's JSON form. */
export const causeClasses = ['configuration', 'external state', 'model behaviour'] as const
export const causeClassSchema = z.enum(causeClasses)
export type CauseClass = z.infer<typeof causeClassSchema>

/** Categories a manifest is compared in; none is ever left out of an answer. */
export const compareCategories = [
  'instructions',
  'memory and context',
  'settings',
  'skills, plugins and hooks',
  'mcp servers and tools',
  'model and endpoint',
  'program',
  'permissions, trust and sandbox',
  'environment',
  'repository',
  'flags and start',
  'external state',
] as const
export const compareCategorySchema = z.enum(compareCategories)
export type CompareCategory = z.infer<typeof compareCategorySchema>

/** What an evidence rests on; the window opens it. */
export const evidenceRefSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('event'), run: z.string(), seq: z.number().int() }),
  z.object({ type: z.literal('source'), manifest: z.string(), uri: z.string() }),
  z.object({ type: z.literal('field'), manifest: z.string(), path: z.string() }),
  z.object({ type: z.literal('drift'), id: z.string() }),
  z.object({ type: z.literal('run'), run: z.string() }),
])
export type EvidenceRef = Readonly<z.infer<typeof evidenceRefSchema>>

export const evidenceSchema = z.object({
  side: z.enum(['a', 'b', 'both']),
  /** One sentence, secrets covered. */
  text: z.string(),
  ref: evidenceRefSchema.nullable(),
})
export type Evidence = Readonly<z.infer<typeof evidenceSchema>>

export const causeSchema = z.object({
  /** From 1, the likeliest first. */
  rank: z.number().int(),
  /** `instruction`, `import`, `rule`, `memory`, `skill`, `plugin`, `hook`, `agent`, `command`, `setting`, `mcp server`, `tool`, `model`, `program`, `permission`, `trust`, `sandbox`, `environment`, `repository`, `truncation`, `scan`, `flag`, `external`, `task`, `model behaviour`. */
  kind: z.string(),
  class: causeClassSchema,
  category: compareCategorySchema,
  title: z.string(),
  before: z.json(),
  after: z.json(),
  /** Did it enter the context (or was it in force), was it then used; null when that cannot be told. */
  entered: z.boolean().nullable(),
  used: z.boolean().nullable(),
  /** First event it shows itself at, by side. */
  first_seq: z.object({ a: z.number().int().nullable(), b: z.number().int().nullable() }),
  /** Why it stands where it stands, in one sentence. */
  why: z.string(),
  evidence: z.array(evidenceSchema),
  /** Paths of `fields` that this cause sums up. */
  fields: z.array(z.string()),
  /** Text of both sides, where the difference is one of text (secrets covered); null when there is none or it is not kept. */
  text: z.object({ a: z.string().nullable(), b: z.string().nullable(), why: z.string().nullable() }).nullable(),
})
export type Cause = Readonly<z.infer<typeof causeSchema>>

export const fieldDifferenceSchema = z.object({
  /** Dotted path in the manifest; items of lists by their name (`capabilities.skills[release-check].digest`). */
  path: z.string(),
  category: compareCategorySchema,
  before: z.json(),
  after: z.json(),
  /** One side could not know it: no difference is claimed. */
  unknown_on: z.enum(['a', 'b']).nullable(),
})
export type FieldDifference = Readonly<z.infer<typeof fieldDifferenceSchema>>

export const categoryResultSchema = z.object({
  category: compareCategorySchema,
  state: z.enum(['equal', 'different', 'partly_compared', 'not_compared']),
  /** Digest over what was compared of each side; equal exactly when `state` says so. */
  a: z.string().nullable(),
  b: z.string().nullable(),
  /** What was compared, in words (`6 sources by digest`). */
  how: z.string(),
  /** What of it could not be known, and why. */
  not_known: z.array(z.object({ field: z.string(), why: z.string(), side: z.enum(['a', 'b', 'both']) })),
})
export type CategoryResult = Readonly<z.infer<typeof categoryResultSchema>>

export const useDifferenceSchema = z.object({
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
  /** Times used; null when that side is no run. */
  a: z.number().int().nullable(),
  b: z.number().int().nullable(),
  first: z.object({ a: z.number().int().nullable(), b: z.number().int().nullable() }),
})
export type UseDifference = Readonly<z.infer<typeof useDifferenceSchema>>

const stepSideSchema = z.object({
  seq: z.number().int(),
  kind: z.string(),
  tool: z.string().nullable(),
  summary: z.string(),
  ok: z.boolean().nullable(),
  effects: z.array(effectSchema.pick({ path: true, change: true })),
})
export const alignedStepSchema = z.object({
  state: z.enum(['equal', 'changed', 'only_a', 'only_b']),
  a: stepSideSchema.nullable(),
  b: stepSideSchema.nullable(),
})
export type AlignedStep = Readonly<z.infer<typeof alignedStepSchema>>

export const compareSideSchema = z.object({
  target: z.string(),
  run: z.string().nullable(),
  stretch: z.number().int().nullable(),
  manifest: z.string(),
  runtime: runtimeNameSchema,
  runtime_version: z.string().nullable(),
  workspace: z.string().nullable(),
  at: z.string().nullable(),
  title: z.string().nullable(),
  status: z.string().nullable(),
  origin: z.enum(['resolved', 'captured', 'inferred']),
  task: z.string().nullable(),
})
export type CompareSide = Readonly<z.infer<typeof compareSideSchema>>

export const comparisonSchema = z.object({
  a: compareSideSchema,
  b: compareSideSchema,
  /** Nothing that was compared differs. What could not be compared stands in `categories`. */
  identical: z.boolean(),
  /** The answer in one sentence. */
  verdict: z.string(),
  causes: z.array(causeSchema),
  fields: z.array(fieldDifferenceSchema),
  categories: z.array(categoryResultSchema),
  use: z.array(useDifferenceSchema),
  /** Instruction text as it entered the context, piece by piece in order. */
  text: z.object({
    a_digest: z.string().nullable(),
    b_digest: z.string().nullable(),
    equal: z.boolean().nullable(),
    pieces: z.array(
      z.object({
        state: z.enum(['equal', 'changed', 'only_a', 'only_b', 'moved']),
        path: z.string().nullable(),
        uri: z.string(),
        a: z.string().nullable(),
        b: z.string().nullable(),
        why: z.string().nullable(),
      }),
    ),
  }),
  /** Both trajectories aligned; null when one side is no run. */
  steps: z
    .object({ aligned: z.array(alignedStepSchema), first_difference: z.number().int().nullable(), cut: z.boolean() })
    .nullable(),
  /** Where one side was only observed, and what that hides. */
  notes: z.array(z.string()),
})
export type Comparison = Readonly<z.infer<typeof comparisonSchema>>
