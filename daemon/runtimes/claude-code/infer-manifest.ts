import { MANIFEST_VERSION, type ManifestBody } from '../../../contract/index.ts'
import type { StretchEvidence } from '../adapter.ts'
import { asList, asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import type { ClaudeRecord } from './evidence.ts'
import { inferCapabilities } from './infer-capabilities.ts'
import { inferInstructions } from './infer-instructions.ts'

type Unknown = ManifestBody['unknown'][number]

/**
 * What a finished stretch can still tell of its configuration (R21, R25). Whatever a record cannot tell stands in `unknown`; nothing is
 * taken from the machine as it is now. The same evidence gives the same body.
 */
export function inferManifest(stretch: StretchEvidence): ManifestBody {
  const record: ClaudeRecord = stretch.record
  const unknown: Unknown[] = []
  const empty: ManifestBody['empty'] = []
  const instructions = inferInstructions(stretch, record, unknown, empty)
  const capabilities = inferCapabilities(record, unknown, empty)
  const memory = memoryOf(record)
  addStandingUnknowns(record, unknown)
  if (stretch.startedAt === null) unknown.push({ field: 'created_at', why: 'no row of the stretch carries a time' })
  return {
    manifest_version: MANIFEST_VERSION,
    run_id: null,
    stretch: stretch.n,
    created_at: stretch.startedAt ?? '1970-01-01T00:00:00.000Z',
    origin: 'inferred',
    task: { id: null, input_digest: record.prompt_digest ?? null },
    principal: { subject: null, tenant: null, auth_context_ref: null },
    instructions,
    settings: {},
    capabilities,
    execution: inferExecution(stretch, record, unknown),
    context: {
      session_ref: stretch.session,
      memory_manifest_digest: null,
      memory_enabled: memory.length > 0 ? true : null,
      memory,
      retrieval_snapshot: null,
    },
    policy: inferPolicy(record),
    external: inferExternal(record),
    empty,
    unknown,
  }
}

function inferExecution(stretch: StretchEvidence, record: ClaudeRecord, unknown: Unknown[]): ManifestBody['execution'] {
  const { params } = record
  const missing = (field: string, value: unknown, why: string): void => {
    if (value === undefined || value === null) unknown.push({ field: `execution.${field}`, why })
  }
  missing('model', record.model, 'no reply of the stretch names a model')
  missing('runtime_version', stretch.version, 'no row of the stretch names a version')
  missing('cwd', stretch.cwd, 'no row of the stretch names a directory')
  missing(
    'surface',
    record.entrypoint,
    `rows of version ${stretch.version ?? 'not named'} do not name how the program was started`,
  )
  const reasoning = record.effort ?? asText(asRow(params?.output_config)?.effort)
  missing('reasoning', reasoning, 'the record holds no request parameters')
  unknown.push(
    { field: 'execution.flags', why: 'the command line does not stand in the record' },
    { field: 'execution.environment', why: 'environment variables do not stand in the record' },
    { field: 'execution.endpoint_profile', why: 'the address of the service does not stand in the record' },
    { field: 'execution.runtime_digest', why: 'the program file does not stand in the record' },
    { field: 'execution.sandbox', why: 'the record does not say how commands were confined' },
  )
  const environment = record.environment
  const git = environment?.isGitRepo
  if (git === undefined) unknown.push({ field: 'execution.repo', why: 'the record names at most a branch' })
  else if (git === true)
    unknown.push({ field: 'execution.repo.sha', why: 'the record names the branch, not the commit' })
  return {
    runtime: 'claude-code',
    runtime_version: stretch.version,
    runtime_digest: null,
    surface: record.entrypoint ?? null,
    model: record.model ?? null,
    endpoint_profile: null,
    reasoning: reasoning ?? null,
    flags: null,
    environment: [],
    sandbox: { mode: null, network_policy: null },
    cwd: stretch.cwd,
    repo: repoOf(stretch, git),
    image: null,
    ...(record.requested_model === undefined ? {} : { requested_model: record.requested_model }),
    ...(params === undefined ? {} : { parameters: parametersOf(params) }),
    ...(environment === undefined ? {} : { platform: platformOf(environment) }),
    ...(record.shape === undefined ? {} : { system_prompt_digest: record.shape.system_digest }),
  }
}

function repoOf(stretch: StretchEvidence, git: unknown): ManifestBody['execution']['repo'] {
  const branch = stretch.branch
  if (git === false || (git === undefined && branch === null) || stretch.cwd === null) return null
  // The root may lie above the directory; the record does not say.
  return { root: stretch.cwd, root_known: false, sha: null, branch, dirty_digest: null, worktree: null, submodules: [] }
}

function parametersOf(params: Row): Record<string, unknown> {
  const { betas, max_tokens, thinking, context_management, output_config } = params
  return {
    betas: asList(betas).filter((beta) => typeof beta === 'string'),
    max_tokens: asNumber(max_tokens),
    thinking: thinking ?? null,
    context_management: context_management ?? null,
    output_config: output_config ?? null,
  }
}

function platformOf(environment: Row): Record<string, string | null> {
  return { name: asName(environment.platform), shell: asName(environment.shell), os: asName(environment.osVersion) }
}

function memoryOf(record: ClaudeRecord): ManifestBody['context']['memory'] {
  return (record.instructions ?? [])
    .filter((file) => file.type === 'AutoMem')
    .map((file) => ({ path: file.path, digest: null, bytes: null, truncated: null, local_to_machine: true }))
}

function inferPolicy(record: ClaudeRecord): ManifestBody['policy'] {
  return {
    revision: null,
    permissions: { mode: record.permission_mode ?? null, allow: [], ask: [], deny: [] },
    trust: { trusted: null, source: null },
    managed: [],
  }
}

function inferExternal(record: ClaudeRecord): ManifestBody['external'] {
  if (record.git_status_digest === undefined) return []
  return [
    {
      kind: 'git',
      name: 'status at start',
      state: 'captured',
      digest: record.git_status_digest,
      reason: null,
      ...(record.git_changes === undefined ? {} : { changes: [...record.git_changes] }),
    },
  ]
}

/** What no version writes into a session record. */
function addStandingUnknowns(record: ClaudeRecord, unknown: Unknown[]): void {
  unknown.push(
    { field: 'settings', why: 'settings files do not stand in the record' },
    { field: 'principal', why: 'the account does not stand in the record' },
    {
      field: 'policy.permissions',
      why: 'only the decisions of calls that were made stand in the record, not the rules',
    },
    { field: 'policy.trust', why: 'whether the folder was trusted does not stand in the record' },
  )
  if (record.permission_mode === undefined)
    unknown.push({ field: 'policy.permissions.mode', why: 'no row of the stretch names the permission mode' })
  if (memoryOf(record).length === 0) {
    unknown.push({
      field: 'context.memory',
      why: 'the record shows no automatic memory: it may have been empty, off, or not written down',
    })
  }
}
