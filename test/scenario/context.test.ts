import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents } from '../kit/snapshot.ts'

const session = (n: string) => `${n}0000000-0000-4000-8000-00000000000`
const edited = `${session('1')}1`
/** Made up for this test, in the form of a real key. */
const secret = `sk-ant-api03-${'Zq8rT2mLx9vBn4KpW7yUcE1sHd6jFg3a'.repeat(2)}`
const older: Talk = { session: `${session('c')}1`, cwd: '/home/dev/shop', startedAt: '2026-10-01T08:00:00.000Z' }

let home: TestHome
let daemon: TestDaemon
beforeAll(async () => {
  home = makeFixtureHome()
  writeSession(home.home, older, [
    ...turn(older, 0, `deploy with ${secret}`, 'done'),
    ...turn(older, 1, 'and once more', 'done again'),
  ])
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

const reprise = (...args: string[]) => {
  const done = spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], {
    env: home.env,
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
  return { code: done.status, out: done.stdout, json: () => JSON.parse(done.stdout) }
}

describe('what the model saw', () => {
  it('is rebuilt exactly for every reply of every recorded session', async () => {
    const { runs } = await daemon.call('runs.list', {})
    let replies = 0
    for (const run of runs.filter((one) => one.session !== older.session))
      for (const { seq } of (await allEvents(daemon, run.id)).filter(({ kind }) => kind === 'model')) {
        const context = await daemon.call('runs.context', { run: run.id, seq })
        expect(context, `${run.session}@${seq}`).toMatchObject({ exact: true, why: null, from: 'disk' })
        expect(context.digest).toMatch(/^sha256:[0-9a-f]{64}$/)
        expect(context.messages.length).toBeGreaterThan(1)
        expect(context.tools.length).toBeGreaterThan(1)
        expect(context.tools[0]?.schema_digest).toMatch(/^sha256:[0-9a-f]{64}$/)
        replies++
      }
    expect(replies).toBeGreaterThan(55)
  })

  it('is, at any other event, what led to the next reply, and at the end what led to the last one', async () => {
    const { run } = await daemon.call('runs.get', { run: edited })
    const events = await allEvents(daemon, run.id)
    const replies = events.filter(({ kind }) => kind === 'model').map(({ seq }) => seq)
    for (const { seq } of events) {
      const { at_seq } = await daemon.call('runs.context', { run: run.id, seq })
      expect(at_seq).toBe(replies.find((reply) => reply >= seq) ?? replies.at(-1))
    }
    expect((await daemon.call('runs.context', { run: run.id })).at_seq).toBe(replies.at(-1))
    expect((await daemon.call('runs.context', { run: run.id, seq: 0 })).at_seq).toBe(replies[0])
    expect((await daemon.call('runs.context', { run: run.id, seq: replies[1] })).before).toEqual({
      seq: replies[0],
      kept: 2,
      messages: 2,
      shape_changed: false,
      parameters_changed: false,
    })
    await expect(daemon.call('runs.context', { run: run.id, seq: 9999 })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of a reply that a fork copied is found in the session it was copied from', async () => {
    const { run: fork } = await daemon.call('runs.get', { run: `${session('3')}2` })
    const { run: parent } = await daemon.call('runs.get', { run: `${session('3')}1` })
    const events = await allEvents(daemon, fork.id)
    const copied = events.find(({ kind, copied_from }) => kind === 'model' && copied_from !== null)
    expect(await daemon.call('runs.context', { run: fork.id, seq: Number(copied?.seq) })).toMatchObject({
      run: parent.id,
      exact: true,
    })
  })

  it('is put together from the conversation where none was recorded; secrets stay covered and can be opened', async () => {
    const { run } = await daemon.call('runs.get', { run: older.session })
    const context = await daemon.call('runs.context', { run: run.id, whole: true })
    expect(context).toMatchObject({ exact: false, digest: null, tools: [] })
    expect(context.why).toContain('does not record requests')
    expect(context.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(context.before).toMatchObject({ kept: 1, shape_changed: null })
    expect(JSON.stringify(context)).not.toContain(secret)
    const hidden = context.messages[0]?.blocks[0]?.body.hidden ?? []
    expect(hidden).toHaveLength(1)
    expect(await daemon.call('sensitive.reveal', { ref: String(hidden[0]?.ref), reason: 'a test' })).toEqual({
      text: secret,
      why: null,
    })
    const { reads } = await daemon.call('sensitive.reads', {})
    expect(reads.at(0)).toMatchObject({ ref: hidden[0]?.ref })
  })

  it('is told by the command', async () => {
    const json = reprise('context', `${edited}@1`, '--json').json()
    expect(json).toMatchObject({
      exact: true,
      why: null,
      model: 'claude-opus-5-5',
      parameters: { max_tokens: expect.any(Number) },
    })
    expect(json.messages.map(({ role }: { role: string }) => role)).toEqual(['user', 'system'])
    expect(json.messages[0].blocks.at(-1)).toMatchObject({ kind: 'text', text: 'Add a median function' })
    expect(json.tools.find(({ name }: { name: string }) => name === 'Bash').definition.input_schema.type).toBe('object')
    const text = reprise('context', edited)
    expect(text.code).toBe(0)
    expect(text.out).toContain('exact: its digest is the recorded one')
    expect(text.out).toContain('12 of 14 messages were in the request of @')
    expect(reprise('context', `${edited}@9999`, '--json').code).toBe(3)
  })

  it('comes from the kept copy when the file is gone, and says when covered secrets make it inexact', async () => {
    const claude = path.join(home.home, '.claude/projects')
    for (const name of [`-home-dev-demo/${edited}.jsonl`, `-home-dev-shop/${older.session}.jsonl`])
      fs.rmSync(path.join(claude, name))
    await daemon.call('sync.now', {})
    const kept = await daemon.call('runs.context', { run: edited })
    expect(kept).toMatchObject({ from: 'archive', exact: true, why: null })
    expect(kept.messages).toHaveLength(14)
    const covered = await daemon.call('runs.context', { run: older.session })
    expect(covered).toMatchObject({ from: 'archive', exact: false })
    expect(covered.why).toContain('kept copy')
    expect(JSON.stringify(covered)).not.toContain(secret)
    expect(covered.messages).toHaveLength(3)
  })
})
