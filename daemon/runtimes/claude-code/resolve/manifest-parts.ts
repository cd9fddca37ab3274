import type { ManifestBody, ManifestSource } from '../../../../contract/index.ts'
import { textDigest } from '../../../manifest/effective-text.ts'
import type { ResolveRequest } from '../../adapter.ts'
import type { Repository } from '../../shared/repo.ts'
import type { StartFlags } from './flags.ts'
import { type Source, VERIFIED_VERSION } from './sources.ts'

export interface Unknown {
  readonly field: string
  readonly why: string
}

export function toManifestSource(source: Source, order: readonly string[]): ManifestSource {
  const position = order.indexOf(source.uri)
  return {
    ...source.extra,
    ...(source.lazy === null ? {} : { lazy: source.lazy }),
    uri: source.uri,
    path: source.path,
    ...(source.pathBytes === null ? {} : { path_bytes: source.pathBytes.toString('base64') }),
    scope: source.scope,
    kind: source.kind,
    label: source.label,
    position: position < 0 ? null : position,
    status: source.status,
    reason: source.reason,
    rule: source.rule,
    digest: source.digest,
    text_digest: source.text === null ? null : textDigest(source.text),
    bytes: source.bytes,
    imported_by: [...source.importedBy],
    trigger: source.trigger,
    truncated: source.truncated === null ? null : { ...source.truncated },
    scan: null,
    used: null,
    classification: source.classification,
  }
}

/** Preferences and secrets of the state file as settings of their own; the secrets by keyed digest only. */
export function stateSettings(
  file: string,
  preferences: Readonly<Record<string, unknown>>,
  secrets: readonly { readonly key: string; readonly value: string }[],
  hide: (value: string) => string,
): ManifestBody['settings'] {
  const draft = { source: file, merged_from: [file], overridden: [], rule: 'replace' as const }
  return Object.fromEntries([
    ...Object.entries(preferences).map(([key, value]) => [`state.${key}`, { ...draft, value: String(value) }] as const),
    ...secrets.map(
      ({ key, value }) => [`state.${key}`, { ...draft, value_ref: `secret:settings:${hide(value)}` }] as const,
    ),
  ])
}

/** What nobody can know before the agent has started. */
export function beforeStart(
  request: ResolveRequest,
  flags: StartFlags,
  repository: Repository | null,
  model: string | null,
  servers: number,
  reasoning: string | null,
): Unknown[] {
  const unknown: Unknown[] = [
    {
      field: 'capabilities.tools',
      why: 'built-in tools and their schemas are known only from a request of the running agent',
    },
    {
      field: 'instructions.system_prompt',
      why: "the runtime's own prompt is known only from a request of the running agent",
    },
    {
      field: 'execution.environment',
      why: 'taken from the environment Reprise was given, which may differ from the one the agent starts in',
    },
    { field: 'execution.runtime_digest', why: 'the program was not looked at' },
    { field: 'principal', why: 'who is signed in is known only to the runtime' },
  ]
  if (servers > 0)
    unknown.push({
      field: 'capabilities.mcp_servers.tools',
      why: 'the tools of an MCP server are known only once it runs',
    })
  if (model === null)
    unknown.push({
      field: 'execution.model',
      why: 'nothing names a model; the default depends on the account and the version',
    })
  if (reasoning === null)
    unknown.push({ field: 'execution.reasoning', why: 'nothing names an effort; the default depends on the model' })
  if (!flags.has('--print'))
    unknown.push({ field: 'execution.surface', why: 'whether the start is interactive is not known' })
  if (request.version === null)
    unknown.push({
      field: 'execution.runtime_version',
      why: `not given; the rules of ${VERIFIED_VERSION} were applied`,
    })
  else if (request.version !== VERIFIED_VERSION) {
    unknown.push({
      field: 'instructions.resolved_order',
      why: `the rules were verified on ${VERIFIED_VERSION}, not on ${request.version}`,
    })
  }
  if (repository !== null)
    unknown.push({ field: 'execution.repo.dirty_digest', why: 'the work tree was not compared with its commit' })
  if (flags.has('--worktree'))
    unknown.push({
      field: 'execution.cwd',
      why: '--worktree makes a new work tree at start; what loads there was not resolved',
    })
  return unknown
}

export function explainEmpty(body: ManifestBody, repository: Repository | null): ManifestBody['empty'] {
  const { capabilities, context, policy, execution } = body
  const why = (category: string, count: number, reason: string): ManifestBody['empty'] =>
    count > 0 ? [] : [{ category, why: reason }]
  const noActive = 'nothing was found in any place the runtime looks'
  const unused = (list: readonly { readonly status: string }[]): string =>
    list.length === 0 ? noActive : `${list.length} found, none of them active: each says why`
  const active = (list: readonly { readonly status: string }[]): number =>
    list.filter((one) => one.status === 'active').length
  return [
    ...why('instructions', body.instructions.resolved_order.length, 'no instruction file enters the context at start'),
    ...why(
      'memory',
      context.memory.length,
      context.memory_enabled === false
        ? 'automatic memory is off and its folder is empty'
        : 'the memory folder is empty or does not exist',
    ),
    ...why('settings', Object.keys(body.settings).length, 'no settings file sets anything'),
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
      'no permission rule is set',
    ),
    ...why('managed', policy.managed.length, 'this machine has no managed settings'),
    ...why('environment', execution.environment.length, 'no variable that bears on a run is set'),
    ...why('repository', repository === null ? 0 : 1, 'the start directory lies in no git work tree'),
    ...why(
      'submodules',
      execution.repo?.submodules.length ?? 0,
      'the repository names none, or there is no repository',
    ),
    ...why('image', execution.image === null ? 0 : 1, 'the agent runs on the machine itself'),
    ...why('retrieval', 0, 'this runtime keeps no retrieval index'),
    ...why('task', 0, 'resolved without a run'),
    ...why('sandbox', execution.sandbox.mode === null ? 0 : 1, 'no setting names a sandbox'),
  ]
}
