import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Run } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'

const cwd = '/home/dev/shop'
const parent: Talk = { session: 'b1600000-0000-4000-8000-000000000000', cwd, startedAt: '2026-10-01T08:00:00.000Z' }
const fork = (n: number): Talk => ({
  session: `b1600000-0000-4000-8000-00000000000${n}`,
  cwd,
  startedAt: '2026-10-02T08:00:00.000Z',
})
const said = [
  ['rename the module', 'renamed it'],
  ['now test it', 'all tests pass'],
] as const

let home: TestHome
let daemon: TestDaemon
beforeEach(() => {
  home = makeEmptyHome()
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})
const read = async (): Promise<readonly Run[]> => {
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  return (await daemon.call('runs.list', {})).runs
}
const bySession = (runs: readonly Run[], talk: Talk): Run => runs.find(({ session }) => session === talk.session) as Run

describe('B16: forks repeat the history of their parent', () => {
  it('counts copied usage, events and hits once, with rewritten ids and times and without a hint', async () => {
    writeSession(
      home.home,
      parent,
      said.flatMap(([prompt, answer], n) => turn(parent, n, prompt, answer, { message: `msg_p${n}` })),
    )
    for (const n of [1, 2, 3]) {
      const talk = fork(n)
      const at = `2026-10-02T0${n}:00:00.000Z`
      // New row ids and fork-time times. The first keeps the model's ids of the replies, the others have new ones too.
      const copies = said
        .flatMap(([prompt, answer], m) =>
          turn(talk, m, prompt, answer, {
            at,
            base: n * 1000 + m * 10,
            message: n === 1 ? `msg_p${m}` : `msg_f${n}${m}`,
            parent: m === 0 ? null : undefined,
          }),
        )
        .map((line) => line.replace(/"timestamp":"[^"]+"/, `"timestamp":"${at}"`))
      const own = turn(talk, 2, `own question ${n}`, `own answer ${n}`, {
        at: `2026-10-02T0${n}:05:00.000Z`,
        base: n * 1000 + 20,
        message: `msg_own${n}`,
      })
      writeSession(home.home, talk, [...copies, ...own])
    }
    const runs = await read()
    expect(runs.length).toBe(4)
    const original = bySession(runs, parent)
    expect(original).toMatchObject({ relation: null, events: 4, copied_events: 0 })
    for (const n of [1, 2, 3])
      expect(bySession(runs, fork(n))).toMatchObject({
        relation: 'fork',
        parent: original.id,
        forked_at: 4,
        events: 2,
        copied_events: 4,
      })
    expect(runs.reduce((sum, { tokens }) => sum + tokens.output, 0)).toBe(5 * 7)
    expect((await daemon.call('search.run', { text: 'renamed' })).total).toBe(1)
  })

  it('finds a fork by its row ids, whichever file is read first, and leaves it a run of its own', async () => {
    const rows = said.flatMap(([prompt, answer], n) => turn(parent, n, prompt, answer))
    writeSession(home.home, parent, [
      ...rows,
      ...turn(parent, 2, 'goes on', 'and on', { at: '2026-10-01T09:00:00.000Z' }),
    ])
    const talk = fork(4)
    const copied = rows.map((row) => row.replaceAll(parent.session, talk.session))
    writeSession(home.home, talk, [
      ...copied,
      ...turn(talk, 2, 'another way', 'done', { at: '2026-10-01T08:30:00.000Z', base: 4000, parent: null }),
    ])
    const runs = await read()
    const [a, b] = [bySession(runs, parent), bySession(runs, talk)]
    // The one that went its own way first is the original.
    expect([a.relation, b.relation].sort()).toEqual([null, 'fork'].sort())
    expect(runs.reduce((sum, { tokens }) => sum + tokens.output, 0)).toBe(4 * 7)
  })

  it('does not take the same task, asked twice, for a fork', async () => {
    for (const [n, talk] of [parent, fork(5)].entries())
      writeSession(
        home.home,
        talk,
        said.flatMap(([prompt, answer], m) =>
          turn(talk, m, prompt, answer, { base: n * 500 + m * 10, parent: m === 0 ? null : undefined }),
        ),
      )
    const runs = await read()
    expect(runs.map(({ relation }) => relation)).toEqual([null, null])
  })
})
