import type { ManifestBody } from '../../../contract/index.ts'
import type { RolloutEvidence } from './evidence.ts'

type Unknown = ManifestBody['unknown'][number]
type Capabilities = ManifestBody['capabilities']

export function inferCapabilities(
  record: RolloutEvidence,
  unknown: Unknown[],
  empty: ManifestBody['empty'],
): Capabilities {
  const usedTools = new Set(record.used_tools ?? [])
  const usedSkills = new Set(record.used_skills ?? [])
  if (record.skills === undefined)
    unknown.push({ field: 'capabilities.skills', why: 'the record holds no list of skills' })
  else if (record.skills.length === 0) empty.push({ category: 'skills', why: 'the record lists no skills' })
  if (record.tools === undefined)
    unknown.push({
      field: 'capabilities.tools',
      why: 'definitions of direct tools are not written down; shown are those that were called',
    })
  unknown.push(
    { field: 'capabilities.commands', why: 'prompts of the user do not stand in the record' },
    { field: 'capabilities.agents', why: 'roles of agents stand in the text of a tool only' },
    { field: 'capabilities.plugins', why: 'the record names at most plugins that were switched off' },
    {
      field: 'capabilities.hooks',
      why: 'hooks and their runs do not stand in the record, only what they added to the context',
    },
    { field: 'capabilities.mcp_servers', why: 'servers show themselves by their tools only' },
  )
  return {
    skills: (record.skills ?? []).map(({ name, path }) => ({
      name,
      version: null,
      digest: null,
      source: path ?? 'record:skills',
      status: 'active',
      reason: null,
      description: null,
      used: usedSkills.has(name),
    })),
    commands: [],
    agents: [],
    plugins: (record.plugins_off ?? []).map((name) => ({
      name,
      version: null,
      digest: null,
      source: 'record:turn_context',
      status: 'disabled',
      reason: 'switched off for the turn',
      description: null,
      used: false,
    })),
    hooks: [],
    mcp_servers: mcpServers(record, usedTools),
    tools: toolsOf(record, usedTools),
  }
}

function toolsOf(record: RolloutEvidence, used: ReadonlySet<string>): Capabilities['tools'] {
  const tools = new Map<string, Capabilities['tools'][number]>()
  const add = (name: string, schema_digest: string | null): void => {
    if (!tools.has(name))
      tools.set(name, { name, schema_digest, policy_profile: null, removed_by: null, used: isUsed(name, used) })
  }
  for (const { name, schema_digest } of record.tools ?? []) add(name, schema_digest)
  for (const name of used) if (![...tools.keys()].some((known) => isSame(known, name))) add(name, null)
  return [...tools.values()]
}

/** Tools of the namespace `functions` are called without it (0.171.0). */
const isSame = (declared: string, called: string): boolean => declared === called || declared === `functions.${called}`
const isUsed = (declared: string, used: ReadonlySet<string>): boolean =>
  [...used].some((called) => isSame(declared, called))

function mcpServers(record: RolloutEvidence, used: ReadonlySet<string>): Capabilities['mcp_servers'] {
  const names = new Set<string>()
  for (const name of record.deferred_tools ?? []) {
    const server = /^mcp__(.+)$/.exec(name)?.[1]
    if (server !== undefined) names.add(server)
  }
  for (const name of [...used, ...(record.tools ?? []).map((tool) => tool.name)]) {
    const server = /^mcp__(.+?)__/.exec(name)?.[1]
    if (server !== undefined) names.add(server)
  }
  return [...names].sort().map((name) => {
    const tools = (record.tools ?? []).filter((tool) => tool.name.startsWith(`mcp__${name}__`))
    return {
      name,
      transport: 'unknown',
      command: null,
      url: null,
      package_version: null,
      digest: null,
      source: 'record:session',
      scope: 'unknown',
      status: 'active',
      reason: null,
      tools: tools.length === 0 ? null : tools.map((tool) => ({ ...tool })),
    }
  })
}
