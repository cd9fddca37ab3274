import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Run } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { layHermesHome, writeDatabase } from '../kit/hermes-home.ts'

let home: TestHome
let daemon: TestDaemon | null = null
beforeEach(() => {
  home = makeEmptyHome()
})
afterEach(async () => {
  await daemon?.stop()
  daemon = null
  home.remove()
})

const read = async (): Promise<ReadonlyMap<string, Run>> => {
  daemon ??= await startDaemon(home)
  await daemon.call('sync.now', {})
  await daemon.idle()
  const { runs } = await daemon.call('runs.list', {})
  return new Map(runs.map((run) => [run.session, run]))
}
const get = (runs: ReadonlyMap<string, Run>, session: string): Run => {
  const run = runs.get(session)
  if (run === undefined) throw new Error(`no run of ${session}`)
  return run
}

describe('the history of Hermes', () => {
  it('shows a rotated chain as one line of runs, what they share counted once', async () => {
    layHermesHome(home.home, 'state-db-v25')
    const runs = await read()
    expect(runs.size).toBe(11)
    const chain = [
      '20261130_161642_a086b2',
      '20261130_161653_a2cad3',
      '20261130_161653_cdf321',
      '20261130_161653_587d95',
    ]
    expect(chain.map((session) => get(runs, session).calls.total)).toEqual([4, 3, 3, 1])
    for (const [at, session] of chain.entries()) {
      const before = chain[at - 1]
      if (before === undefined)
        expect(get(runs, session)).toMatchObject({ relation: null, parent: null, copied_events: 0 })
      else expect(get(runs, session)).toMatchObject({ relation: 'fork', parent: get(runs, before).id })
    }
    expect(chain.map((session) => get(runs, session).tokens.input)).toEqual([6383, 3207, 3219, 2151])
    const child = get(runs, '20261130_161626_abc293')
    expect(child).toMatchObject({
      relation: 'subagent',
      parent: get(runs, '20261130_161616_a96282').id,
      status: 'no_conversation',
    })
    const { events } = (await daemon?.call('runs.events', { run: get(runs, '20261130_161616_a96282').id })) ?? {
      events: [],
    }
    expect(events.find(({ tool }) => tool === 'delegate_task')?.subagent).toBe(child.id)
    for (const run of runs.values())
      expect(run).toMatchObject({ runtime: 'hermes', source_state: 'present', unreadable_lines: 0 })
  })

  it('counts a session that goes on, without taking its growth for rewriting', async () => {
    const hermesHome = layHermesHome(home.home, 'state-db-v25')
    const session = '20261130_161551_d5a626'
    const before = get(await read(), session)
    writeDatabase(hermesHome, (db) => {
      const insert = db.prepare(
        'insert into messages (session_id, role, content, timestamp, finish_reason) values (?, ?, ?, ?, ?)',
      )
      insert.run(session, 'user', 'and once more', 1796055500, null)
      insert.run(session, 'assistant', 'once more', 1796055501, 'stop')
      db.exec(`update sessions set input_tokens = 7000, api_call_count = 5, title = 'Twice' where id = '${session}'`)
    })
    const after = get(await read(), session)
    expect(after).toMatchObject({ title: 'Twice', source_state: 'present', events: before.events + 2 })
    expect(after.tokens.input).toBe(7000)
    // Totals alone, with a daemon that has to bring its reader back.
    await daemon?.stop()
    daemon = null
    writeDatabase(hermesHome, (db) => db.exec(`update sessions set input_tokens = 8000 where id = '${session}'`))
    const later = get(await read(), session)
    expect(later).toMatchObject({ source_state: 'present', events: after.events })
    expect(later.tokens.input).toBe(8000)
    // And what is kept outlives the database.
    fs.rmSync(path.join(hermesHome, 'state.db'))
    const gone = get(await read(), session)
    expect(gone).toMatchObject({ source_state: 'vanished', events: after.events })
  })
})
