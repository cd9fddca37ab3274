import path from 'node:path'
import type { ResolveRequest } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'
import { isInside } from '../../shared/disk.ts'
import { agentIdOf } from './agent-id.ts'
import type { Config } from './config.ts'
import { at, branchesAt, type Tree, textAt } from './config-tree.ts'
import { type Places, setting } from './places.ts'
import { readSessionKey, type SessionKey } from './session-key.ts'
import type { Start } from './start.ts'

/** One agent: a domain of its own (R42). Nothing in here is shared with another agent unless both name the same path. */
export interface AgentDomain {
  readonly id: string
  readonly workspace: string
  /** The rule that gave the workspace. */
  readonly workspaceBy: string
  /** Where its tools run. */
  readonly runDir: string
  readonly runDirBy: string
  readonly agentDir: string
  readonly sessionStore: string
}

export interface Chosen {
  /** Null: no agent answers, and `refused` says why. */
  readonly agent: AgentDomain | null
  readonly chosenBy: string
  readonly refused: string | null
  readonly session: SessionKey
  readonly roster: readonly AgentDomain[]
}

export interface AgentRequest {
  readonly request: ResolveRequest
  readonly start: Start
  readonly places: Places
  readonly config: Config
  readonly disk: Disk
}

export function chooseAgent({ request, start, places, config, disk }: AgentRequest): Chosen {
  const { tree } = config
  const mainKey = textAt(tree, 'session', 'mainKey') ?? 'main'
  const hasRoster = branchesAt(tree, 'agents', 'entries').size > 0
  const ids = hasRoster ? [...new Set([...branchesAt(tree, 'agents', 'entries').keys()].map(agentIdOf))] : ['main']
  const domain = (id: string): AgentDomain => domainOf(id, ids, { request, start, places, config, disk })
  const roster = ids.map(domain)
  const givenKey = start.value('--session-key')
  const given = givenKey === null ? null : readSessionKey(givenKey, mainKey)

  const pick = (): { readonly id: string | null; readonly by: string } => {
    const flag = start.value('--agent')
    if (flag !== null) return { id: agentIdOf(flag), by: '--agent names it' }
    if (given?.agentId) return { id: given.agentId, by: '--session-key names it' }
    const byPlace = start.surface === 'exec' ? null : agentAt(request.cwd, roster, disk)
    if (byPlace !== null) return byPlace
    return owner(config, ids, start)
  }
  const picked = pick()
  const isKnown = picked.id !== null && (ids.includes(picked.id) || !hasRoster)
  const refused =
    picked.id === null
      ? `${ids.length} agents are configured (${ids.join(', ')}) and none owns this start: pass --agent`
      : isKnown
        ? null
        : `there is no agent ${picked.id}: the configuration names ${ids.join(', ')}`
  const id = picked.id ?? ''
  const key =
    given === null
      ? start.surface === 'exec'
        ? `agent:${id}:explicit:<new session>`
        : start.value('--session-id') !== null
          ? `agent:${id}:explicit:${start.value('--session-id')}`
          : `agent:${id}:${mainKey}`
      : given.agentId === null
        ? `agent:${id}:${given.key}`
        : given.key
  return {
    agent: refused === null ? domain(id) : null,
    chosenBy: picked.by,
    refused,
    session: readSessionKey(key, mainKey),
    roster,
  }
}

/** Who owns a start that names no agent; the first entry of a roster is nobody's default (2026.9.6). */
function owner(
  { tree, markedDefault }: Config,
  ids: readonly string[],
  start: Start,
): { readonly id: string | null; readonly by: string } {
  const system = textAt(tree, 'agents', 'defaults', 'systemAgent', 'agentId')
  const isExplicit = textAt(tree, 'agents', 'ownership') === 'explicit'
  if (system !== null && (isExplicit || start.surface === 'exec'))
    return { id: agentIdOf(system), by: 'agents.defaults.systemAgent.agentId owns what names no agent' }
  if (!isExplicit && markedDefault !== null)
    return { id: markedDefault, by: 'an older entry marks it with default: true' }
  if (ids.length === 1) return { id: ids[0] ?? null, by: 'it is the only agent' }
  return { id: null, by: 'several agents, and no owner is configured' }
}

function agentAt(
  cwd: string,
  roster: readonly AgentDomain[],
  disk: Disk,
): { readonly id: string; readonly by: string } | null {
  const real = (place: string): string => disk.realPath(place) ?? path.resolve(place)
  const here = real(cwd)
  const is = roster.filter((one) => real(one.workspace) === here)
  if (is.length === 1 && is[0]) return { id: is[0].id, by: 'the directory is its workspace' }
  const runs = roster.filter((one) => real(one.runDir) === here)
  if (runs.length === 1 && runs[0]) return { id: runs[0].id, by: 'its tools run in the directory' }
  const inside = roster.filter((one) => isInside(here, real(one.workspace)))
  return inside.length === 1 && inside[0] ? { id: inside[0].id, by: 'the directory lies in its workspace' } : null
}

function domainOf(id: string, ids: readonly string[], { request, places, config }: AgentRequest): AgentDomain {
  const { tree } = config
  const entry: Tree | null = entryOf(tree, id)
  const own = entry === null ? null : textAt(entry, 'workspace')
  const shared = textAt(tree, 'agents', 'defaults', 'workspace')
  const keepsDefault = ids.length === 1 ? ids[0] === id : config.markedDefault === id
  const variable = setting(request.surroundings.env, 'OPENCLAW_WORKSPACE_DIR')
  const [workspace, workspaceBy] =
    own !== null
      ? [places.expand(own), 'its entry names the workspace']
      : keepsDefault && shared !== null
        ? [places.expand(shared), 'agents.defaults.workspace']
        : keepsDefault && variable !== null
          ? // No `~` here: the variable is taken as it stands.
            [path.resolve(request.cwd, variable), 'OPENCLAW_WORKSPACE_DIR']
          : keepsDefault
            ? [path.join(places.stateDir, 'workspace'), 'the workspace of the state directory']
            : shared !== null
              ? [
                  path.join(places.expand(shared), id),
                  'several agents: a folder of its own below agents.defaults.workspace',
                ]
              : [path.join(places.stateDir, `workspace-${id}`), 'several agents: workspace-<id> in the state directory']
  const ownCwd = entry === null ? null : textAt(entry, 'cwd')
  const sharedCwd = textAt(tree, 'agents', 'defaults', 'cwd')
  const isExec =
    workspaceBy === 'its entry names the workspace' &&
    at(tree, 'agents', 'defaults', 'workspace')?.origin === 'flag:agent exec'
  const runDir = isExec
    ? workspace
    : ownCwd !== null
      ? places.expand(ownCwd)
      : sharedCwd !== null
        ? places.expand(sharedCwd)
        : workspace
  const ownDir = entry === null ? null : textAt(entry, 'agentDir')
  const agentDir = ownDir === null ? path.join(places.stateDir, 'agents', id, 'agent') : places.expand(ownDir)
  return {
    id,
    workspace,
    workspaceBy,
    runDir,
    runDirBy:
      runDir === workspace ? 'the workspace' : ownCwd !== null ? `agents.entries.${id}.cwd` : 'agents.defaults.cwd',
    agentDir,
    sessionStore: path.join(agentDir, 'openclaw-agent.sqlite'),
  }
}

export function entryOf(tree: Tree, id: string): Tree | null {
  for (const [key, entry] of branchesAt(tree, 'agents', 'entries')) if (agentIdOf(key) === id) return entry
  return null
}

/** The key under which the agent's entry stands in the file. */
export function entryKey(tree: Tree, id: string): string {
  for (const key of branchesAt(tree, 'agents', 'entries').keys()) if (agentIdOf(key) === id) return key
  return id
}
