import type { EndpointName, Input, Output } from '../../contract/endpoints.ts'
import type { ErrorBody } from '../../contract/errors.ts'
import type { Push } from '../../contract/push.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
}

/** `open`: facts arrive. `away`: the daemon cannot be reached; what is on screen may be old. */
export type LinkState = 'connecting' | 'open' | 'away'

export interface Subscription {
  retryNow(): void
  close(): void
}

/** All the window knows about the outside. Tests plug in another one. */
export interface Transport {
  call<N extends EndpointName>(name: N, input: Input<N>, options?: CallOptions): Promise<Output<N>>
  subscribe(onPush: (push: Push) => void, onLink: (link: LinkState) => void): Subscription
}

/** A call the daemon answered with a coded failure, or that never reached it (`daemon_unreachable`). */
export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  constructor(readonly body: ErrorBody) {
    super(body.message)
  }
}

export const asErrorBody = (failure: unknown): ErrorBody =>
  failure instanceof CallFailed
    ? failure.body
    : {
        code: 'internal',
        status: 500,
        message: failure instanceof Error ? failure.message : String(failure),
        hint: null,
      }
