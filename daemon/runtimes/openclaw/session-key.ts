import { readSessionKey, type SessionKey } from './resolve/session-key.ts'

/** What the key of a recorded session says of it; the name of the main session can be chosen, a key of one word is it. */
export interface RecordedKey {
  readonly agent: string | null
  readonly kind: SessionKey['kind'] | 'unknown'
  /** Messaging channel the conversation runs over; null for one that was started on the machine. */
  readonly channel: string | null
  readonly account: string | null
  readonly peer: string | null
  /** Thread or topic within the peer's conversation. */
  readonly thread: string | null
}

export function parseSessionKey(key: string | null): RecordedKey {
  if (key === null) return { agent: null, kind: 'unknown', channel: null, account: null, peer: null, thread: null }
  const rest = key.split(':').slice(2)
  const { agentId, kind, channel, accountId, peer } = readSessionKey(key, rest.length === 1 ? (rest[0] ?? '') : 'main')
  const threaded = /^(.*?):(?:thread|topic):(.+)$/.exec(peer?.id ?? '')
  return {
    agent: agentId,
    kind,
    channel,
    account: accountId,
    peer: threaded?.[1] ?? peer?.id ?? null,
    thread: threaded?.[2] ?? null,
  }
}
