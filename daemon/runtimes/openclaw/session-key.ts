/** What a session key says of the conversation behind it (runtime page 5.2, 5.7; key parsing verified on 2026.9.6). */
export interface SessionKey {
  readonly agent: string | null
  readonly kind: SessionKind
  /** Messaging channel the conversation runs over; null for one that was started on the machine. */
  readonly channel: string | null
  readonly peer: string | null
  readonly thread: string | null
}
export type SessionKind =
  | 'main'
  | 'explicit'
  | 'direct'
  | 'group'
  | 'channel'
  | 'cron'
  | 'subagent'
  | 'hook'
  | 'other'
  | 'unknown'

const peerKinds: Readonly<Record<string, SessionKind>> = {
  direct: 'direct',
  dm: 'direct',
  group: 'group',
  channel: 'channel',
}

/**
 * `agent:<id>:main`, `agent:<id>:<channel>:group:<peer>` with `:topic:`/`:thread:`, `agent:<id>:cron:…`, `agent:<id>:subagent:…`. A
 * subagent of a subagent repeats the word, so it counts wherever it stands; peers may hold colons.
 */
export function parseSessionKey(key: string | null): SessionKey {
  const nothing = { agent: null, channel: null, peer: null, thread: null }
  if (key === null) return { ...nothing, kind: 'unknown' }
  const parts = key.split(':')
  const agent = parts[0] === 'agent' && parts.length > 2 ? (parts[1] ?? null) : null
  const rest = agent === null ? parts : parts.slice(2)
  const first = rest[0] ?? ''
  if (rest.includes('subagent')) return { ...nothing, agent, kind: 'subagent' }
  if (first === 'cron') return { ...nothing, agent, kind: 'cron' }
  if (first === 'hook') return { ...nothing, agent, kind: 'hook' }
  if (first === 'explicit') return { ...nothing, agent, kind: 'explicit' }
  const place = rest.findIndex((part, at) => at > 0 && Object.hasOwn(peerKinds, part))
  if (place > 0) {
    const behind = rest.slice(place + 1)
    const suffix = behind.findIndex((part) => part === 'thread' || part === 'topic')
    return {
      agent,
      kind: peerKinds[rest[place] ?? ''] ?? 'other',
      channel: first,
      peer: (suffix === -1 ? behind : behind.slice(0, suffix)).join(':') || null,
      thread: suffix === -1 ? null : behind.slice(suffix + 1).join(':') || null,
    }
  }
  // The name of the main session can be chosen (`session.mainKey`); a key of one word is it.
  return { ...nothing, agent, kind: rest.length === 1 && agent !== null ? 'main' : 'other' }
}
