import { readFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { extname, resolve, sep } from 'node:path'
import { Readable } from 'node:stream'
import { protocol, type Session } from 'electron'
import { getMimeType } from 'hono/utils/mime'
import { RepriseError } from '../../contract/errors.ts'
import { pageHeaders } from './security.ts'

/** Must run before the app is ready: makes `app://ui/` behave as an ordinary secure origin with fetch and streams. */
export function registerScheme(): void {
  protocol.registerSchemesAsPrivileged([
    {
      scheme: 'app',
      privileges: { standard: true, secure: true, supportFetchAPI: true, stream: true, codeCache: true },
    },
  ])
}

export interface SchemeSources {
  /** Folder of the built page. Always read from here, so that the page shows when the daemon is away and its parts never mix versions. */
  readonly pages: string
  /** Socket of the daemon as known now; null when none is known. */
  readonly socket: () => string | null
}

/** Serves `app://ui/`: the page from disk, `/rpc/…` and `/events` from the daemon's socket. No TCP port, no token, no CORS. */
export function serveScheme(session: Session, sources: SchemeSources): void {
  session.protocol.handle('app', async (request) => {
    const url = new URL(request.url)
    if (url.host !== 'ui') return new Response('not found', { status: 404 })
    if (url.pathname === '/events' || url.pathname.startsWith('/rpc/')) return forward(request, url, sources.socket())
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return new Response('method not allowed', { status: 405 })
    return servePage(url.pathname, sources.pages)
  })
}

/** Unknown paths are routes of the page; a missing file with an extension below `assets` is an error, never the page. */
async function servePage(pathname: string, pages: string): Promise<Response> {
  let path: string
  try {
    path = decodeURIComponent(pathname)
  } catch {
    return new Response('bad path', { status: 400 })
  }
  const file = resolve(pages, `.${path}`)
  if (path.includes('\0') || !(file === pages || file.startsWith(pages + sep)))
    return new Response('bad path', { status: 400 })
  const type = getMimeType(file)
  if (type !== undefined && extname(file) !== '') {
    const body = await readFile(file).catch(() => null)
    if (body !== null) return new Response(body, { headers: { ...pageHeaders, 'content-type': type } })
    if (path.startsWith('/assets/')) return new Response('not found', { status: 404, headers: { ...pageHeaders } })
  }
  const page = await readFile(resolve(pages, 'index.html')).catch(() => null)
  if (page === null)
    return new Response('The page was not built. Run: npm run build', {
      status: 500,
      headers: { 'content-type': 'text/plain' },
    })
  return new Response(page, {
    headers: { ...pageHeaders, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' },
  })
}

/** Headers that have a meaning for the daemon; the rest of what a browser engine adds stays here. */
const passedOn = ['content-type', 'accept', 'last-event-id'] as const

function forward(request: Request, url: URL, socket: string | null): Promise<Response> {
  if (socket === null) return Promise.resolve(away('no daemon is running'))
  const headers: Record<string, string> = {}
  for (const name of passedOn) {
    const value = request.headers.get(name)
    if (value !== null) headers[name] = value
  }
  return new Promise((settle) => {
    const call = httpRequest(
      { socketPath: socket, path: url.pathname + url.search, method: request.method, headers },
      (answer) => settle(toResponse(answer)),
    )
    call.on('error', (error) => settle(away(error.message)))
    request.signal.addEventListener('abort', () => call.destroy())
    if (request.body === null) call.end()
    else
      Readable.from(chunksOf(request.body))
        .on('error', (error) => call.destroy(error))
        .pipe(call)
  })
}

async function* chunksOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

function away(why: string): Response {
  const failure = new RepriseError(
    'daemon_unreachable',
    `The daemon is away: ${why}.`,
    'Start it again from here, or with: reprise start',
  )
  return Response.json({ error: failure.toBody() }, { status: 503 })
}

/** Statuses whose answers have no body, by the Fetch standard. */
const bodiless = new Set([101, 204, 205, 304])

function toResponse(answer: IncomingMessage): Response {
  const headers = new Headers({ 'cache-control': 'no-store' })
  for (const name of ['content-type', 'cache-control', 'retry-after'] as const) {
    const value = answer.headers[name]
    if (value !== undefined) headers.set(name, value)
  }
  const status = answer.statusCode ?? 502
  if (bodiless.has(status)) {
    answer.resume()
    return new Response(null, { status, headers })
  }
  return new Response(streamOf(answer), { status, headers })
}

/**
 * The answer as a stream that ends the daemon's side when the page goes away. Not `Readable.toWeb`: in Node 18 it throws outside any
 * handler when the page closes a stream that is still being written.
 */
function streamOf(answer: IncomingMessage): ReadableStream<Uint8Array> {
  let open = true
  const finish = (act: () => void) => {
    if (!open) return
    open = false
    act()
  }
  return new ReadableStream<Uint8Array>({
    start(controller) {
      answer.on('data', (chunk: Buffer) => {
        if (!open) return
        controller.enqueue(new Uint8Array(chunk))
        if ((controller.desiredSize ?? 1) <= 0) answer.pause()
      })
      answer.on('end', () => finish(() => controller.close()))
      answer.on('error', (error) => finish(() => controller.error(error)))
      answer.on('close', () => finish(() => controller.error(new Error('the daemon closed the connection'))))
    },
    pull() {
      answer.resume()
    },
    cancel() {
      open = false
      answer.destroy()
    },
  })
}
