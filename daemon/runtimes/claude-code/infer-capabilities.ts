import type { ManifestBody } from '../../../contract/index.ts'
import type { ClaudeRecord } from './evidence.ts'

type Unknown = ManifestBody['unknown'][number]
type Capabilities = ManifestBody['capabilities']

export function inferCapabilities(
  record: ClaudeRecord,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): Capabilities {
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
