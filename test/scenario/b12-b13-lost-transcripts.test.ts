import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents, takeSnapshot } from '../kit/snapshot.ts'

const talk: Talk = {
  session: 'b1200000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-10-01T08:00:00.000Z',
}
const turns = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, n) =>
    turn(talk, from + n, `question ${from + n} pineapple`, `answer ${from + n}`),
  ).flat()

let home: TestHome
let daemon: TestDaemon
beforeEach(async () => {
  home = makeEmptyHome()
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})
const restart = async (): Promise<void> => {
  await daemon.stop()
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
}
const deleteIndex = (): void => {
  for (const end of ['', '-wal', '-shm']) fs.rmSync(path.join(home.data, `index.db${end}`), { force: true })
}
const only = async () => {
  const { runs } = await daemon.call('runs.list', {})
  expect(runs.length).toBe(1)
  return runs[0] as NonNullable<(typeof runs)[0]>
}

describe('B12: the agent replaces its own transcript', () => {
  for (const way of ['in place', 'by rename'] as const)
    it(`keeps what was there before and says so (${way})`, async () => {
      const file = writeSession(home.home, talk, turns(0, 250))
      daemon = await startDaemon(home)
      await daemon.call('sync.now', {})
      expect((await only()).events).toBe(500)

      const short = `${turns(250, 251).join('\n')}\n`
      if (way === 'in place') fs.writeFileSync(file, short)
      else {
        fs.writeFileSync(`${file}.new`, short)
        fs.renameSync(`${file}.new`, file)
      }
      await daemon.call('sync.now', {})
      const run = await only()
      expect(run.source_state).toBe('shrank')
      expect(run.events).toBe(502)
      const page = await daemon.call('timeline.page', {})
      expect(page.items.find(({ type }) => type === 'source')).toMatchObject({
        change: 'shrank',
        run: run.id,
        message: expect.stringContaining('500 lines'),
      })
      const recovered = await daemon.call('runs.recover', { run: run.id })
      expect(recovered.lines).toBe(500)
      expect(recovered.text.split('\n')[0]).toBe(turns(0, 1)[0])

      const detail = await daemon.call('runs.event', { run: run.id, seq: 3 })
      expect(detail.parts[0]?.body.text).toBe('question 1 pineapple')
      const before = await takeSnapshot(daemon)
      deleteIndex()
      await restart()
      expect(await takeSnapshot(daemon)).toEqual(before)
    })

  it('does not take growth, a touch or a copy for a rewrite', async () => {
    const file = writeSession(home.home, talk, turns(0, 20))
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    fs.utimesSync(file, new Date(), new Date())
    await daemon.call('sync.now', {})
    fs.copyFileSync(file, `${file}.tmp`)
    fs.renameSync(`${file}.tmp`, file)
    await daemon.call('sync.now', {})
    fs.appendFileSync(file, `${turns(20, 21).join('\n')}\n`)
    await daemon.call('sync.now', {})
    const run = await only()
    expect(run).toMatchObject({ source_state: 'present', events: 42 })
  })

  it('notices a rewrite of the same length that happened while it was away', async () => {
    const file = writeSession(home.home, talk, turns(0, 20))
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    await daemon.stop()
    const other = fs.readFileSync(file, 'utf8').replace('question 0 pineapple', 'question 0 cranberry')
    fs.writeFileSync(file, other)
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    expect((await only()).source_state).toBe('shrank')
    deleteIndex()
    await restart()
    expect((await only()).source_state).toBe('shrank')
  })
})

describe('B13: the agent deletes its old transcripts', () => {
  it('keeps them browsable, searchable and recoverable, also after the index was lost', async () => {
    const file = writeSession(home.home, talk, turns(0, 30))
    const old = Date.now() / 1000 - 29 * 86_400
    fs.utimesSync(file, old, old)
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    const { homes } = await daemon.call('status.get', {})
    expect(homes[0]?.retention).toMatchObject({ days: 30, expiring_soon: 1 })

    fs.rmSync(file)
    await daemon.call('sync.now', {})
    const run = await only()
    expect(run).toMatchObject({ source_state: 'vanished', events: 60, title: 'question 0 pineapple' })
    expect((await daemon.call('search.run', { text: 'pineapple' })).total).toBe(30)
    expect((await daemon.call('runs.event', { run: run.id, seq: 1 })).parts[0]?.body.text).toBe('question 0 pineapple')
    expect((await daemon.call('runs.recover', { run: run.id })).lines).toBe(60)
    const gaps = await daemon.call('health.gaps', {})
    expect(gaps.gaps.some(({ kind }) => kind === 'source_vanished')).toBe(true)

    const before = await takeSnapshot(daemon)
    const events = await allEvents(daemon, run.id)
    deleteIndex()
    await restart()
    expect(await allEvents(daemon, run.id)).toEqual(events)
    expect(await takeSnapshot(daemon)).toEqual(before)
  })

  it('never takes an unreadable folder for a deletion', async () => {
    const file = writeSession(home.home, talk, turns(0, 3))
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    const folder = path.dirname(file)
    fs.renameSync(folder, `${folder}.away`)
    fs.symlinkSync('/nonexistent-by-design', folder)
    await daemon.call('sync.now', {})
    fs.rmSync(folder)
    fs.renameSync(`${folder}.away`, folder)
    await daemon.call('sync.now', {})
    expect((await only()).source_state).toBe('present')
  })
})
