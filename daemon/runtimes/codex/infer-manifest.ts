import { pathToFileURL } from 'node:url'
import { MANIFEST_VERSION, type ManifestBody, type ManifestSource } from '../../../contract/index.ts'
import { effectiveDigest, textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { effectivePieces } from './effective-pieces.ts'
import type { RolloutEvidence } from './evidence.ts'
import { inferCapabilities } from './infer-capabilities.ts'
import { inferExecution, inferPolicy } from './infer-execution.ts'

type Unknown = ManifestBody['unknown'][number]
const RULE = 'as the session record shows it'

/**
 * What a finished stretch can still tell of its configuration (R21, R25, R37–R40). Whatever a record cannot tell stands in `unknown`;
 * nothing is taken from the machine as it is now. The same evidence gives the same body.
 */
export function inferManifest(stretch: StretchEvidence): ManifestBody {
  const record: RolloutEvidence = stretch.record
  const unknown: Unknown[] = []
  const empty: ManifestBody['empty'] = []
  const { origin } = record
  const instructions = inferInstructions(stretch, record, unknown, empty)
  const capabilities = inferCapabilities(record, unknown, empty)
  unknown.push(
    { field: 'settings', why: 'configuration files and their profile do not stand in the record' },
    { field: 'principal', why: 'the account does not stand in the record' },
    { field: 'policy.trust', why: 'whether the folder was trusted does not stand in the record' },
    {
      field: 'policy.permissions',
      why: 'the record names the approval policy, not the rules; decisions of a person are not written down',
    },
  )
  if (record.memory === undefined)
    unknown.push({ field: 'context.memory', why: 'the record shows no memory: it may have been off, or empty' })
  if (stretch.startedAt === null) unknown.push({ field: 'created_at', why: 'no record of the stretch carries a time' })
  if (record.doubt !== undefined) unknown.push({ field: 'stretch', why: record.doubt })
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
      memory_manifest_digest: record.memory === undefined ? null : textDigest(record.memory),
      memory_enabled: record.memory === undefined ? null : true,
      memory: [],
      retrieval_snapshot: null,
      ...(origin === undefined ? {} : { lineage: lineageOf(origin) }),
    },
    policy: inferPolicy(record, unknown),
    external: [],
    empty,
    unknown,
  }
}

/** Where the thread comes from (R38): its root, its parent, the thread it was forked from and up to which record. */
function lineageOf(origin: NonNullable<RolloutEvidence['origin']>): Record<string, string | number | null> {
  const { root_session, parent_thread, agent_path, agent_role, forked_from, forked_at, thread_source } = origin
  return { root_session, parent_thread, agent_path, agent_role, forked_from, forked_at, thread_source }
}

/** Texts that the record shows, by the `uri` of their source. */
export function textsOf(stretch: StretchEvidence): ReadonlyMap<string, string> {
  const record: RolloutEvidence = stretch.record
  const texts = new Map<string, string>()
  if (typeof record.base === 'string') texts.set(BASE, record.base)
  if (record.developer !== undefined) texts.set(DEVELOPER, record.developer)
  if (record.memory !== undefined) texts.set(MEMORY, record.memory)
  if (record.agents != null) texts.set(agentsUri(record.agents.directory), record.agents.text)
  return texts
}

const BASE = 'record:base_instructions'
const DEVELOPER = 'record:developer_instructions'
const MEMORY = 'record:memory'
const agentsUri = (directory: string | null): string =>
  directory?.startsWith('/') === true
    ? `record:${pathToFileURL(directory).href}/AGENTS.md`
    : `record:${directory ?? ''}/AGENTS.md`

function inferInstructions(
  stretch: StretchEvidence,
  record: RolloutEvidence,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['instructions'] {
  const { agents, base, developer, memory } = record
  const sources: ManifestSource[] = []
  const add = (uri: string, text: string, more: Pick<ManifestSource, 'kind' | 'scope' | 'path' | 'label'>): void => {
    sources.push(sourceOf(uri, text, sources.length, carriedRule(record), more))
  }
  if (typeof base === 'string')
    add(BASE, base, { kind: 'instructions', scope: 'configuration', path: null, label: 'base instructions' })
  if (developer !== undefined)
    add(DEVELOPER, developer, { kind: 'settings', scope: 'configuration', path: null, label: 'developer_instructions' })
  if (memory !== undefined) add(MEMORY, memory, { kind: 'memory', scope: 'memory', path: null, label: null })
  if (agents === undefined) {
    unknown.push({
      field: 'instructions.effective_digest',
      why:
        record.origin?.forked_from == null
          ? `the record of version ${stretch.version ?? 'not named'} does not show whether AGENTS.md was loaded`
          : `what entered before stands in the record of the thread it was forked from, ${record.origin.forked_from}`,
    })
  } else if (agents === null) {
    if (sources.length === 0) empty.push({ category: 'instructions', why: 'no AGENTS.md entered the context' })
  } else {
    add(agentsUri(agents.directory), agents.text, {
      kind: 'instructions',
      scope: 'user and project',
      path: agents.directory,
      label: null,
    })
    unknown.push({
      field: 'instructions.sources',
      why: 'the record holds the texts of all AGENTS.md files as one: where one ends and the next begins cannot be told',
    })
  }
  if (record.base_prompt_digest === undefined)
    unknown.push({ field: 'execution.system_prompt_digest', why: 'the record does not hold the base instructions' })
  return {
    effective_digest:
      agents === undefined
        ? null
        : effectiveDigest(
            effectivePieces({
              base: base ?? null,
              developer: developer ?? null,
              memory: memory ?? null,
              agents: agents?.text ?? null,
            }),
          ),
    resolved_order: [...new Set(sources.map(({ scope }) => scope))],
    sources,
  }
}

const carriedRule = ({ carried }: RolloutEvidence): string =>
  carried?.includes('agents') === true
    ? `${RULE}; taken over from an earlier start: a resume writes only what changed (0.171.0)`
    : RULE

function sourceOf(
  uri: string,
  text: string,
  position: number,
  rule: string,
  more: Pick<ManifestSource, 'kind' | 'scope' | 'path' | 'label'>,
): ManifestSource {
  return {
    uri,
    ...more,
    position,
    status: 'loaded',
    rule,
    trigger: null,
    reason: null,
    digest: null,
    text_digest: textDigest(text),
    bytes: null,
    imported_by: [],
    truncated: null,
    scan: null,
    used: true,
    classification: 'private',
  }
}
