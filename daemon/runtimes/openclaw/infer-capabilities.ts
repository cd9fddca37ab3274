import type { ManifestBody, ManifestCapability } from '../../../contract/index.ts'
import type { OpenClawRecord, TracedPlugin } from './evidence.ts'

type Capabilities = ManifestBody['capabilities']
type Unknown = ManifestBody['unknown'][number]

export function inferCapabilities(record: OpenClawRecord, unknown: Unknown[]): Capabilities {
  const { report, trace } = record
  const used = new Set(record.used_tools ?? [])
  const usedSkills = new Set(record.used_skills ?? [])
  const named = report?.tools ?? trace?.tools?.map((name) => ({ name, schema_digest: null })) ?? null
  const say = (field: string, why: string): void => {
    unknown.push({ field: `capabilities.${field}`, why })
  }
  if (named === null)
    say(
      'tools',
      'neither the report on the prompt nor a trajectory of this stretch lists the tools: only used ones are known',
    )
  else if (report === undefined)
    say('tools.schema_digest', 'the trajectory names the tools without the digests the report has')
  if (named?.some(({ name }) => name === 'tool_search' || name === 'tool_search_code') === true)
    say('tools.presented', 'tool search was on: which tools stood in the requests themselves is not recorded')
  // The report lists the catalogue, the prompt what was offered: without the tool to read them no skill is (2026.9.6).
  const skills = trace?.skills ?? report?.skills ?? null
  if (skills === null) say('skills', 'no record of this stretch lists the skills: only used ones are known')
  if (trace?.plugins === undefined || trace.plugins === null)
    say('plugins', 'no trajectory of this stretch lists the plugins')
  say('commands', 'commands do not stand in the record')
  say('agents', 'the other agents of the state directory do not stand in the record of a session')
  say('hooks', 'hooks do not stand in the record')
  say('mcp_servers', 'the record does not say which tools come from an MCP server')
  return {
    skills: skillsOf(skills ?? [...usedSkills], usedSkills),
    commands: [],
    agents: [],
    plugins: (trace?.plugins ?? []).map(pluginOf),
    hooks: [],
    mcp_servers: [],
    tools: (named ?? [...used].map((name) => ({ name, schema_digest: null }))).map(({ name, schema_digest }) => ({
      name,
      schema_digest,
      policy_profile: trace?.tool_policy?.profile ?? null,
      removed_by: null,
      used: used.has(name),
    })),
  }
}

const skillsOf = (names: readonly string[], used: ReadonlySet<string>): Capabilities['skills'] =>
  names.map((name) => ({
    name,
    version: null,
    digest: null,
    source: 'record:prompt',
    status: 'active',
    reason: null,
    description: null,
    used: used.has(name),
  }))

function pluginOf({ id, version, origin, activated, reason, source }: TracedPlugin): ManifestCapability {
  return {
    name: id,
    version,
    digest: null,
    source: source ?? `record:${origin ?? 'trajectory'}`,
    status: activated ? 'active' : 'disabled',
    reason,
    description: null,
    used: null,
  }
}
