import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R30: order comes from the file, times are instants in UTC, and a clock that was set back shows.
const directory = temporaryDirectory('r30')

it('keeps file order, turns offsets into UTC and counts steps back', () => {
  const times = [
    '2026-10-25T00:30:00.000+08:00',
    '2026-10-24T23:30:00.000-07:00',
    '2026-10-25T06:29:59.999Z',
    '2026-10-25T06:29:59.999Z',
    'not a time',
    '2026-10-25T02:30:00.000+02:00',
    '2026-10-25T02:30:00.000+01:00',
  ]
  const rows = times.map((timestamp, at) => ({
    type: 'user',
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    timestamp,
    message: { role: 'user', content: `prompt ${at}` },
  }))
  const file = join(directory(), 's.jsonl')
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { events, summary } = readSession(claudeCode, looseUnit(file, 's'))
  expect(events.map((event) => event.summary)).toEqual(times.map((_, at) => `prompt ${at}`))
  expect(events.map(({ at }) => at)).toEqual([
    '2026-10-24T16:30:00.000Z',
    '2026-10-25T06:30:00.000Z',
    '2026-10-25T06:29:59.999Z',
    '2026-10-25T06:29:59.999Z',
    null,
    '2026-10-25T00:30:00.000Z',
    '2026-10-25T01:30:00.000Z',
  ])
  expect(summary).toMatchObject({
    clockStepsBack: 2,
    startedAt: '2026-10-24T16:30:00.000Z',
    endedAt: '2026-10-25T06:30:00.000Z',
  })
})
