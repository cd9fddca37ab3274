import { spawnSync } from 'node:child_process'
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type AgentRuntime, agentRuntimes, type HistoryPlan, writeHistory } from './agent-histories.ts'
import { layConfigured, laySmallHome, layWorkspace } from './agent-homes.ts'
import { MeasuredDaemon, median, sleep } from './daemon.ts'
import type { DataSets } from './data-sets.ts'
import { type BareParse, bareParse, type Item, importOf, importRows } from './items.ts'
import { type Measured, ms } from './table.ts'

/** Where the homes of a runtime are when no variable says otherwise. */
const folders: Readonly<Record<AgentRuntime, string>> = {
  'claude-code': '.claude',
  codex: '.codex',
  openclaw: '.openclaw',
  hermes: '.hermes',
}

const withCpu = async (daemon: MeasuredDaemon, times: number, work: () => Promise<number>) => {
  const before = daemon.cpuMs()
  const took: number[] = []
  for (let n = 0; n < times; n++) took.push(await work())
  return { took, cpu: (daemon.cpuMs() - before) / times }
}

export const resolveItem: Item = {
  name: 'resolve',
  about: 'resolving a rich tree of each runtime, first and again',
  async run(sets) {
    const rows: Measured[] = []
    for (const runtime of agentRuntimes) {
      const tree = layConfigured(runtime, () => sets.fresh(`resolve-${runtime}`))
      const cold: number[] = []
      const warm: number[] = []
      const trivial: number[] = []
      const cpu: number[] = []
      try {
        for (let n = 0; n < 3; n++) {
          const daemon = await MeasuredDaemon.start({ home: tree.userHome, data: sets.fresh('resolve-data') })
          try {
            // The first look at the configuration is over when nothing works any more.
            for (let m = 0; m < 30; m++) trivial.push((await daemon.ask('daemon.handshake', {})).ms)
            await daemon.ask('drift.look', {})
            const input = { runtime, workspace: tree.workspace, home: tree.home }
            cold.push((await daemon.ask('manifest.resolve', input)).ms)
            const again = await withCpu(daemon, 30, async () => (await daemon.ask('manifest.resolve', input)).ms)
            warm.push(...again.took)
            cpu.push(again.cpu)
          } finally {
            await daemon.stop()
          }
        }
      } finally {
        tree.remove()
      }
      const line = (what: string, value: number, aim: number): Measured => ({
        what,
        measured: ms(value),
        baseline: `${ms(median(trivial))} handshake`,
        ratio: (value / median(trivial)).toFixed(1),
        aim: `≤ ${aim} ms`,
        met: value <= aim,
      })
      rows.push(line(`resolve, ${runtime}: first time (median of 3)`, median(cold), 150))
      rows.push(line(`resolve, ${runtime}: again (median; ${ms(median(cpu))} CPU)`, median(warm), 20))
    }
    return rows
  },
}

const bareDatabase = (file: string, table: string): BareParse => {
  const program = join(import.meta.dirname, 'bare-database.ts')
  const child = spawnSync(process.execPath, ['--import', 'tsx', program, file, table], { encoding: 'utf8' })
  if (child.status !== 0) throw new Error(`the bare reading failed: ${child.stderr}`)
  return JSON.parse(child.stdout) as BareParse
}

export const importRuntimesItem: Item = {
  name: 'histories',
  about: 'history import of Codex, OpenClaw and Hermes against a bare parse of the same bytes',
  async run(sets) {
    const rows: Measured[] = []
    for (const runtime of ['codex', 'openclaw', 'hermes'] as const) {
      const userHome = realpathSync(sets.fresh(`history-${runtime}`))
      const home = join(userHome, folders[runtime])
      const workspace = join(userHome, 'work')
      mkdirSync(workspace)
      const bytesPerSession = 500_000
      const sessions = Math.max(1, Math.round((sets.sizes.ordinaryMb * 1e6) / bytesPerSession / 3))
      const plan: HistoryPlan = { home, workspace, sessions, bytesPerSession, seed: 1 }
      writeHistory[runtime](plan)
      const bare =
        runtime === 'codex'
          ? bareParse(join(home, 'sessions'))
          : runtime === 'openclaw'
            ? bareDatabase(join(home, 'agents/main/agent/openclaw-agent.sqlite'), 'transcript_events')
            : bareDatabase(join(home, 'state.db'), 'messages')
      const settled = await importOf(userHome, sets.fresh('history-data'))
      rows.push(...importRows(`import, ${runtime} (${sessions} sessions)`, bare.bytes, bare.ms, settled))
    }
    return rows
  },
}

export const lookItem: Item = {
  name: 'look',
  about: 'one look at the configuration of a home with 20 workspaces when nothing changed',
  async run(sets) {
    const rows: Measured[] = []
    for (const runtime of ['claude-code', 'codex'] as const) {
      const userHome = realpathSync(sets.fresh(`look-${runtime}`))
      const workspaces = Array.from({ length: 20 }, (_, n) => join(userHome, 'work', `w${n}`))
      for (const workspace of workspaces) layWorkspace(workspace)
      const home = join(userHome, folders[runtime])
      workspaces.forEach((workspace, n) => void laySmallHome(runtime, home, [workspace], n))
      const daemon = await MeasuredDaemon.start({ home: userHome, data: sets.fresh('look-data') })
      try {
        await daemon.settle()
        const first = await daemon.ask('drift.look', {})
        const { answer } = await daemon.ask('drift.list', { limit: 500 })
        const again = await withCpu(daemon, 20, async () => (await daemon.ask('drift.look', {})).ms)
        const trivial: number[] = []
        for (let n = 0; n < 10; n++) trivial.push((await daemon.ask('daemon.handshake', {})).ms)
        const baseline = `${ms(median(trivial))} handshake`
        const ratio = (median(again.took) / median(trivial)).toFixed(1)
        rows.push({
          what: `look, ${runtime}, ${answer.total} places, nothing changed (median; ${ms(again.cpu)} CPU)`,
          measured: ms(median(again.took)),
          baseline: `${baseline}, ${ms(first.ms)} first`,
          ratio,
          aim: '≤ 75 ms (0.25 % of 30 s)',
          met: again.cpu <= 75,
        })
      } finally {
        await daemon.stop()
      }
    }
    return rows
  },
}

const IDLE_SECONDS = 60
const PER_RUNTIME = 25

interface LaidHome {
  readonly runtime: AgentRuntime
  readonly home: string
  readonly session: string
  readonly append: () => void
}

/** A user with many homes of every runtime, all of them told to the daemon in its settings. */
function layManyHomes(
  sets: DataSets,
  data: string,
): { readonly userHome: string; readonly homes: readonly LaidHome[] } {
  const userHome = realpathSync(sets.fresh('hundred'))
  const homes = agentRuntimes.flatMap((runtime) =>
    Array.from({ length: PER_RUNTIME }, (_, n): LaidHome => {
      const home = join(userHome, 'homes', `${runtime}-${n}`, folders[runtime])
      const workspace = join(userHome, 'work', `${runtime}-${n}`)
      layWorkspace(workspace)
      const session = laySmallHome(runtime, home, [workspace], n)[0]?.[0]
      if (session === undefined) throw new Error('a small home has no session')
      return { runtime, home, ...session }
    }),
  )
  writeFileSync(
    join(data, 'settings.json'),
    JSON.stringify({
      version: 1,
      theme: 'system',
      density: 'compact',
      single_key_shortcuts: true,
      collection: 'redacted',
      homes: homes.map(({ runtime, home }) => ({ runtime, path: home, watch: true })),
      poll_seconds: 30,
      welcome_closed: true,
    }),
  )
  return { userHome, homes }
}

export const manyHomesItem: Item = {
  name: 'homes',
  about: `${PER_RUNTIME * agentRuntimes.length} homes, idle, and how soon a change in one of them shows`,
  async run(sets) {
    const data = sets.fresh('hundred-data')
    const { userHome, homes } = layManyHomes(sets, data)
    const settled = await importOf(userHome, data)
    const daemon = await MeasuredDaemon.start({ home: userHome, data })
    try {
      await daemon.settle()
      await daemon.ask('drift.look', {})
      await sleep(20_000)
      const before = daemon.cpuMs()
      await sleep(IDLE_SECONDS * 1_000)
      const cpu = daemon.cpuMs() - before
      const { now } = daemon.memory()
      const watches = daemon.inotify()
      const what = `${homes.length} homes (${settled.runs} runs), idle`
      const rows: Measured[] = [
        {
          what: `${what}: resident`,
          measured: `${now.toFixed(0)} MB`,
          baseline: '-',
          ratio: '-',
          aim: '≤ 80 MB',
          met: now <= 80,
        },
        {
          what: `${what}: processor time in ${IDLE_SECONDS} s`,
          measured: `${cpu} ms`,
          baseline: `${IDLE_SECONDS * 1_000} ms of one core`,
          ratio: (cpu / (IDLE_SECONDS * 1_000)).toFixed(4),
          aim: 'not measurable (≤ 0.3 %)',
          met: cpu <= IDLE_SECONDS * 3,
        },
        {
          what: `${what}: inotify watches`,
          measured: String(watches),
          baseline: '-',
          ratio: '-',
          aim: '≤ 1,000',
          met: watches <= 1_000,
        },
      ]
      for (const runtime of agentRuntimes) {
        const took: number[] = []
        for (const one of homes.filter((each) => each.runtime === runtime).slice(0, 7))
          took.push(await untilShown(daemon, one))
        rows.push({
          what: `${homes.length} homes: a new event of ${runtime} on the timeline (median; worst ${ms(Math.max(...took))})`,
          measured: ms(median(took)),
          baseline: '-',
          ratio: '-',
          aim: '≤ 250 ms',
          met: median(took) <= 250,
        })
      }
      return rows
    } finally {
      await daemon.stop()
    }
  },
}

const LIMIT_MS = 40_000

async function untilShown(daemon: MeasuredDaemon, { runtime, home, session, append }: LaidHome): Promise<number> {
  const { answer } = await daemon.ask('runs.list', { limit: 500, runtime })
  const run = answer.runs.find((each) => each.session === session)
  if (run === undefined) throw new Error(`the session ${session} of ${home} is not on the timeline`)
  const events = async (): Promise<number> => (await daemon.ask('runs.get', { run: run.id })).answer.run.events
  const before = await events()
  await sleep(500)
  const from = performance.now()
  append()
  while ((await events()) === before && performance.now() - from < LIMIT_MS) await sleep(2)
  return performance.now() - from
}
