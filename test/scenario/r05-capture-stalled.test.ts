import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { homeIdOf } from '../../daemon/capture/run-ids.ts'
import type { RuntimeAdapter, Surroundings } from '../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { type CaptureAlarm, createCaptureAlarm } from '../../daemon/watch/capture-alarm.ts'
import { type Capture, openCapture } from '../kit/capture.ts'
import { createDatabaseRuntime, type DatabaseOwner, openOwner } from '../kit/database-runtime.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R05: an agent works and nothing of it is captured. Whatever the reason, that is said within minutes, not found out weeks later.

const directory = temporaryDirectory('stalled')
const talk: Talk = {
  session: '5a1e0000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-11-30T10:00:00.000Z',
}
const MINUTE = 60_000

let clock: number
let lastArrival: number
let running: string[]
let capture: Capture
let alarm: CaptureAlarm

const begin = async (home: string, adapter: RuntimeAdapter): Promise<void> => {
  clock = Date.parse('2026-11-30T12:00:00.000Z')
  lastArrival = 0
  running = []
  capture = await openCapture(path.join(directory(), 'data'), home, adapter)
  const id = homeIdOf(adapter.runtime, home)
  const live = () => running.map((session) => ({ session, pid: 1, cwd: null, version: null }))
  alarm = createCaptureAlarm({
    adapters: new Map([
      [
        adapter.runtime,
        {
          ...adapter,
          describeHome: () => ({ state: 'ok', reason: null, programVersion: null, retention: null, live: live() }),
        },
      ],
    ]),
    homes: {
      list: () => [{ id, runtime: adapter.runtime, path: home, foundBy: 'test' }],
      isLive: (_home, session) => running.includes(session),
    },
    surroundings: { now: () => new Date(clock) } as Surroundings,
    index: () => capture.index,
    lastArrival: () => lastArrival,
  })
  capture.stalled = alarm.gaps
}
afterEach(() => capture.close())

/** Looks once a minute, as the daemon does. */
const pass = async (minutes: number): Promise<void> => {
  for (let n = 0; n < minutes; n++) {
    await alarm.look()
    clock += MINUTE
  }
  await alarm.look()
}
const shown = async () =>
  (await capture.health['health.gaps']({})).gaps.filter(({ kind }) => kind === 'capture_stalled')

describe('a session file that grows while nothing is captured', () => {
  let home: string
  let file: string
  beforeEach(async () => {
    home = path.join(directory(), '.claude')
    file = writeSession(directory(), talk, turn(talk, 0, 'question', 'answer'))
    await begin(home, claudeCode)
    await capture.sync()
  })
  const grow = (n: number): void => fs.appendFileSync(file, `${turn(talk, n, 'more', 'again').join('\n')}\n`)

  it('is an alarm after some minutes, until it is captured', async () => {
    await pass(30)
    expect(await shown()).toEqual([])
    grow(1)
    await pass(4)
    expect(await shown()).toEqual([])
    await pass(2)
    expect(await shown()).toMatchObject([
      { count: 1, path: home, message: expect.stringContaining(talk.session), hint: expect.stringContaining('sync') },
    ])
    await capture.sync()
    expect(await alarm.look()).toBe(true)
    expect(await shown()).toEqual([])
  })

  it('is none while what it wrote arrives, however late, nor while a backlog is worked off', async () => {
    for (let n = 1; n < 12; n++) {
      grow(n)
      await pass(3)
      expect(await shown()).toEqual([])
      await capture.sync()
    }
    grow(12)
    for (let n = 0; n < 12; n++) {
      lastArrival = clock
      await pass(1)
    }
    expect(await shown()).toEqual([])
    await pass(6)
    expect((await shown()).length).toBe(1)
  })

  it('is none for a half-written line that is waited for', async () => {
    fs.appendFileSync(file, '{"type":"user","mess')
    await capture.sync()
    await pass(20)
    expect(await shown()).toEqual([])
  })

  it('is an alarm for a session that runs and is found nowhere, and ends with it', async () => {
    running = ['5a1e0000-0000-4000-8000-000000000009', talk.session]
    await pass(4)
    expect(await shown()).toEqual([])
    await pass(2)
    expect(await shown()).toMatchObject([{ count: 1, message: expect.stringContaining(running[0] ?? '?') }])
    running = []
    await alarm.look()
    expect(await shown()).toEqual([])
  })
})

describe('a session in a database that grows while nothing is captured', () => {
  let owner: DatabaseOwner
  beforeEach(async () => {
    const home = path.join(directory(), 'home')
    owner = openOwner(home)
    owner.append(talk.session, turn(talk, 0, 'question', 'answer'))
    await begin(home, createDatabaseRuntime().adapter)
    await capture.sync()
  })
  afterEach(() => owner.close())

  it('is an alarm, too', async () => {
    await pass(30)
    expect(await shown()).toEqual([])
    owner.append(talk.session, turn(talk, 1, 'more', 'again'))
    await pass(6)
    expect(await shown()).toMatchObject([{ count: 1 }])
    await capture.sync()
    await alarm.look()
    expect(await shown()).toEqual([])
  })
})
