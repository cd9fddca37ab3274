import { spawn } from 'node:child_process'
import fs from 'node:fs'
import http from 'node:http'
import { createRequire } from 'node:module'
import path from 'node:path'
import envPaths from 'env-paths'
import {
  CONTRACT_VERSION,
  type DaemonInfo,
  type EndpointName,
  type ErrorBody,
  type Input,
  type OpenInProcess,
  type Output,
  RepriseError,
} from '../contract/index.ts'

/** The two ways to the endpoints: over the daemon's socket, or in this process. */
export interface Connection {
  call<N extends EndpointName>(name: N, input: Input<N>): Promise<Output<N>>
  close(): Promise<void>
}

export interface ConnectOptions {
  readonly env: NodeJS.ProcessEnv
  /** Folder of the built programs (`out/node`). */
  readonly programs: string
  /** Start the daemon when none answers. */
  readonly start: boolean
}

export const dataDirectory = (env: NodeJS.ProcessEnv): string =>
  path.resolve(env.REPRISE_HOME || envPaths('reprise', { suffix: '' }).data)

export const connect = async (options: ConnectOptions): Promise<Connection> => {
  if (options.env.REPRISE_NO_DAEMON === '1') return openHere(options)
  const info = await findDaemon(options.env)
  if (info) return overSocket(info.socket)
  if (!options.start)
    throw new RepriseError('daemon_unreachable', 'the daemon is not running', 'start it with `reprise start`')
  return overSocket((await startDaemon(options)).socket)
}

/** The running daemon of this data directory, proven by its nonce; null when there is none. */
export const findDaemon = async (env: NodeJS.ProcessEnv): Promise<DaemonInfo | null> => {
  let info: DaemonInfo
  try {
    info = JSON.parse(fs.readFileSync(path.join(dataDirectory(env), 'daemon.json'), 'utf8')) as DaemonInfo
    const greeting = (await request(info.socket, 'daemon.handshake', {})) as { nonce?: unknown; contract?: unknown }
    if (greeting.nonce !== info.nonce) return null
    if (greeting.contract !== CONTRACT_VERSION)
      throw new RepriseError(
        'newer_version',
        `the running daemon speaks version ${String(greeting.contract)}, this command ${CONTRACT_VERSION}`,
        'run `reprise stop`, then try again',
      )
    return info
  } catch (error) {
    if (error instanceof RepriseError && error.code === 'newer_version') throw error
    return null
  }
}

export const startDaemon = async ({ env, programs }: ConnectOptions): Promise<DaemonInfo> => {
  const data = dataDirectory(env)
  makeFolder(path.join(data, 'logs'))
  const start = path.join(data, 'logs', 'start.log')
  const output = fs.openSync(start, 'w', 0o600)
  const child = spawn(process.execPath, [path.join(programs, 'daemon.cjs')], {
    detached: true,
    stdio: ['ignore', output, output],
    cwd: '/',
    env: { ...env, REPRISE_HOME: data },
  })
  fs.closeSync(output)
  child.unref()
  let ended: number | null = null
  child.once('exit', (code) => {
    ended = code ?? 1
  })
  for (let waited = 0; waited < 20_000; waited += 50) {
    const info = await findDaemon(env)
    if (info) return info
    if (ended !== null && ended !== 0) break
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const said = fs.readFileSync(start, 'utf8').trim().slice(-400)
  throw new RepriseError(
    'daemon_unreachable',
    `the daemon did not start${said ? `: ${said}` : ''}`,
    `its log is ${path.join(data, 'logs', 'daemon.log')}`,
  )
}

const overSocket = (socket: string): Connection => ({
  call: async (name, input) => (await request(socket, name, input)) as never,
  close: () => Promise.resolve(),
})

const request = (socket: string, name: string, input: unknown): Promise<unknown> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify(input)
    const call = http.request(
      {
        socketPath: socket,
        method: 'POST',
        path: `/rpc/${name}`,
        // A connection kept for later may be closed by the daemon in the very moment it is used again.
        agent: false,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          try {
            const answer: unknown = JSON.parse(text)
            if (response.statusCode === 200) resolve(answer)
            else reject(toError((answer as { error: ErrorBody }).error))
          } catch {
            reject(
              new RepriseError(
                'internal',
                `the daemon answered ${response.statusCode} with something that is not JSON`,
              ),
            )
          }
        })
      },
    )
    call.on('error', (error: NodeJS.ErrnoException) => {
      reject(
        new RepriseError(
          'daemon_unreachable',
          `the daemon does not answer (${error.code ?? error.message})`,
          'start it with `reprise start`',
        ),
      )
    })
    call.end(body)
  })

const toError = (body: ErrorBody): RepriseError =>
  new RepriseError(body.code, body.message, body.hint, body.candidates ?? [])

const openHere = async ({ env, programs }: ConnectOptions): Promise<Connection> => {
  const load = createRequire(path.join(programs, 'cli.cjs'))
  const { openInProcess } = load('./app.cjs') as { openInProcess: OpenInProcess }
  const app = await openInProcess(env)
  return {
    async call(name, input) {
      const answer = await app.call(name, input)
      if (!answer.ok) throw toError(answer.error)
      return answer.output as never
    },
    close: () => app.close(),
  }
}

/** One by one: where a parent takes no folders at all (`/proc`), Node's own recursive way tries for ever. */
const makeFolder = (dir: string): void => {
  if (fs.existsSync(dir)) return
  if (path.dirname(dir) !== dir) makeFolder(path.dirname(dir))
  try {
    fs.mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code !== 'EEXIST')
      throw new RepriseError('refused', `${dir} cannot be made (${code})`, 'choose another directory with REPRISE_HOME')
  }
}
