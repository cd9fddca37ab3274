import { z } from 'zod'

/**
 * The manifest: the resolved configuration closure of one stretch of a run. Names follow the published JSON form; unknown keys
 * are kept (`looseObject`), so that a manifest of a later minor version survives reading and its digest can still be checked.
 * `digest` is of the bytes on disk, `text_digest` of the text that enters the context. `null` says "there is none"; what could
 * not be learned stands in `unknown` and is never written as `null`, 0 or an empty list.
 */
export const MANIFEST_VERSION = 1

export const sourceStatuses = ['loaded', 'lazy', 'not_loaded', 'unknown'] as const
export const sourceKinds = [
  'instructions',
  'rule',
  'import',
  'memory',
  'settings',
  'mcp',
  'skill',
  'agent',
  'command',
  'plugin',
  'hook',
  'state',
  'environment',
  'flag',
] as const
export type SourceStatus = (typeof sourceStatuses)[number]
export type SourceKind = (typeof sourceKinds)[number]

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/)

export const manifestSourceSchema = z.looseObject({
  /** `file://…`, `env:NAME`, `flag:--name`, `record:…` (known only from a session). */
  uri: z.string(),
  /** Absolute path as the runtime shows it; null when the source is no file. */
  path: z.string().nullable(),
  /** base64 of the path when it is not valid UTF-8. */
  path_bytes: z.string().optional(),
  scope: z.string(),
  kind: z.enum(sourceKinds),
  /** The label under which the runtime shows the text to its model; null when it has none. */
  label: z.string().nullable(),
  /** Position among the sources that enter the context at start, from 0; null for the others. */
  position: z.number().int().nullable(),
  status: z.enum(sourceStatuses),
  reason: z.string().nullable(),
  /** The rule of the runtime that decided (layered merge, first match, path rule …), with the version it was verified on. */
  rule: z.string().nullable(),
  digest: digest.nullable(),
  text_digest: digest.nullable(),
  bytes: z.number().int().nullable(),
  imported_by: z.array(z.string()),
  trigger: z.string().nullable(),
  truncated: z.object({ at: z.number().int(), unit: z.string() }).nullable(),
  scan: z
    .object({ result: z.enum(['clean', 'flagged', 'rejected', 'not_scanned']), rules: z.array(z.string()) })
    .nullable(),
  /** True once a run was seen to use it; null when that cannot be told. */
  used: z.boolean().nullable(),
  classification: z.enum(['public', 'private', 'secret']),
  /** Permission bits of the file when it was read; left out where nobody looked. */
  mode: z.number().int().optional(),
})
export type ManifestSource = Readonly<z.infer<typeof manifestSourceSchema>>

const settingValue = z.union([
  z.looseObject({ value: z.json(), source: z.string() }),
  z.looseObject({ value_ref: z.string(), source: z.string() }),
])
export const settingSchema = z.looseObject({
  value: z.json().optional(),
  /** Placeholder of a value that is a secret (`secret:<family>:<keyed digest>`). */
  value_ref: z.string().optional(),
  source: z.string(),
  merged_from: z.array(z.string()),
  overridden: z.array(settingValue),
  rule: z.enum(['replace', 'union', 'deny_wins', 'by_name', 'first_match', 'unknown']),
})
export type ManifestSetting = Readonly<z.infer<typeof settingSchema>>

export const capabilitySchema = z.looseObject({
  name: z.string(),
  version: z.string().nullable(),
  digest: digest.nullable(),
  source: z.string(),
  status: z.enum(['active', 'shadowed', 'disabled', 'lazy', 'unknown']),
  reason: z.string().nullable(),
  description: z.string().nullable(),
  /** True: used in the run. False: declared, never used. Null: cannot be told. */
  used: z.boolean().nullable(),
})
export type ManifestCapability = Readonly<z.infer<typeof capabilitySchema>>

export const mcpServerSchema = z.looseObject({
  name: z.string(),
  transport: z.string(),
  command: z.string().nullable(),
  url: z.string().nullable(),
  package_version: z.string().nullable(),
  /** What the version rests on, and whether the command leaves it open for the next start. */
  package_from: z.string().optional(),
  package_floating: z.boolean().optional(),
  digest: digest.nullable(),
  source: z.string(),
  scope: z.string(),
  status: z.enum(['active', 'shadowed', 'disabled', 'unknown']),
  reason: z.string().nullable(),
  tools: z.array(z.looseObject({ name: z.string(), schema_digest: digest })).nullable(),
})
export type ManifestMcpServer = Readonly<z.infer<typeof mcpServerSchema>>

export const toolSchema = z.looseObject({
  name: z.string(),
  schema_digest: digest.nullable(),
  policy_profile: z.string().nullable(),
  removed_by: z.string().nullable(),
  used: z.boolean().nullable(),
})

export const unknownSchema = z.object({ field: z.string(), why: z.string() })

export const manifestBodySchema = z.looseObject({
  manifest_version: z.literal(MANIFEST_VERSION),
  run_id: z.string().nullable(),
  stretch: z.number().int().nullable(),
  created_at: z.string(),
  /** How it was made: `resolved` now, `captured` at the start of a run, or `inferred` from a session that was already over. */
  origin: z.enum(['resolved', 'captured', 'inferred']),
  task: z.looseObject({ id: z.string().nullable(), input_digest: digest.nullable() }),
  principal: z.looseObject({
    subject: z.string().nullable(),
    tenant: z.string().nullable(),
    auth_context_ref: z.string().nullable(),
  }),
  instructions: z.looseObject({
    effective_digest: digest.nullable(),
    resolved_order: z.array(z.string()),
    sources: z.array(manifestSourceSchema),
  }),
  settings: z.record(z.string(), settingSchema),
  capabilities: z.looseObject({
    skills: z.array(capabilitySchema),
    commands: z.array(capabilitySchema),
    agents: z.array(capabilitySchema),
    plugins: z.array(capabilitySchema),
    hooks: z.array(capabilitySchema),
    mcp_servers: z.array(mcpServerSchema),
    tools: z.array(toolSchema),
    /** Files that belong to a skill, hook or plugin and are no source themselves: scripts and what lies in its folder. */
    files: z
      .array(
        z.looseObject({ path: z.string(), digest, bytes: z.number().int(), mode: z.number().int(), of: z.string() }),
      )
      .optional(),
    files_left_out: z.array(z.object({ path: z.string(), why: z.string() })).optional(),
  }),
  execution: z.looseObject({
    runtime: z.string(),
    runtime_version: z.string().nullable(),
    runtime_digest: digest.nullable(),
    /** The program that would run, as it was found on this machine. */
    program: z
      .looseObject({
        path: z.string().nullable(),
        version: z.string().nullable(),
        installed_by: z.string().nullable(),
      })
      .nullable()
      .optional(),
    host: z.looseObject({ platform: z.string(), arch: z.string(), release: z.string() }).optional(),
    surface: z.string().nullable(),
    model: z.string().nullable(),
    endpoint_profile: z.string().nullable(),
    reasoning: z.string().nullable(),
    flags: z.array(z.string()).nullable(),
    /** Names and keyed digests only, never values. */
    environment: z.array(z.looseObject({ name: z.string(), digest: z.string(), source: z.string() })),
    sandbox: z.looseObject({ mode: z.string().nullable(), network_policy: z.string().nullable() }),
    cwd: z.string().nullable(),
    repo: z
      .looseObject({
        root: z.string(),
        sha: z.string().nullable(),
        branch: z.string().nullable(),
        dirty_digest: digest.nullable(),
        /** Paths that differ from the commit; left out where nobody compared. */
        dirty_paths: z.number().int().optional(),
        worktree: z.string().nullable(),
        submodules: z.array(z.looseObject({ path: z.string(), sha: z.string() })),
      })
      .nullable(),
    image: z.string().nullable(),
  }),
  context: z.looseObject({
    session_ref: z.string().nullable(),
    memory_manifest_digest: digest.nullable(),
    memory_enabled: z.boolean().nullable(),
    memory: z.array(
      z.looseObject({
        path: z.string(),
        digest: digest.nullable(),
        bytes: z.number().int().nullable(),
        truncated: z.object({ at: z.number().int(), unit: z.string() }).nullable(),
        local_to_machine: z.boolean(),
      }),
    ),
    retrieval_snapshot: z.looseObject({ at: z.string(), ref: z.string() }).nullable(),
  }),
  policy: z.looseObject({
    revision: digest.nullable(),
    /** Of all that may be used, by name and digest: two runs with the same abilities have the same. */
    capability_id: z.string().optional(),
    permissions: z.looseObject({
      mode: z.string().nullable(),
      allow: z.array(z.looseObject({ rule: z.string(), source: z.string(), ignored: z.string().nullable() })),
      ask: z.array(z.looseObject({ rule: z.string(), source: z.string() })),
      deny: z.array(z.looseObject({ rule: z.string(), source: z.string() })),
    }),
    trust: z.looseObject({ trusted: z.boolean().nullable(), source: z.string().nullable() }),
    managed: z.array(z.string()),
  }),
  external: z.array(
    z.looseObject({
      kind: z.string(),
      name: z.string(),
      state: z.enum(['captured', 'receipt', 'not_captured']),
      digest: z.string().nullable(),
      reason: z.string().nullable(),
    }),
  ),
  /** Each empty category with its reason ("empty, because …"). */
  empty: z.array(z.object({ category: z.string(), why: z.string() })),
  unknown: z.array(unknownSchema),
  /** What validation found before freezing (R86); left out by manifests that were not validated. */
  validation: z
    .object({
      passed: z.boolean(),
      failed: z.array(z.object({ check: z.string(), where: z.string(), message: z.string() })),
    })
    .optional(),
  /** What a reviewer would want to know before this became a default (R82, R85). */
  advice: z.array(z.object({ check: z.string(), where: z.string(), message: z.string() })).optional(),
})

export const manifestSchema = manifestBodySchema.extend({
  integrity: z.object({ manifest_digest: digest, signature: z.string(), key_id: z.string() }),
})
/** What is digested and signed. */
export type ManifestBody = Readonly<z.infer<typeof manifestBodySchema>>
export type Manifest = Readonly<z.infer<typeof manifestSchema>>

export const instructionPieceSchema = z.object({
  path: z.string().nullable(),
  uri: z.string(),
  scope: z.string(),
  label: z.string().nullable(),
  status: z.enum(sourceStatuses),
  reason: z.string().nullable(),
  text_digest: z.string().nullable(),
  /** Redacted text; null when only the digest was kept or the text was never seen. */
  text: z.string().nullable(),
  redactions: z.number().int(),
})
export type InstructionPiece = Readonly<z.infer<typeof instructionPieceSchema>>
