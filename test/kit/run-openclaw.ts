import { spawn } from 'node:child_process'
import path from 'node:path'
import { agentFolder } from '../../scripts/setup-agents.mjs'
import { requireAgentCommand } from './agent-binaries.ts'

export interface OpenClawRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface OpenClawRunRequest {
  /** Throw-away home; never the real one. Logs and temporary files go below it too. */
  readonly home: string
  readonly state: string
  readonly cwd: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
}

/** The environment of a run that can reach nothing but loopback: no proxy, no key, no update, no channel. */
export function openClawEnvironment({ home, state, env }: OpenClawRunRequest): Record<string, string> {
  return {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: home,
    USER: 'dev',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    TMPDIR: path.join(home, 'tmp'),
    // Compiled code of the program, kept between runs: half of a turn is reading its thousands of files.
    NODE_COMPILE_CACHE: path.join(agentFolder('openclaw'), 'compiled'),
    OPENCLAW_STATE_DIR: state,
    OPENCLAW_OFFLINE: '1',
    OPENCLAW_NO_AUTO_UPDATE: '1',
    OPENCLAW_SKIP_CHANNELS: '1',
    OPENCLAW_DISABLE_BONJOUR: '1',
    NO_PROXY: '127.0.0.1,localhost',
    ...env,
  }
}

export function runRealOpenClaw(request: OpenClawRunRequest): Promise<OpenClawRun> {
  const [file = '', ...first] = requireAgentCommand('openclaw')
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...first, ...request.args], {
      cwd: request.cwd,
      env: openClawEnvironment(request),
      stdio: ['ignore', 'pipe', 'pipe'],
      // The program starts itself again; a group of its own lets all of it be ended at once.
      detached: true,
    })
    const out: Buffer[] = []
    const err: Buffer[] = []
    const end = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
      } catch {}
    }
    const timer = setTimeout(end, request.timeoutMs ?? 60_000)
    // A test that is given up must not leave its program behind.
    process.once('exit', end)
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      process.off('exit', end)
      resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') })
    })
  })
}
