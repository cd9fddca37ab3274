import { pathToFileURL } from 'node:url'
import { MANIFEST_VERSION, type ManifestBody, type ManifestSource } from '../../../contract/index.ts'
import { textDigest } from '../../manifest/effective-text.ts'
import type { StretchEvidence } from '../adapter.ts'
import { type ClaudeRecord, effectiveDigestOf, type SeenInstruction, type SeenLazily } from './evidence.ts'
import { asList, asName, asNumber, asRow, asText, type Row } from './fields.ts'

/** Versions on which it was seen that a start without instruction files writes no row for them. */
const SEEN_WITHOUT_INSTRUCTIONS = new Set(['2.1.332'])
const RULE = 'as the session record shows it'

type Unknown = ManifestBody['unknown'][number]
type Capabilities = ManifestBody['capabilities']

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

/** Texts that the record shows, by the `uri` of their source, for keeping beside the manifest. */
export function textsOf(stretch: StretchEvidence): ReadonlyMap<string, string> {
  const record: ClaudeRecord = stretch.record
  const texts = new Map<string, string>()
  for (const file of [...(record.instructions ?? []), ...(record.lazy ?? [])]) texts.set(uriOf(file.path), file.text)
  return texts
}

function inferInstructions(
  stretch: StretchEvidence,
  record: ClaudeRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): ManifestBody['instructions'] {
  const files = record.instructions
  const carried = record.carried?.includes('instructions') === true
  if (files === undefined) {
    if (record.session_context === true && stretch.version !== null && SEEN_WITHOUT_INSTRUCTIONS.has(stretch.version)) {
      empty.push({ category: 'instructions', why: 'no instruction file entered the context at start' })
    } else {
      unknown.push(
        {
          field: 'instructions.effective_digest',
          why: `version ${stretch.version ?? 'not named'} does not write which instructions it loaded`,
        },
        { field: 'instructions.sources', why: 'the session record shows no instruction files' },
      )
    }
  } else if (files.length === 0)
    empty.push({ category: 'instructions', why: 'no instruction file entered the context at start' })
  else
    unknown.push(
      { field: 'instructions.sources', why: 'files that were found and not loaded leave no trace in the record' },
      {
        field: 'instructions.sources.imported_by',
        why: 'the record lists imported files without the file that named them',
      },
    )
  const rule = carried ? `${RULE}; taken over from an earlier start, a resume does not read them again (2.1.332)` : RULE
  const loaded = (files ?? []).map((file, position) =>
    sourceOf(file, { position, rule, status: 'loaded', trigger: null, scope: scopeOf(file, stretch.cwd) }),
  )
  const atStart = new Set(loaded.map(({ uri }) => uri))
  const lazy = (record.lazy ?? [])
    .filter((file) => !atStart.has(uriOf(file.path)))
    .map((file) => lazySource(file, stretch.cwd))
  return {
    effective_digest: files === undefined ? null : effectiveDigestOf(files),
    resolved_order: [...new Set(loaded.map(({ scope }) => scope))],
    sources: [...loaded, ...lazy],
  }
}

function lazySource(file: SeenLazily, cwd: string | null): ManifestSource {
  const scope = isNested(file.path, cwd) ? 'path' : scopeOf(file, cwd)
  const trigger =
    file.trigger === null
      ? 'a file below its directory or matching its paths was touched'
      : `${file.trigger} was touched`
  return { ...sourceOf(file, { position: null, rule: RULE, status: 'lazy', trigger, scope }), digest: file.raw_digest }
}

function sourceOf(
  file: SeenInstruction,
  place: Pick<ManifestSource, 'position' | 'rule' | 'status' | 'trigger' | 'scope'>,
): ManifestSource {
  return {
    uri: uriOf(file.path),
    path: file.path,
    kind: kindOf(file),
    label: file.label,
    ...place,
    reason: null,
    digest: null,
    text_digest: textDigest(file.text),
    bytes: null,
    imported_by: file.imported_by === null ? [] : [uriOf(file.imported_by)],
    truncated: null,
    scan: null,
    used: true,
    classification: 'private',
  }
}

/** Files with names of their own are loaded by themselves; any other file that is no rule was imported by one. */
function kindOf(file: SeenInstruction): ManifestSource['kind'] {
  if (file.type === 'AutoMem') return 'memory'
  if (file.imported_by !== null) return 'import'
  if (file.rule) return 'rule'
  const name = file.path.split(/[\\/]/).at(-1) ?? ''
  return name.startsWith('<') || ['CLAUDE.md', 'CLAUDE.local.md', 'AGENTS.md'].includes(name)
    ? 'instructions'
    : 'import'
}

function scopeOf({ type, path }: SeenInstruction, cwd: string | null): string {
  switch (type) {
    case 'Managed':
      return 'managed'
    case 'User':
      return 'user'
    case 'Project':
      return cwd === null || path.startsWith(`${cwd}/`) || path.startsWith(`${cwd}\\`) ? 'project' : 'parent folder'
    case 'Local':
      return 'local'
    case 'AutoMem':
      return 'memory'
    default:
      return type ?? 'unknown'
  }
}

/** Below the start directory, in a directory of its own. */
function isNested(path: string, cwd: string | null): boolean {
  if (cwd === null || !path.startsWith(`${cwd}/`)) return false
  const [first, ...rest] = path.slice(cwd.length + 1).split('/')
  return rest.length > 0 && first !== '.claude'
}

/** The same form as a resolver gives a file; paths of another platform stay as the record has them. */
function uriOf(path: string): string {
  return path.startsWith('/') ? pathToFileURL(path).href : `record:${path}`
}

function inferCapabilities(record: ClaudeRecord, unknown: Unknown[], empty: ManifestBody['empty']): Capabilities {
  const usedTools = new Set(record.used_tools ?? [])
  const usedSkills = new Set(record.used_skills ?? [])
  const usedAgents = new Set(record.used_agents ?? [])
  const category = (name: string, seen: readonly unknown[] | undefined, absent: string): void => {
    if (seen === undefined) unknown.push({ field: `capabilities.${name}`, why: absent })
    else if (seen.length === 0) empty.push({ category: name, why: `the record lists no ${name}` })
  }
  category('skills', record.skills, 'the record holds no list of skills')
  category('agents', record.agents, 'the record holds no list of agents')
  category('tools', record.shape?.tools, 'the record holds no tool definitions')
  unknown.push(
    { field: 'capabilities.commands', why: 'commands stand among the skills in the record' },
    { field: 'capabilities.plugins', why: 'the record does not list plugins' },
    { field: 'capabilities.hooks', why: 'only hooks that ran leave a trace' },
  )
  const entry = (
    name: string,
    source: string,
    digest: string | null,
    used: boolean,
  ): Capabilities['skills'][number] => ({
    name,
    version: null,
    digest: digest !== null && /^sha256:[0-9a-f]{64}$/.test(digest) ? digest : null,
    source,
    status: 'active',
    reason: null,
    description: null,
    used,
  })
  return {
    skills: (record.skills ?? []).map(({ name, digest }) => ({
      ...entry(name, 'record:skill_listing', null, usedSkills.has(name)),
      // The program's own short digest of the listing entry; of what, it does not say.
      ...(digest === null ? {} : { listing_digest: digest }),
    })),
    commands: [],
    agents: (record.agents ?? []).map(({ name, built_in }) => ({
      ...entry(name, built_in ? 'record:built-in' : 'record:agent_listing', null, usedAgents.has(name)),
    })),
    plugins: [],
    hooks: (record.hooks ?? []).map(({ name, command_digest }) => entry(name, 'record:hook', command_digest, true)),
    mcp_servers: mcpServers(record, usedTools, unknown),
    tools: toolsOf(record, usedTools),
  }
}

function toolsOf(record: ClaudeRecord, used: ReadonlySet<string>): Capabilities['tools'] {
  const tools = new Map<string, Capabilities['tools'][number]>()
  const add = (name: string, schema_digest: string | null): void => {
    const known = tools.get(name)
    const digest = schema_digest ?? known?.schema_digest ?? null
    tools.set(name, { name, schema_digest: digest, policy_profile: null, removed_by: null, used: used.has(name) })
  }
  for (const { name, schema_digest } of record.shape?.tools ?? []) add(name, schema_digest)
  // Deferred tools are known by name; their definitions enter when they are asked for.
  for (const name of record.deferred_tools ?? []) if (!tools.has(name)) add(name, null)
  for (const { name, schema_digest } of record.resolved_tools ?? []) add(name, schema_digest)
  for (const name of used) if (!tools.has(name)) add(name, null)
  return [...tools.values()]
}

/** Servers show themselves by their instructions, their tools and their failures. */
function mcpServers(record: ClaudeRecord, used: ReadonlySet<string>, unknown: Unknown[]): Capabilities['mcp_servers'] {
  const names = new Set<string>()
  for (const { name } of record.mcp_instructions ?? []) names.add(name)
  for (const tool of toolsOf(record, used)) {
    const match = /^mcp__(.+?)__/.exec(tool.name)
    if (match?.[1] !== undefined) names.add(match[1])
  }
  const failed = new Set(record.failed_mcp ?? [])
  for (const name of failed) names.add(name)
  if (record.failed_mcp === undefined)
    unknown.push({
      field: 'capabilities.mcp_servers',
      why: 'servers without tools in use leave no trace in the record',
    })
  return [...names].sort().map((name) => ({
    name,
    transport: 'unknown',
    command: null,
    url: null,
    package_version: null,
    digest: null,
    source: 'record:session',
    scope: 'unknown',
    status: failed.has(name) ? 'disabled' : 'active',
    reason: failed.has(name) ? 'the connection failed' : null,
    tools: serverTools(record, used, name),
  }))
}

function serverTools(
  record: ClaudeRecord,
  used: ReadonlySet<string>,
  server: string,
): Capabilities['mcp_servers'][number]['tools'] {
  const tools: { name: string; schema_digest: string }[] = []
  for (const { name, schema_digest } of toolsOf(record, used)) {
    if (name.startsWith(`mcp__${server}__`) && schema_digest !== null) tools.push({ name, schema_digest })
  }
  return tools.length === 0 ? null : tools
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
  return [{ kind: 'git', name: 'status at start', state: 'captured', digest: record.git_status_digest, reason: null }]
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
