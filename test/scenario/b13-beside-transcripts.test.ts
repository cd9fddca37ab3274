import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, makeFixtureHome, type TestHome } from '../kit/fixture-home.ts'
import { noise, plantedSecrets } from '../kit/secrets.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents, takeSnapshot } from '../kit/snapshot.ts'

/** B13: what the agent keeps beside its transcripts goes with them; and what was typed outlives them in another file. */
let home: TestHome
let daemon: TestDaemon
afterEach(async () => {
  await daemon.stop()
  home.remove()
})
const claude = (...steps: string[]): string => path.join(home.home, '.claude', ...steps)
const start = async (): Promise<void> => {
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
}
const runOf = async (session: string) => {
  const found = (await daemon.call('runs.list', {})).runs.filter((run) => run.session === session)
  expect(found.length).toBe(1)
  return found[0] as NonNullable<(typeof found)[0]>
}
/** Every event of a session in full, without what covers positions in files. */
const details = async (session: string) => {
  const run = await runOf(session)
  const events = await allEvents(daemon, run.id)
  return Promise.all(
    events.map(async ({ seq }) => {
      const { parts, changes } = await daemon.call('runs.event', { run: run.id, seq, whole: true })
      return { seq, parts, changes }
    }),
  )
}
const partsOf = async (session: string) => (await details(session)).flatMap(({ parts }) => parts)
const storeCommits = async (session: string): Promise<string> =>
  fs.readFileSync(path.join(home.data, 'store.git/refs/sessions', (await runOf(session)).id), 'utf8')
const forgetEverything = (): void => {
  for (const name of ['projects', 'file-history', 'history.jsonl'])
    fs.rmSync(claude(name), { recursive: true, force: true })
}

const spilling = '40000000-0000-4000-8000-000000000002'
const editing = '50000000-0000-4000-8000-000000000001'
const subagent = '20000000-0000-4000-8000-000000000001/ab4177d2da55ddee5'

describe('files beside a transcript', () => {
  it('are shown from the store when the agent has deleted everything, also after a reindex', async () => {
    home = makeFixtureHome()
    await start()
    const before = {
      spilled: await details(spilling),
      checkpoints: await details(editing),
      sub: await details(subagent),
    }
    expect(before.spilled.flatMap(({ parts }) => parts).find(({ body }) => body.total === 30_001)).toBeDefined()
    const labels = before.checkpoints.flatMap(({ parts }) => parts.map(({ label }) => label))
    expect(labels).toContain('src/stats.js, version 1')
    expect(labels).toContain('src/stats.js, version 2')
    expect(labels).toContain('test/median.test.js, version 1: was not there')
    const copy = (name: string): string => fs.readFileSync(claude('file-history', editing, name), 'utf8')
    const texts = before.checkpoints.flatMap(({ parts }) => parts).map(({ label, body }) => [label, body.text])
    expect(texts).toContainEqual(['src/stats.js, version 1', copy('dca3e2090ef877d1@v1')])
    expect(texts).toContainEqual(['test/median.test.js, version 2', copy('e9ed432567f509f5@v2')])

    forgetEverything()
    await daemon.call('sync.now', {})
    const same = async () => {
      expect(await details(spilling)).toEqual(before.spilled)
      expect(await details(editing)).toEqual(before.checkpoints)
      expect(await details(subagent)).toEqual(before.sub)
    }
    await same()
    const snapshot = await takeSnapshot(daemon)
    await daemon.call('store.reindex', {})
    expect(await takeSnapshot(daemon)).toEqual(snapshot)
    await same()
    expect((await daemon.call('store.check', {})).damaged).toEqual([])
  })

  it('go into the store once, changed ones again, whatever bytes they are', async () => {
    home = makeFixtureHome()
    const odd = claude('projects/-home-dev-demo', spilling, 'tool-results/odd.txt')
    const bytes = Buffer.from([...Array(70_000).keys()].map((n) => (n * n + (n >> 7)) & 255))
    fs.writeFileSync(odd, bytes)
    fs.writeFileSync(path.join(path.dirname(odd), 'empty.txt'), '')
    await start()
    const kept = async (file: string): Promise<Buffer> => {
      const { openStoreReader } = await import('../../daemon/store/open-store-reader.ts')
      const { openKeys } = await import('../../daemon/secrets/keys.ts')
      const { createRedactor } = await import('../../daemon/secrets/create-redactor.ts')
      const key = await openKeys(path.join(home.data, 'keys'))
      const redactor = createRedactor(key.hmacKey)
      const store = openStoreReader({ dir: home.data, key, redactor, env: process.env, log: () => undefined })
      const run = (await runOf(spilling)).id as never
      const generations = await store.sessions.generations(run, path.relative(claude(), file))
      expect(generations.length).toBeGreaterThan(0)
      const pieces: Uint8Array[] = []
      for await (const { text } of store.sessions.read(
        run,
        path.relative(claude(), file),
        generations.at(-1)?.generation ?? 0,
      ))
        pieces.push(Buffer.from(text))
      await store.close()
      return Buffer.concat(pieces)
    }
    expect((await kept(odd)).equals(bytes)).toBe(true)
    expect((await kept(path.join(path.dirname(odd), 'empty.txt'))).length).toBe(0)

    const tip = await storeCommits(spilling)
    await daemon.call('sync.now', {})
    await daemon.stop()
    await start()
    fs.utimesSync(odd, new Date(), new Date())
    await daemon.call('sync.now', {})
    await daemon.call('store.reindex', {})
    expect(await storeCommits(spilling)).toBe(tip)

    // Grown, then replaced: nothing else of the session changes.
    const grown = Buffer.concat([bytes, Buffer.from('more\nand more')])
    fs.writeFileSync(odd, grown)
    await daemon.call('sync.now', {})
    expect((await kept(odd)).equals(grown)).toBe(true)
    fs.writeFileSync(odd, 'another\n')
    await daemon.call('sync.now', {})
    expect((await kept(odd)).toString()).toBe('another\n')
    expect(await storeCommits(spilling)).not.toBe(tip)
    expect((await daemon.call('store.check', {})).damaged).toEqual([])
  })

  it('show no secret, and what is not kept is told with the reason, for good', async () => {
    home = makeFixtureHome()
    const secret = plantedSecrets().find(({ family }) => family === 'private-key')
    if (!secret) throw new Error('no private key among the planted secrets')
    const spilled = claude('projects/-home-dev-demo', spilling, 'tool-results/b4n03t7wr.txt')
    // Long enough that the key lies across the pieces in which a store might look for it.
    const padding = 'x'.repeat(99).concat('\n').repeat(2620)
    fs.writeFileSync(spilled, `${padding}${secret.text}\n${padding}`)
    const transcript = claude('projects/-home-dev-demo', `${editing}.jsonl`)
    fs.writeFileSync(transcript, fs.readFileSync(transcript, 'utf8').replaceAll('src/stats.js', 'src/auth.json'))
    for (const version of [1, 2])
      fs.writeFileSync(claude('file-history', editing, `dca3e2090ef877d1@v${version}`), `{"medlar":"${version}"}`)
    const large = claude('file-history', editing, 'e9ed432567f509f5@v2')
    fs.truncateSync(large, 17 * 1024 * 1024)
    await start()
    forgetEverything()
    await daemon.call('sync.now', {})
    const look = async (): Promise<void> => {
      const output = (await partsOf(spilling)).find(({ body }) => body.total > 500_000)
      expect(output?.body.text).toContain('‹secret:private-key:')
      const said = await partsOf(editing)
      expect(JSON.stringify(said)).not.toContain('medlar')
      const texts = said.map(({ label, body }) => `${label} / ${body.text}`)
      expect(texts).toContain('src/auth.json, version 1: not shown / It is a credential as a whole.')
      expect(texts.find((text) => text.startsWith('test/median.test.js, version 2: not known'))).toContain(
        'it is larger than 16 MB (17825792 bytes)',
      )
      const { gaps } = await daemon.call('health.gaps', {})
      const told = gaps.filter(({ kind }) => kind === 'not_archived').map(({ message }) => message)
      expect(told.filter((message) => message.includes('a copy of a credential')).length).toBe(2)
      expect(told.filter((message) => message.includes('larger than 16 MB')).length).toBe(1)
    }
    await look()
    await daemon.call('store.reindex', {})
    await look()
    await daemon.stop()
    const words = [secret.secret, secret.secret.slice(0, 40)]
    const { execFileSync } = await import('node:child_process')
    const git = (...args: string[]): Buffer =>
      execFileSync('git', ['-C', path.join(home.data, 'store.git'), ...args], { maxBuffer: 1 << 29 })
    const everything = git('cat-file', '--batch-all-objects', '--batch').toString('latin1')
    for (const word of words) expect(everything.includes(word)).toBe(false)
    expect(everything.includes('medlar')).toBe(false)
    daemon = await startDaemon(home)
  })

  it('are kept completely after kills in the middle of it', async () => {
    home = makeFixtureHome()
    const folder = claude('projects/-home-dev-demo', spilling, 'tool-results')
    const texts = new Map<string, string>()
    for (let n = 0; n < 60; n++) {
      const text = `${`output ${n} of a long command\n`.repeat(12_000)}end ${n}`
      texts.set(`r${n}.txt`, text)
      fs.writeFileSync(path.join(folder, `r${n}.txt`), text)
    }
    const reached = new Set<number>()
    for (let n = 0; n < 8; n++) {
      daemon = await startDaemon(home)
      void daemon.call('sync.now', {}).catch(() => undefined)
      await sleep(150 + n * 120)
      await daemon.kill()
      const tree = await archivedFiles()
      reached.add(tree)
    }
    await start()
    fs.rmSync(claude('projects'), { recursive: true })
    await daemon.call('sync.now', {})
    expect((await daemon.call('store.check', {})).damaged).toEqual([])
    expect(await archivedFiles()).toBeGreaterThanOrEqual(62)
    expect(reached.size).toBeGreaterThan(1)
  })

  /** How many files the archive of the spilling session holds. */
  const archivedFiles = async (): Promise<number> => {
    const { execFileSync } = await import('node:child_process')
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', path.join(home.data, 'store.git'), ...args], { encoding: 'utf8', maxBuffer: 1 << 28 })
    let most = 0
    for (const ref of git('for-each-ref', '--format=%(refname)', 'refs/sessions').split('\n').filter(Boolean)) {
      const about = JSON.parse(git('show', `${ref}:run.json`)) as { session: string }
      if (about.session !== spilling) continue
      most = (JSON.parse(git('show', `${ref}:files.json`)) as { files: unknown[] }).files.length
    }
    return most
  }
})

const lost = 'b1300000-0000-4000-8000-000000000001'
const other = 'b1300000-0000-4000-8000-000000000002'
const typed = (session: string, n: number, display: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({
    display,
    pastedContents: {},
    timestamp: Date.parse('2026-09-01T08:00:00.000Z') + n * 60_000,
    project: '/home/dev/shop',
    sessionId: session,
    ...more,
  })

describe('typed prompts without a transcript', () => {
  it('stand on the timeline as what is left of their session', async () => {
    home = makeFixtureHome()
    const key = ['sk-', 'ant-api03-', noise(93, 'abcdefghijklmnopqrstuvwxyz0123456789', 1), 'AA'].join('')
    fs.appendFileSync(
      claude('history.jsonl'),
      `${[
        typed(lost, 0, '/clear'),
        typed(lost, 1, `rename the quince module, key ${key}`),
        '{"display":"torn',
        typed(other, 2, 'something else entirely'),
        JSON.stringify({ display: 'older', pastedContents: {}, timestamp: 1, project: '/p' }),
        typed(lost, 3, '[Pasted text #1] explain', {
          pastedContents: { 1: { id: 1, type: 'text', content: 'a tamarillo stack trace' } },
        }),
      ].join('\n')}\n`,
    )
    await start()
    const { runs } = await daemon.call('runs.list', {})
    expect(runs.length).toBe(17)
    const run = await runOf(lost)
    expect(run).toMatchObject({
      title_from: 'prompt',
      status: 'no_conversation',
      source_state: 'vanished',
      workspace: '/home/dev/shop',
      started_at: '2026-09-01T08:00:00.000Z',
      ended_at: '2026-09-01T08:03:00.000Z',
      events: 3,
      stretches: [],
      manifest: null,
    })
    expect(run.title).toMatch(/^rename the quince module, key ‹secret:/)
    const events = await allEvents(daemon, run.id)
    expect(events.map(({ kind, seq, at }) => [kind, seq, at])).toEqual([
      ['prompt', 1, '2026-09-01T08:00:00.000Z'],
      ['prompt', 2, '2026-09-01T08:01:00.000Z'],
      ['prompt', 3, '2026-09-01T08:03:00.000Z'],
    ])
    expect((await daemon.call('search.run', { text: 'tamarillo' })).total).toBe(1)
    const { coverage } = await daemon.call('runs.get', { run: run.id })
    expect(coverage.items[0]).toMatchObject({ what: 'session', why: expect.stringContaining('only the typed prompts') })
    expect(coverage.items.find(({ what }) => what === 'tool calls')?.state).toBe('none')
    const last = await daemon.call('runs.event', { run: run.id, seq: 3 })
    expect(last.parts.map(({ role, label, body }) => [role, label, body.text])).toEqual([
      ['prompt', 'Prompt', '[Pasted text #1] explain'],
      ['context', 'Pasted text #1', 'a tamarillo stack trace'],
    ])
    const { unreadable } = await daemon.call('health.unreadable', { limit: 100 })
    expect(unreadable.find(({ path: file }) => file === claude('history.jsonl'))).toMatchObject({ line: 6, run: null })
    const { gaps } = await daemon.call('health.gaps', {})
    expect(
      gaps.find(({ path: file, kind }) => file === claude('history.jsonl') && kind === 'unknown_record')?.message,
    ).toContain('1 typed prompt')
    // The session that has a transcript took nothing from there.
    expect((await allEvents(daemon, (await runOf(editing)).id)).filter(({ kind }) => kind === 'prompt').length).toBe(2)

    fs.rmSync(claude('history.jsonl'))
    await daemon.call('sync.now', {})
    const kept = { events: await allEvents(daemon, run.id), details: await details(lost), run: await runOf(lost) }
    expect(kept.events).toEqual(events)
    expect(kept.run).toEqual(run)
    const { unreadable: _, ...snapshot } = await takeSnapshot(daemon)
    await daemon.call('store.reindex', {})
    const { unreadable: __, ...again } = await takeSnapshot(daemon)
    expect(again).toEqual(snapshot)
    expect(await details(lost)).toEqual(kept.details)
    expect((await daemon.call('search.run', { text: 'tamarillo' })).total).toBe(1)
  })

  it('grow, and are neither doubled nor lost when the file is rewritten', async () => {
    home = makeEmptyHome()
    fs.mkdirSync(claude('projects'), { recursive: true })
    const file = claude('history.jsonl')
    fs.writeFileSync(file, `${typed(lost, 0, 'first quince')}\n`)
    await start()
    fs.appendFileSync(file, `${typed(lost, 1, 'second quince')}\n${typed(lost, 2, 'half')}`.slice(0, -3))
    await daemon.call('sync.now', {})
    const run = await runOf(lost)
    const summaries = async () => (await allEvents(daemon, run.id)).map(({ seq, summary }) => `${seq} ${summary}`)
    expect(await summaries()).toEqual(['1 first quince', '2 second quince'])
    // Cut at its head, as the agent does when the file is too long, and written on.
    fs.writeFileSync(file, `${typed(lost, 1, 'second quince')}\n${typed(lost, 2, 'third quince')}\n`)
    await daemon.call('sync.now', {})
    const all = ['1 first quince', '2 second quince', '3 third quince']
    expect(await summaries()).toEqual(all)
    expect((await daemon.call('search.run', { text: 'quince' })).total).toBe(3)
    await daemon.stop()
    await start()
    await daemon.call('store.reindex', {})
    expect(await summaries()).toEqual(all)
    expect((await daemon.call('search.run', { text: 'quince' })).total).toBe(3)
    expect((await runOf(lost)).id).toBe(run.id)
  })

  it('give way to the transcript when it appears', async () => {
    home = makeEmptyHome()
    fs.mkdirSync(claude('projects'), { recursive: true })
    fs.writeFileSync(claude('history.jsonl'), `${typed(lost, 0, 'typed quince')}\n${typed(other, 1, 'typed medlar')}\n`)
    await start()
    const { id } = await runOf(lost)
    const talk: Talk = { session: lost, cwd: '/home/dev/shop', startedAt: '2026-09-01T08:00:00.000Z' }
    const transcript = writeSession(home.home, talk, turn(talk, 0, 'typed quince', 'answered loquat'))
    await daemon.call('sync.now', {})
    const run = await runOf(lost)
    expect(run).toMatchObject({ id, status: 'done', source_state: 'present', events: 2 })
    expect((await daemon.call('runs.list', {})).runs.length).toBe(2)
    expect((await daemon.call('search.run', { text: 'quince' })).total).toBe(1)
    expect((await daemon.call('search.run', { text: 'loquat' })).total).toBe(1)
    expect((await daemon.call('search.run', { text: 'medlar' })).total).toBe(1)
    const before = await takeSnapshot(daemon)
    await daemon.call('store.reindex', {})
    expect(await takeSnapshot(daemon)).toEqual(before)

    fs.rmSync(transcript)
    await daemon.call('sync.now', {})
    await daemon.call('store.reindex', {})
    expect(await runOf(lost)).toMatchObject({ id, status: 'done', source_state: 'vanished', events: 2 })
    expect((await daemon.call('runs.event', { run: id, seq: 2 })).parts[0]?.body.text).toBe('answered loquat')
  })

  it('wait while a folder that may hold the transcript cannot be listed', async () => {
    home = makeEmptyHome()
    fs.mkdirSync(claude())
    // A circle of links cannot be listed by anybody, not even by root.
    fs.symlinkSync(claude('projects'), claude('projects'))
    fs.writeFileSync(claude('history.jsonl'), `${typed(lost, 0, 'typed quince')}\n`)
    await start()
    const waiting = async (): Promise<boolean> =>
      (await daemon.call('health.gaps', {})).gaps.some(({ message }) => message.includes('which cannot be listed'))
    expect((await daemon.call('runs.list', {})).runs).toEqual([])
    expect(await waiting()).toBe(true)
    fs.rmSync(claude('projects'))
    fs.mkdirSync(claude('projects'))
    await daemon.call('sync.now', {})
    expect((await runOf(lost)).title).toBe('typed quince')
    expect(await waiting()).toBe(false)
  })

  it('are not kept where only digests of texts are, and that is told', async () => {
    home = makeFixtureHome()
    fs.appendFileSync(claude('history.jsonl'), `${typed(lost, 0, 'typed quince')}\n`)
    daemon = await startDaemon(home)
    await daemon.call('settings.set', { collection: 'digests' })
    await daemon.stop()
    fs.rmSync(path.join(home.data, 'store.git/refs/sessions'), { recursive: true, force: true })
    daemon = await startDaemon(home)
    await daemon.call('store.reindex', {})
    expect((await daemon.call('runs.list', {})).runs.length).toBe(15)
    const { gaps } = await daemon.call('health.gaps', {})
    expect(gaps.find(({ path: file }) => file === claude('history.jsonl'))?.message).toContain('1 session')
  })
})
