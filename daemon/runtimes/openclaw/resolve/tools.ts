import type { ManifestBody } from '../../../../contract/index.ts'
import { entryKey } from './agent.ts'
import { at, dotted, namesAt, type Tree, textAt, valueAt } from './config-tree.ts'
import type { SessionKey } from './session-key.ts'
import type { Problem, Unknown } from './sources.ts'
import {
  ALIASES,
  DENIED_TO_LEAVES,
  DENIED_TO_SUBAGENTS,
  DIRECT_TOOLS,
  EMBEDDED_TOOLS,
  GROUPS,
  PROFILES,
  PROFILES_WITH_MCP,
  SEARCH_TOOLS,
} from './tool-names.ts'

export interface ToolsRequest {
  readonly tree: Tree
  readonly agentId: string
  readonly session: SessionKey
  readonly provider: string | null
  readonly model: string | null
  readonly sandboxMode: string
}

/** One filter of the chain. A tool must pass all of them; a later one cannot give back what an earlier one took. */
export interface ToolLayer {
  readonly label: string
  /** File and key it stands in. */
  readonly source: string
  readonly allow: readonly string[] | null
  readonly deny: readonly string[]
  /** Its `allow` lets the tools of MCP servers through as a whole. */
  readonly letsMcpThrough: boolean
}

export interface ResolvedTools {
  readonly tools: ManifestBody['capabilities']['tools']
  readonly layers: readonly ToolLayer[]
  readonly profile: string | null
  readonly problems: readonly Problem[]
  readonly unknown: readonly Unknown[]
  /** Why the run ends before its first request; null when it does not. */
  readonly refused: string | null
}

export function resolveTools(request: ToolsRequest): ResolvedTools {
  const { tree, agentId, session } = request
  const problems: Problem[] = []
  const unknown: Unknown[] = []
  const own = ['agents', 'entries', entryKey(tree, agentId), 'tools']
  const layers: ToolLayer[] = []

  const profileAt = profileKeys(tree, own)
  const profile = profileAt === null ? null : textAt(tree, ...profileAt)
  const also = listOf(tree, [...own, 'alsoAllow']) ?? listOf(tree, ['tools', 'alsoAllow'])
  addProfile(layers, unknown, 'tools.profile', tree, profileAt, also)

  const shared = providerKeys(tree, ['tools', 'byProvider'], request)
  const ofAgent = providerKeys(tree, [...own, 'byProvider'], request)
  const providerProfile = [ofAgent, shared].find((keys) => keys !== null && textAt(tree, ...keys, 'profile') !== null)
  if (providerProfile)
    addProfile(
      layers,
      unknown,
      'tools.byProvider profile',
      tree,
      [...providerProfile, 'profile'],
      [ofAgent, shared]
        .map((keys) => (keys === null ? null : listOf(tree, [...keys, 'alsoAllow'])))
        .find((list) => list) ?? null,
    )
  addLists(layers, 'tools.allow/deny', tree, ['tools'])
  if (shared !== null) addLists(layers, 'tools.byProvider allow/deny', tree, shared)
  addLists(layers, `agents.entries.${agentId}.tools`, tree, own)
  if (ofAgent !== null) addLists(layers, `agents.entries.${agentId}.tools.byProvider`, tree, ofAgent)
  const isSandboxed = request.sandboxMode === 'all' || (request.sandboxMode === 'non-main' && session.kind !== 'main')
  if (isSandboxed) addSandbox(layers, unknown, tree, own)
  if (session.kind === 'subagent') addSubagent(layers, unknown, tree)

  const removedBy = (name: string): string | null =>
    layers.find((layer) => !passes(layer, name))?.label ??
    // Nobody is there to be yielded to.
    (session.kind === 'cron' && name === 'sessions_yield' ? 'cron sessions' : null)
  const hasSearch = searchIsOn(tree)
  const inPlay = EMBEDDED_TOOLS.map((name) => ({ name, removed: removedBy(name) }))
  const left = inPlay.filter(({ removed }) => removed === null)
  const tools: ManifestBody['capabilities']['tools'] = inPlay.map(({ name, removed }) => ({
    name,
    schema_digest: null,
    policy_profile: profile,
    removed_by: removed,
    used: null,
    presented:
      removed !== null ? null : !hasSearch || DIRECT_TOOLS.has(name) ? 'in the request' : 'found by tool search',
  }))
  if (hasSearch && left.length > 0)
    for (const name of SEARCH_TOOLS)
      tools.push({
        name,
        schema_digest: null,
        policy_profile: profile,
        removed_by: null,
        used: null,
        presented: 'in the request',
      })

  const named = new Set(layers.flatMap((layer) => [...(layer.allow ?? []), ...layer.deny]))
  for (const name of named) {
    if (isKnown(name)) continue
    unknown.push({
      field: 'capabilities.tools',
      why: `a list names ${name}, which no embedded run of 2026.9.6 offered; it may come from a plugin, a channel or an MCP server`,
    })
  }
  unknown.push({
    field: 'capabilities.tools',
    why: 'the tools of plugins, channels and nodes, and the rules for senders and owners, are known only to the running agent; schemas only from a request',
  })
  const hasExplicit = layers.some((layer) => layer.allow !== null && layer.label !== 'tools.profile')
  const refused =
    left.length === 0 && hasExplicit && !layers.some((layer) => layer.allow !== null && layer.letsMcpThrough)
      ? 'an explicit allow list leaves no tool: the run ends before its first request'
      : null
  if (refused !== null)
    problems.push({ path: layers.find((layer) => layer.allow !== null)?.source ?? null, message: refused })
  return { tools, layers, profile, problems, unknown, refused }
}

/** The agent's profile replaces the one of all agents. */
function profileKeys(tree: Tree, own: readonly string[]): readonly string[] | null {
  for (const keys of [
    [...own, 'profile'],
    ['tools', 'profile'],
  ])
    if (textAt(tree, ...keys) !== null) return keys
  return null
}

/** `provider/model` beats `provider`. */
function providerKeys(
  tree: Tree,
  place: readonly string[],
  { provider, model }: ToolsRequest,
): readonly string[] | null {
  if (provider === null) return null
  const found = at(tree, ...place)
  if (found?.type !== 'branch') return null
  const wanted = [...(model === null ? [] : [`${provider}/${model}`]), provider].map((one) => one.toLowerCase())
  for (const name of wanted)
    for (const key of found.entries.keys()) if (key.trim().toLowerCase() === name) return [...place, key]
  return null
}

const listOf = (tree: Tree, keys: readonly string[]): readonly string[] | null => namesAt(tree, ...keys)

const sourceOf = (tree: Tree, keys: readonly string[]): string =>
  `${at(tree, ...keys)?.origin ?? 'default'}#${dotted(keys)}`

function addProfile(
  layers: ToolLayer[],
  unknown: Unknown[],
  label: string,
  tree: Tree,
  keys: readonly string[] | null,
  also: readonly string[] | null,
): void {
  const profile = keys === null ? null : textAt(tree, ...keys)
  if (keys === null || profile === null || profile === 'full') return
  const members = PROFILES[profile]
  if (members === undefined) {
    unknown.push({
      field: 'capabilities.tools',
      why: `${dotted(keys)}: the profile ${profile} is not known; it was left out`,
    })
    return
  }
  layers.push({
    label: `${label} ${profile}`,
    source: sourceOf(tree, keys),
    allow: expand([...members, ...(also ?? [])]),
    deny: [],
    letsMcpThrough: PROFILES_WITH_MCP.has(profile),
  })
}

function addLists(layers: ToolLayer[], label: string, tree: Tree, keys: readonly string[]): void {
  const allow = listOf(tree, [...keys, 'allow'])
  const deny = listOf(tree, [...keys, 'deny']) ?? []
  // An empty list allows everything, as no list does.
  if ((allow === null || allow.length === 0) && deny.length === 0) return
  const names = allow === null || allow.length === 0 ? null : expand(allow)
  layers.push({
    label,
    source: sourceOf(tree, keys),
    allow: names,
    deny: expand(deny),
    letsMcpThrough:
      names === null || names.some((name) => name === '*' || name === 'bundle-mcp' || name === 'group:plugins'),
  })
}

function addSandbox(layers: ToolLayer[], unknown: Unknown[], tree: Tree, own: readonly string[]): void {
  const pick = (field: string): readonly string[] | null =>
    listOf(tree, [...own, 'sandbox', 'tools', field]) ?? listOf(tree, ['tools', 'sandbox', 'tools', field])
  const [allow, also, deny] = [pick('allow'), pick('alsoAllow'), pick('deny')]
  unknown.push({
    field: 'capabilities.tools',
    why:
      allow === null || deny === null
        ? 'the run is sandboxed; the lists the runtime itself keeps for sandboxes were not exercised and are not applied here'
        : 'the run is sandboxed; that layer was not exercised',
  })
  if (allow === null && deny === null) return
  layers.push({
    label: 'tools.sandbox.tools',
    source: sourceOf(tree, ['tools', 'sandbox', 'tools']),
    allow: allow === null || allow.length === 0 ? null : expand([...allow, ...(also ?? [])]),
    deny: expand(deny ?? []),
    letsMcpThrough: allow === null,
  })
}

function addSubagent(layers: ToolLayer[], unknown: Unknown[], tree: Tree): void {
  const allow = listOf(tree, ['tools', 'subagents', 'tools', 'allow'])
  const also = listOf(tree, ['tools', 'subagents', 'tools', 'alsoAllow']) ?? []
  layers.push({
    label: 'tools.subagents.tools',
    source: sourceOf(tree, ['tools', 'subagents', 'tools']),
    allow: allow === null || allow.length === 0 ? null : expand([...allow, ...also]),
    deny: [...DENIED_TO_SUBAGENTS, ...expand(listOf(tree, ['tools', 'subagents', 'tools', 'deny']) ?? [])],
    letsMcpThrough: true,
  })
  unknown.push({
    field: 'capabilities.tools',
    why: `whether this subagent may start others is kept with its session; if not, it also loses ${DENIED_TO_LEAVES.join(', ')}`,
  })
}

const normalise = (name: string): string => {
  const lower = name.trim().toLowerCase()
  return ALIASES[lower] ?? lower
}

const expand = (names: readonly string[]): readonly string[] => [
  ...new Set(
    names
      .map(normalise)
      .filter((name) => name !== '')
      .flatMap((name) => (name.startsWith('group:') ? (GROUPS[name.slice(6)] ?? [name]) : [name])),
  ),
]

const isKnown = (name: string): boolean =>
  name.includes('*') ||
  name === 'bundle-mcp' ||
  name.includes('__') ||
  EMBEDDED_TOOLS.includes(name) ||
  Object.values(GROUPS).some((group) => group.includes(name))

/** `*` stands for any characters. */
export function matchesTool(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*')
  return new RegExp(`^${escaped}$`).test(name)
}

function passes({ allow, deny }: ToolLayer, name: string): boolean {
  if (deny.some((pattern) => matchesTool(pattern, name))) return false
  if (allow === null) return true
  if (allow.some((pattern) => matchesTool(pattern, name))) return true
  // Leave to write is leave to patch; taking it away is not.
  return name === 'apply_patch' && allow.some((pattern) => matchesTool(pattern, 'write'))
}

/** The layer that takes all tools of a server away, however they are called; null when some may be left. */
export function serverRemovedBy(layers: readonly ToolLayer[], prefix: string): string | null {
  const start = prefix.toLowerCase()
  const reaches = (pattern: string): boolean => {
    const head = pattern.split('*')[0] ?? ''
    return pattern.includes('*') ? head.startsWith(start) || start.startsWith(head) : pattern.startsWith(start)
  }
  for (const { label, allow, deny, letsMcpThrough } of layers) {
    if (
      deny.some(
        (name) => name === 'bundle-mcp' || name === 'group:plugins' || (name.endsWith('*') && matchesTool(name, start)),
      )
    )
      return label
    if (allow !== null && !letsMcpThrough && !allow.some(reaches)) return label
  }
  return null
}

function searchIsOn(tree: Tree): boolean {
  const given = valueAt(tree, 'tools', 'toolSearch')
  if (typeof given === 'boolean') return given
  return valueAt(tree, 'tools', 'toolSearch', 'enabled') !== false
}
