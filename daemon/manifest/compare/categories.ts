import type { CompareCategory } from '../../../contract/index.ts'

type Row = Readonly<Record<string, unknown>>

const ofSourceKind: Readonly<Record<string, CompareCategory>> = {
  instructions: 'instructions',
  rule: 'instructions',
  import: 'instructions',
  memory: 'memory and context',
  settings: 'settings',
  state: 'settings',
  mcp: 'mcp servers and tools',
  skill: 'skills, plugins and hooks',
  agent: 'skills, plugins and hooks',
  command: 'skills, plugins and hooks',
  plugin: 'skills, plugins and hooks',
  hook: 'skills, plugins and hooks',
  environment: 'environment',
  flag: 'flags and start',
}

/** The longest prefix decides. Whatever a later version adds falls to the nearest of these. */
const byPath: readonly (readonly [string, CompareCategory])[] = [
  ...([
    ['instructions', 'instructions'],
    ['instructions.system_prompt', 'program'],
    ['settings', 'settings'],
    ['capabilities', 'skills, plugins and hooks'],
    ['capabilities.mcp_servers', 'mcp servers and tools'],
    ['capabilities.tools', 'mcp servers and tools'],
    ['execution', 'flags and start'],
    ['execution.runtime', 'program'],
    ['execution.runtime_version', 'program'],
    ['execution.runtime_digest', 'program'],
    ['execution.program', 'program'],
    ['execution.system_prompt_digest', 'program'],
    ['execution.model', 'model and endpoint'],
    ['execution.requested_model', 'model and endpoint'],
    ['execution.provider', 'model and endpoint'],
    ['execution.endpoint_profile', 'model and endpoint'],
    ['execution.reasoning', 'model and endpoint'],
    ['execution.parameters', 'model and endpoint'],
    ['execution.environment', 'environment'],
    ['execution.platform', 'environment'],
    ['execution.host', 'environment'],
    ['execution.image', 'environment'],
    ['execution.sandbox', 'permissions, trust and sandbox'],
    ['execution.repo', 'repository'],
    ['context', 'memory and context'],
    ['policy', 'permissions, trust and sandbox'],
    ['policy.capability_id', 'skills, plugins and hooks'],
    ['task', 'flags and start'],
    ['external', 'external state'],
    ['principal', 'external state'],
  ] as const),
].sort((a, b) => b[0].length - a[0].length)

/** `plain`: path without the keys of list items; `item`: the source, when the path lies in one. */
export const categoryOf = (plain: string, item: Row | null): CompareCategory => {
  if (plain.startsWith('instructions.sources') && item !== null)
    return ofSourceKind[String(item.kind)] ?? 'instructions'
  const entry = byPath.find(
    ([prefix]) => plain === prefix || plain.startsWith(`${prefix}.`) || plain.startsWith(`${prefix} `),
  )
  return entry?.[1] ?? 'external state'
}
