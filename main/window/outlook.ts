import { request } from 'node:http'
import type { Output } from '../../contract/endpoints.ts'
import { callDaemon } from '../daemon/call.ts'

/** What tray and menu show of the daemon. */
export type Outlook =
  | { readonly state: 'away' }
  | { readonly state: 'here'; readonly status: Output<'status.get'>; readonly running: readonly string[] }

/**
 * Follows the daemon's event stream and tells the outlook again whenever something happened, at most every two seconds. It asks only
 * when told that something changed, so an idle daemon stays idle. Returns a function that ends it.
 */
export function followOutlook(socket: () => string | null, tell: (outlook: Outlook) => void): () => void {
  let ended = false
  let retry = 1000
  let timer: NodeJS.Timeout | undefined
  let refreshing: NodeJS.Timeout | undefined
  let hangUp = () => {}

  const refresh = () => {
    refreshing ??= setTimeout(async () => {
      refreshing = undefined
      const path = socket()
      if (ended || path === null) return
      try {
        const [status, { runs }] = await Promise.all([
          callDaemon(path, 'status.get', {}),
          callDaemon(path, 'runs.list', { limit: 50 }),
        ])
        if (!ended)
          tell({
            state: 'here',
            status,
            running: runs.filter((run) => run.status === 'running').map((run) => run.title),
          })
      } catch {
        // The stream tells when the daemon is away.
      }
    }, 2000)
  }
  const reconnect = () => {
    if (ended) return
    tell({ state: 'away' })
    clearTimeout(timer)
    timer = setTimeout(connect, retry)
    retry = Math.min(retry * 2, 30_000)
  }
  const connect = () => {
    const path = socket()
    if (path === null) return reconnect()
    const stream = request(
      { socketPath: path, path: '/events', headers: { accept: 'text/event-stream' } },
      (answer) => {
        if (answer.statusCode !== 200) {
          answer.resume()
          answer.on('end', reconnect)
          return
        }
        retry = 1000
        refresh()
        answer.on('data', refresh)
        answer.on('close', reconnect)
        answer.on('error', () => {})
      },
    )
    stream.on('error', reconnect)
    hangUp = () => stream.destroy()
    stream.end()
  }
  connect()
  return () => {
    ended = true
    clearTimeout(timer)
    clearTimeout(refreshing)
    hangUp()
  }
}
