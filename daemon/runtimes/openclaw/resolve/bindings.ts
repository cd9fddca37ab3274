import { agentIdOf } from './agent-id.ts'
import { isObject, type Tree, valueAt } from './config-tree.ts'
import type { SessionKey } from './session-key.ts'
import type { Problem } from './sources.ts'

export interface Binding {
  readonly index: number
  readonly agent: string
  readonly channel: string
  /** Null: the binding names no account and stands for the default one. `*`: every account. */
  readonly account: string | null
  readonly peer: { readonly kind: string; readonly id: string } | null
  readonly guild: string | null
  readonly team: string | null
  readonly roles: readonly string[]
}

export interface Route {
  readonly agent: string
  readonly binding: number
  readonly by: (typeof TIERS)[number]
}

/** First match wins; all fields of one binding must match (documented for 2026.9.6, no channel was run). */
const TIERS = ['peer', 'peer wildcard', 'guild and roles', 'guild', 'team', 'account', 'channel'] as const

export function readBindings(tree: Tree): {
  readonly bindings: readonly Binding[]
  readonly problems: readonly Problem[]
} {
  const given = valueAt(tree, 'bindings')
  const problems: Problem[] = []
  const bindings: Binding[] = []
  if (!Array.isArray(given)) return { bindings, problems }
  for (const [index, one] of given.entries()) {
    const match = isObject(one) && isObject(one.match) ? one.match : null
    const channel = match === null ? null : textOf(match.channel)
    if (!isObject(one) || match === null || channel === null || typeof one.agentId !== 'string') {
      problems.push({ path: null, message: `bindings[${index}] names no agent or no channel and matches nothing` })
      continue
    }
    const peer = isObject(match.peer) ? match.peer : null
    bindings.push({
      index,
      agent: agentIdOf(one.agentId),
      channel: channel.toLowerCase(),
      account: textOf(match.accountId),
      peer: peer === null ? null : { kind: kindOf(textOf(peer.kind) ?? ''), id: textOf(peer.id) ?? '' },
      guild: textOf(match.guildId),
      team: textOf(match.teamId),
      roles: Array.isArray(match.roles) ? match.roles.map(String) : [],
    })
  }
  return { bindings, problems }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : typeof value === 'number' ? String(value) : null

const kindOf = (kind: string): string => (kind.toLowerCase() === 'dm' ? 'direct' : kind.toLowerCase())

/** The binding that sends a message of this session's place to an agent; null when the fallback owner gets it. */
export function routeOf(bindings: readonly Binding[], session: SessionKey): Route | null {
  if (session.channel === null) return null
  const account = session.accountId ?? 'default'
  const open = bindings.filter(
    (one) =>
      one.channel === session.channel && (one.account === '*' || (one.account ?? 'default').toLowerCase() === account),
  )
  const { peer } = session
  // A topic or thread belongs to the conversation before it.
  const ids = peer === null ? [] : [peer.id, peer.id.split(/:(?:thread|topic):/)[0] ?? peer.id]
  const sameKind = (kind: string): boolean =>
    peer !== null && (kind === peer.kind || (kind !== 'direct' && peer.kind !== 'direct'))
  const hasGuild = (one: Binding): boolean => one.guild === null && one.team === null
  for (const by of TIERS) {
    const found = open.find((one) => {
      switch (by) {
        case 'peer':
          return (
            one.peer !== null &&
            one.peer.id !== '*' &&
            sameKind(one.peer.kind) &&
            ids.includes(one.peer.id.toLowerCase()) &&
            hasGuild(one)
          )
        case 'peer wildcard':
          return one.peer !== null && one.peer.id === '*' && sameKind(one.peer.kind) && hasGuild(one)
        case 'account':
          return one.peer === null && hasGuild(one) && one.account !== '*'
        case 'channel':
          return one.peer === null && hasGuild(one) && one.account === '*'
        default:
          // Guild, roles and team of a message are not in a session key.
          return false
      }
    })
    if (found) return { agent: found.agent, binding: found.index, by }
  }
  return null
}
