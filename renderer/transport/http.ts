import type { EndpointName, Input, Output } from '../../contract/endpoints.ts'
import type { ErrorBody } from '../../contract/errors.ts'
import type { Push } from '../../contract/push.ts'
import { words } from '../words/en.ts'
import { readMessages } from './sse.ts'
import { CallFailed, type CallOptions, type LinkState, type Subscription, type Transport } from './transport.ts'

interface HttpOptions {
  readonly fetch: typeof fetch
  /** Bearer token of a browser; null in the desktop window. */
  readonly token: string | null
  readonly wait?: (ms: number, run: () => void) => () => void
}

const waitWithTimer = (ms: number, run: () => void) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}

/** Reconnecting waits 1, 2, 4 … 30 seconds. */
export const backoff = (attempt: number) => Math.min(30, 2 ** attempt) * 1000

/** The same relative addresses in the desktop window (`app://ui/…`) and in a browser. */
export function createHttpTransport({ fetch, token, wait = waitWithTimer }: HttpOptions): Transport {
  const authorized = (headers: Record<string, string>) =>
    token === null ? headers : { ...headers, authorization: `Bearer ${token}` }

  async function call<N extends EndpointName>(name: N, input: Input<N>, options: CallOptions = {}): Promise<Output<N>> {
    let response: Response
    let text: string
    try {
      response = await fetch(`/rpc/${name}`, {
        method: 'POST',
        headers: authorized({ 'content-type': 'application/json' }),
        body: JSON.stringify(input),
        signal: options.signal ?? null,
      })
      text = await response.text()
    } catch (failure) {
      if (options.signal?.aborted) throw failure
      throw new CallFailed({
        code: 'daemon_unreachable',
        status: 503,
        message: words.errors.unreachable,
        hint: words.errors.unreachableHint,
      })
    }
    let body: unknown
    try {
      body = JSON.parse(text)
    } catch {
      throw new CallFailed({
        code: response.status === 502 || response.status === 503 ? 'daemon_unreachable' : 'internal',
        status: response.status,
        message: words.errors.notJson(name, response.status),
        hint: words.errors.unreachableHint,
      })
    }
    if (!response.ok) throw new CallFailed(errorOf(body, response.status, name))
    // The daemon validates its answers against the same table, and the handshake compares contract versions.
    return body as Output<N>
  }

  function subscribe(onPush: (push: Push) => void, onLink: (link: LinkState) => void): Subscription {
    let attempt = 0
    let lastId: string | null = null
    let abort = new AbortController()
    let cancelWait: (() => void) | null = null

    const open = async () => {
      const mine = new AbortController()
      abort = mine
      try {
        const headers = authorized(
          lastId === null ? { accept: 'text/event-stream' } : { accept: 'text/event-stream', 'last-event-id': lastId },
        )
        const response = await fetch('/events', { headers, signal: mine.signal })
        if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`)
        if (mine.signal.aborted) return
        attempt = 0
        onLink('open')
        for await (const message of readMessages(response.body)) {
          if (mine.signal.aborted) return
          if (message.id !== null) lastId = message.id
          const push = asPush(message.data)
          if (push !== null) onPush(push)
        }
      } catch {
        // Refused, cut or aborted: all of them mean that facts do not arrive, which the state says.
      }
      // Closed, or another attempt took over: there is one stream and one wait at any time.
      if (mine.signal.aborted) return
      onLink('away')
      // Never given up: a daemon that was stopped may come back at the same address with the same token hours later.
      cancelWait = wait(backoff(attempt), () => void open())
      attempt += 1
    }
    onLink('connecting')
    void open()
    return {
      retryNow: () => {
        attempt = 0
        cancelWait?.()
        cancelWait = null
        abort.abort()
        void open()
      },
      close: () => {
        cancelWait?.()
        abort.abort()
      },
    }
  }
  return { call, subscribe }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function errorOf(body: unknown, status: number, name: string): ErrorBody {
  const error = isRecord(body) ? body.error : null
  if (isRecord(error) && typeof error.code === 'string' && typeof error.message === 'string')
    return error as unknown as ErrorBody
  return { code: 'internal', status, message: words.errors.notJson(name, status), hint: null }
}

/** A line that is not a fact of ours is skipped: facts only inform, and a lost one is caught by the next read. */
function asPush(data: string): Push | null {
  try {
    const value: unknown = JSON.parse(data)
    return isRecord(value) && typeof value.type === 'string' ? (value as Push) : null
  } catch {
    return null
  }
}
