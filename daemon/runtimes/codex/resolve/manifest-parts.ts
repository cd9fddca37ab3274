import type { ManifestBody } from '../../../../contract/index.ts'
import type { ResolveRequest } from '../../adapter.ts'
import type { Repository } from '../../shared/repo.ts'
import type { StartFlags } from './flags.ts'
import { VERIFIED_VERSION } from './sources.ts'

export interface Unknown {
  readonly field: string
  readonly why: string
}

/** What nobody can know before the agent has started. */
export function beforeStart(
  request: ResolveRequest,
  flags: StartFlags,
  repository: Repository | null,
  servers: number,
  hasBase: boolean,
): readonly Unknown[] {
  const unknown: Unknown[] = [
    {
      field: 'capabilities.tools',
      why: 'built-in tools and their schemas depend on the model and are known only from a request of the running agent',
    },
    {
      field: 'execution.environment',
      why: 'taken from the environment Reprise was given, which may differ from the one the agent starts in',
    },
    { field: 'execution.runtime_digest', why: 'the program was not looked at' },
    { field: 'principal', why: 'who is signed in is known only to the runtime' },
    { field: 'settings', why: 'what an organisation delivers from its cloud is known only to the running agent' },
  ]
  if (!hasBase)
    unknown.push({
      field: 'instructions.system_prompt',
      why: "the runtime's own prompt is known only from a record or a request of the running agent",
    })
  if (servers > 0)
    unknown.push({
      field: 'capabilities.mcp_servers.tools',
      why: 'the tools of an MCP server are known only once it runs',
    })
  if (flags.command === null)
    unknown.push({ field: 'execution.surface', why: 'no sub-command is given: an interactive start was assumed' })
  if (request.version === null)
    unknown.push({
      field: 'execution.runtime_version',
      why: `not given; the rules of ${VERIFIED_VERSION} were applied`,
    })
  else if (request.version !== VERIFIED_VERSION)
    unknown.push({
      field: 'instructions.resolved_order',
      why: `the rules were verified on ${VERIFIED_VERSION}, not on ${request.version}`,
    })
  if (repository !== null)
    unknown.push({ field: 'execution.repo.dirty_digest', why: 'the work tree was not compared with its commit' })
  if (flags.has('--worktree'))
    unknown.push({
      field: 'execution.cwd',
      why: '--worktree makes a new work tree at start; what loads there was not resolved',
    })
  if (flags.has('--remote'))
    unknown.push({
      field: 'execution.cwd',
      why: '--remote lets another server run the session; its files were not seen',
    })
  if (request.surroundings.platform === 'darwin')
    unknown.push({ field: 'settings', why: 'managed preferences of macOS are not read here' })
  return unknown
}

export function explainEmpty(body: ManifestBody): ManifestBody['empty'] {
  const { capabilities, context, policy, execution } = body
  const why = (category: string, count: number, reason: string): ManifestBody['empty'] =>
    count > 0 ? [] : [{ category, why: reason }]
  const active = (list: readonly { readonly status: string }[]): number =>
    list.filter((one) => one.status === 'active').length
  const unused = (list: readonly { readonly status: string }[]): string =>
    list.length === 0
      ? 'nothing was found in any place the runtime looks'
      : `${list.length} found, none of them active: each says why`
  return [
    ...why('instructions', body.instructions.resolved_order.length, 'no instruction text enters the context at start'),
    ...why(
      'memory',
      context.memory.length,
      context.memory_enabled === false
        ? 'the feature memories is off, and its folder is empty'
        : 'the memory folder is empty or does not exist',
    ),
    ...why('settings', Object.keys(body.settings).length, 'no layer sets anything'),
    ...why('skills', active(capabilities.skills), unused(capabilities.skills)),
    ...why('commands', active(capabilities.commands), unused(capabilities.commands)),
    ...why('agents', active(capabilities.agents), unused(capabilities.agents)),
    ...why('plugins', active(capabilities.plugins), unused(capabilities.plugins)),
    ...why('hooks', active(capabilities.hooks), unused(capabilities.hooks)),
    ...why('mcp_servers', active(capabilities.mcp_servers), unused(capabilities.mcp_servers)),
    ...why('tools', capabilities.tools.length, 'tool schemas are known only from a request of the running agent'),
    ...why(
      'permissions',
      policy.permissions.allow.length + policy.permissions.ask.length + policy.permissions.deny.length,
      'no rules file holds a rule',
    ),
    ...why('managed', policy.managed.length, 'this machine has neither a managed configuration nor requirements'),
    ...why('environment', execution.environment.length, 'no variable that bears on a run is set'),
    ...why('repository', execution.repo === null ? 0 : 1, 'the start directory lies in no git work tree'),
    ...why(
      'submodules',
      execution.repo?.submodules.length ?? 0,
      'the repository names none, or there is no repository',
    ),
    ...why('image', execution.image === null ? 0 : 1, 'the agent runs on the machine itself'),
    ...why('retrieval', 0, 'this runtime keeps no retrieval index'),
    ...why('task', 0, 'resolved without a run'),
  ]
}
