import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchTree } from '../../daemon/watch/file-watches.ts'
import { watchFolder } from '../../daemon/watch/folder-watches.ts'
import {
  type HomeWatch,
  type WatcherFactory,
  type WatchHint,
  type WatchState,
  watchHomes,
} from '../../daemon/watch/watch-homes.ts'
import { countInotifyWatches } from '../../daemon/watch/watch-limits.ts'

let root = ''
let home = ''
let watch: HomeWatch | null = null
let hints: WatchHint[] = []
let states: WatchState[] = []
let faults: unknown[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reprise-b23-'))
  home = join(root, '.claude')
  mkdirSync(join(home, 'rules'), { recursive: true })
  writeFileSync(join(home, 'CLAUDE.md'), 'x\n')
  for (let n = 0; n < 5; n++) writeFileSync(join(home, 'rules', `r${n}.md`), 'x\n')
  hints = []
  states = []
  faults = []
})
afterEach(async () => {
  await watch?.close()
  watch = null
  rmSync(root, { recursive: true, force: true })
})

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** `p0` was used last, `p1` before it, and so on. */
function fillProjects(folders: number): void {
  for (let n = 0; n < folders; n++) {
    const folder = join(home, 'projects', `p${n}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 's.jsonl'), '{}\n')
    const at = new Date(Date.now() - 3_600_000 * (n + 1))
    utimesSync(join(folder, 's.jsonl'), at, at)
    utimesSync(folder, at, at)
  }
}

async function start(factory?: WatcherFactory, budget = 1_000): Promise<HomeWatch> {
  watch = watchHomes({
    places: [
      { path: home, depth: 0, what: 'configuration' },
      { path: join(home, 'rules'), depth: 2, what: 'configuration' },
      { path: join(home, 'projects'), depth: 3, what: 'sessions' },
    ],
    budget,
    pollSeconds: 3_600,
    onHint: (hint) => hints.push(hint),
    onState: (state) => states.push(state),
    onFault: (error) => faults.push(error),
    ...(factory ? { factory } : {}),
  })
  await watch.ready
  await sleep(150)
  hints = []
  return watch
}

const sessionOf = (n: number) => join(home, 'projects', `p${n}`, 's.jsonl')
const hinted = (path: string) => hints.some((hint) => hint.path === path)
const systemError = (code: string) => Object.assign(new Error(`${code}: refused for this test`), { code })

describe('B23: watching must not exhaust the machine', () => {
  it.each(['ENOSPC', 'EMFILE'])(
    'keeps what works after %s on the 13th folder, polls the rest, says so with the fix',
    async (code) => {
      fillProjects(100)
      let attempts = 0
      let opened = 0
      let refuse = true
      const watching = await start({
        tree: watchTree,
        folder: (path, onEvent, onError) => {
          attempts += 1
          if (refuse && opened >= 12) throw systemError(code)
          opened += 1
          return watchFolder(path, onEvent, onError)
        },
      })
      const state = watching.state()
      expect(opened).toBe(12)
      expect(attempts).toBeLessThanOrEqual(14) // one more at each look, not one for each folder
      expect(state).toMatchObject({ polling: true, failed: true })
      expect(state.places.find((place) => place.what === 'sessions')).toMatchObject({ wanted: 101, watched: 12 })
      expect(state.why).toMatch(/^Watching \d+ of \d+ folders, looking at the rest every 3600 s\. /)
      expect(state.why).toContain(code === 'ENOSPC' ? 'sudo sysctl fs.inotify.max_user_watches=' : 'ulimit -n')
      expect(states.at(-1)).toEqual(state)

      appendFileSync(sessionOf(3), '{}\n')
      appendFileSync(sessionOf(90), '{}\n')
      writeFileSync(join(home, 'rules', 'r1.md'), 'changed\n')
      await sleep(300)
      expect(hinted(sessionOf(3))).toBe(true)
      expect(hinted(join(home, 'rules', 'r1.md'))).toBe(true)
      expect(hinted(sessionOf(90))).toBe(false)
      await watching.lookNow()
      expect(hinted(sessionOf(90))).toBe(true)

      refuse = false // another program gave its watches back
      await watching.lookNow()
      expect(watching.state()).toMatchObject({ polling: false, failed: false, why: null })
      expect(faults).toEqual([])
    },
  )

  it('goes on when chokidar runs out of watches', async () => {
    fillProjects(3)
    let trees = 0
    const watching = await start({
      folder: watchFolder,
      tree: (path, depth, ignored, onEvent, onError) => {
        const real = watchTree(path, depth, ignored, onEvent, onError)
        trees += 1
        setTimeout(() => onError(systemError('ENOSPC')), 20)
        return real
      },
    })
    await sleep(300)
    // The look after the start may try once more; failing does not make it try again and again.
    expect(trees).toBeLessThanOrEqual(4)
    const tried = trees
    await sleep(600)
    expect(trees).toBe(tried)
    expect(watching.state()).toMatchObject({ polling: true, failed: true })
    writeFileSync(join(home, 'rules', 'r2.md'), 'changed\n')
    appendFileSync(sessionOf(1), '{}\n')
    await watching.lookNow()
    expect(hinted(join(home, 'rules', 'r2.md'))).toBe(true)
    expect(hinted(sessionOf(1))).toBe(true)
  })

  it('leaves a folder it may not watch to polling and watches the others', async () => {
    fillProjects(5)
    const watching = await start({
      tree: watchTree,
      folder: (path, onEvent, onError) => {
        if (path.endsWith('p2')) throw systemError('EACCES')
        return watchFolder(path, onEvent, onError)
      },
    })
    expect(watching.state().why).toContain('right to read')
    appendFileSync(sessionOf(4), '{}\n')
    await sleep(300)
    expect(hinted(sessionOf(4))).toBe(true)
  })

  it('takes no harm from watches that fail to close or fail later', async () => {
    fillProjects(4)
    const broken = new Map<string, (error: unknown) => void>()
    const watching = await start({
      tree: watchTree,
      folder: (path, onEvent, onError) => {
        const real = watchFolder(path, onEvent, onError)
        broken.set(path, onError)
        return {
          close() {
            real.close()
            throw systemError('EINVAL')
          },
        }
      },
    })
    broken.get(join(home, 'projects', 'p1'))?.(systemError('EPERM'))
    await sleep(150)
    rmSync(join(home, 'projects', 'p2'), { recursive: true })
    await sleep(300)
    expect(hinted(sessionOf(2))).toBe(true)
    await watching.lookNow()
    appendFileSync(sessionOf(1), '{}\n')
    await sleep(300)
    expect(hinted(sessionOf(1))).toBe(true)
    expect(faults).toEqual([])
  })

  it('holds 1,000 watches at most over a home of 10,000 session folders', async () => {
    fillProjects(10_000)
    const before = countInotifyWatches() ?? 0
    const watching = await start(undefined, 1_000)
    const held = (countInotifyWatches() ?? 0) - before
    expect(watching.state().wanted).toBeGreaterThanOrEqual(10_001)
    expect(held).toBeGreaterThan(500)
    expect(held).toBeLessThanOrEqual(1_000)
    expect(watching.state().why).toContain('folders, looking at the rest every')
    appendFileSync(sessionOf(0), '{}\n')
    await sleep(300)
    expect(hinted(sessionOf(0))).toBe(true)
    mkdirSync(join(home, 'projects', 'brand-new'))
    writeFileSync(join(home, 'projects', 'brand-new', 's.jsonl'), '{}\n')
    await sleep(500)
    expect(hinted(join(home, 'projects', 'brand-new', 's.jsonl'))).toBe(true)
    expect((countInotifyWatches() ?? 0) - before).toBeLessThanOrEqual(1_000)
    await watching.close()
    expect((countInotifyWatches() ?? 0) - before).toBeLessThanOrEqual(1)
  })

  it('stays whole under the churn of temporary files', async () => {
    fillProjects(3)
    const before = countInotifyWatches() ?? 0
    const watching = await start(undefined, 200)
    for (let n = 0; n < 3_000; n++) {
      const to = n % 2 === 0 ? join(home, 'settings.json') : sessionOf(1)
      writeFileSync(`${to}.tmp.${n}`, `{"n":${n}}`)
      renameSync(`${to}.tmp.${n}`, to)
      if (n % 500 === 0) await sleep(20)
    }
    await sleep(600)
    expect(hinted(join(home, 'settings.json'))).toBe(true)
    expect(hinted(sessionOf(1))).toBe(true)
    await watching.lookNow()
    await sleep(200)
    expect((countInotifyWatches() ?? 0) - before).toBeLessThan(60)
    expect(watching.state()).toMatchObject({ polling: false, failed: false })
    hints = []
    writeFileSync(join(home, 'settings.json'), '{"last":true}')
    await sleep(300)
    expect(hinted(join(home, 'settings.json'))).toBe(true)
    expect(faults).toEqual([])
  })

  // A user namespace has its own limit of inotify watches, so that the real failure can be had without touching the machine's.
  const namespaces = spawnSync('unshare', ['-Ur', 'true']).status === 0
  it.skipIf(!namespaces)('meets the real limit of the kernel and goes on', () => {
    fillProjects(300)
    const script = 'echo 100 > /proc/sys/user/max_inotify_watches && exec "$0" --import tsx "$1" "$2" 300'
    const child = spawnSync(
      'unshare',
      ['-Ur', 'sh', '-c', script, process.execPath, join(import.meta.dirname, 'b23-child.ts'), home],
      {
        encoding: 'utf8',
        timeout: 25_000,
      },
    )
    expect(child.stderr).toBe('')
    const lines = child.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines[0].inotify).toBeGreaterThan(60)
    expect(lines[0].inotify).toBeLessThanOrEqual(100)
    expect(lines[0].state).toMatchObject({ polling: true, failed: true })
    expect(lines[0].state.why).toContain('sudo sysctl fs.inotify.max_user_watches=')
    expect(lines[1]).toEqual({ newest: true, oldest: false })
    expect(lines[2]).toEqual({ oldestAfterLook: true })
    expect(child.status).toBe(0)
  })
})
