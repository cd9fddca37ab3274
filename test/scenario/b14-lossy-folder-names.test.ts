import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { findMixedFolders, folderNameOf, mayHold } from '../../daemon/runtimes/claude-code/folder-names.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// B14: different directories share one folder of sessions, because its name replaces every other character by a dash.
const directory = temporaryDirectory('b14')
const long = `/home/dev/${'deep/'.repeat(60)}end`
const clashing = ['/w/a-b', '/w/a/b', '/w/a_b']
const others = ['/w/日本', '/w/中国', '/w/🚀', long]

it('takes the directory from the rows, never from the folder name', () => {
  const home = join(directory(), '.claude')
  for (const [at, cwd] of [...clashing, ...others].entries()) {
    const { name, exact } = folderNameOf(cwd)
    const folder = join(home, 'projects', exact ? name : `${name}-abc123`)
    mkdirSync(folder, { recursive: true })
    // The first row names no directory yet.
    const rows = [
      { type: 'user', uuid: `a${at}`, parentUuid: null, cwd: null, message: { role: 'user', content: 'hi' } },
      { type: 'user', uuid: `b${at}`, parentUuid: `a${at}`, cwd, message: { role: 'user', content: 'again' } },
    ]
    writeFileSync(join(folder, `s${at}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  }
  const sessions = [...claudeCode.listSessions(home, () => {})].map((unit) => ({
    session: unit.session,
    folder: String(unit.meta.folder),
    cwd: readSession(claudeCode, unit).summary.workspaces[0] ?? null,
  }))
  const byName = (a: { session: string }, b: { session: string }): number => (a.session < b.session ? -1 : 1)
  expect(sessions.sort(byName).map(({ cwd }) => cwd)).toEqual([...clashing, ...others])

  const mixed = findMixedFolders(sessions)
  expect(mixed.get('-w-a-b')).toEqual([...clashing].sort())
  expect(mixed.get('-w---')).toEqual(['/w/中国', '/w/日本', '/w/🚀'])
  expect(mixed.size).toBe(2)
  expect(new Set(sessions.map(({ folder }) => folder)).size).toBe(3)
  for (const { folder, cwd } of sessions) expect(mayHold(folder, cwd ?? '')).toBe(true)
  expect(mayHold('-w-a-b', '/w/a.c')).toBe(false)
})
