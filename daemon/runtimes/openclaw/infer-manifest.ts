import { MANIFEST_VERSION, type ManifestBody } from '../../../contract/index.ts'
import type { StretchEvidence } from '../adapter.ts'
import type { OpenClawRecord } from './evidence.ts'
import { inferCapabilities } from './infer-capabilities.ts'
import { inferInstructions } from './infer-instructions.ts'
import { parseSessionKey } from './session-key.ts'

type Unknown = ManifestBody['unknown'][number]

/**
 * What a stretch can still tell of its configuration: its own rows, the trajectory of its first turn and the program's report on its last
 * one. Whatever none of them tells stands in `unknown`. The same evidence gives the same body.
 */
export function inferManifest(stretch: StretchEvidence): ManifestBody {
  const record = stretch.record as Readonly<Record<string, unknown>> & OpenClawRecord
  const unknown: Unknown[] = []
  const empty: ManifestBody['empty'] = []
  const instructions = inferInstructions(record, unknown, empty)
  const capabilities = inferCapabilities(record, unknown)
  if (stretch.startedAt === null) unknown.push({ field: 'created_at', why: 'no row of the stretch carries a time' })
  if ((record.configurations ?? 1) > 1)
    unknown.push({
      field: 'execution',
      why: `the trajectory shows ${record.configurations} configurations within this stretch; this is the first`,
    })
  addStandingUnknowns(unknown)
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
    context: inferContext(stretch, record, unknown),
    policy: inferPolicy(record, unknown),
    external: [],
    empty,
    unknown,
  }
}

function inferExecution(
  stretch: StretchEvidence,
  record: OpenClawRecord,
  unknown: Unknown[],
): ManifestBody['execution'] {
  const { trace, report } = record
  const missing = (field: string, value: unknown, why: string): void => {
    if (value === undefined || value === null) unknown.push({ field: `execution.${field}`, why })
  }
  const pruned = 'no trajectory of the stretch is there (any more: they are kept for 14 days)'
  const provider = trace?.provider ?? record.provider ?? null
  const model = trace?.model ?? record.model ?? null
  missing('model', model, 'no row of the stretch names a model')
  missing(
    'runtime_version',
    stretch.version,
    record.database_program === undefined
      ? pruned
      : `${pruned}; the database was made or last migrated by ${record.database_program}`,
  )
  missing('cwd', stretch.cwd, 'the session has no header that names a directory')
  missing('surface', trace?.command, pruned)
  const reasoning = trace?.thinking ?? record.thinking ?? null
  missing('reasoning', reasoning, 'no row names a thinking level')
  missing('sandbox', report?.sandbox, 'the report on the prompt is of another turn, or there is none')
  unknown.push(
    {
      field: 'execution.flags',
      why: 'the command line stands in the trajectory together with the prompt and is not taken from it',
    },
    { field: 'execution.environment', why: 'environment variables do not stand in the record' },
    { field: 'execution.endpoint_profile', why: 'the address of the service is not taken from the record' },
    { field: 'execution.runtime_digest', why: 'the program file does not stand in the record' },
    { field: 'execution.repo', why: 'the record does not name a repository' },
  )
  return {
    runtime: 'openclaw',
    runtime_version: stretch.version,
    runtime_digest: null,
    surface: trace?.command ?? null,
    model: model !== null && provider !== null ? `${provider}/${model}` : model,
    endpoint_profile: null,
    reasoning,
    flags: null,
    environment: [],
    sandbox: { mode: report?.sandbox ?? null, network_policy: null },
    cwd: stretch.cwd,
    repo: null,
    image: null,
    agent: { id: record.agent, session_key: record.session_key },
    ...(record.api === undefined ? {} : { model_api: record.api }),
    ...(trace === undefined ? {} : { build: { git: trace.git, node: trace.node, platform: trace.platform } }),
    ...(report === undefined
      ? {}
      : { system_prompt: { characters: report.prompt.characters, hash: report.prompt.hash } }),
  }
}

/** Agent, session and the channel that routed the message (R43, R44), as far as key and report name them. */
function inferContext(stretch: StretchEvidence, record: OpenClawRecord, unknown: Unknown[]): ManifestBody['context'] {
  const key = parseSessionKey(record.session_key)
  const files = record.report?.files ?? []
  const memory = files.find(({ name }) => name === 'MEMORY.md')
  if (record.session_key === null)
    unknown.push({ field: 'context.session_scope', why: 'neither database nor index names the session key' })
  unknown.push({
    field: 'context.retrieval_snapshot',
    why: 'what was recalled in the session stands in its events; the memory index of that time is not kept',
  })
  if (memory === undefined)
    unknown.push({ field: 'context.memory', why: 'no report on the prompt of this stretch names MEMORY.md' })
  return {
    session_ref: stretch.session,
    memory_manifest_digest: null,
    memory_enabled: memory === undefined ? null : !memory.missing && memory.injected > 0,
    memory:
      memory === undefined || memory.missing
        ? []
        : [
            {
              path: memory.path,
              digest: null,
              bytes: null,
              truncated: memory.truncated ? { at: memory.injected, unit: 'utf16' } : null,
              local_to_machine: true,
            },
          ],
    retrieval_snapshot: null,
    session_scope: key.kind === 'unknown' ? null : { kind: key.kind },
    ...(key.channel === null && key.peer === null
      ? {}
      : { channel: { name: key.channel, account: key.account, peer: key.peer, thread: key.thread } }),
    ...(record.window_reason === undefined ? {} : { window_reason: record.window_reason }),
    ...(record.previous_session === undefined ? {} : { previous_session: record.previous_session }),
  }
}

function inferPolicy(record: OpenClawRecord, unknown: Unknown[]): ManifestBody['policy'] {
  const policy = record.trace?.tool_policy ?? null
  const source = 'record:trajectory'
  unknown.push({
    field: 'policy.permissions',
    why:
      policy === null
        ? 'no trajectory of the stretch shows the tool policy'
        : 'the trajectory shows the global tool policy; layers of agent, provider, sandbox and channel show in the tool list only',
  })
  return {
    revision: null,
    permissions: {
      mode: null,
      allow: [...(policy?.allow ?? []), ...(policy?.also_allow ?? [])].map((rule) => ({ rule, source, ignored: null })),
      ask: [],
      deny: (policy?.deny ?? []).map((rule) => ({ rule, source })),
    },
    trust: { trusted: null, source: null },
    managed: [],
  }
}

/** What no version writes into the record of a session, or what is not taken from it. */
function addStandingUnknowns(unknown: Unknown[]): void {
  unknown.push(
    {
      field: 'settings',
      why: 'the trajectory shows a cut and redacted copy of the configuration; of it only tool policy and digest are taken',
    },
    { field: 'principal', why: 'which credential was used stands in tables that are not read' },
    { field: 'policy.trust', why: 'this runtime records no trust in a folder' },
  )
}
