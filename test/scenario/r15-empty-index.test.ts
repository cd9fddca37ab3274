import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// R15: an index file of 0 bytes hid 7,806 sessions.
const directory = temporaryDirectory('r15')

it('discovers sessions from the files, whatever an index says', () => {
  const home = join(directory(), '.claude')
  const folder = join(home, 'projects', '-w')
  mkdirSync(folder, { recursive: true })
  for (let n = 0; n < 250; n++) writeFileSync(join(folder, `s${n}.jsonl`), '{"type":"mode","mode":"normal"}\n')
  writeFileSync(join(folder, 'sessions-index.json'), '')
  writeFileSync(join(home, 'history.jsonl'), '')
  const problems: unknown[] = []
  expect([...claudeCode.listSessions(home, (problem) => problems.push(problem))].length).toBe(250)
  expect(problems).toEqual([])
})
