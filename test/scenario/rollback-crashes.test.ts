import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyChanges, resume } from '../../daemon/rollback/apply.ts'
import { realDisk } from '../../daemon/rollback/disk.ts'
import { openJournals } from '../../daemon/rollback/journal.ts'
import { type Fault, failingDisk, failingJournals } from '../kit/failing-disk.ts'
import { changesTo, look, plant, type Tree } from '../kit/rollback-tree.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// Every step of an apply that changes something is found by counting, not listed: the process is killed, or the disk fails, before each.

const directory = temporaryDirectory('crashes')
const before: Tree = { a: 'one', 'bin/run': '#!', gone: 'old', link: '-> a', 'dir/x': 'x', flat: 'f', other: 'kept' }
const wanted = {
  a: 'two',
  'bin/run': '!#!',
  gone: '-',
  link: '-> b',
  'new/er': 'n',
  'dir/x': '-',
  dir: 'D',
  flat: '-',
  'flat/y': 'y',
}
const after: Tree = { a: 'two', 'bin/run': '!#!', link: '-> b', 'new/er': 'n', dir: 'D', 'flat/y': 'y', other: 'kept' }

const places = (name: string) => {
  const root = path.join(directory(), name, 'w')
  plant(root, before)
  return { root, folder: path.join(directory(), name, 'journal') }
}

const count = async (): Promise<number> => {
  const { root, folder } = places('count')
  let steps = 0
  const counter = () => (steps += 1)
  const disk = failingDisk(realDisk(), 'none', 0, counter)
  const parts = { disk, journals: failingJournals(openJournals(folder), 'none', 0, counter) }
  expect((await applyChanges(parts, 'b_1', await changesTo(root, wanted))).outcome).toBe('done')
  expect(look(root)).toEqual(after)
  return steps
}

/** What the next start does, on a sound disk. */
const start = async (folder: string): Promise<string[]> => {
  const journals = openJournals(folder)
  const outcomes: string[] = []
  for (const journal of journals.list().journals)
    outcomes.push((await resume({ disk: realDisk(), journals }, journal, 'finish')).outcome)
  expect(openJournals(folder).list()).toEqual({ journals: [], unreadable: [] })
  return outcomes
}

/** Wholly the one or wholly the other, with nothing of ours beside it. */
const whole = (root: string): 'before' | 'after' => {
  const found = look(root)
  if (JSON.stringify(Object.entries(found).sort()) === JSON.stringify(Object.entries(before).sort())) return 'before'
  expect(found).toEqual(after)
  return 'after'
}

describe('an apply', () => {
  it.each<Fault>(['ENOSPC', 'EIO', 'EROFS'])(
    'leaves all as it was, or as it should be, when the disk says %s at any step',
    async (fault) => {
      const steps = await count()
      expect(steps).toBeGreaterThan(30)
      const ends = new Set<string>()
      for (let at = 1; at <= steps; at += 1) {
        const { root, folder } = places(`${fault}-${at}`)
        let now = 0
        const counter = () => (now += 1)
        const parts = {
          disk: failingDisk(realDisk(), fault, at, counter),
          journals: failingJournals(openJournals(folder), fault, at, counter),
        }
        const outcome = await applyChanges(parts, 'b_1', await changesTo(root, wanted)).then(
          (applied) => applied.outcome,
          () => 'thrown',
        )
        await start(folder)
        const end = whole(root)
        // What was told is what is: nobody hears "done" of something that was taken back, or the other way round.
        if (outcome === 'done') expect(end).toBe('after')
        ends.add(end)
      }
      expect([...ends].sort()).toEqual(['after', 'before'])
    },
  )

  it('is undone or finished by the next start when it is killed at any step', async () => {
    const steps = await count()
    const ends: string[] = []
    const child = path.join(import.meta.dirname, '..', 'unit', 'rollback', 'apply-child.ts')
    const every = process.env.REPRISE_NIGHTLY === '1' ? 1 : 3
    for (let at = 1 + (steps % every); at <= steps; at += every) {
      const { root, folder } = places(`kill-${at}`)
      const args = ['--import', 'tsx', child, root, folder, JSON.stringify(wanted), 'SIGKILL', String(at)]
      const { signal, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
      expect(stderr).toBe('')
      expect(signal).toBe('SIGKILL')
      await start(folder)
      ends.push(whole(root))
    }
    // Decided once: everything before that point is undone, everything after it finished.
    expect(ends.join(' ')).toMatch(/^(before )+(after ?)+$/)
    // Killed again while it is finished.
    const { root, folder } = places('again')
    for (const at of [Math.ceil(steps / 2), 3, 2, 1]) {
      const what = fs.existsSync(path.join(folder, 'rollback-b_1.json')) ? '{}' : JSON.stringify(wanted)
      spawnSync(process.execPath, ['--import', 'tsx', child, root, folder, what, 'SIGKILL', String(at)])
    }
    await start(folder)
    expect(whole(root)).toBe('after')
  })
})
