import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { startDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, type TestHome } from '../kit/fixture-home.ts'
import { type Snapshot, takeSnapshot } from '../kit/snapshot.ts'

/** Kills spread over an import, from the start of the daemon to well after everything is read. */
const KILLS = 20
/** Copies of the recorded sessions, so that there is something to interrupt. */
const COPIES = 3

const homes: TestHome[] = []
/** The same session under another id in another directory, with row ids of its own. */
const asCopy = (text: string, n: number): string =>
  text
    .replaceAll('0000-4000-8000-0000000000', `0000-4000-800${n}-0000000000`)
    .replaceAll('/home/dev/demo', `/home/dev/demo${n}`)
    .replaceAll(
      /"timestamp":"([^"]+)"/g,
      (_, at: string) => `"timestamp":"${new Date(Date.parse(at) - n * 3_600_000).toISOString()}"`,
    )
    .replaceAll(
      /"(uuid|parentUuid|leafUuid|sourceToolAssistantUUID|logicalParentUuid)":"(.)/g,
      (_, key: string, first: string) => `"${key}":"${((Number.parseInt(first, 16) + n) % 16).toString(16)}`,
    )

const makeHome = (): TestHome => {
  const home = makeFixtureHome()
  homes.push(home)
  const projects = path.join(home.home, '.claude/projects')
  const original = path.join(projects, '-home-dev-demo')
  for (let n = 1; n <= COPIES; n++)
    for (const name of fs.readdirSync(original, { recursive: true, encoding: 'utf8' })) {
      const source = path.join(original, name)
      const stat = fs.statSync(source)
      if (!stat.isFile()) continue
      const target = path.join(projects, `-home-dev-demo${n}`, asCopy(name, n))
      fs.mkdirSync(path.dirname(target), { recursive: true })
      fs.writeFileSync(target, asCopy(fs.readFileSync(source, 'utf8'), n))
      fs.utimesSync(target, stat.atime, stat.mtime)
    }
  return home
}
afterAll(() => {
  for (const home of homes) home.remove()
})

/** Ids depend on the path of the home, and every home here has another one. */
const comparable = (snapshot: Snapshot, home: TestHome): unknown => {
  const ids = new Map(snapshot.runs.map(({ id, session }) => [id, session]))
  const named = (value: unknown): unknown =>
    JSON.parse(
      JSON.stringify(value, (key, inner) =>
        key === 'manifest' ? inner !== null : key === 'home' || key === 'home_id' ? undefined : inner,
      )
        .replaceAll(/r_[0-9a-f]{12}/g, (id) => ids.get(id) ?? id)
        .replaceAll(home.home, '~'),
    )
  return {
    runs: (named(snapshot.runs) as { id: string }[]).sort((a, b) => (a.id < b.id ? -1 : 1)),
    manifests: Object.keys(snapshot.manifests).length,
    unreadable: snapshot.unreadable,
    searchable: snapshot.searchable,
  }
}

describe('an import that is killed again and again', () => {
  it(`ends like one that was left alone (${KILLS} kills)`, async () => {
    const calm = makeHome()
    const undisturbed = await startDaemon(calm)
    const began = Date.now()
    await undisturbed.call('sync.now', {})
    const took = Date.now() - began
    const expected = comparable(await takeSnapshot(undisturbed), calm)
    await undisturbed.stop()
    expect((expected as { runs: unknown[] }).runs.length).toBe(15 + 13 * COPIES)

    const home = makeHome()
    const reached: number[] = []
    for (let n = 0; n < KILLS; n++) {
      fs.rmSync(home.data, { recursive: true, force: true })
      const victim = await startDaemon(home)
      await sleep((took * n) / KILLS)
      reached.push((await victim.call('status.get', {})).store.runs)
      await victim.kill()

      const daemon = await startDaemon(home)
      await daemon.call('sync.now', {})
      const last = n === KILLS - 1
      const after = await takeSnapshot(daemon)
      expect(comparable(after, home)).toEqual(expected)
      if (n % 5 === 0 || last) expect((await daemon.call('store.check', {})).damaged).toEqual([])
      if (last) {
        await daemon.call('store.reindex', {})
        expect(await takeSnapshot(daemon)).toEqual(after)
      }
      await daemon.stop()
    }
    // The kills hit different stages, not the finished import twenty times.
    expect(new Set(reached).size).toBeGreaterThan(3)
  }, 240_000)
})
