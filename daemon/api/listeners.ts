import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createServer, type Server } from 'node:http'
import net from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { WebSocketServer } from 'ws'
import { createHttp, type HttpParts, sameToken } from './http.ts'
import type { PushHub } from './push-hub.ts'

export interface Listener {
  close(): Promise<void>
}

/** The daemon's own door: a socket only this user can open. A socket left by a daemon that was killed is replaced, one that answers is not. */
export const listenOnSocket = async (socket: string, parts: Omit<HttpParts, 'guard'>): Promise<Listener> => {
  const server = createServer(getRequestListener(createHttp({ ...parts, guard: null }).fetch))
  if (process.platform !== 'win32' && fs.existsSync(socket)) {
    if (await answers(socket)) throw new Error(`another process listens on ${socket}`)
    fs.unlinkSync(socket)
  }
  const old = process.umask(0o177)
  try {
    await listen(server, { path: socket })
  } finally {
    process.umask(old)
  }
  if (process.platform !== 'win32') fs.chmodSync(socket, 0o600)
  return { close: () => closeServer(server) }
}

export interface Loopback extends Listener {
  readonly url: string
  readonly port: number
  readonly token: string
}

/** Opened only when a browser is to be used. Every call needs the token, the right `Host` and, when the browser sends one, our own `Origin`. */
export const listenOnLoopback = async (
  parts: Omit<HttpParts, 'guard'>,
  again: { readonly port: number; readonly token: string } | null = null,
): Promise<Loopback> => {
  const token = again?.token ?? randomBytes(32).toString('base64url')
  let port = 0
  const server = createServer(getRequestListener(createHttp({ ...parts, guard: { port: () => port, token } }).fetch))
  const sockets = acceptSockets(server, parts.hub, token, () => port)
  // A page that was open when the daemon ended finds it again, unless something else took the port meanwhile.
  await listen(server, { host: '127.0.0.1', port: again?.port ?? 0 }).catch((error: unknown) => {
    if (again === null) throw error
    return listen(server, { host: '127.0.0.1', port: 0 })
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  port = address.port
  const close = (): Promise<void> => {
    // Upgraded connections are no longer the HTTP server's: it would wait for them for ever.
    for (const client of sockets.clients) client.terminate()
    return closeServer(server)
  }
  return { url: `http://127.0.0.1:${port}`, port, token, close }
}

/** `/ws`: the same pushed facts over a WebSocket. Browsers cannot send headers there, so the token stands in the subprotocol. */
const acceptSockets = (server: Server, hub: PushHub, token: string, port: () => number): WebSocketServer => {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024, handleProtocols: () => 'reprise' })
  server.on('upgrade', (request, socket, head) => {
    const offered = String(request.headers['sec-websocket-protocol'] ?? '')
      .split(',')
      .map((name) => name.trim())
    const given = offered.find((name) => name.startsWith('token.'))?.slice('token.'.length)
    const refused =
      request.headers.host !== `127.0.0.1:${port()}`
        ? '421 Misdirected Request'
        : request.headers.origin !== `http://127.0.0.1:${port()}`
          ? '403 Forbidden'
          : given === undefined || !sameToken(given, token)
            ? '401 Unauthorized'
            : request.url !== '/ws'
              ? '404 Not Found'
              : null
    if (refused) {
      socket.end(`HTTP/1.1 ${refused}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`)
      return
    }
    sockets.handleUpgrade(request, socket, head, (client) => {
      const stop = hub.subscribe(null, (envelope) => {
        if (client.bufferedAmount < 4 * 1024 * 1024) client.send(JSON.stringify(envelope))
        else client.close(1013, 'too slow')
      })
      client.on('close', stop)
      client.on('error', stop)
    })
  })
  return sockets
}

const listen = (server: Server, where: net.ListenOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })

const answers = (socket: string): Promise<boolean> =>
  new Promise((resolve) => {
    const client = net.connect(socket)
    client.once('connect', () => {
      client.destroy()
      resolve(true)
    })
    client.once('error', () => resolve(false))
  })
