import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { WatchPlace } from '../../../daemon/runtimes/adapter.ts'
import { watchTree } from '../../../daemon/watch/file-watches.ts'
import { watchFolder } from '../../../daemon/watch/folder-watches.ts'
import {
  type HomeWatch,
  type WatchHint,
  type WatchState,
  type WatchTick,
  watchHomes,
} from '../../../daemon/watch/watch-homes.ts'

let root = ''
let home = ''
let projects = ''
let watch: HomeWatch | null = null
let hints: WatchHint[] = []
let ticks: WatchTick[] = []
let states: WatchState[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reprise-watch-'))
  home = join(root, '.claude')
  projects = join(home, 'projects')
  mkdirSync(join(projects, 'old'), { recursive: true })
  mkdirSync(join(projects, 'live'))
  mkdirSync(join(home, 'sessions'))
  mkdirSync(join(home, 'rules'))
  writeFileSync(join(home, 'CLAUDE.md'), 'be kind\n')
  writeFileSync(join(home, 'rules', 'tests.md'), 'run them\n')
  writeFileSync(join(root, '.claude.json'), '{}')
  writeFileSync(join(projects, 'live', 's.jsonl'), '{}\n')
  writeFileSync(join(projects, 'old', 's.jsonl'), '{}\n')
  hints = []
  ticks = []
  states = []
})
afterEach(async () => {
  await watch?.close()
  watch = null
  rmSync(root, { recursive: true, force: true })
})

const places = (): WatchPlace[] => [
  { path: home, depth: 0, what: 'configuration' },
  { path: join(home, 'rules'), depth: 3, what: 'configuration' },
  { path: join(root, '.claude.json'), depth: 0, what: 'configuration' },
  { path: join(home, 'sessions'), depth: 0, what: 'live' },
  { path: projects, depth: 3, what: 'sessions' },
]

async function start(budget = 200, pollSeconds = 3_600): Promise<HomeWatch> {
  watch = watchHomes({
    places: places(),
    budget,
    pollSeconds,
    onHint: (hint) => hints.push(hint),
    onState: (state) => states.push(state),
    onReconcile: (tick) => ticks.push(tick),
  })
  await watch.ready
  await sleep(80) // chokidar is ready a little later than asked
  hints = []
  return watch
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function hinted(path: string, what: WatchPlace['what'], withinMs = 3_000): Promise<number> {
  const from = performance.now()
  while (!hints.some((hint) => hint.path === path && hint.what === what)) {
    if (performance.now() - from > withinMs) throw new Error(`no hint for ${path}; hints: ${JSON.stringify(hints)}`)
    await sleep(2)
  }
  return performance.now() - from
}

describe('watchHomes', () => {
  it('hints at a new line of a live session at once, and only when something changed', async () => {
    const watching = await start()
    const file = join(projects, 'live', 's.jsonl')
    const took: number[] = []
    for (let n = 0; n < 5; n++) {
      hints = []
      appendFileSync(file, '{"n":1}\n')
      took.push(await hinted(file, 'sessions'))
    }
    expect(Math.min(...took)).toBeLessThan(1_000)
    expect(watching.state()).toMatchObject({ polling: false, why: null, failed: false })
    await sleep(200)
    hints = []
    await sleep(200)
    expect(hints).toEqual([])
  })

  it('makes one hint of a burst of writes', async () => {
    await start()
    const file = join(projects, 'live', 's.jsonl')
    for (let n = 0; n < 200; n++) appendFileSync(file, `{"n":${n}}\n`)
    await hinted(file, 'sessions')
    await sleep(150)
    expect(hints.filter((hint) => hint.path === file).length).toBeLessThan(4)
  })

  it('follows new session folders and what is put into them', async () => {
    await start()
    const folder = join(projects, 'new', 'sid', 'subagents')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(projects, 'new', 'sid.jsonl'), '{}\n')
    writeFileSync(join(folder, 'agent-1.jsonl'), '{}\n')
    await hinted(join(projects, 'new', 'sid.jsonl'), 'sessions')
    await hinted(join(folder, 'agent-1.jsonl'), 'sessions')
    await sleep(150)
    hints = []
    appendFileSync(join(folder, 'agent-1.jsonl'), '{}\n')
    await hinted(join(folder, 'agent-1.jsonl'), 'sessions')
  })

  it('finds what was put into a new folder just before its watch stood', async () => {
    const raced = join(projects, 'raced')
    watch = watchHomes({
      places: places(),
      budget: 200,
      pollSeconds: 3_600,
      onHint: (hint) => hints.push(hint),
      factory: {
        tree: watchTree,
        folder: (path, onEvent, onError) => {
          if (path === raced) writeFileSync(join(raced, 'early.jsonl'), '{}\n')
          return watchFolder(path, onEvent, onError)
        },
      },
    })
    await watch.ready
    mkdirSync(raced)
    await hinted(join(raced, 'early.jsonl'), 'sessions')
  })

  it('hints at configuration: changed, added, removed, replaced by rename', async () => {
    await start()
    writeFileSync(join(home, 'CLAUDE.md'), 'be kinder\n')
    await hinted(join(home, 'CLAUDE.md'), 'configuration')
    mkdirSync(join(home, 'rules', 'deep'))
    writeFileSync(join(home, 'rules', 'deep', 'more.md'), 'x\n')
    await hinted(join(home, 'rules', 'deep', 'more.md'), 'configuration')
    unlinkSync(join(home, 'rules', 'tests.md'))
    await hinted(join(home, 'rules', 'tests.md'), 'configuration')
    writeFileSync(join(home, 'sessions', '4711.json'), '{}')
    await hinted(join(home, 'sessions', '4711.json'), 'live')
    const state = join(root, '.claude.json')
    for (let n = 0; n < 3; n++) {
      await sleep(120)
      hints = []
      writeFileSync(`${state}.tmp.${n}`, `{"n":${n}}`)
      renameSync(`${state}.tmp.${n}`, state)
      await hinted(state, 'configuration')
    }
  })

  it('finds a state file again that was deleted and written anew, without watching the folder above the home', async () => {
    await start()
    const state = join(root, '.claude.json')
    unlinkSync(state)
    await hinted(state, 'configuration')
    await sleep(120)
    hints = []
    writeFileSync(state, '{"back":1}')
    await hinted(state, 'configuration')
    await sleep(1_200)
    hints = []
    for (let n = 0; n < 20; n++) writeFileSync(join(root, `unrelated-${n}`), 'x')
    await sleep(300)
    expect(hints).toEqual([])
    writeFileSync(state, '{"back":2}')
    await hinted(state, 'configuration')
  })

  it('survives folders that vanish while watched, and finds them when they return', async () => {
    const watching = await start()
    renameSync(projects, join(root, 'away'))
    await hinted(join(projects, 'live', 's.jsonl'), 'sessions')
    await watching.lookNow()
    expect(watching.state().places.find((place) => place.what === 'sessions')).toMatchObject({
      present: false,
      watched: 0,
    })
    renameSync(join(root, 'away'), projects)
    await sleep(300)
    await watching.lookNow()
    hints = []
    appendFileSync(join(projects, 'live', 's.jsonl'), '{}\n')
    await hinted(join(projects, 'live', 's.jsonl'), 'sessions')
    rmSync(join(projects, 'live'), { recursive: true })
    mkdirSync(join(projects, 'live'))
    writeFileSync(join(projects, 'live', 't.jsonl'), '{}\n')
    await hinted(join(projects, 'live', 't.jsonl'), 'sessions')
    await sleep(100)
    hints = []
    appendFileSync(join(projects, 'live', 't.jsonl'), '{}\n')
    await hinted(join(projects, 'live', 't.jsonl'), 'sessions')
  })

  it('watches the most recently used folders within its budget and looks at the others', async () => {
    for (let n = 0; n < 50; n++) {
      mkdirSync(join(projects, `p${n}`))
      writeFileSync(join(projects, `p${n}`, 's.jsonl'), '{}\n')
      const at = new Date(Date.now() - 86_400_000 * (n + 1))
      utimesSync(join(projects, `p${n}`, 's.jsonl'), at, at)
      utimesSync(join(projects, `p${n}`), at, at)
    }
    const watching = await start(30)
    const state = watching.state()
    expect(state.polling).toBe(true)
    expect(state.failed).toBe(false)
    expect(state.watched).toBeLessThanOrEqual(30)
    expect(state.why).toMatch(/^Watching \d+ of \d+ folders, looking at the rest every 3600 s\./)
    appendFileSync(join(projects, 'p2', 's.jsonl'), '{}\n')
    await hinted(join(projects, 'p2', 's.jsonl'), 'sessions')
    const unwatched = join(projects, 'p48', 's.jsonl')
    appendFileSync(unwatched, '{}\n')
    await sleep(200)
    expect(hints.some((hint) => hint.path === unwatched)).toBe(false)
    await watching.lookNow()
    expect(hints.some((hint) => hint.path === unwatched)).toBe(true)
    expect(ticks.at(-1)?.changed).toContain(unwatched)
    hints = []
    appendFileSync(unwatched, '{}\n') // in use now, so it is watched now
    await hinted(unwatched, 'sessions')
  })

  it('looks at everything when an agent starts somewhere', async () => {
    for (let n = 0; n < 60; n++) mkdirSync(join(projects, `p${n}`))
    const long = new Date(2020, 1, 1)
    const resumed = join(projects, 'old', 's.jsonl')
    utimesSync(resumed, long, long)
    utimesSync(join(projects, 'old'), long, long)
    await start(30)
    appendFileSync(resumed, '{}\n')
    writeFileSync(join(home, 'sessions', '99.json'), '{}')
    await hinted(resumed, 'sessions')
  })

  it('comes by regularly without being asked', async () => {
    await start(200, 0.2)
    const regular = () => ticks.filter((tick) => tick.reason === 'time').length
    for (let waited = 0; regular() < 2 && waited < 5_000; waited += 50) await sleep(50)
    expect(regular()).toBeGreaterThanOrEqual(2)
  })

  it('takes new places and lets old ones go', async () => {
    const watching = await start()
    await watching.update(places().filter((place) => place.what !== 'sessions'))
    appendFileSync(join(projects, 'live', 's.jsonl'), '{}\n')
    await sleep(200)
    expect(hints).toEqual([])
    await watching.update(places())
    appendFileSync(join(projects, 'live', 's.jsonl'), '{}\n')
    await hinted(join(projects, 'live', 's.jsonl'), 'sessions')
  })
})
