import type { Push, PushEnvelope } from '../../contract/index.ts'
import type { Egress } from '../secrets/egress.ts'

/** How many past facts a client that was away can still be told. */
const KEPT = 512

export interface PushHub {
  send(push: Push): void
  /** Delivers what was missed since `lastId` (or `reset` when it is no longer held), then everything new. */
  subscribe(lastId: number | null, receive: (envelope: PushEnvelope) => void): () => void
  readonly listeners: number
}

export const createPushHub = (gate: Pick<Egress, 'value'>): PushHub => {
  const kept: PushEnvelope[] = []
  const receivers = new Set<(envelope: PushEnvelope) => void>()
  let id = 0
  return {
    send(push) {
      const envelope = { id: ++id, push: gate.value(push) }
      kept.push(envelope)
      if (kept.length > KEPT) kept.shift()
      for (const receive of receivers) receive(envelope)
    },
    subscribe(lastId, receive) {
      const oldest = kept[0]?.id ?? id + 1
      if (lastId !== null && (lastId > id || lastId < oldest - 1))
        receive({ id, push: { type: 'reset', reason: 'missed more than is kept' } })
      else if (lastId !== null) for (const envelope of kept) if (envelope.id > lastId) receive(envelope)
      receivers.add(receive)
      return () => {
        receivers.delete(receive)
      }
    },
    get listeners() {
      return receivers.size
    },
  }
}
