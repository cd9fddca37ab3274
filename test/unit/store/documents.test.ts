import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type DocumentOptions, openDocument } from '../../../daemon/store/documents.ts'
import { temporaryDirectory } from '../../kit/store.ts'

const schema = z.object({ version: z.literal(3), theme: z.enum(['light', 'dark']), names: z.array(z.string()) })
type Settings = z.infer<typeof schema>

let dir: ReturnType<typeof temporaryDirectory>
let path: string
beforeEach(() => {
  dir = temporaryDirectory()
  path = join(dir.path, 'settings.json')
})
afterEach(() => dir.remove())

const options = (more: Partial<DocumentOptions<Settings>> = {}): DocumentOptions<Settings> => ({
  path,
  schema,
  version: 3,
  defaults: { version: 3, theme: 'light', names: [] },
  upgraders: {
    1: ({ dark }) => ({ theme: dark === true ? 'dark' : 'light' }),
    2: (content) => ({ ...content, names: ['from-2'] }),
  },
  now: () => new Date('2026-11-30T12:00:00.000Z'),
  ...more,
})

describe('a document', () => {
  it('begins with its defaults and is written at the first change, 0600', async () => {
    const document = await openDocument(options())
    expect(document.state.kind).toBe('new')
    expect(readdirSync(dir.path)).toEqual([])
    await document.update((data) => ({ ...data, theme: 'dark' }))
    document.close()
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const again = await openDocument(options())
    expect(again.data).toEqual({ version: 3, theme: 'dark', names: [] })
    expect(again.state.kind).toBe('ok')
    again.close()
    expect(readdirSync(dir.path)).toEqual(['settings.json'])
  })

  it('is upgraded in order', async () => {
    writeFileSync(path, '{"version":1,"dark":true}')
    const document = await openDocument(options())
    expect(document.data).toEqual({ version: 3, theme: 'dark', names: ['from-2'] })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(document.data)
    document.close()
  })

  it('of a newer version is left alone', async () => {
    const text = '{"version":4,"theme":"blue"}'
    writeFileSync(path, text)
    const document = await openDocument(options())
    expect(document.state).toEqual({ kind: 'newer', version: 4 })
    expect(document.data.theme).toBe('light')
    await expect(document.update((data) => data)).rejects.toMatchObject({ code: 'newer_version' })
    expect(readFileSync(path, 'utf8')).toBe(text)
    document.close()
  })

  for (const [what, text] of [
    ['half JSON', '{"version":3,"theme":'],
    ['nothing', ''],
    ['no object', '[]'],
    ['a wrong shape', '{"version":3,"theme":"blue","names":[]}'],
    ['no known version', '{"theme":"dark"}'],
  ] as const) {
    it(`with ${what} is kept aside and told`, async () => {
      writeFileSync(path, text)
      const logged: string[] = []
      const document = await openDocument(options({ log: (message) => logged.push(message) }))
      expect(document.state.kind).toBe('damaged')
      expect(document.data.theme).toBe('light')
      await document.update((data) => ({ ...data, theme: 'dark' }))
      document.close()
      const kept = readdirSync(dir.path).filter((name) => name.startsWith('settings.json.damaged-2026-11-30T12-00-00'))
      expect(kept.map((name) => readFileSync(join(dir.path, name), 'utf8'))).toEqual([text])
      expect(logged).toHaveLength(1)
    })
  }

  it('is opened once per process', async () => {
    const document = await openDocument(options())
    await expect(openDocument(options())).rejects.toMatchObject({ code: 'conflict' })
    document.close()
    ;(await openDocument(options())).close()
  })

  it('refuses a change that breaks its schema, and takes changes one after the other', async () => {
    const document = await openDocument(options())
    await expect(document.update((data) => ({ ...data, theme: 'blue' as 'dark' }))).rejects.toMatchObject({
      code: 'wrong_usage',
    })
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => document.update((data) => ({ ...data, names: [...data.names, String(n)] }))),
    )
    expect(document.data.names).toHaveLength(20)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(document.data)
    document.close()
  })

  it('R28: waits while somebody holds the target, and leaves nothing behind when they never let go', async () => {
    const waits: number[] = []
    let refusals = 4
    const refusing = async (from: string, to: string) => {
      if (refusals > 0) {
        refusals -= 1
        throw Object.assign(new Error('held'), { code: ['EPERM', 'EACCES', 'EBUSY'][refusals % 3] })
      }
      await rename(from, to)
    }
    const retry = { waits: [1, 2, 3, 4, 5], sleep: async (milliseconds: number) => void waits.push(milliseconds) }
    const document = await openDocument(options({ move: refusing, retry }))
    await document.update((data) => ({ ...data, theme: 'dark' }))
    expect(waits).toEqual([1, 2, 3, 4])
    expect(JSON.parse(readFileSync(path, 'utf8')).theme).toBe('dark')

    refusals = 100
    await expect(document.update((data) => ({ ...data, theme: 'light' }))).rejects.toThrow('held')
    expect(document.data.theme).toBe('dark')
    expect(readdirSync(dir.path)).toEqual(['settings.json'])
    expect(JSON.parse(readFileSync(path, 'utf8')).theme).toBe('dark')
    document.close()

    rmSync(path)
    const other = await openDocument(
      options({ move: () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' })), retry }),
    )
    waits.length = 0
    await expect(other.update((data) => data)).rejects.toThrow('full')
    expect(waits).toEqual([]) // only errors that pass are waited for
    expect(readdirSync(dir.path)).toEqual([])
    other.close()
  })
})
