import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readSession, type SessionReading } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

// B16: forks repeat the history of their parent, some with new ids and times; it must be recognisable by what was said and done.
const directory = temporaryDirectory('b16')
const sessions = join(import.meta.dirname, '../fixtures/claude-code/sessions/projects/-home-dev-demo')

function read(name: string, text: string): SessionReading {
  const file = join(directory(), `${name}.jsonl`)
  writeFileSync(file, text)
  return readSession(claudeCode, looseUnit(file, name))
}
const keys = ({ events }: SessionReading): readonly string[] => events.flatMap((event) => event.keys)

it('recognises a copied prefix with rewritten ids, times and session', () => {
  const parent = readFileSync(join(sessions, '10000000-0000-4000-8000-000000000001.jsonl'), 'utf8')
  const original = read('parent', parent)
  for (let fork = 1; fork <= 3; fork++) {
    const copy = parent
      .replaceAll('10000000-0000-4000-8000-000000000001', `1000000${fork}-0000-4000-8000-0000000000ff`)
      .replace(/"uuid":"(.{8})/g, (_, head: string) => `"uuid":"z${fork}${head.slice(2)}`)
      .replace(/"parentUuid":"(.{8})/g, (_, head: string) => `"parentUuid":"z${fork}${head.slice(2)}`)
      .replaceAll('msg_00000', `msg_fork${fork}`)
      .replaceAll('toolu_00000', `toolu_fork${fork}`)
      .replace(/"timestamp":"[^"]*"/g, `"timestamp":"2026-12-0${fork}T00:00:00.000Z"`)
    const own = JSON.stringify({
      type: 'user',
      uuid: `new${fork}`,
      parentUuid: null,
      message: { role: 'user', content: `fork ${fork}` },
    })
    const forked = read(`fork${fork}`, `${copy}${own}\n`)
    expect(keys(forked).slice(0, -1)).toEqual(keys(original))
    expect(
      original.events
        .flatMap(({ rowIds }) => rowIds)
        .some((id) => forked.events.some(({ rowIds }) => rowIds.includes(id))),
    ).toBe(false)
  }
})

it('names the rows and the origin of a fork that kept its ids', () => {
  const parent = read('p', readFileSync(join(sessions, '30000000-0000-4000-8000-000000000001.jsonl'), 'utf8'))
  const fork = read('f', readFileSync(join(sessions, '30000000-0000-4000-8000-000000000002.jsonl'), 'utf8'))
  const known = new Set(parent.events.flatMap(({ rowIds }) => rowIds))
  const copied = fork.events.filter(({ rowIds }) => rowIds.some((id) => known.has(id)))
  // Calls share the row of their reply and have no row of their own.
  expect(copied.map(({ seq }) => seq)).toEqual(
    fork.events.filter(({ stretch, rowIds }) => stretch === 1 && rowIds.length > 0).map(({ seq }) => seq),
  )
  expect(keys(fork).slice(0, 6)).toEqual(keys(parent).slice(0, 6))
})
