import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EndpointName, Input, Output } from '../../contract/endpoints.ts'
import { callDaemon } from '../../main/daemon/call.ts'
import { type DaemonRecord, findDaemon } from '../../main/daemon/find.ts'
import { root, type TestHome } from './fixture-home.ts'

export interface TestDaemon {
  readonly record: DaemonRecord
  readonly process: ChildProcess
  call<N extends EndpointName>(endpoint: N, input: Input<N>): Promise<Output<N>>
  /** Waits until the history is read and nothing is under way. */
  idle(): Promise<Output<'status.get'>>
  stop(): Promise<void>
  /** Ends it as a power cut would. */
  kill(): Promise<void>
}

/** Starts the built daemon with a throw-away home, optionally as an argument of another program (a tracer). */
export async function startDaemon({ data, env }: TestHome, wrap: readonly string[] = []): Promise<TestDaemon> {
  fs.mkdirSync(data, { recursive: true, mode: 0o700 })
  const log = fs.openSync(path.join(path.dirname(data), 'daemon-output.log'), 'a')
  const [program = process.execPath, ...args] = [...wrap, process.execPath, path.join(root, 'out/node/daemon.cjs')]
  const child = spawn(program, args, { env, stdio: ['ignore', log, log], cwd: '/' })
  fs.closeSync(log)
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const record = await untilFound(data, child)
  const call = <N extends EndpointName>(endpoint: N, input: Input<N>) => callDaemon(record.socket, endpoint, input)
  return {
    record,
    process: child,
    call,
    idle: () => untilIdle(call),
    async stop() {
      await call('daemon.stop', {}).catch(() => undefined)
      if ((await Promise.race([exited, sleep(15_000, 'late', { ref: false })])) !== 'late') return
      child.kill('SIGKILL')
      throw new Error('the daemon did not end within 15 s of being asked to')
    },
    async kill() {
      process.kill(record.pid, 'SIGKILL')
      await exited
    },
  }
}

async function untilFound(data: string, child: ChildProcess): Promise<DaemonRecord> {
  for (let waited = 0; waited < 20_000 && child.exitCode === null && child.signalCode === null; waited += 50) {
    const found = await findDaemon(data)
    if (found !== null) return found.record
    await sleep(50)
  }
  child.kill('SIGKILL')
  const words = fs.readFileSync(path.join(path.dirname(data), 'daemon-output.log'), 'utf8')
  throw new Error(`the daemon did not start (exit code ${child.exitCode}): ${words.slice(-2000)}`)
}

async function untilIdle(call: TestDaemon['call']): Promise<Output<'status.get'>> {
  for (let waited = 0; waited < 30_000; waited += 100) {
    const status = await call('status.get', {})
    const read = status.homes.every(({ state, last_read_at }) => state !== 'ok' || last_read_at !== null)
    if (read && status.daemon.state === 'ready' && status.progress.every(({ phase }) => phase === 'idle')) return status
    await sleep(100)
  }
  throw new Error('the daemon was not idle within 30 s')
}
