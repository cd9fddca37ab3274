import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Run } from '../../contract/index.ts'
import { codexPlace, codexRollouts, codexThread, makeCodexHome } from '../kit/codex-home.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { allEvents } from '../kit/snapshot.ts'

/** Sessions of Codex in all their formats, through the built daemon. */
let made: TestHome
let home = ''
let daemon: TestDaemon
let runs: readonly Run[]
const find = (session: string): Run => {
  const found = runs.find((run) => run.session === session)
  if (!found) throw new Error(`no run of session ${session}`)
  return found
}
const look = async (): Promise<void> => {
  await daemon.call('sync.now', {})
  runs = (await daemon.call('runs.list', {})).runs
}

beforeAll(async () => {
  made = makeEmptyHome()
  ;({ home } = makeCodexHome(path.dirname(made.home)))
  daemon = await startDaemon(made)
  await look()
})
afterAll(async () => {
  await daemon.stop()
  made.remove()
})

describe('sessions of Codex', () => {
  it('stand on the timeline once each, whatever their format', async () => {
    // Ten threads of 0.171.0, three in older formats, a compressed one, and one of which only typed prompts are left.
    expect(runs).toHaveLength(15)
    expect(runs.every(({ runtime, source_state }) => runtime === 'codex' && source_state !== 'shrank')).toBe(true)
    expect((await daemon.call('health.unreadable', { limit: 10 })).unreadable).toEqual([])
    expect(find(codexThread('resumed'))).toMatchObject({
      title: 'Named thread',
      tokens: { input: 406, output: 40, cache_read: 0, cache_write: 0 },
    })
    expect(find('01a22d1a-947f-7a11-b2b2-80a6d5c25877')).toMatchObject({ title: 'hello tui', source_state: 'vanished' })
  })

  it('link the fork and the subagent to their parents, and nothing else', async () => {
    const linked = runs
      .filter(({ relation }) => relation !== null)
      .map(({ session, relation, parent }) => [session, relation, runs.find(({ id }) => id === parent)?.session])
    expect(linked.sort()).toEqual(
      [
        [codexThread('forked'), 'fork', codexThread('resumed')],
        [codexThread('subagent-child'), 'subagent', codexThread('subagent-parent')],
      ].sort(),
    )
    const fork = find(codexThread('forked'))
    const parent = await allEvents(daemon, find(codexThread('resumed')).id)
    expect(parent.find(({ seq }) => seq === fork.forked_at)?.summary).toBe('Second done')
    expect(fork.tokens.output).toBe(10)
    const call = (await allEvents(daemon, find(codexThread('subagent-parent')).id)).find(({ tool }) =>
      tool?.endsWith('spawn_agent'),
    )
    expect(call?.subagent).toBe(find(codexThread('subagent-child')).id)
  })

  it('show what was changed, what the model was given, and a manifest for every start', async () => {
    const run = find(codexThread('direct-edit-test-fix'))
    const events = await allEvents(daemon, run.id)
    const edits = events.filter(({ tool }) => tool === 'apply_patch')
    const [added, changed] = await Promise.all(edits.map(({ seq }) => daemon.call('runs.event', { run: run.id, seq })))
    expect(added?.changes.map(({ path: file, change, after }) => [file, change, after?.text.slice(0, 14)])).toEqual([
      ['/home/dev/demo/calc.py', 'add', 'def add(a, b):'],
      ['/home/dev/demo/test_calc.py', 'add', 'import unittes'],
    ])
    expect(changed?.changes[0]?.before?.text).toContain('return a - b')
    expect(changed?.changes[0]?.after?.text).toContain('return a + b')
    expect(changed?.changes[0]?.why).toContain('changed places only')
    const last = events.findLast(({ kind }) => kind === 'model')
    const context = await daemon.call('runs.context', { run: run.id, seq: last?.seq ?? 0 })
    expect(context).toMatchObject({ exact: false, model: 'gpt-5.5', from: 'disk' })
    expect(context.messages).toHaveLength(18)
    expect(context.before).toMatchObject({ kept: 14, messages: 14 })
    for (const { stretches } of runs) for (const { manifest } of stretches) expect(manifest).not.toBeNull()
    const { manifest } = await daemon.call('manifest.get', { target: run.stretches[0]?.manifest ?? '' })
    expect(manifest.execution).toMatchObject({ runtime: 'codex', runtime_version: '0.171.0', surface: 'exec' })
  })

  it('stay the same runs when they are archived, and go on in a second file', async () => {
    const name = codexRollouts['failing-tools']
    const before = find(codexThread('failing-tools'))
    const events = await allEvents(daemon, before.id)
    fs.renameSync(codexPlace(home, name), path.join(home, 'archived_sessions', name))
    const reverted = find(codexThread('resumed'))
    fs.appendFileSync(
      codexPlace(home, codexRollouts['resumed-after-revert']),
      `${JSON.stringify({ timestamp: '2026-11-30T15:57:00.000Z', ordinal: 23, type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'another way' }] } })}\n`,
    )
    await look()
    expect(find(codexThread('failing-tools'))).toMatchObject({ id: before.id, source_state: 'present' })
    expect(await allEvents(daemon, before.id)).toEqual(events)
    const after = find(codexThread('resumed'))
    expect(after).toMatchObject({ id: reverted.id, events: reverted.events + 1, source_state: 'present' })
    expect((await allEvents(daemon, after.id)).at(-1)).toMatchObject({ kind: 'prompt', summary: 'another way' })
    expect(runs).toHaveLength(15)
  })
})
