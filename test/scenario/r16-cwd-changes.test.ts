import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R16: the working directory can change in the middle of a session; it belongs to the row, not to the session.
const directory = temporaryDirectory('r16')
const actualUse = join(import.meta.dirname, '../fixtures/claude-code/actual-use/projects/-home-dev-ws-demo')

it('gives each event the directory its row names, and keeps the order of directories', () => {
  const rows = ['/w/one', undefined, '/w/gone', '/w/one'].map((cwd, at) => ({
    type: 'user',
    uuid: `u${at}`,
    parentUuid: at === 0 ? null : `u${at - 1}`,
    cwd,
    message: { role: 'user', content: `prompt ${at}` },
  }))
  const file = join(directory(), 's.jsonl')
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const { events, summary } = readSession(claudeCode, looseUnit(file, 's'))
  expect(events.map(({ cwd }) => cwd)).toEqual(['/w/one', '/w/one', '/w/gone', '/w/one'])
  expect(summary.workspaces).toEqual(['/w/one', '/w/gone'])
})

it('shows the switch that a shell command made', () => {
  const { events, summary } = readSession(
    claudeCode,
    looseUnit(join(actualUse, '90000000-0000-4000-8000-000000000001.jsonl'), 's'),
  )
  expect(summary.workspaces).toEqual(['/home/dev/ws/demo', '/home/dev/ws/demo/pkg'])
  const change = events.find((event) => event.summary.startsWith('environment changed'))
  expect(change).toMatchObject({ kind: 'context', cwd: '/home/dev/ws/demo/pkg' })
  expect(summary.stretches.map(({ cwd }) => cwd)).toEqual([
    '/home/dev/ws/demo',
    '/home/dev/ws/demo',
    '/home/dev/ws/demo',
  ])
})
