import type { Effect, EventKind } from '../../../contract/index.ts'

/** What of an event takes part in a comparison. */
export interface EventFact {
  readonly seq: number
  readonly id: string
  readonly kind: EventKind
  readonly tool: string | null
  /** Covered and in one line, as the index keeps it. */
  readonly summary: string
  readonly ok: boolean | null
  readonly model: string | null
  readonly stretch: number
  readonly cwd: string | null
  readonly subagent: string | null
  readonly effects: readonly Effect[]
}
