import type { ManifestBody } from '../../../../contract/index.ts'
import type { ResolveRequest } from '../../adapter.ts'
import type { Repository } from '../../shared/repo.ts'
import type { Chosen } from './agent.ts'
import type { Config } from './config.ts'
import type { Places } from './places.ts'
import { type Unknown, VERIFIED_VERSION } from './sources.ts'
import { NO_CONFIGURATION, type Start } from './start.ts'

/** Start flags as they are kept: what is said to the agent is not configuration, and stays out. */
export function recordFlags(start: Start): string[] {
  return start.words.flatMap(({ name, value }) => {
    if (name === null) return value === 'agent' || value === 'exec' ? [value] : []
    if (value === null) return [name]
    return NO_CONFIGURATION.has(name) ? [name] : [name, value]
  })
}

/** What nobody can know before the agent has started. */
export function beforeStart(
  request: ResolveRequest,
  start: Start,
  places: Places,
  config: Config,
  chosen: Chosen,
): Unknown[] {
  const { env } = request.surroundings
  const unknown: Unknown[] = [
    {
      field: 'instructions.system_prompt',
      why: "the runtime's own prompt is known only from a request of the running agent",
    },
    {
      field: 'instructions',
      why: 'MEMORY.md and USER.md are left out when the memory index says that they come from where they may not come in by themselves; the index is not opened',
    },
    {
      field: 'capabilities.skills',
      why: 'a session that is already there keeps the list of skills it began with, in its database',
    },
    {
      field: 'execution.environment',
      why: 'taken from the environment Reprise was given, which may differ from the one the agent starts in',
    },
    { field: 'execution.runtime_digest', why: 'the program was not looked at' },
    { field: 'principal.subject', why: 'which person a session belongs to is known only to the runtime' },
    {
      field: 'context.recall',
      why: 'what a session recalls of others is bounded and redacted by the runtime, and known only from its request',
    },
  ]
  if (start.surface === 'gateway')
    unknown.push({
      field: 'execution',
      why: 'a running gateway may hold an older configuration than the files (invalid edits are skipped), and has an environment of its own',
    })
  if (env.OPENCLAW_LOAD_SHELL_ENV === '1')
    unknown.push({
      field: 'execution.environment',
      why: 'OPENCLAW_LOAD_SHELL_ENV=1: missing variables also come from a login shell, which is not run here',
    })
  for (const { name, value } of start.words)
    if (name !== null && !start.words.find((word) => word.name === name)?.known)
      unknown.push({
        field: 'execution.flags',
        why: `the flag ${name}${value === null ? '' : ' and its value'} is not known for ${VERIFIED_VERSION}`,
      })
  if (request.version === null)
    unknown.push({
      field: 'execution.runtime_version',
      why: `not given; the rules of ${VERIFIED_VERSION} were applied`,
    })
  else if (request.version !== VERIFIED_VERSION)
    unknown.push({
      field: 'instructions.resolved_order',
      why: `the rules were verified on ${VERIFIED_VERSION}, not on ${request.version}; versions before 2026.8 also load TOOLS.md and HEARTBEAT.md`,
    })
  if (chosen.agent !== null && chosen.session.kind === 'other')
    unknown.push({
      field: 'context.session_scope',
      why: `the session key ${chosen.session.key} has no known form; it was treated like a main session`,
    })
  if (places.configFile !== null && config.sources.length === 0)
    unknown.push({
      field: 'settings',
      why: `${places.configFile} does not exist: everything is a default of the runtime`,
    })
  return unknown
}

export function explainEmpty(
  body: ManifestBody,
  repository: Repository | null,
  refused: string | null,
): ManifestBody['empty'] {
  const { capabilities, context, policy, execution } = body
  const why = (category: string, count: number, reason: string): ManifestBody['empty'] =>
    count > 0 ? [] : [{ category, why: reason }]
  const active = (list: readonly { readonly status: string }[]): number =>
    list.filter((one) => one.status === 'active').length
  const unused = (list: readonly unknown[]): string =>
    list.length === 0
      ? 'nothing was found in any place the runtime looks'
      : `${list.length} found, none of them active: each says why`
  return [
    ...why(
      'instructions',
      body.instructions.resolved_order.length,
      refused ?? 'no file of the workspace enters the context',
    ),
    ...why('memory', context.memory.length, 'the workspace has neither MEMORY.md nor notes of single days'),
    ...why('skills', active(capabilities.skills), unused(capabilities.skills)),
    ...why('commands', capabilities.commands.length, 'this runtime keeps no files of commands; skills stand for them'),
    ...why('agents', capabilities.agents.length, 'the configuration names no agent'),
    ...why('plugins', active(capabilities.plugins), unused(capabilities.plugins)),
    ...why('hooks', active(capabilities.hooks), unused(capabilities.hooks)),
    ...why('mcp_servers', active(capabilities.mcp_servers), unused(capabilities.mcp_servers)),
    ...why(
      'permissions',
      policy.permissions.allow.length + policy.permissions.ask.length + policy.permissions.deny.length,
      'no list allows or denies a tool',
    ),
    ...why('managed', policy.managed.length, 'this runtime has no managed settings'),
    ...why('environment', execution.environment.length, 'no variable that bears on a run is set'),
    ...why('repository', repository === null ? 0 : 1, 'the tools run in no git work tree'),
    ...why(
      'submodules',
      execution.repo?.submodules.length ?? 0,
      'the repository names none, or there is no repository',
    ),
    ...why('image', execution.image === null ? 0 : 1, 'no setting names an image'),
    ...why('retrieval', 0, 'the memory index lies in the agent database, which is not opened'),
    ...why('task', 0, 'resolved without a run'),
  ]
}
