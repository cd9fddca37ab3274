import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { requireAgentBinary } from './agent-binaries.ts'

export interface RealRun {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RealRunRequest {
  /** Throw-away home; never the real one. */
  readonly home: string
  readonly cwd: string
  readonly args: readonly string[]
  /** Address of the scripted model, or of a port where nobody listens. */
  readonly baseUrl: string
  readonly env?: Readonly<Record<string, string>>
  /** Folder that the program shall see as `/etc/claude-code`, through a private mount namespace. */
  readonly managedDir?: string
  readonly timeoutMs?: number
}

/** Runs the real program with an environment of its own, so that nothing of the machine's configuration reaches it. */
export async function runRealClaudeCode(request: RealRunRequest): Promise<RealRun> {
  const binary = requireAgentBinary('claude-code')
  const env = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOME: request.home,
    USER: 'dev',
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    ANTHROPIC_BASE_URL: request.baseUrl,
    ANTHROPIC_API_KEY: 'sk-ant-dummy-key-for-tests-000000000000',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    NO_PROXY: '127.0.0.1,localhost',
    ...request.env,
  }
  if (request.managedDir === undefined) return run(binary, request.args, request.cwd, env, request.timeoutMs)
  // The folder cannot be made on the real system: /etc is shadowed by a copy that lives and dies with the namespace.
  const etc = mkdtempSync(path.join(os.tmpdir(), 'reprise-etc-'))
  const script = [
    'set -e',
    'mount --make-rprivate /',
    'mount -t tmpfs tmpfs "$REPRISE_ETC"',
    'cp -a /etc/. "$REPRISE_ETC/"',
    'rm -rf "$REPRISE_ETC/claude-code"',
    'cp -a "$REPRISE_MANAGED" "$REPRISE_ETC/claude-code"',
    'mount --bind "$REPRISE_ETC" /etc',
    'unset REPRISE_ETC REPRISE_MANAGED',
    'exec "$@"',
  ].join('\n')
  try {
    return await run(
      'unshare',
      ['-m', 'bash', '-c', script, 'bash', binary, ...request.args],
      request.cwd,
      { ...env, REPRISE_ETC: etc, REPRISE_MANAGED: request.managedDir },
      request.timeoutMs,
    )
  } finally {
    rmSync(etc, { recursive: true, force: true })
  }
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  timeoutMs = 60_000,
): Promise<RealRun> {
  return new Promise((resolve, reject) => {
    const child = spawn(file, [...args], { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
    const out: Buffer[] = []
    const err: Buffer[] = []
    const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
    child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
    child.once('error', (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.once('close', (code) => {
      clearTimeout(timer)
      resolve({ code, stdout: Buffer.concat(out).toString('utf8'), stderr: Buffer.concat(err).toString('utf8') })
    })
  })
}

let shadowing: Promise<boolean> | null = null

/** Whether this machine lets us show a managed folder to one process only (a private mount namespace, as root on Linux). */
export function canShadowEtc(): Promise<boolean> {
  shadowing ??= run('unshare', ['-m', 'true'], '/', { PATH: '/usr/local/bin:/usr/bin:/bin' }, 10_000).then(
    ({ code }) => code === 0,
    () => false,
  )
  return shadowing
}
