import { z } from 'zod'
import { runtimeNameSchema } from './run.ts'

/** A name bound to a manifest, or to parts of one, that must not move (R113, R114, R362). */
export const pinPartKinds = ['manifest', 'binary', 'model', 'plugin', 'mcp_package', 'file'] as const
export const pinPartSchema = z.object({
  kind: z.enum(pinPartKinds),
  /** Plugin, server or path; empty for binary and model. */
  name: z.string(),
  /** Version or digest it must have. */
  value: z.string().nullable(),
})
export type PinPart = Readonly<z.infer<typeof pinPartSchema>>

/** A class of runs; everything named must hold. `branch` may end in `*`. */
export const pinClassSchema = z.object({
  runtime: runtimeNameSchema.optional(),
  workspace: z.string().optional(),
  branch: z.string().optional(),
})
export type PinClass = Readonly<z.infer<typeof pinClassSchema>>

export const pinViolationSchema = z.object({
  kind: z.enum(pinPartKinds),
  name: z.string(),
  wanted: z.string().nullable(),
  found: z.string().nullable(),
  /** When it was first seen to differ; null when that is not known. */
  since: z.string().nullable(),
  why: z.string(),
  /** A rollback can bring it back. */
  restorable: z.boolean(),
})
export type PinViolation = Readonly<z.infer<typeof pinViolationSchema>>

export const pinSchema = z.object({
  name: z.string(),
  /** Whole digest. */
  manifest: z.string(),
  runtime: runtimeNameSchema,
  runtime_version: z.string().nullable(),
  model: z.string().nullable(),
  workspace: z.string().nullable(),
  home: z.string().nullable(),
  created_at: z.string(),
  note: z.string().nullable(),
  /** What of the manifest must not move; `[{kind: 'manifest'}]` is all of it. */
  parts: z.array(pinPartSchema),
  required_for: z.array(pinClassSchema),
  /** `unknown`: a part could not be looked at; that is not honoured, and said as what it is. */
  state: z.enum(['honoured', 'cannot', 'unknown']),
  violations: z.array(pinViolationSchema),
})
export type Pin = Readonly<z.infer<typeof pinSchema>>

export const pinNameSchema = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/i,
    'letters, digits, dots, dashes and underscores, at most 64, beginning with a letter or digit',
  )
