import { agentIdOf } from './agent-id.ts'

/** What a session key says of the session: whose it is, and which files it is given. */
export interface SessionKey {
  readonly key: string
  readonly agentId: string | null
  readonly kind: 'main' | 'explicit' | 'direct' | 'group' | 'channel' | 'cron' | 'subagent' | 'other'
  /** Of the message that led to it, as far as the key holds them. */
  readonly channel: string | null
  readonly accountId: string | null
  readonly peer: { readonly kind: 'direct' | 'group' | 'channel'; readonly id: string } | null
}

type PeerKind = NonNullable<SessionKey['peer']>['kind']

/** Reads a key as 2026.9.6 does: `agent:<id>:<rest>`, without regard to case. */
export function readSessionKey(given: string, mainKey: string): SessionKey {
  const key = given.trim()
  const parts = key.toLowerCase().split(':')
  const scoped = parts[0] === 'agent' && parts.length >= 3 && parts[1] !== ''
  const rest = scoped ? parts.slice(2) : parts
  const place = readPeer(rest)
  return { key, agentId: scoped ? agentIdOf(parts[1] ?? '') : null, kind: kindOf(rest, place.peer, mainKey), ...place }
}

function kindOf(rest: readonly string[], peer: SessionKey['peer'], mainKey: string): SessionKey['kind'] {
  if (rest[0] === 'subagent') return 'subagent'
  if (rest[0] === 'cron') return 'cron'
  if (peer !== null) return peer.kind
  if (rest.length === 1 && (rest[0] === mainKey.toLowerCase() || rest[0] === 'main')) return 'main'
  return rest[0] === 'explicit' ? 'explicit' : 'other'
}

const PEERS: Readonly<Record<string, PeerKind>> = { direct: 'direct', dm: 'direct', group: 'group', channel: 'channel' }

/** `direct:<id>`, `<channel>:<kind>:<id>`, `<channel>:<account>:<kind>:<id>`, and older forms; a key that fits two of them names no peer. */
function readPeer(rest: readonly string[]): Pick<SessionKey, 'channel' | 'accountId' | 'peer'> {
  const none = { channel: null, accountId: null, peer: null }
  const isDirect = rest[0] === 'direct' || rest[0] === 'dm'
  const whole = rest.join(':')
  const legacy = legacyKind(whole)
  const fits = [
    isDirect && rest[1] ? ({ channel: null, accountId: null, at: 0 } as const) : null,
    rest[0] && PEERS[rest[1] ?? ''] && rest[2] ? { channel: rest[0], accountId: null, at: 1 } : null,
    rest[0] && rest[1] && PEERS[rest[2] ?? ''] && rest[3] ? { channel: rest[0], accountId: rest[1], at: 2 } : null,
  ].filter((one) => one !== null)
  const only = fits.length + (legacy === null ? 0 : 1) === 1 ? fits[0] : undefined
  if (only !== undefined) {
    const kind = PEERS[rest[only.at] ?? '']
    const id = rest.slice(only.at + 1).join(':')
    if (kind !== undefined) return { channel: only.channel, accountId: only.accountId, peer: { kind, id } }
  }
  return legacy === null ? none : { ...none, peer: { kind: legacy, id: rest.slice(1).join(':') } }
}

function legacyKind(whole: string): PeerKind | null {
  if (/^group:[^:]+(?::.*)?$/u.test(whole)) return 'group'
  if (/^channel:[^:]+(?::.*)?$/u.test(whole)) return 'channel'
  if (/^(?:whatsapp:)?[^:]+@g\.us$/.test(whole)) return 'group'
  if (/^discord:(?:[^:]+:)?guild-[^:]+:channel-[^:]+$/.test(whole)) return 'channel'
  return null
}
