import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asDigest, asRunId } from '../../contract/index.ts'
import { manifestBody, openTestStore, sliceOf, temporaryDirectory } from '../kit/store.ts'

/** Architecture §8.7: a crash at any instruction leaves a store that opens, with nothing that was acknowledged lost. */
let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())

/** Runs the writer, kills it some time after so many answers, and gives what it acknowledged. */
async function writeAndKill(seed: number, answers: number, milliseconds: number): Promise<string[]> {
  const script = fileURLToPath(new URL('../kit/store-writer.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, dir.path, String(seed)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const said: string[] = []
  const ended = new Promise<string | null>((resolve) => child.on('close', (_, signal) => resolve(signal)))
  for await (const line of createInterface({ input: child.stdout })) {
    said.push(line)
    if (said.length === answers + 1) setTimeout(() => child.kill('SIGKILL'), milliseconds)
  }
  expect(await ended).toBe('SIGKILL')
  return said.slice(1)
}

describe('a killed daemon', () => {
  it('loses nothing it acknowledged and leaves nothing behind', async () => {
    const manifests = new Set<string>()
    const texts = new Set<string>()
    const lines = new Map<string, number>()
    for (const [round, answers] of [0, 5, 17, 40, 64, 90, 130].entries()) {
      for (const line of await writeAndKill(round, answers, (round * 7) % 23)) {
        const [what, name = '', count] = line.split(' ')
        if (what === 'manifest') manifests.add(name)
        else if (what === 'text') texts.add(name)
        else lines.set(name, Number(count))
      }
      const { store } = await openTestStore(dir.path)
      for (const digest of manifests) expect(await store.manifests.get(asDigest(digest))).not.toBeNull()
      for (const digest of texts) expect(await store.texts.get(asDigest(digest))).not.toBeNull()
      for (const [run, count] of lines) {
        const state = (await store.sessions.state(asRunId(run)))[0]
        expect(state?.lines).toBeGreaterThanOrEqual(count)
        let n = 0
        for await (const line of store.sessions.read(asRunId(run), 's.jsonl')) {
          expect(JSON.parse(Buffer.from(line.text).toString())).toMatchObject({ n })
          n += 1
        }
        expect(n).toBe(state?.lines)
      }
      expect((await store.check()).damaged).toEqual([])
      await store.close()
      const left = readdirSync(join(dir.path, 'store.git/objects/pack')).filter((name) =>
        /tmp|\.keep$|\.lock$/.test(name),
      )
      expect(left).toEqual([])
      expect(readdirSync(join(dir.path, 'store.git')).filter((name) => /crash|\.lock$|\.pid$/.test(name))).toEqual([])
    }
    expect(manifests.size).toBeGreaterThan(20)
    expect([...lines.values()].every((count) => count > 10)).toBe(true)
  }, 120_000)

  it('whose git process is killed goes on without losing an answer', async () => {
    const { store } = await openTestStore(dir.path)
    const pidFile = join(dir.path, 'store.git', 'reprise-writer.pid')
    let kills = 0
    for (let n = 0; n < 60; n += 1) {
      const work = Promise.all([
        store.manifests.put(manifestBody({ stretch: n })),
        store.sessions.append(
          asRunId('r_a'),
          { n },
          [
            sliceOf('s.jsonl', `${n}\n`, {
              lines: n,
              bytes: String(Array.from({ length: n }, (_, k) => k).join('\n')).length + (n > 0 ? 1 : 0),
            }),
          ],
          false,
        ),
      ])
      if (n % 5 === 4) {
        await new Promise((resolve) => setTimeout(resolve, n % 4))
        try {
          process.kill(Number(readFileSync(pidFile, 'latin1')), 'SIGKILL')
          kills += 1
        } catch {} // between two processes
      }
      await work
    }
    expect(kills).toBeGreaterThan(5)
    expect(store.manifests.count()).toBe(60)
    expect((await store.sessions.state(asRunId('r_a')))[0]?.lines).toBe(60)
    expect((await store.check()).damaged).toEqual([])
    await store.close()
  }, 60_000)

  it('B05: leaves temporary packs, locks, marks and crash reports that the next start clears and tells', async () => {
    const first = await openTestStore(dir.path)
    await first.store.manifests.put(manifestBody())
    await first.store.close()
    const at = (name: string) => join(dir.path, 'store.git', name)
    const leftovers = [
      'objects/pack/tmp_pack_abc',
      'objects/pack/.tmp-12-pack-ff.pack',
      'objects/pack/tmp_idx_x',
      'refs/reprise/manifests.lock',
      'packed-refs.lock',
      'fast_import_crash_99',
    ]
    for (const name of leftovers) writeFileSync(at(name), 'x')
    const [pack = ''] = readdirSync(at('objects/pack')).filter((name) => /^pack-.*\.pack$/.test(name))
    writeFileSync(at(`objects/pack/${pack.replace('.pack', '.keep')}`), 'fast-import')
    const second = await openTestStore(dir.path)
    await second.store.manifests.put(manifestBody({ stretch: 2 }))
    expect(second.store.manifests.count()).toBe(2)
    expect(second.logged.join()).toContain('3 temporaryPacks, 1 keeps, 2 locks, 1 crashReports')
    await second.store.close()
    for (const name of leftovers) expect(readdirSync(join(at(name), '..'))).not.toContain(name.split('/').pop())
  })
})
