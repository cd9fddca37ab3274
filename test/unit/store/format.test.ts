import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asRunId } from '../../../contract/index.ts'
import { encodePath } from '../../../daemon/store/archive-format.ts'
import { bringToCurrentVersion } from '../../../daemon/store/format.ts'
import { openTestStore, temporaryDirectory } from '../../kit/store.ts'

let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())
const version = () => JSON.parse(readFileSync(join(dir.path, 'store.json'), 'utf8')).version

describe('the format of the store', () => {
  it('is upgraded in order, one step at a time, and a failed step is tried again', async () => {
    writeFileSync(join(dir.path, 'store.json'), '{"version":1}')
    const done: number[] = []
    let broken = true
    const upgraders = {
      1: async () => void done.push(1),
      2: async () => {
        if (broken) throw new Error('power cut')
        done.push(2)
      },
    }
    await expect(bringToCurrentVersion(dir.path, 3, upgraders)).rejects.toThrow('power cut')
    expect(version()).toBe(2)
    broken = false
    await bringToCurrentVersion(dir.path, 3, upgraders)
    expect([done, version()]).toEqual([[1, 2], 3])
  })

  it('of a newer program is refused and left alone; a damaged mark is told', async () => {
    const { store } = await openTestStore(dir.path)
    await store.close()
    writeFileSync(join(dir.path, 'store.json'), '{"version":99}')
    await expect(openTestStore(dir.path)).rejects.toMatchObject({ code: 'newer_version' })
    expect(version()).toBe(99)
    writeFileSync(join(dir.path, 'store.json'), '{"vers')
    await expect(openTestStore(dir.path)).rejects.toMatchObject({ code: 'damaged' })
  })

  it('starts again after a start that was killed before it was complete', async () => {
    const first = await openTestStore(dir.path)
    await first.store.close()
    const { rmSync, mkdirSync } = await import('node:fs')
    rmSync(join(dir.path, 'store.json'))
    mkdirSync(join(dir.path, 'store.git.new'))
    const second = await openTestStore(dir.path)
    expect(await second.store.sessions.state(asRunId('r_1'))).toEqual([])
    await second.store.close()
  })
})

describe('names of files in the archive', () => {
  it('are one harmless component each, and never the same for two paths', () => {
    const paths = [
      'a',
      'A',
      'a/b',
      'a%2Fb',
      '.git',
      '..',
      '.',
      'x.',
      'ünï',
      'a b',
      'CON',
      'a\nb',
      '\ud800',
      '\ud801',
      `${'d/'.repeat(200)}a`,
      `${'d/'.repeat(200)}b`,
      '',
    ]
    const names = paths.map(encodePath)
    expect(new Set(names).size).toBe(paths.length)
    for (const name of names) {
      expect(name).toMatch(/^[A-Za-z0-9_%-][A-Za-z0-9_.%-]*$/)
      expect(name.length).toBeLessThanOrEqual(200)
    }
  })
})
