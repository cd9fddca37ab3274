import { createHash, timingSafeEqual } from 'node:crypto'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { streamSSE } from 'hono/streaming'
import { RepriseError } from '../../contract/index.ts'
import type { Dispatch } from './dispatch.ts'
import type { Caller } from './handlers.ts'
import type { PushHub } from './push-hub.ts'
import { readPage } from './static-files.ts'

/** What a loopback listener demands of every call; the Unix socket needs none of it: the kernel already refused others. */
export interface LoopbackGuard {
  readonly port: () => number
  readonly token: string
}

export interface HttpParts {
  readonly dispatch: Dispatch
  readonly hub: PushHub
  /** Folder of the built window; null where only the endpoints are served. */
  readonly pages: string | null
  readonly guard: LoopbackGuard | null
}

const BODY_LIMIT = 8 * 1024 * 1024
const POLICY =
  "default-src 'self'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; object-src 'none'"

/** The same routes for both listeners: `POST /rpc/<endpoint>`, `GET /events`, and the window's own files. */
export const createHttp = ({ dispatch, hub, pages, guard }: HttpParts): Hono => {
  const app = new Hono()
  const caller: Caller = { via: guard ? 'loopback' : 'socket' }

  app.use(async (context, next) => {
    if (guard) {
      // A page of another name that resolves to this machine must not get in (DNS rebinding), nor a page of another origin.
      if (context.req.header('host') !== `127.0.0.1:${guard.port()}`)
        return refuse('wrong_host', 'this address answers only as 127.0.0.1')
      const origin = context.req.header('origin')
      if (origin !== undefined && origin !== `http://127.0.0.1:${guard.port()}`)
        return refuse('forbidden', 'a page of another origin asked')
    }
    await next()
    context.header('Content-Security-Policy', POLICY)
    context.header('Cross-Origin-Opener-Policy', 'same-origin')
    context.header('Cross-Origin-Resource-Policy', 'same-origin')
    context.header('X-Content-Type-Options', 'nosniff')
    context.header('Referrer-Policy', 'no-referrer')
  })

  const authorized = (given: string | undefined): boolean =>
    !guard || (given !== undefined && sameToken(given.replace(/^Bearer /, ''), guard.token))

  app.post(
    '/rpc/:name',
    bodyLimit({ maxSize: BODY_LIMIT, onError: () => refuse('too_large', 'the request is larger than 8 MB') }),
    async (context) => {
      if (!authorized(context.req.header('authorization')))
        return refuse('unauthorized', 'the token is missing or wrong')
      const text = await context.req.text()
      let input: unknown
      try {
        input = text === '' ? {} : JSON.parse(text)
      } catch {
        return refuse('wrong_usage', 'the request body is not JSON')
      }
      const answer = await dispatch(context.req.param('name'), input, caller)
      return answer.ok
        ? Response.json(answer.output)
        : Response.json({ error: answer.error }, { status: answer.error.status })
    },
  )

  app.get('/events', (context) => {
    if (!authorized(context.req.header('authorization'))) return refuse('unauthorized', 'the token is missing or wrong')
    const last = Number(context.req.header('last-event-id') ?? Number.NaN)
    return streamSSE(context, async (stream) => {
      const waiting: string[] = []
      let wake: () => void = () => undefined
      const stop = hub.subscribe(Number.isInteger(last) ? last : null, ({ id, push }) => {
        waiting.push(`id: ${id}\ndata: ${JSON.stringify(push)}\n\n`)
        wake()
      })
      let open = true
      stream.onAbort(() => {
        open = false
        stop()
        wake()
      })
      await stream.write(': ready\n\n')
      while (open) {
        if (waiting.length === 0) {
          const beat = setTimeout(() => wake(), 20_000)
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          clearTimeout(beat)
          if (waiting.length === 0 && open) waiting.push(': still here\n\n')
        }
        const text = waiting.splice(0).join('')
        if (open && text !== '') await stream.write(text)
      }
    })
  })

  app.get('*', (context) => {
    const page = pages === null ? null : readPage(pages, context.req.path)
    if (!page) return refuse('not_found', 'there is nothing here; build the window first')
    return new Response(page.body, {
      headers: {
        'content-type': page.type,
        'cache-control': page.immutable ? 'public, max-age=31536000, immutable' : 'no-cache',
      },
    })
  })
  app.notFound(() => refuse('not_found', 'no such address'))
  return app
}

const refuse = (code: ConstructorParameters<typeof RepriseError>[0], message: string): Response => {
  const body = new RepriseError(code, message).toBody()
  return Response.json({ error: body }, { status: body.status })
}

/** Compared by digest in constant time, so that neither content nor length of the token leaks. */
export const sameToken = (given: string, expected: string): boolean =>
  timingSafeEqual(createHash('sha256').update(given).digest(), createHash('sha256').update(expected).digest())
