import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import readline from 'node:readline'
import { requireAgentBinary } from './agent-binaries.ts'
import type { LaidCodex } from './codex-tree.ts'
import type { RealRun } from './run-claude-code.ts'

/** Nothing leaves the machine with these; the resolver is told of them like of any other flag. */
export const ISOLATED = ['--disable', 'plugins', '-c', 'analytics.enabled=false'] as const

export interface CodexStart {
  readonly laid: LaidCodex
  readonly cwd: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The program shall see `<root>/etc/codex` as `/etc/codex`, through a private mount namespace. */
  readonly withEtc?: boolean
  /** Without any network, not even loopback. */
  readonly offline?: boolean
}

const LIMIT_MS = 30_000

/** Runs the real program with an environment of its own, so that nothing of the machine's configuration reaches it. */
export async function runCodex(start: CodexStart): Promise<RealRun> {
  const { child, cleanUp } = launch(start, 'ignore')
  try {
    return await finished(child)
  } finally {
    cleanUp()
  }
}

export interface AppServer {
  call(method: string, params?: unknown): Promise<Readonly<Record<string, unknown>>>
  close(): Promise<void>
}

/** The program's own server on its standard streams. A call that it answers with an error fails with the error's text. */
export async function startAppServer(
  start: Omit<CodexStart, 'args'> & { readonly flags: readonly string[] },
): Promise<AppServer> {
  const { child, cleanUp } = launch({ ...start, args: ['app-server', ...start.flags] }, 'pipe')
  const waiting = new Map<
    number,
    (answer: { result?: Record<string, unknown>; error?: { message?: string } }) => void
  >()
  const errors: string[] = []
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk.toString('utf8')))
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error('the server has no streams')
  readline.createInterface({ input: stdout }).on('line', (line) => {
    if (!line.startsWith('{')) return
    const message = JSON.parse(line) as { id?: number; method?: string; result?: Record<string, unknown> }
    if (message.id === undefined || message.method !== undefined) return
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  })
  let id = 0
  const send = (message: unknown): void => void stdin.write(`${JSON.stringify(message)}\n`)
  const ended = new Promise<never>((_, reject) =>
    child.once('close', (code) => reject(new Error(`the server ended (${code}): ${errors.join('')}`))),
  )
  ended.catch(() => undefined)
  const call = async (method: string, params: unknown = {}): Promise<Record<string, unknown>> => {
    id += 1
    const own = id
    const answered = new Promise<Record<string, unknown>>((resolve, reject) =>
      waiting.set(own, ({ result, error }) =>
        result ? resolve(result) : reject(new Error(error?.message ?? 'no result')),
      ),
    )
    send({ id: own, method, params })
    return Promise.race([answered, ended])
  }
  await call('initialize', {
    clientInfo: { name: 'reprise-test', title: null, version: '0' },
    capabilities: { experimentalApi: true },
  })
  send({ method: 'initialized' })
  return {
    call,
    async close() {
      const gone = new Promise((resolve) => child.once('close', resolve))
      stdin.end()
      await gone
      cleanUp()
    },
  }
}

function launch(
  { laid, cwd, args, env: more, withEtc, offline }: CodexStart,
  stdin: 'ignore' | 'pipe',
): { readonly child: ChildProcess; readonly cleanUp: () => void } {
  const binary = requireAgentBinary('codex')
  // The program refuses to make its helper links when its home lies below the folder for temporary files.
  const temporary = path.join(laid.root, 'tmp')
  mkdirSync(temporary, { recursive: true })
  const env: Record<string, string> = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: laid.home,
    CODEX_HOME: laid.codexHome,
    TMPDIR: temporary,
    USER: 'dev',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TZ: 'UTC',
    LAB_KEY: 'not-a-key',
    NO_PROXY: '127.0.0.1,localhost',
    ...more,
  }
  let etc: string | null = null
  let command: readonly string[] = [binary, ...args]
  if (withEtc) {
    // The folder cannot be made on the real system: /etc is shadowed by a copy that lives and dies with the namespace.
    etc = mkdtempSync(path.join(os.tmpdir(), 'reprise-etc-'))
    env.REPRISE_ETC = etc
    env.REPRISE_SYSTEM = path.join(laid.root, 'etc/codex')
    const script = [
      'set -e',
      'mount --make-rprivate /',
      'mount -t tmpfs tmpfs "$REPRISE_ETC"',
      'cp -a /etc/. "$REPRISE_ETC/"',
      'rm -rf "$REPRISE_ETC/codex"',
      'cp -a "$REPRISE_SYSTEM" "$REPRISE_ETC/codex"',
      'mount --bind "$REPRISE_ETC" /etc',
      'unset REPRISE_ETC REPRISE_SYSTEM',
      'exec "$@"',
    ].join('\n')
    command = ['unshare', '-m', 'bash', '-c', script, 'bash', ...command]
  }
  if (offline) command = ['unshare', '-n', ...command]
  const [file = '', ...rest] = command
  const child = spawn(file, rest, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] })
  const timer = setTimeout(() => child.kill('SIGKILL'), LIMIT_MS)
  child.once('close', () => clearTimeout(timer))
  return {
    child,
    cleanUp: () => {
      if (etc !== null) rmSync(etc, { recursive: true, force: true })
    },
  }
}

function finished(child: ChildProcess): Promise<RealRun> {
  return new Promise((resolve, reject) => {
    const out: Buffer[] = []
    const err: Buffer[] = []
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr?.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', reject)
    child.once('close', (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') }),
    )
  })
}
