import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asRunId } from '../../../contract/index.ts'
import { manifestBody, type OpenedStore, openTestStore, sliceOf, temporaryDirectory } from '../../kit/store.ts'

/** One wrong byte in `packed-refs` makes git refuse every ref; the store mends it when it opens. */
const RUNS = ['r_00000000000a', 'r_00000000000b', 'r_00000000000c'].map(asRunId)
let dir: ReturnType<typeof temporaryDirectory>
let opened: OpenedStore
let packed: string
beforeEach(async () => {
  dir = temporaryDirectory()
  packed = join(dir.path, 'store.git/packed-refs')
  opened = await openTestStore(dir.path)
  await opened.store.manifests.put(manifestBody())
  for (const run of RUNS) await opened.store.sessions.append(run, {}, [sliceOf('a.jsonl', `${run}\n`)], false)
  await opened.store.maintain()
  await opened.store.close()
})
afterEach(async () => {
  await opened.store.close()
  dir.remove()
})

const spoil = async (change: (text: string) => string): Promise<string> => {
  const text = readFileSync(packed, 'latin1')
  const spoiled = change(text)
  expect(spoiled).not.toBe(text)
  writeFileSync(packed, spoiled, 'latin1')
  opened = await openTestStore(dir.path)
  expect(readFileSync(join(dir.path, 'quarantine/packed-refs'), 'latin1')).toBe(spoiled)
  return text
}
const runs = async () => {
  const seen: string[] = []
  for await (const { run } of opened.store.sessions.list()) seen.push(run)
  return seen.sort()
}
const lineOf = (text: string, run: string) => text.split('\n').find((line) => line.endsWith(run)) ?? ''

describe('a damaged packed-refs', () => {
  it('is saved whole when a character of an id is none', async () => {
    const text = await spoil((all) => {
      const line = lineOf(all, RUNS[0] ?? '')
      return all.replace(line, `${line.slice(0, 4)}z${line.slice(5)}`)
    })
    expect(await runs()).toEqual(RUNS)
    expect(opened.store.manifests.count()).toBe(1)
    expect(readFileSync(packed, 'latin1')).toBe(text)
    const { ok, damaged, quarantined } = await opened.store.check()
    expect(ok).toBe(false)
    expect(damaged.join()).toContain(`refs/sessions/${RUNS[0]} was unreadable in packed-refs`)
    expect(quarantined).toEqual([join('quarantine', 'packed-refs')])
    await opened.store.close()
    opened = await openTestStore(dir.path)
    expect((await opened.store.check()).damaged).toEqual([])
  })

  it('is saved whole from a damaged first line', async () => {
    const text = await spoil((all) => `3${all.slice(1)}`)
    expect(await runs()).toEqual(RUNS)
    expect(readFileSync(packed, 'latin1')).toBe(text)
    expect((await opened.store.check()).damaged).toEqual([expect.stringContaining('every ref in it was saved')])
  })

  it('loses only the refs whose names or ids are gone, and names them', async () => {
    await spoil((all) => {
      const line = lineOf(all, RUNS[1] ?? '')
      return all.replace(line, `${'0'.repeat(40)} ${line.slice(41)}`).replace(RUNS[2] ?? '', 'r_0000000\u00000000c')
    })
    expect(await runs()).toEqual([RUNS[0]])
    expect(opened.store.manifests.count()).toBe(1)
    const { damaged } = await opened.store.check()
    expect(damaged.join('\n')).toContain(`refs/sessions/${RUNS[1]} was unreadable`)
    expect(damaged.join('\n')).toMatch(/line \d of packed-refs, .* names no ref/)
    // No text was stored; but a lost name could be that of the texts, so that they are not taken to be complete.
    const names = ['packed-refs', 'refs_reprise_texts', `refs_sessions_${RUNS[1]}`]
    expect(readdirSync(join(dir.path, 'quarantine')).sort()).toEqual(names)
    // What was lost can be written again.
    await opened.store.sessions.append(RUNS[1] ?? asRunId('r_'), {}, [sliceOf('a.jsonl', 'again\n')], false)
    expect(await runs()).toEqual(RUNS.slice(0, 2))
    expect(existsSync(packed)).toBe(true)
  })
})
