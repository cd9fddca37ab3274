import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Run, RunEvent } from '../../contract/index.ts'
import { watchHomes } from '../../daemon/watch/watch-homes.ts'
import { type Capture, openCapture } from '../kit/capture.ts'
import {
  createDatabaseRuntime,
  type DatabaseOwner,
  type DatabaseRuntime,
  openOwner,
  stateOf,
} from '../kit/database-runtime.ts'
import { type Talk, turn } from '../kit/sessions.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R14, B12, B13: sessions that lie in a database are captured, kept and shown like those in files.

const directory = temporaryDirectory('database')
const talkOf = (n: number): Talk => ({
  session: `5e550000-0000-4000-8000-00000000000${n}`,
  cwd: '/home/dev/shop',
  startedAt: '2026-11-30T10:00:00.000Z',
})
const talk = talkOf(1)
const other = talkOf(2)
const turns = (of: Talk, from: number, to: number, words = 'answer'): string[] => {
  const lines: string[] = []
  for (let n = from; n < to; n++)
    lines.push(...turn(of, n, `question ${n}`, `${words} ${n}`, { base: (of === other ? 1_000_000 : 0) + n * 10 }))
  return lines
}

let home: string
let data: string
let runtime: DatabaseRuntime
let owner: DatabaseOwner
let capture: Capture
beforeEach(async () => {
  home = path.join(directory(), 'home')
  data = path.join(directory(), 'data')
  runtime = createDatabaseRuntime()
  owner = openOwner(home)
  capture = await openCapture(data, home, runtime.adapter)
})
afterEach(async () => {
  await capture.close()
  owner.close()
})

const restart = async ({ withoutIndex = false } = {}): Promise<void> => {
  await capture.close()
  if (withoutIndex)
    for (const name of fs.readdirSync(data)) if (name.startsWith('index.db')) fs.rmSync(path.join(data, name))
  capture = await openCapture(data, home, runtime.adapter)
  await capture.sync()
}

const runs = async (): Promise<readonly Run[]> =>
  [...(await capture.runs['runs.list']({})).runs].sort((a, b) => (a.session < b.session ? -1 : 1))
const runOf = async (of: Talk = talk): Promise<Run> => {
  const found = (await runs()).find(({ session }) => session === of.session)
  if (found === undefined) throw new Error(`no run of ${of.session}`)
  return found
}
const events = async (of: Talk = talk): Promise<readonly RunEvent[]> =>
  (await capture.runs['runs.events']({ run: (await runOf(of)).id, limit: 1000 })).events
const textOf = async (seq: number, of: Talk = talk): Promise<string> => {
  const { parts } = await capture.runs['runs.event']({ run: (await runOf(of)).id, seq })
  return parts.map(({ body }) => body.text).join('\n')
}
const recovered = async (of: Talk = talk): Promise<string> =>
  (await capture.runs['runs.recover']({ run: (await runOf(of)).id })).text
const stateInIndex = (of: Talk = talk) =>
  capture.query(
    'select files.state, files.generation, files.lines, files.archived = files.offset as kept, runs.source_state from files join runs on runs.key = files.run where runs.session = ?',
    of.session,
  )
const gaps = () => capture.query("select kind, path, message from gaps where kind <> 'resolve_failed'")
const namesIn = (folder: string): string[] => (fs.existsSync(folder) ? fs.readdirSync(folder) : [])
const until = async (look: () => Promise<boolean>): Promise<void> => {
  for (let waited = 0; waited < 25_000; waited += 20) {
    if (await look()) return
    await sleep(20)
  }
  throw new Error('nothing within 25 s')
}

describe('a session in a database', () => {
  it('grows with its rows, and is not written out again while it does not', async () => {
    owner.append(talk.session, turns(talk, 0, 2))
    owner.append(other.session, turns(other, 0, 1))
    await capture.sync()
    expect((await events()).map(({ summary }) => summary)).toEqual(['question 0', 'answer 0', 'question 1', 'answer 1'])
    expect(stateInIndex()).toMatchObject([
      { state: 'present', generation: 1, lines: 4, kept: 1, source_state: 'present' },
    ])
    expect(gaps()).toEqual([])

    const before = runtime.writtenOut.length
    await capture.sync()
    expect(runtime.writtenOut.length).toBe(before)

    owner.append(talk.session, turns(talk, 2, 3))
    capture.hint(`${stateOf(home)}-wal`)
    await until(async () => (await runOf()).events === 6)
    expect(runtime.writtenOut.slice(before)).toEqual([talk.session])
    expect(stateInIndex()).toMatchObject([{ generation: 1, lines: 6 }])
    expect(await textOf(6)).toContain('answer 2')
    await capture.sync()
    expect(await recovered()).toBe(
      turns(talk, 0, 3)
        .map((line) => `${line}\n`)
        .join(''),
    )
  })

  it('is seen while its program writes it, through the watch on its folder, without being looked at all the time', async () => {
    owner.append(talk.session, turns(talk, 0, 1))
    await capture.sync()
    const watch = watchHomes({
      places: runtime.adapter.watchPlaces(home, {} as never),
      budget: 20,
      pollSeconds: 60,
      onHint: ({ path: changed }) => capture.hint(changed),
    })
    try {
      await watch.ready
      const began = performance.now()
      let slowest = 0
      for (let n = 1; n < 60; n++) {
        owner.append(talk.session, turns(talk, n, n + 1))
        const written = performance.now()
        if (n % 10 === 0) await until(async () => (await runOf()).events === 2 * (n + 1))
        if (n % 10 === 0) slowest = Math.max(slowest, performance.now() - written)
        await sleep(10)
      }
      await until(async () => (await runOf()).events === 120)
      // A look for each row would be one for each of them; rests between looks make it far fewer.
      expect(runtime.writtenOut.length).toBeLessThan(60)
      expect(slowest).toBeLessThan(5000)
      expect(performance.now() - began).toBeLessThan(30_000)
      expect(gaps()).toEqual([])
      expect(namesIn(home).sort()).toEqual(['state.db', 'state.db-shm', 'state.db-wal'])
    } finally {
      await watch.close()
    }
  })

  it('is written out once for many looks at its events, and never under a name', async () => {
    owner.append(talk.session, turns(talk, 0, 30))
    await capture.sync()
    const before = runtime.writtenOut.length
    for (let seq = 1; seq <= 60; seq++) expect(await textOf(seq)).toContain(seq % 2 === 1 ? 'question' : 'answer')
    await capture.runs['runs.context']({ run: (await runOf()).id, seq: 20 }).catch(() => undefined)
    expect(runtime.writtenOut.length - before).toBe(1)
    expect(fs.readdirSync(path.join(data, 'tmp'))).toEqual([])
  })

  it('shows what a changed row held before, and follows what it holds now, wherever it stands', async () => {
    // Longer than the windows at both ends of it: the changed row is in none of them, and is as long as before.
    owner.append(talk.session, turns(talk, 0, 400, 'the answer to it is'))
    await capture.sync()
    owner.change(talk.session, 401, (line) => line.replace('the answer to it is 200', 'the answer to it is 2OO'))
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ generation: 2, lines: 800, kept: 1, source_state: 'shrank' }])
    expect((await events()).length).toBeGreaterThanOrEqual(800)
    const generations = [1, 2].map((generation) =>
      capture.query('select count(*) as n from events where generation = ?', generation),
    )
    expect(generations[0]).toEqual([{ n: 800 }])
    expect(await textOf(402)).toContain('the answer to it is 200')
    // Growth of the new content is growth.
    owner.append(talk.session, turns(talk, 400, 401))
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ generation: 2, lines: 802, kept: 1 }])
    expect((await events()).length).toBe(802)
  })

  it('stays readable when its rows are deleted, and goes on when they come back', async () => {
    owner.append(talk.session, turns(talk, 0, 3))
    owner.append(other.session, turns(other, 0, 1))
    await capture.sync()
    const before = await events()
    const kept = await recovered()
    owner.remove(talk.session)
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ state: 'vanished', source_state: 'vanished' }])
    expect(stateInIndex(other)).toMatchObject([{ state: 'present' }])
    expect(await events()).toEqual(before)
    expect(await textOf(2)).toContain('answer 0')
    expect(await recovered()).toBe(kept)

    await restart({ withoutIndex: true })
    expect(stateInIndex()).toMatchObject([{ state: 'vanished' }])
    expect((await events()).map(({ id, summary }) => [id, summary])).toEqual(
      before.map(({ id, summary }) => [id, summary]),
    )
    expect(await textOf(2)).toContain('answer 0')

    owner.append(talk.session, turns(talk, 0, 4))
    await restart()
    expect(stateInIndex()).toMatchObject([{ state: 'present', generation: 1, lines: 8, kept: 1 }])
    expect((await events()).length).toBe(8)
  })

  it('stays readable when the whole database is deleted', async () => {
    owner.append(talk.session, turns(talk, 0, 3))
    await capture.sync()
    owner.close()
    for (const name of fs.readdirSync(home)) fs.rmSync(path.join(home, name))
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ state: 'vanished' }])
    expect(await textOf(2)).toContain('answer 0')
    expect(await recovered()).toContain('answer 2')
    owner = openOwner(home)
  })

  it('is unknown, not gone, while its database cannot be read, and that is told', async () => {
    owner.append(talk.session, turns(talk, 0, 3))
    await capture.sync()
    const before = await events()
    owner.close()
    const whole = fs.readFileSync(stateOf(home))
    fs.writeFileSync(stateOf(home), Buffer.alloc(8192, 'damaged '))
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ state: 'present', source_state: 'present' }])
    expect(gaps()).toMatchObject([{ kind: 'unreadable_file', path: stateOf(home) }])
    expect(await textOf(2)).toContain('answer 0')

    // Also for an index that knows nothing yet.
    await restart({ withoutIndex: true })
    expect(stateInIndex()).toMatchObject([{ state: 'present', source_state: 'present' }])
    expect(gaps()).toMatchObject([{ kind: 'unreadable_file', path: stateOf(home) }])
    expect((await events()).map(({ summary }) => summary)).toEqual(before.map(({ summary }) => summary))

    fs.writeFileSync(stateOf(home), whole)
    owner = openOwner(home)
    owner.append(talk.session, turns(talk, 3, 4))
    await capture.sync()
    expect(gaps()).toEqual([])
    expect(stateInIndex()).toMatchObject([{ state: 'present', generation: 1, lines: 8, kept: 1 }])
  })

  it('is tried again a moment later when its database is busy, and told of only when that lasts', async () => {
    owner.append(talk.session, turns(talk, 0, 2))
    runtime.busyFor(3)
    await capture.sync()
    expect((await events()).length).toBe(4)
    expect(gaps()).toEqual([])

    owner.append(talk.session, turns(talk, 2, 3))
    runtime.busyFor(1_000_000)
    capture.hint(stateOf(home))
    await until(async () => gaps().length > 0)
    expect(gaps()).toMatchObject([
      { kind: 'unreadable_file', path: stateOf(home), message: expect.stringMatching(/for \d+ s \(\d+ attempts\)/) },
    ])
    expect(stateInIndex()).toMatchObject([{ state: 'present' }])
    runtime.busyFor(0)
    await until(async () => (await runOf()).events === 6)
    await capture.sync()
    expect(gaps()).toEqual([])
  })

  it('gives the same answers after the index was deleted', async () => {
    owner.append(talk.session, turns(talk, 0, 5))
    owner.append(other.session, turns(other, 0, 5))
    await capture.sync()
    owner.change(other.session, 3, (line) => line.replace('answer 1', 'another answer 1'))
    await capture.sync()
    const before = { runs: await runs(), events: [await events(), await events(other)] }
    await restart({ withoutIndex: true })
    expect({ runs: await runs(), events: [await events(), await events(other)] }).toEqual(before)
    expect(await textOf(4)).toContain('answer 1')
  })

  const moveDatabase = (from: string, to: string): void => {
    for (const name of fs.readdirSync(from)) fs.renameSync(path.join(from, name), path.join(to, name))
  }
  const all = async () => {
    const found = await runs()
    return {
      runs: found.map(({ id, title, workspace, events: n, manifest, task }) => [
        id,
        title,
        workspace,
        n,
        manifest,
        task,
      ]),
      linked: capture.query('select count(*) as n from runs where linked = 1 and settled = 1'),
    }
  }

  it('is read from the archive, whole, whenever its database goes away around a rebuilding of the index', async () => {
    const many = [...'123456789'].map((n) => talkOf(Number(n)))
    const away = path.join(directory(), 'away')
    fs.mkdirSync(away)
    for (const one of many) owner.append(one.session, turn(one, 0, `question of ${one.session}`, 'answer', { base: 0 }))
    await capture.sync()
    const before = await all()
    expect(before.runs).toHaveLength(9)
    owner.close()

    // What was written out a moment ago is still at hand when the database is not.
    for (let round = 0; round < 2; round++) {
      moveDatabase(home, away)
      await capture.reindex()
      expect(await all()).toEqual(before)
      moveDatabase(away, home)
      await capture.sync()
      expect(await all()).toEqual(before)
    }

    // It goes between the listing and the reading, at each look at it that there is.
    for (let looks = 0; looks < 24; looks += 1) {
      let left = looks
      runtime.beforeReading(() => {
        if (left-- === 0) moveDatabase(home, away)
      })
      await capture.reindex()
      runtime.beforeReading(() => undefined)
      expect(await all()).toEqual(before)
      if (fs.existsSync(stateOf(away))) moveDatabase(away, home)
      await capture.sync()
      expect(await all()).toEqual(before)
    }
    owner = openOwner(home)
    owner.append(talk.session, turns(talk, 1, 2))
    await capture.sync()
    expect((await events()).length).toBe(4)
  }, 60_000)

  it('is read from the archive when an earlier life of the daemon had only made a row for it', async () => {
    owner.append(talk.session, turns(talk, 0, 2))
    await capture.sync()
    const before = await all()
    owner.close()
    let left = 1
    runtime.beforeReading(() => {
      if (left-- === 0) throw new Error('the disk is full')
    })
    await capture.reindex()
    await capture.close()
    runtime.beforeReading(() => undefined)
    for (const name of fs.readdirSync(home)) fs.rmSync(path.join(home, name))
    capture = await openCapture(data, home, runtime.adapter)
    await capture.sync()
    expect(await all()).toEqual(before)
    owner = openOwner(home)
  })

  it('stays on the timeline when its home is forgotten and the index built again, and goes on when that is read again', async () => {
    owner.append(talk.session, turns(talk, 0, 2))
    await capture.sync()
    const before = await all()
    owner.append(talk.session, turns(talk, 2, 3))
    const writtenOut = runtime.writtenOut.length
    for (let round = 0; round < 2; round++) {
      await capture.reindex([])
      expect(await all()).toEqual(before)
      expect(await textOf(2)).toContain('answer 0')
      expect((await capture.health['search.run']({ text: 'answer', limit: 50 } as never)).hits.length).toBeGreaterThan(
        0,
      )
    }
    expect(runtime.writtenOut.length).toBe(writtenOut)
    expect(gaps()).toEqual([])

    await capture.sync()
    expect((await events()).length).toBe(6)
    expect(stateInIndex()).toMatchObject([{ state: 'present', generation: 1, source_state: 'present', kept: 1 }])
    expect(capture.query('select * from source_changes')).toEqual([])

    await capture.reindex([])
    owner.remove(talk.session)
    await capture.sync()
    expect(stateInIndex()).toMatchObject([{ state: 'vanished', source_state: 'vanished' }])
    expect((await events()).length).toBe(6)
  })

  it('has its secrets covered in everything that is kept and answered', async () => {
    const secret = `ghp_${'Zx9Kq2Lm4Np6Rs8Tv0Wy1Ab3Cd5Ef7Gh9Ij1'.slice(0, 36)}`
    owner.append(talk.session, [...turn(talk, 0, `use ${secret} for it`, `I used ${secret}`), ...turns(talk, 1, 3)])
    await capture.sync()
    expect(await textOf(1)).not.toContain(secret)
    expect(await textOf(1)).toContain('use ')
    expect(await recovered()).not.toContain(secret)
    expect(await recovered()).toContain('I used ')
    await capture.sensitive['sensitive.reads']({})
    for (const name of fs.readdirSync(data, { recursive: true, encoding: 'utf8' })) {
      const file = path.join(data, name)
      if (fs.statSync(file).isFile()) expect(fs.readFileSync(file).includes(secret), file).toBe(false)
    }
    // What is covered can be opened while the database has it.
    const { parts } = await capture.runs['runs.event']({ run: (await runOf()).id, seq: 1 })
    const hidden = parts.flatMap(({ body }) => body.hidden)[0]
    expect(hidden).toBeDefined()
    const opened = await capture.sensitive['sensitive.reveal'](
      { ref: String(hidden?.ref), reason: 'a test' },
      { via: 'process' },
    )
    expect(opened).toEqual({ text: secret, why: null })
  })

  it('ends like one that was left alone when capture is killed again and again', async () => {
    owner.append(
      talk.session,
      turns(talk, 0, 1800, 'some words that make it longer than one step of reading would be '.repeat(12)),
    )
    for (let n = 3; n < 9; n++) owner.append(talkOf(n).session, turns(talkOf(n), 0, 40))
    await capture.close()
    const killed = path.join(directory(), 'killed')
    let reached = ''
    for (let n = 0; n < 6 && !reached.includes('done'); n++) {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', path.join(import.meta.dirname, 'r14-capture-child.ts'), killed, home],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      let said = ''
      child.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString()
      })
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
      while (!said.includes('open') && child.exitCode === null) await sleep(10)
      const end = Date.now() + 60 + n * 130
      while (Date.now() < end && child.exitCode === null) {
        for (const name of namesIn(path.join(killed, 'tmp'))) {
          // Between making a file and taking its name away nothing is in it.
          const stat = fs.statSync(path.join(killed, 'tmp', name), { throwIfNoEntry: false })
          expect(stat?.size ?? 0, name).toBe(0)
        }
        await sleep(3)
      }
      child.kill('SIGKILL')
      await exited
      reached += said
    }
    capture = await openCapture(killed, home, runtime.adapter)
    await capture.sync()
    const after = { runs: await runs(), events: await events(), text: await recovered() }
    await capture.close()
    capture = await openCapture(data, home, runtime.adapter)
    await capture.sync()
    expect(after).toEqual({ runs: await runs(), events: await events(), text: await recovered() })
    expect(after.text).toBe(
      turns(talk, 0, 1800, 'some words that make it longer than one step of reading would be '.repeat(12))
        .map((line) => `${line}\n`)
        .join(''),
    )
  }, 120_000)
})
