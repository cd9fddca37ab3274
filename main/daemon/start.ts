import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CONTRACT_VERSION, PRODUCT_VERSION } from '../../contract/version.ts'
import { callDaemon } from './call.ts'
import { type DaemonRecord, type FoundDaemon, findDaemon } from './find.ts'

export interface StartOptions {
  readonly data: string
  /** The built daemon, `out/node/daemon.cjs`. */
  readonly program: string
  /** The Node that runs it. */
  readonly node: string
  readonly env: NodeJS.ProcessEnv
  /** True inside Electron, whose descriptors the daemon must not inherit. */
  readonly closeDescriptors: boolean
  /** Replace a daemon that was started before the program on disk was built: a checkout changes without its version changing. */
  readonly replaceOlderBuild: boolean
}

export type StartResult =
  | { readonly ok: true; readonly record: DaemonRecord; readonly how: 'running' | 'started' | 'replaced' }
  | { readonly ok: false; readonly message: string }

const startLimit = 20_000
/** A daemon that drains gives up by itself after 30 s. */
const stopLimit = 35_000

/** Makes sure that a daemon of this version serves the data directory: finds it, starts it, or replaces an older one. */
export async function ensureDaemon(options: StartOptions): Promise<StartResult> {
  const found = await findDaemon(options.data)
  if (found === null) return start(options, 'started')
  const age = compareToOurs(found, options)
  if (age === 'same') return { ok: true, record: found.record, how: 'running' }
  if (age === 'newer') {
    return {
      ok: false,
      message: `a newer Reprise (${found.handshake.version}) is running. Update this one, or stop the other with: reprise stop`,
    }
  }
  if (!(await stopDaemon(found))) {
    return {
      ok: false,
      message: `the older daemon (${found.handshake.version}, pid ${found.record.pid}) did not end within ${stopLimit / 1000} s`,
    }
  }
  return start(options, 'replaced')
}

function compareToOurs(
  { handshake, record }: FoundDaemon,
  { program, replaceOlderBuild }: StartOptions,
): 'same' | 'older' | 'newer' {
  if (handshake.contract !== CONTRACT_VERSION) return handshake.contract < CONTRACT_VERSION ? 'older' : 'newer'
  const order = handshake.version.localeCompare(PRODUCT_VERSION, 'en', { numeric: true })
  if (order !== 0) return order < 0 ? 'older' : 'same' // a newer one that speaks our contract serves us well
  if (replaceOlderBuild && existsSync(program) && Date.parse(record.startedAt) < statSync(program).mtimeMs)
    return 'older'
  return 'same'
}

/** Asks a daemon to finish its work and end; true when it is gone. */
export async function stopDaemon({ record }: Pick<FoundDaemon, 'record'>): Promise<boolean> {
  await callDaemon(record.socket, 'daemon.stop', {}, stopLimit).catch(() => undefined) // it may hang up before it answers
  for (let waited = 0; waited < stopLimit; waited += 50) {
    if (!isAlive(record.pid)) return true
    await sleep(50)
  }
  return false
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A container without a reaping init keeps an ended process as a zombie, which still takes signals.
    return !isZombie(pid)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

async function start(options: StartOptions, how: 'started' | 'replaced'): Promise<StartResult> {
  if (!existsSync(options.program))
    return { ok: false, message: `${options.program} is not there. Build it with: npm run build` }
  const logs = join(options.data, 'logs')
  const refused = makeFolder(logs)
  if (refused !== null) return { ok: false, message: refused }
  // What it says before its own log is open, and what a crash prints.
  const logFile = join(logs, 'start.log')
  const child = spawnDaemon(options, logFile)
  let ended: string | null = null
  child.on('error', (error) => {
    ended = error.message
  })
  // Exit code 0 means that another daemon was faster and owns the directory: go on looking for that one.
  child.on('exit', (code, signal) => {
    if (code !== 0) ended = signal === null ? `exit code ${code}` : `signal ${signal}`
  })
  child.unref()
  for (let waited = 0; waited < startLimit && ended === null; waited += 50) {
    await sleep(50)
    const found = await findDaemon(options.data)
    if (found !== null) return { ok: true, record: found.record, how }
  }
  const why = ended === null ? `no answer within ${startLimit / 1000} s` : ended
  return { ok: false, message: `the daemon did not start (${why}). Its logs are in ${logs}${lastLines(logFile)}` }
}

/**
 * Closes what Electron left open, then becomes the daemon. Electron has more than twenty descriptors without close-on-exec; a daemon
 * that inherits them holds the window's sockets for ever. It must be bash: dash cannot close descriptors above 9.
 */
// No redirection around the loop: bash keeps what it redirects in a descriptor that the loop would close.
const closeThenRun =
  'cd /dev/fd; for n in *; do case $n in [012]|*[!0-9]*) ;; *) eval "exec $n>&-";; esac; done; cd /; exec "$@"'

function spawnDaemon({ program, node, env, data, closeDescriptors }: StartOptions, logFile: string): ChildProcess {
  const log = openSync(logFile, 'w', 0o600)
  try {
    const asNode = node === process.execPath && process.versions.electron !== undefined
    const settings: SpawnOptions = {
      detached: true,
      stdio: ['ignore', log, log],
      cwd: '/',
      // The daemon starts in `/`: a relative directory would be another one there.
      env: { ...env, REPRISE_HOME: data, ...(asNode ? { ELECTRON_RUN_AS_NODE: '1' } : {}) },
      windowsHide: true,
    }
    if (closeDescriptors && process.platform !== 'win32')
      return spawn('bash', ['-c', closeThenRun, 'bash', node, program], settings)
    return spawn(node, [program], settings)
  } finally {
    closeSync(log)
  }
}

/** Why it could not be made, or null. One by one: where a parent takes no folders at all (`/proc`), Node's own recursive way tries for ever. */
function makeFolder(dir: string): string | null {
  if (existsSync(dir)) return null
  const above = dirname(dir) === dir ? null : makeFolder(dirname(dir))
  if (above !== null) return above
  try {
    mkdirSync(dir, { mode: 0o700 })
    return null
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    return code === 'EEXIST' ? null : `${dir} cannot be made (${code}). Choose another directory with REPRISE_HOME`
  }
}

function lastLines(file: string): string {
  try {
    const lines = readFileSync(file, 'utf8').trim().split('\n').slice(-5)
    return lines.join('').length > 0 ? `\n  ${lines.join('\n  ')}` : ''
  } catch {
    return ''
  }
}
