import { z } from 'zod'
import { progressSchema } from './home.ts'

/**
 * Facts pushed to every open window. They inform and never command: a client that missed some re-reads what their tags name.
 * `id` grows by one; a client resumes with `Last-Event-ID`, and gets `reset` when the daemon no longer holds what it missed.
 */
export const pushSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('changed'), tags: z.array(z.string()) }),
  z.object({ type: z.literal('progress'), progress: progressSchema }),
  z.object({ type: z.literal('run'), run: z.string(), events: z.number().int(), status: z.string() }),
  /** A change of configuration was noticed; `alert` when something was lost by it. */
  z.object({ type: z.literal('drift'), id: z.string(), title: z.string(), alert: z.string().nullable() }),
  z.object({ type: z.literal('reset'), reason: z.string() }),
  z.object({ type: z.literal('draining') }),
])
export type Push = Readonly<z.infer<typeof pushSchema>>
export interface PushEnvelope {
  readonly id: number
  readonly push: Push
}
