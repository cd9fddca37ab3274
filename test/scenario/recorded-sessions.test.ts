import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, type TestHome } from '../kit/fixture-home.ts'
import { allEvents, takeSnapshot } from '../kit/snapshot.ts'

/** The recorded sessions of the real program, through the built daemon: what a person would be told of them. */
let home: TestHome
let daemon: TestDaemon
let runs: readonly Run[]
const bySession = (session: string): Run => {
  const found = runs.find((run) => run.session === session)
  if (!found) throw new Error(`no run of session ${session}`)
  return found
}

beforeAll(async () => {
  home = makeFixtureHome()
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  runs = (await daemon.call('runs.list', {})).runs
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

describe('recorded sessions', () => {
  it('stand on the timeline once each', () => {
    expect(runs.map(({ session }) => session).sort()).toEqual([
      '10000000-0000-4000-8000-000000000001',
      '20000000-0000-4000-8000-000000000001',
      '20000000-0000-4000-8000-000000000001/ab4177d2da55ddee5',
      '20000000-0000-4000-8000-000000000002',
      '20000000-0000-4000-8000-000000000002/a8175585b760ae4b3',
      '30000000-0000-4000-8000-000000000001',
      '30000000-0000-4000-8000-000000000002',
      '40000000-0000-4000-8000-000000000001',
      '40000000-0000-4000-8000-000000000002',
      '50000000-0000-4000-8000-000000000001',
      '60000000-0000-4000-8000-000000000001',
      '60000000-0000-4000-8000-000000000002',
      '70000000-0000-4000-8000-000000000001',
      '80000000-0000-4000-8000-000000000001',
      '80000000-0000-4000-8000-000000000002',
    ])
  })

  it('link subagents and the fork to their parents, and nothing else', async () => {
    const linked = runs
      .filter(({ relation }) => relation !== null)
      .map(({ session, relation, parent }) => [session, relation, runs.find(({ id }) => id === parent)?.session])
    expect(linked.sort()).toEqual([
      ['20000000-0000-4000-8000-000000000001/ab4177d2da55ddee5', 'subagent', '20000000-0000-4000-8000-000000000001'],
      ['20000000-0000-4000-8000-000000000002/a8175585b760ae4b3', 'subagent', '20000000-0000-4000-8000-000000000002'],
      ['30000000-0000-4000-8000-000000000002', 'fork', '30000000-0000-4000-8000-000000000001'],
    ])
    const call = (await allEvents(daemon, bySession('20000000-0000-4000-8000-000000000001').id)).find(
      ({ tool }) => tool === 'Agent',
    )
    expect(call?.subagent).toBe(bySession('20000000-0000-4000-8000-000000000001/ab4177d2da55ddee5').id)
  })

  it('count what a fork copied where it came from', async () => {
    const parent = bySession('30000000-0000-4000-8000-000000000001')
    const fork = bySession('30000000-0000-4000-8000-000000000002')
    const events = await allEvents(daemon, fork.id)
    const copied = events.filter(({ copied_from }) => copied_from !== null)
    expect(copied.length).toBe(fork.copied_events)
    expect(copied.length).toBeGreaterThan(0)
    expect(events.length).toBe(fork.events + fork.copied_events)
    expect(fork.forked_at).not.toBeNull()
    const parentEvents = await allEvents(daemon, parent.id)
    for (const { copied_from, kind } of copied) {
      const [run, seq] = String(copied_from).split('@')
      expect(run).toBe(parent.id)
      if (kind === 'model') expect(parentEvents.find((event) => event.seq === Number(seq))?.kind).toBe('model')
    }
    const replies = events.filter(({ kind, copied_from }) => kind === 'model' && copied_from === null)
    expect(fork.tokens.output).toBe(replies.reduce((sum, { tokens }) => sum + (tokens?.output ?? 0), 0))
  })

  it('count usage once per reply', async () => {
    for (const run of runs) {
      const own = (await allEvents(daemon, run.id)).filter(
        ({ tokens, copied_from }) => tokens !== null && copied_from === null,
      )
      expect(run.tokens.input).toBe(own.reduce((sum, { tokens }) => sum + (tokens?.input ?? 0), 0))
    }
    // 7 requests in the file, 11 assistant rows: rows that share a reply count once.
    expect(bySession('10000000-0000-4000-8000-000000000001').tokens).toEqual({
      input: 728,
      output: 140,
      cache_read: 0,
      cache_write: 0,
    })
  })

  it('show 9 calls with 7 failures of the run with failing tools', async () => {
    const run = bySession('40000000-0000-4000-8000-000000000001')
    expect(run.calls).toEqual({ total: 9, failed: 7 })
    const calls = (await allEvents(daemon, run.id)).filter(({ kind }) => kind === 'tool')
    expect(calls.length).toBe(9)
    expect(calls.filter(({ ok }) => ok === false).length).toBe(7)
  })

  it('show the same conversation for a run and its replay', async () => {
    const talk = async (session: string) =>
      (await allEvents(daemon, bySession(session).id))
        .filter(({ kind }) => kind === 'prompt' || kind === 'model' || kind === 'tool')
        .map(({ kind, tool, ok, summary }) => ({
          kind,
          tool,
          ok,
          summary: summary.replaceAll('/home/dev/replays/wt-7', '/home/dev/demo'),
        }))
    expect(await talk('80000000-0000-4000-8000-000000000002')).toEqual(
      await talk('80000000-0000-4000-8000-000000000001'),
    )
  })

  it('know what the edit tools changed, with content on both sides', async () => {
    const run = bySession('10000000-0000-4000-8000-000000000001')
    const events = await allEvents(daemon, run.id)
    const edits = events.filter(({ effects }) => effects.length > 0)
    expect(edits.map(({ tool, effects }) => [tool, effects[0]?.change]).sort()).toContainEqual(['Edit', 'change'])
    for (const edit of edits) {
      const detail = await daemon.call('runs.event', { run: run.id, seq: edit.seq })
      expect(detail.changes[0]?.path).toBe(edit.effects[0]?.path)
      expect(detail.changes[0]?.after?.text.length).toBeGreaterThan(0)
    }
    const bash = events.find(({ tool }) => tool === 'Bash')
    expect(bash?.effects_state).toBe('none')
  })

  it('read an output that was spilled to a file of its own', async () => {
    const run = bySession('40000000-0000-4000-8000-000000000002')
    const calls = (await allEvents(daemon, run.id)).filter(({ kind }) => kind === 'tool')
    const sizes = await Promise.all(
      calls.map(async ({ seq }) =>
        Math.max(
          ...(await daemon.call('runs.event', { run: run.id, seq, whole: true })).parts
            .filter(({ role }) => role === 'output')
            .map(({ body }) => body.total),
        ),
      ),
    )
    expect(sizes.every((size) => size >= 30_000)).toBe(true)
  })

  it('have a signed manifest for every stretch, each proven on reading', async () => {
    const resumed = bySession('30000000-0000-4000-8000-000000000001')
    expect(resumed.stretches.length).toBeGreaterThan(1)
    for (const run of runs)
      for (const { manifest } of run.stretches) {
        expect(manifest).toMatch(/^sha256:[0-9a-f]{64}$/)
        const got = await daemon.call('manifest.get', { target: String(manifest) })
        expect(got.manifest.integrity.manifest_digest).toBe(manifest)
        expect(got.manifest.run_id).toBe(run.id)
        expect(got.manifest.unknown.length).toBeGreaterThan(0)
      }
  })

  it('give the text that entered the context, in order', async () => {
    const got = await daemon.call('manifest.instructions', {
      target: bySession('10000000-0000-4000-8000-000000000001').id,
    })
    expect(got.pieces.map(({ path }) => path)).toEqual(['/home/dev/demo/CLAUDE.md'])
    expect(got.pieces[0]?.text).toContain('npm test')
    expect(got.effective_digest).toMatch(/^sha256:/)
  })

  it('are found by their words, each hit at its event, copies in their original only', async () => {
    const { hits } = await daemon.call('search.run', { text: 'median', limit: 200 })
    expect(hits.some(({ run }) => run === bySession('10000000-0000-4000-8000-000000000001').id)).toBe(true)
    const second = await daemon.call('search.run', { text: '"first prompt"' })
    expect(second.hits.every(({ run }) => run !== bySession('30000000-0000-4000-8000-000000000002').id)).toBe(true)
  })

  it('are answered for in the same way after the index was deleted, and after `reindex`', async () => {
    const before = await takeSnapshot(daemon)
    await daemon.call('store.reindex', {})
    expect(await takeSnapshot(daemon)).toEqual(before)
    await daemon.stop()
    for (const end of ['', '-wal', '-shm']) fs.rmSync(path.join(home.data, `index.db${end}`), { force: true })
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    expect(await takeSnapshot(daemon)).toEqual(before)
    await daemon.stop()
    fs.writeFileSync(
      path.join(home.data, 'index.db'),
      'this is no database, and longer than one page of nothing '.repeat(200),
    )
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    expect(await takeSnapshot(daemon)).toEqual(before)
  })

  it('left the home as it was', () => {
    const files = fs
      .readdirSync(path.join(home.home, '.claude'), { recursive: true, encoding: 'utf8' })
      .filter((name) => fs.statSync(path.join(home.home, '.claude', name)).isFile())
    const fixture = path.join(import.meta.dirname, '../fixtures/claude-code/sessions')
    for (const name of files)
      expect(
        fs.readFileSync(path.join(home.home, '.claude', name)).equals(fs.readFileSync(path.join(fixture, name))),
      ).toBe(true)
  })
})
