import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MeasuredDaemon, median, percentile, sleep } from './daemon.ts'
import type { DataSets } from './data-sets.ts'
import { type Measured, mb, ms, perSecond } from './table.ts'
import { measureWindow } from './window.ts'

export interface Item {
  readonly name: string
  readonly about: string
  run(sets: DataSets): Promise<readonly Measured[]>
}

const MEMORY_OPTION = '--max-old-space-size=512'

export interface BareParse {
  readonly bytes: number
  readonly rows: number
  readonly ms: number
}

export function bareParse(folder: string): BareParse {
  const program = join(import.meta.dirname, 'bare-parse.ts')
  const child = spawnSync(process.execPath, ['--import', 'tsx', program, folder], { encoding: 'utf8' })
  if (child.status !== 0) throw new Error(`the bare parse failed: ${child.stderr}`)
  return JSON.parse(child.stdout) as BareParse
}

export function importRows(
  what: string,
  bytes: number,
  bareMs: number,
  settled: { readMs: number; searchableMs: number; events: number },
): readonly Measured[] {
  const rate = (took: number): number => bytes / 1e6 / (took / 1_000)
  const baseline = `${perSecond(bytes, bareMs)} bare read + JSON.parse`
  return [
    {
      what: `${what}: ${mb(bytes)}, ${settled.events} events on the timeline`,
      measured: `${perSecond(bytes, settled.readMs)} (${(settled.readMs / 1_000).toFixed(1)} s)`,
      baseline,
      ratio: (settled.readMs / bareMs).toFixed(1),
      aim: '≥ 100 MB/s',
      met: rate(settled.readMs) >= 100,
    },
    {
      what: `${what}: kept and searchable too`,
      measured: `${perSecond(bytes, settled.searchableMs)} (${(settled.searchableMs / 1_000).toFixed(1)} s)`,
      baseline,
      ratio: (settled.searchableMs / bareMs).toFixed(1),
      aim: 'in a worker, ≥ 15 MB/s of indexed text',
      met: null,
    },
  ]
}

export async function importOf(home: string, data: string, nodeOptions?: string) {
  const daemon = await MeasuredDaemon.start({ home, data, ...(nodeOptions ? { nodeOptions } : {}) })
  try {
    const settled = await daemon.settle()
    return { ...settled, memory: daemon.memory() }
  } finally {
    await daemon.stop()
  }
}

const importItem: Item = {
  name: 'import',
  about: 'history import against a bare parse of the same bytes',
  async run(sets) {
    const { home, generated } = sets.ordinary()
    const bare = bareParse(join(home, '.claude', 'projects'))
    const settled = await importOf(home, sets.fresh('import-data'))
    return importRows('import of ordinary sessions', generated.bytes, bare.ms, settled)
  },
}

const memoryItem: Item = {
  name: 'memory',
  about: 'one very large session under a small heap',
  async run(sets) {
    const { home, generated } = sets.big()
    const bare = bareParse(join(home, '.claude', 'projects'))
    const settled = await importOf(home, sets.fresh('memory-data'), MEMORY_OPTION)
    const peak = settled.memory.peak
    return [
      ...importRows('import of one large session', generated.bytes, bare.ms, settled),
      {
        what: `peak memory meanwhile, ${MEMORY_OPTION}`,
        measured: `${peak.toFixed(0)} MB`,
        baseline: `file ${mb(generated.bytes)}`,
        ratio: ((peak * 1.048576) / (generated.bytes / 1e6)).toFixed(2),
        aim: '≤ 300 MB',
        met: peak <= 300,
      },
    ]
  },
}

const manifestItem: Item = {
  name: 'manifest',
  about: 'resolving a manifest, first and again',
  async run(sets) {
    const sample = sets.sample()
    const workspace = sample.workspaces[0] ?? ''
    const input = { runtime: 'claude-code' as const, workspace, home: sample.claudeHome }
    const cold: number[] = []
    const warm: number[] = []
    const trivial: number[] = []
    for (let n = 0; n < 3; n++) {
      const daemon = await MeasuredDaemon.start({ home: sample.home, data: sets.fresh('manifest-data') })
      try {
        await daemon.settle()
        for (let m = 0; m < 10; m++) trivial.push((await daemon.ask('daemon.handshake', {})).ms)
        cold.push((await daemon.ask('manifest.resolve', input)).ms)
        for (let m = 0; m < 20; m++) warm.push((await daemon.ask('manifest.resolve', input)).ms)
      } finally {
        await daemon.stop()
      }
    }
    const baseline = `${ms(median(trivial))} handshake`
    const line = (what: string, value: number, aim: number): Measured => ({
      what,
      measured: ms(value),
      baseline,
      ratio: (value / median(trivial)).toFixed(1),
      aim: `≤ ${aim} ms`,
      met: value <= aim,
    })
    return [
      line('resolve a manifest, first time', median(cold), 150),
      line('resolve a manifest, again (median)', median(warm), 20),
    ]
  },
}

const IDLE_SECONDS = 30

async function idleRows(what: string, home: string, data: string): Promise<readonly Measured[]> {
  // Imported before, started anew: what stays open when nothing happens.
  await importOf(home, data)
  const daemon = await MeasuredDaemon.start({ home, data })
  try {
    await daemon.settle()
    await sleep(10_000)
    const before = daemon.cpuMs()
    await sleep(IDLE_SECONDS * 1_000)
    const cpu = daemon.cpuMs() - before
    const bare = spawnSync(process.execPath, ['-e', 'process.stdout.write(String(process.memoryUsage().rss))'], {
      encoding: 'utf8',
    })
    const bareMb = Number(bare.stdout) / 1_048_576
    const resident = daemon.memory().now
    const watches = daemon.inotify()
    return [
      {
        what: `${what}: resident`,
        measured: `${resident.toFixed(0)} MB`,
        baseline: `${bareMb.toFixed(0)} MB bare node`,
        ratio: (resident / bareMb).toFixed(1),
        aim: '≤ 80 MB',
        met: resident <= 80,
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
  } finally {
    await daemon.stop()
  }
}

const idleItem: Item = {
  name: 'idle',
  about: 'what the daemon costs when nothing happens',
  async run(sets) {
    const small = await idleRows('idle, sample home', sets.sample().home, sets.fresh('idle-data'))
    const large = await idleRows(
      `idle, ${sets.sizes.folders.toLocaleString('en-US')} session folders`,
      sets.manyFolders(sets.sizes.folders),
      sets.fresh('idle-many-data'),
    )
    return [...small, ...large]
  },
}

const timelineItem: Item = {
  name: 'timeline',
  about: 'first screen of a long timeline',
  async run(sets) {
    const imported = await sets.manyRuns()
    const daemon = await MeasuredDaemon.start({ home: imported.home, data: imported.data })
    const size = `${imported.runs} runs, ${imported.events} events`
    try {
      const first = await daemon.ask('timeline.page', { limit: 100, density_buckets: 120 })
      const again: number[] = []
      const next: number[] = []
      for (let n = 0; n < 10; n++)
        again.push((await daemon.ask('timeline.page', { limit: 100, density_buckets: 120 })).ms)
      let cursor = first.answer.next
      for (let n = 0; n < 20 && cursor !== null; n++) {
        const page = await daemon.ask('timeline.page', { limit: 100, cursor })
        next.push(page.ms)
        cursor = page.answer.next
      }
      await daemon.settle()
      const trivial: number[] = []
      for (let n = 0; n < 10; n++) trivial.push((await daemon.ask('daemon.handshake', {})).ms)
      const settledPage: number[] = []
      for (let n = 0; n < 10; n++)
        settledPage.push((await daemon.ask('timeline.page', { limit: 100, density_buckets: 120 })).ms)
      const baseline = `${ms(median(trivial))} handshake`
      const line = (what: string, value: number, aim: number | null): Measured => ({
        what,
        measured: ms(value),
        baseline,
        ratio: (value / median(trivial)).toFixed(1),
        aim: aim === null ? '-' : `≤ ${aim} ms`,
        met: aim === null ? null : value <= aim,
      })
      return [
        line(`timeline, ${size}: first page, right after the start`, first.ms, 300),
        line('timeline: first page again, still looking for changes (median)', median(again), null),
        line('timeline: first page at rest (median)', median(settledPage), 300),
        line('timeline: further pages (median)', median(next), null),
        ...(await measureWindow(daemon, median(trivial))),
      ]
    } finally {
      await daemon.stop()
    }
  },
}

const searchItem: Item = {
  name: 'search',
  about: 'search answers over a long history',
  async run(sets) {
    const imported = await sets.manyRuns()
    const daemon = await MeasuredDaemon.start({ home: imported.home, data: imported.data })
    try {
      await daemon.settle()
      const { words, rarest, most } = await wordsOf(daemon)
      const times: number[] = []
      for (const text of words) times.push((await daemon.ask('search.run', { text, limit: 50 })).ms)
      const trivial: number[] = []
      for (let n = 0; n < 10; n++) trivial.push((await daemon.ask('daemon.handshake', {})).ms)
      const one = async (text: string): Promise<number> =>
        median([
          (await daemon.ask('search.run', { text })).ms,
          (await daemon.ask('search.run', { text })).ms,
          (await daemon.ask('search.run', { text })).ms,
        ])
      const baseline = `${ms(median(trivial))} handshake`
      const line = (what: string, value: number): Measured => ({
        what,
        measured: ms(value),
        baseline,
        ratio: (value / median(trivial)).toFixed(1),
        aim: '≤ 100 ms',
        met: value <= 100,
      })
      return [
        line(`search, ${imported.events} events: ${words.length} words (median)`, median(times)),
        line('search: the same (95th percentile)', percentile(times, 0.95)),
        line(`search: the most common word (${most})`, await one(most)),
        line(`search: a rare word (${rarest})`, await one(rarest)),
        line('search: two words', await one(`${words[3]} ${words[9]}`)),
        line('search: the beginning of a word', await one(`${most.slice(0, 2)}*`)),
      ]
    } finally {
      await daemon.stop()
    }
  },
}

/** Words that occur, from the titles of the runs themselves. */
async function wordsOf(daemon: MeasuredDaemon): Promise<{ words: readonly string[]; most: string; rarest: string }> {
  const { answer } = await daemon.ask('runs.list', { limit: 500 })
  const count = new Map<string, number>()
  for (const run of answer.runs)
    for (const word of run.title.split(/[^a-z]+/)) if (word.length > 1) count.set(word, (count.get(word) ?? 0) + 1)
  const ranked = [...count].sort((a, b) => b[1] - a[1]).map(([word]) => word)
  const words = ranked.filter((_, n) => n % Math.max(1, Math.floor(ranked.length / 60)) === 0).slice(0, 60)
  const most = ranked[0]
  const rarest = ranked.at(-1)
  if (most === undefined || rarest === undefined) throw new Error('no run has a title to take words from')
  return { words, most, rarest }
}

/** The daemon answers while it imports: how long others wait meanwhile. */
const busyItem: Item = {
  name: 'busy',
  about: 'answers while a large import runs',
  async run(sets) {
    const { home } = sets.ordinary()
    const daemon = await MeasuredDaemon.start({ home, data: sets.fresh('busy-data') })
    try {
      const times: number[] = []
      for (let n = 0; n < 100; n++) {
        times.push((await daemon.ask('timeline.page', { limit: 100 })).ms)
        await sleep(20)
      }
      const worst = Math.max(...times)
      return [
        {
          what: 'timeline page while importing (median)',
          measured: ms(median(times)),
          baseline: '-',
          ratio: '-',
          aim: '≤ 300 ms',
          met: median(times) <= 300,
        },
        {
          what: 'timeline page while importing (worst of 100)',
          measured: ms(worst),
          baseline: '-',
          ratio: '-',
          aim: '≤ 300 ms',
          met: worst <= 300,
        },
      ]
    } finally {
      await daemon.stop()
    }
  },
}

/** How soon a new line of a live session is on the timeline. */
const liveItem: Item = {
  name: 'live',
  about: 'from a line written by an agent to the timeline',
  async run(sets) {
    const { appendFileSync, readFileSync, readdirSync } = await import('node:fs')
    const sample = sets.sample()
    const home = sets.fresh('live-home')
    cpSync(sample.home, home, { recursive: true, preserveTimestamps: true })
    const projects = join(home, '.claude', 'projects')
    const daemon = await MeasuredDaemon.start({ home, data: sets.fresh('live-data') })
    try {
      await daemon.settle()
      await sleep(1_000)
      const { answer } = await daemon.ask('runs.list', { limit: 1 })
      const run = answer.runs[0]
      if (run === undefined) throw new Error('the sample home has no runs')
      const folder = readdirSync(projects).find((name) =>
        readdirSync(join(projects, name)).includes(`${run.session}.jsonl`),
      )
      const file = join(projects, folder ?? '', `${run.session}.jsonl`)
      const rows = readFileSync(file, 'utf8').trimEnd().split('\n')
      const prompt = rows.find((row) => row.includes('"type":"user"') && row.includes('"permissionMode"')) ?? ''
      const times: number[] = []
      for (let n = 0; n < 15; n++) {
        const before = (await daemon.ask('runs.get', { run: run.id })).answer.run.events
        const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
        const row = {
          ...(JSON.parse(prompt) as Record<string, unknown>),
          uuid,
          parentUuid: null,
          timestamp: new Date().toISOString(),
        }
        const from = performance.now()
        appendFileSync(file, `${JSON.stringify(row)}\n`)
        while (
          (await daemon.ask('runs.get', { run: run.id })).answer.run.events === before &&
          performance.now() - from < 5_000
        )
          await sleep(2)
        times.push(performance.now() - from)
        await sleep(300)
      }
      return [
        {
          what: 'a new line of a live session on the timeline (median)',
          measured: ms(median(times)),
          baseline: '-',
          ratio: '-',
          aim: '≤ 250 ms',
          met: median(times) <= 250,
        },
      ]
    } finally {
      await daemon.stop()
    }
  },
}

/** Two configurations of very many files, of which one differs. */
const diffItem: Item = {
  name: 'diff',
  about: 'two manifests of 5,000 sources compared',
  async run(sets) {
    const home = sets.fresh('diff-home')
    const workspace = join(home, 'work')
    const rules = join(workspace, '.claude', 'rules')
    mkdirSync(rules, { recursive: true })
    mkdirSync(join(home, '.claude', 'projects'), { recursive: true })
    for (let n = 0; n < 5_000; n++)
      writeFileSync(join(rules, `rule-${n}.md`), `---\npaths: src/${n}/**\n---\nRule ${n}.\n`)
    const daemon = await MeasuredDaemon.start({ home, data: sets.fresh('diff-data') })
    try {
      await daemon.settle()
      const resolve = async (): Promise<{ digest: string; sources: number }> => {
        const { manifest } = (await daemon.ask('manifest.resolve', { runtime: 'claude-code', workspace })).answer
        return { digest: manifest.integrity.manifest_digest, sources: manifest.instructions.sources.length }
      }
      const before = await resolve()
      writeFileSync(join(rules, 'rule-2500.md'), '---\npaths: src/**\n---\nRule 2500, changed.\n')
      const after = await resolve()
      const times: number[] = []
      for (let n = 0; n < 9; n++) {
        const { ms: took, answer } = await daemon.ask('compare.run', { a: before.digest, b: after.digest })
        if (answer.causes.length !== 1) throw new Error(`${answer.causes.length} causes found, not the one there is`)
        times.push(took)
      }
      return [
        {
          what: `diff of two manifests of ${before.sources} sources (median)`,
          measured: ms(median(times)),
          baseline: '-',
          ratio: '-',
          aim: '≤ 150 ms',
          met: median(times) <= 150,
        },
      ]
    } finally {
      await daemon.stop()
    }
  },
}

export const basicItems: readonly Item[] = [
  importItem,
  memoryItem,
  manifestItem,
  idleItem,
  liveItem,
  busyItem,
  timelineItem,
  searchItem,
  diffItem,
]
