import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join, resolve } from 'node:path'
import type { z } from 'zod'
import { type EndpointName, endpoints, type Input, type Output } from '../../contract/index.ts'
import { countInotifyWatches } from '../../daemon/watch/watch-limits.ts'

export const programs = resolve(import.meta.dirname, '../../out/node')

const running = new Set<ChildProcess>()
/** However a measurement ends, no daemon of it stays behind. */
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** A daemon of the build, started for one measurement on directories of its own. */
export class MeasuredDaemon {
  readonly pid: number
  private readonly socket: string
  private readonly child: ChildProcess

  private constructor(child: ChildProcess, pid: number, socket: string) {
    this.child = child
    this.pid = pid
    this.socket = socket
  }

  static async start(options: {
    readonly home: string
    readonly data: string
    readonly nodeOptions?: string
    readonly nodeArgs?: readonly string[]
    readonly env?: Readonly<Record<string, string>>
  }): Promise<MeasuredDaemon> {
    const program = join(programs, 'daemon.cjs')
    if (!existsSync(program)) throw new Error('the daemon is not built: run `npm run build` first')
    mkdirSync(options.data, { recursive: true, mode: 0o700 })
    const output = openSync(join(options.data, 'perf-daemon.log'), 'a')
    const child = spawn(process.execPath, [...(options.nodeArgs ?? []), program], {
      cwd: '/',
      stdio: ['ignore', output, output],
      env: {
        PATH: process.env.PATH,
        HOME: options.home,
        REPRISE_HOME: options.data,
        ...options.env,
        ...(options.nodeOptions ? { NODE_OPTIONS: options.nodeOptions } : {}),
      },
    })
    if (child.pid === undefined) throw new Error('the daemon could not be started')
    running.add(child)
    child.once('exit', () => running.delete(child))
    const info = join(options.data, 'daemon.json')
    for (let waited = 0; !existsSync(info) && waited < 20_000; waited += 5) {
      if (child.exitCode !== null)
        throw new Error(
          `the daemon ended with ${child.exitCode}: ${readFileSync(join(options.data, 'perf-daemon.log'), 'utf8').slice(-800)}`,
        )
      await sleep(5)
    }
    const { socket } = JSON.parse(readFileSync(info, 'utf8')) as { socket: string }
    return new MeasuredDaemon(child, child.pid, socket)
  }

  /** The answer, and how long it took to arrive, in ms. */
  async ask<N extends EndpointName>(
    name: N,
    input: Input<N>,
  ): Promise<{ readonly answer: Output<N>; readonly ms: number; readonly bytes: number }> {
    const from = performance.now()
    const text = await this.post(name, JSON.stringify(input))
    const ms = performance.now() - from
    const schema: z.ZodType = endpoints[name].output
    return { answer: schema.parse(JSON.parse(text)) as Output<N>, ms, bytes: text.length }
  }

  private post(name: string, body: string): Promise<string> {
    return new Promise((done, failed) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      const call = request({ socketPath: this.socket, method: 'POST', path: `/rpc/${name}`, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', failed)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode === 200) done(text)
          else failed(new Error(`${name} answered ${response.statusCode}: ${text.slice(0, 400)}`))
        })
      })
      call.on('error', failed)
      call.end(body)
    })
  }

  /** Resident memory in MB: now, and at its highest since the start. */
  memory(): { readonly now: number; readonly peak: number } {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8')
    const kilobytes = (key: string): number =>
      Number(new RegExp(`^${key}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN)
    return { now: kilobytes('VmRSS') / 1_024, peak: kilobytes('VmHWM') / 1_024 }
  }

  /** Processor time used so far, in ms. */
  cpuMs(): number {
    const stat = readFileSync(`/proc/${this.pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10 // USER_HZ is 100 wherever Node runs
  }

  inotify(): number {
    return countInotifyWatches(this.pid) ?? 0
  }

  /** Waits until everything is read and searchable; when reading was done, and when the words were. */
  async settle(limitMs = 1_800_000): Promise<{
    readonly readMs: number
    readonly searchableMs: number
    readonly events: number
    readonly runs: number
  }> {
    const from = performance.now()
    let readMs: number | null = null
    let quiet = 0
    for (;;) {
      const { answer } = await this.ask('status.get', {})
      const took = performance.now() - from
      const working = answer.progress.filter((progress) => progress.phase !== 'idle')
      if (
        readMs === null &&
        answer.store.events > 0 &&
        !working.some((progress) => progress.phase === 'reading' || progress.phase === 'discovering')
      )
        readMs = took
      quiet = working.length === 0 && (answer.store.events > 0 || took > 10_000) ? quiet + 1 : 0
      if (quiet >= 3)
        return { readMs: readMs ?? took, searchableMs: took, events: answer.store.events, runs: answer.store.runs }
      if (took > limitMs) throw new Error(`the daemon did not come to rest within ${limitMs / 1_000} s`)
      await sleep(100)
    }
  }

  async stop(): Promise<void> {
    const gone = new Promise<void>((done) => {
      if (this.child.exitCode !== null || this.child.signalCode !== null) done()
      else this.child.once('exit', () => done())
    })
    this.child.kill('SIGTERM')
    await gone
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
