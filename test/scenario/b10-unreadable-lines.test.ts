import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readGrowing, readSession } from '../kit/read-session.ts'

// B10: a reader that stops at the first bad line shows a session days shorter than it was.
let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-b10-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const prompt = (n: number): string =>
  JSON.stringify({
    type: 'user',
    uuid: `0000000${n}-0000-4000-8000-000000000000`,
    parentUuid: n === 1 ? null : `0000000${n - 1}-0000-4000-8000-000000000000`,
    message: { role: 'user', content: `prompt ${n} – ünïcode` },
  })

it('shows every good line and reports each bad one with its place', () => {
  const whole = prompt(6)
  const cutInCharacter = Buffer.from(whole).subarray(0, Buffer.from(whole).indexOf(0xc3) + 1)
  const content = Buffer.concat([
    Buffer.from(`${prompt(1)}\n{"type":"user","message":{"role":"us\n\n${prompt(2)}\n[1,2,3]\n${prompt(3)}\n`),
    Buffer.alloc(64),
    Buffer.from(`\n${prompt(4)}\n${prompt(5)}\n`),
    cutInCharacter,
  ])
  const file = join(directory, 's.jsonl')
  writeFileSync(file, content)
  const unit = looseUnit(file, 's')

  const reading = readSession(claudeCode, unit)
  expect(reading.events.map(({ kind, line }) => ({ kind, line }))).toEqual(
    [1, 4, 6, 8, 9].map((line) => ({ kind: 'prompt', line })),
  )
  expect(reading.unreadable.map(({ line, reason, repaired }) => ({ line, reason, repaired }))).toEqual([
    { line: 2, reason: 'not JSON: cut or damaged', repaired: false },
    { line: 5, reason: 'JSON, but an array and not an object', repaired: false },
    { line: 7, reason: 'NUL bytes', repaired: false },
  ])
  for (const { byte, bytes } of reading.unreadable) expect(content[byte + bytes]).toBe(10)
  expect(reading.cursor.byte).toBe(content.length - cutInCharacter.length)

  // The tail grows, one byte at a time: it is read again, and counted once.
  const grown = Buffer.concat([content.subarray(0, reading.cursor.byte), Buffer.from(`${whole}\n`)])
  const after = readGrowing(claudeCode, unit, grown, () => 1, directory)
  expect(after.events.length).toBe(6)
  expect(after.events.at(-1)).toMatchObject({ summary: 'prompt 6 – ünïcode', line: 10, brokenLink: false })
  expect(after.unreadable).toEqual(reading.unreadable)
})
