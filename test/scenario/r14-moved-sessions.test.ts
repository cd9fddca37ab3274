import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RuntimeAdapter } from '../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { type Capture, openCapture } from '../kit/capture.ts'
import { type Talk, turn } from '../kit/sessions.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R14, B12, B13: a session that its agent moves to another folder, packs, or continues in a further file is still that session.

const directory = temporaryDirectory('moved')
const talk: Talk = {
  session: '30fed000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-11-30T10:00:00.000Z',
}
const lines = (from: number, to: number): string => {
  const text: string[] = []
  for (let n = from; n < to; n++) text.push(...turn(talk, n, `question ${n}`, `answer ${n}`))
  return text.map((line) => `${line}\n`).join('')
}

/** Sessions below `sessions` and `archived`: `<id>.jsonl`, the same packed, or in parts `<id>.<n>.jsonl`. */
const adapter: RuntimeAdapter = {
  ...claudeCode,
  promptHistoryFile: () => null,
  listSideFiles: () => [],
  *listSessions(home) {
    const found = new Map<string, string[]>()
    for (const folder of ['sessions', 'archived']) {
      if (!fs.existsSync(path.join(home, folder))) continue
      for (const name of fs.readdirSync(path.join(home, folder)).sort()) {
        const id = name.split('.')[0] ?? ''
        found.set(id, [...(found.get(id) ?? []), path.join(home, folder, name)])
      }
    }
    for (const [session, files] of found) {
      const file = files.at(-1) ?? ''
      const common = { home, session, parentSession: null, relation: null, file, sideFiles: [] } as const
      const stats = files.map((one) => fs.statSync(one))
      const stamp = {
        size: stats.reduce((sum, { size }) => sum + size, 0),
        mtime: Math.max(...stats.map(({ mtimeMs }) => mtimeMs)),
      }
      if (files.length > 1) yield { ...common, meta: { lines_from: 'files', files }, stamp }
      else if (file.endsWith('.gz')) yield { ...common, meta: { lines_from: 'compressed' }, stamp }
      else yield { ...common, meta: {} }
    }
  },
  writeLines({ file, meta }, write) {
    const files = meta.lines_from === 'files' ? (meta.files as readonly string[]) : [file]
    for (const one of files) {
      const bytes = fs.readFileSync(one)
      for (const line of (one.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString().split('\n'))
        if (line !== '') write(line)
    }
  },
}

let home: string
let data: string
let capture: Capture
const at = (...names: string[]): string => path.join(home, ...names)
beforeEach(async () => {
  home = path.join(directory(), 'home')
  data = path.join(directory(), 'data')
  fs.mkdirSync(at('sessions'), { recursive: true })
  fs.mkdirSync(at('archived'))
  fs.writeFileSync(at('sessions', `${talk.session}.jsonl`), lines(0, 3))
  capture = await openCapture(data, home, adapter)
  await capture.sync()
})
afterEach(() => capture.close())

const files = () =>
  capture.query(
    'select cast(files.path as text) as path, files.state, files.generation, files.lines, files.archived = files.offset as kept, runs.source_state, runs.events from files join runs on runs.key = files.run',
  )
const summaries = async (): Promise<string[]> => {
  const [run] = (await capture.runs['runs.list']({})).runs
  return (await capture.runs['runs.events']({ run: run?.id ?? '', limit: 1000 })).events.map(({ summary }) => summary)
}
const recovered = async (): Promise<string> => {
  const [run] = (await capture.runs['runs.list']({})).runs
  return (await capture.runs['runs.recover']({ run: run?.id ?? '' })).text
}
const textOf = async (seq: number): Promise<string> => {
  const [run] = (await capture.runs['runs.list']({})).runs
  const { parts } = await capture.runs['runs.event']({ run: run?.id ?? '', seq })
  return parts.map(({ body }) => body.text).join('\n')
}
const whole = (n: number, file: string) => [
  {
    path: file,
    state: 'present',
    generation: 1,
    lines: 2 * n,
    kept: 1,
    source_state: 'present',
    events: 2 * n,
  },
]

const restart = async (): Promise<void> => {
  await capture.close()
  for (const name of fs.readdirSync(data)) if (name.startsWith('index.db')) fs.rmSync(path.join(data, name))
  capture = await openCapture(data, home, adapter)
  await capture.sync()
}

describe('a session file that is moved', () => {
  it('is the same run under its new name, grows there, and is that also for a new index', async () => {
    const moved = at('archived', `${talk.session}.jsonl`)
    fs.renameSync(at('sessions', `${talk.session}.jsonl`), moved)
    await capture.sync()
    expect(files()).toMatchObject(whole(3, moved))
    expect(capture.query('select * from source_changes')).toEqual([])
    fs.appendFileSync(moved, lines(3, 4))
    await capture.sync()
    expect(files()).toMatchObject(whole(4, moved))
    expect(await recovered()).toBe(lines(0, 4))
    const before = await summaries()

    await restart()
    expect(files()).toMatchObject(whole(4, moved))
    expect(await summaries()).toEqual(before)
    fs.appendFileSync(moved, lines(4, 5))
    await capture.sync()
    expect(files()).toMatchObject(whole(5, moved))
    expect(await recovered()).toBe(lines(0, 5))

    fs.rmSync(moved)
    await capture.sync()
    expect(files()).toMatchObject([{ state: 'vanished' }])
    expect(await textOf(10)).toContain('answer 4')
    await restart()
    expect(files()).toMatchObject([{ state: 'vanished', lines: 10 }])
    expect(await textOf(10)).toContain('answer 4')
  })
})

describe('a session file that is packed', () => {
  it('is the same run, readable, and goes on when it is unpacked', async () => {
    const plain = at('sessions', `${talk.session}.jsonl`)
    const packed = `${plain}.gz`
    fs.writeFileSync(packed, gzipSync(fs.readFileSync(plain)))
    fs.rmSync(plain)
    await capture.sync()
    expect(files()).toMatchObject(whole(3, packed))
    expect(capture.query('select * from source_changes')).toEqual([])
    expect(await textOf(2)).toContain('answer 0')
    expect(await recovered()).toBe(lines(0, 3))
    await restart()
    expect(files()).toMatchObject(whole(3, packed))
    fs.writeFileSync(plain, lines(0, 4))
    fs.rmSync(packed)
    await capture.sync()
    expect(files()).toMatchObject(whole(4, plain))
    expect(await recovered()).toBe(lines(0, 4))
  })
})

describe('a session that goes on in a second file', () => {
  it('is one run with all of its lines', async () => {
    const first = at('sessions', `${talk.session}.jsonl`)
    const second = at('sessions', `${talk.session}.x2.jsonl`)
    fs.writeFileSync(second, lines(3, 5))
    capture.hint(second)
    await capture.sync()
    expect(files()).toMatchObject(whole(5, second))
    fs.appendFileSync(second, lines(5, 6))
    capture.hint(second)
    for (let waited = 0; waited < 5000 && Number(files()[0]?.lines) < 12; waited += 20) await sleep(20)
    expect(files()).toMatchObject([{ lines: 12 }])
    await capture.sync()
    expect(files()).toMatchObject(whole(6, second))
    expect(await textOf(12)).toContain('answer 5')
    expect(await recovered()).toBe(lines(0, 6))
    await restart()
    expect(files()).toMatchObject(whole(6, second))
    // A change of the first part is a rewriting of the whole.
    fs.writeFileSync(first, lines(0, 3).replace('answer 1', 'Answer 1'))
    await capture.sync()
    expect(files()).toMatchObject([{ generation: 2, source_state: 'shrank', lines: 12 }])
    expect(await textOf(4)).toContain('answer 1')
  })
})
