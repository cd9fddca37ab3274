import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onlineManager } from '@tanstack/react-query'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Push } from '../../../contract/push.ts'
import { backoff, createHttpTransport } from '../../../renderer/transport/http.ts'
import { createQueryClient, readsShowing } from '../../../renderer/transport/queries.ts'
import { readMessages } from '../../../renderer/transport/sse.ts'
import { takeToken } from '../../../renderer/transport/token.ts'
import { CallFailed } from '../../../renderer/transport/transport.ts'

let server: Server | null = null
afterEach(async () => {
  server?.closeAllConnections()
  await new Promise<void>((done) => (server === null ? done() : server.close(() => done())))
  server = null
})

async function serve(
  answer: (
    request: { method: string; url: string; headers: Record<string, unknown>; body: string },
    response: ServerResponse,
  ) => void,
  port = 0,
) {
  server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () =>
      answer({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }, response),
    )
  })
  await new Promise<void>((done) => server?.listen(port, '127.0.0.1', done))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return ((input: string, init?: RequestInit) => fetch(base + input, init)) as typeof fetch
}

describe('calls', () => {
  it('posts the input as JSON to /rpc/<name> with the token and gives the output', async () => {
    const seen: unknown[] = []
    const fetchThere = await serve((request, response) => {
      seen.push([request.method, request.url, request.headers.authorization, JSON.parse(request.body)])
      response.end(JSON.stringify({ folders: ['/home/dev'] }))
    })
    const transport = createHttpTransport({ fetch: fetchThere, token: 'T' })
    expect(await transport.call('folders.complete', { prefix: '/h' })).toEqual({ folders: ['/home/dev'] })
    expect(seen).toEqual([['POST', '/rpc/folders.complete', 'Bearer T', { prefix: '/h' }]])
  })
  it('sends no authorization in the desktop window', async () => {
    let header: unknown = 'not seen'
    const fetchThere = await serve((request, response) => {
      header = request.headers.authorization
      response.end('{}')
    })
    await createHttpTransport({ fetch: fetchThere, token: null }).call('settings.get', {})
    expect(header).toBeUndefined()
  })
  it('turns a coded failure into CallFailed with code, hint and candidates', async () => {
    const error = {
      code: 'ambiguous',
      status: 409,
      message: 'r_9 names 2 runs',
      hint: 'write more',
      candidates: ['r_91', 'r_92'],
    }
    const fetchThere = await serve((_request, response) => {
      response.statusCode = 409
      response.end(JSON.stringify({ error }))
    })
    const failed = await createHttpTransport({ fetch: fetchThere, token: null })
      .call('runs.get', { run: 'r_9' })
      .catch((failure: unknown) => failure)
    expect(failed).toBeInstanceOf(CallFailed)
    expect((failed as CallFailed).body).toEqual(error)
  })
  it('says that the daemon is unreachable when nothing answers, and that an answer was not readable', async () => {
    const nothing = createHttpTransport({ fetch: () => Promise.reject(new TypeError('refused')), token: null })
    await expect(nothing.call('status.get', {})).rejects.toMatchObject({ body: { code: 'daemon_unreachable' } })
    const fetchThere = await serve((_request, response) => response.end('<html>'))
    await expect(createHttpTransport({ fetch: fetchThere, token: null }).call('status.get', {})).rejects.toMatchObject({
      body: { code: 'internal', message: expect.stringContaining('status.get') },
    })
  })
})

describe('events', () => {
  it('resumes after a cut with the last id it saw, and says when it is away', async () => {
    const resumed: unknown[] = []
    const fetchThere = await serve((request, response) => {
      resumed.push(request.headers['last-event-id'])
      response.write(': hello\n\n')
      const id = resumed.length
      response.write(`id: ${id}\ndata: {"type":"changed","tags":["runs"]}\n\n`)
      if (id === 1) setTimeout(() => response.destroy(), 20)
    })
    const pushes: Push[] = []
    const links: string[] = []
    const subscription = createHttpTransport({
      fetch: fetchThere,
      token: null,
      wait: (_ms, run) => {
        run()
        return () => undefined
      },
    }).subscribe(
      (push) => pushes.push(push),
      (link) => links.push(link),
    )
    await vi.waitFor(() => expect(pushes).toHaveLength(2))
    subscription.close()
    expect(resumed).toEqual([undefined, '1'])
    expect(links.slice(0, 4)).toEqual(['connecting', 'open', 'away', 'open'])
  })
  it('waits 1, 2, 4 … 30 seconds between attempts', async () => {
    const waits: number[] = []
    const transport = createHttpTransport({
      fetch: () => Promise.reject(new TypeError('refused')),
      token: null,
      wait: (ms, run) => {
        waits.push(ms)
        if (waits.length < 7) queueMicrotask(run)
        return () => undefined
      },
    })
    const subscription = transport.subscribe(
      () => undefined,
      () => undefined,
    )
    await vi.waitFor(() => expect(waits).toHaveLength(7))
    subscription.close()
    expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    expect(backoff(0)).toBe(1000)
  })
  it('comes back by itself to a daemon that was stopped and started at the same address', async () => {
    const hello = (_request: unknown, response: ServerResponse) => {
      response.write(': ready\n\n')
    }
    const first = await serve(hello)
    const port = (server?.address() as AddressInfo | undefined)?.port
    const links: string[] = []
    let refused = 0
    const subscription = createHttpTransport({
      fetch: first,
      token: 'T',
      wait: (_ms, run) => {
        refused += 1
        const timer = setTimeout(run, 5)
        return () => clearTimeout(timer)
      },
    }).subscribe(
      () => undefined,
      (link) => links.push(link),
    )
    await vi.waitFor(() => expect(links.at(-1)).toBe('open'))
    server?.closeAllConnections()
    await new Promise<void>((done) => server?.close(() => done()))
    await vi.waitFor(() => expect(refused).toBeGreaterThan(8))
    expect(links.at(-1)).toBe('away')
    await serve(hello, port)
    await vi.waitFor(() => expect(links.at(-1)).toBe('open'))
    subscription.close()
  })
  it('retries at once when asked, with one stream at any time, and drops an attempt that hangs', async () => {
    const open = new Set<AbortSignal>()
    const waiting: (() => void)[] = []
    let answer: 'refuse' | 'hang' | 'stream' = 'refuse'
    const attempts: string[] = []
    const fetchThere = ((_url: string, init: RequestInit) => {
      attempts.push(answer)
      const { signal } = init
      if (answer === 'refuse' || !signal) return Promise.reject(new TypeError('refused'))
      open.add(signal)
      signal.addEventListener('abort', () => open.delete(signal))
      if (answer === 'hang')
        return new Promise<Response>((_done, fail) => signal.addEventListener('abort', () => fail(signal.reason)))
      return Promise.resolve(
        new Response(
          new ReadableStream({
            start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
          }),
        ),
      )
    }) as typeof fetch
    const links: string[] = []
    const transport = createHttpTransport({
      fetch: fetchThere,
      token: null,
      wait: (_ms, run) => {
        waiting.push(run)
        return () => waiting.splice(waiting.indexOf(run), 1)
      },
    })
    const subscription = transport.subscribe(
      () => undefined,
      (link) => links.push(link),
    )
    await vi.waitFor(() => expect(waiting).toHaveLength(1))
    answer = 'hang'
    waiting.shift()?.() // the wait is over, and the attempt hangs
    answer = 'stream'
    subscription.retryNow()
    await vi.waitFor(() => expect(links.at(-1)).toBe('open'))
    subscription.retryNow()
    await vi.waitFor(() => expect(links.filter((link) => link === 'open')).toHaveLength(2))
    expect([open.size, waiting.length, attempts]).toEqual([1, 0, ['refuse', 'hang', 'stream', 'stream']])
    subscription.close()
    expect(open.size).toBe(0)
    expect(waiting).toHaveLength(0)
  })
  it('reads messages cut anywhere, joins data lines and skips comments', async () => {
    const bytes = new TextEncoder().encode(
      ': keep\n\nid: 7\r\ndata: {"a":\r\ndata: "é"}\r\n\r\ndata: x\n\ndata: unfinished',
    )
    for (let size = 1; size < 12; size += 1) {
      const parts: Uint8Array[] = []
      for (let at = 0; at < bytes.length; at += size) parts.push(bytes.slice(at, at + size))
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const part of parts) controller.enqueue(part)
          controller.close()
        },
      })
      const messages = []
      for await (const message of readMessages(body)) messages.push(message)
      expect(messages, `pieces of ${size}`).toEqual([
        { id: '7', data: '{"a":\n"é"}' },
        { id: '7', data: 'x' },
      ])
    }
  })
})

describe('token', () => {
  const pageAt = (hash: string, kept: Map<string, string>) => {
    const replaced: string[] = []
    const page = {
      location: { hash, pathname: '/timeline', search: '?q=x' },
      history: { state: null, replaceState: (_state: unknown, _title: string, url: string) => replaced.push(url) },
      sessionStorage: {
        getItem: (key: string) => kept.get(key) ?? null,
        setItem: (key: string, value: string) => kept.set(key, value),
      },
    }
    return { token: takeToken(page as unknown as Parameters<typeof takeToken>[0]), replaced }
  }
  it('moves from the fragment to the session and leaves the address, path and query kept', () => {
    const kept = new Map<string, string>()
    expect(pageAt('#t=abc-_~.9', kept)).toEqual({ token: 'abc-_~.9', replaced: ['/timeline?q=x'] })
    expect(pageAt('', kept)).toEqual({ token: 'abc-_~.9', replaced: [] })
  })
  it('takes nothing that is not a token', () => {
    expect(pageAt('#t=<script>', new Map())).toEqual({ token: null, replaced: [] })
  })
})

describe('queries', () => {
  it('ask the daemon also when the browser calls itself offline', async () => {
    onlineManager.setOnline(false)
    try {
      expect(await createQueryClient().fetchQuery({ queryKey: ['x'], queryFn: () => 'read' })).toBe('read')
    } finally {
      onlineManager.setOnline(true)
    }
  }, 2000)
})

describe('tags', () => {
  it('names the reads that show what changed', () => {
    expect([...readsShowing(['settings'])]).toEqual(['settings.get'])
    expect(readsShowing(['runs']).has('timeline.page')).toBe(true)
    expect(readsShowing(['runs']).has('health.gaps')).toBe(false)
  })
})
