import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readSession, type SessionReading } from '../kit/read-session.ts'

// B11: one link to a row that was never written hid everything but the last message.
let directory = ''
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'reprise-b11-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const id = (n: number): string => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
const message = (n: number, parent: number | null): object => ({
  type: 'user',
  uuid: id(n),
  parentUuid: parent === null ? null : id(parent),
  message: { role: 'user', content: `message ${n}` },
})

function read(rows: readonly object[]): SessionReading {
  const file = join(directory, 's.jsonl')
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return readSession(claudeCode, looseUnit(file, 's'))
}

it('shows all 40 messages when the parent of one does not exist', () => {
  const rows: object[] = []
  for (let n = 1; n <= 40; n++) rows.push(message(n, n === 1 ? null : n === 38 ? 999 : n - 1))
  // A checkpoint takes the id of a message: another kind of record, another space of ids.
  rows.splice(20, 0, {
    type: 'file-history-snapshot',
    messageId: id(20),
    snapshot: { messageId: id(20), trackedFileBackups: {}, timestamp: '2026-01-01T00:00:00.000Z' },
  })
  const { events, summary } = read(rows)
  const messages = events.filter(({ kind }) => kind === 'prompt')
  expect(messages.map((event) => event.summary)).toEqual(Array.from({ length: 40 }, (_, at) => `message ${at + 1}`))
  expect(messages.filter(({ brokenLink }) => brokenLink).map((event) => event.summary)).toEqual(['message 38'])
  expect(summary).toMatchObject({ brokenLinks: 1, roots: 1, cyclesCut: 0, repeatedRows: 0, checkpoints: 1 })
  const checkpoint = events.find(({ kind }) => kind === 'checkpoint')
  expect(checkpoint?.parentSeq).toBe(messages[19]?.seq)
})

it('keeps both branches of a fork', () => {
  const { events } = read([message(1, null), message(2, 1), message(3, 2), message(4, 2)])
  expect(events.map(({ parentSeq }) => parentSeq)).toEqual([null, 1, 2, 2])
})

it('cuts a circle and says so', () => {
  const { events, summary } = read([
    message(1, null),
    message(2, 4),
    message(3, 2),
    message(4, 3),
    message(5, 5),
    message(6, 4),
  ])
  expect(events.map(({ parentSeq }) => parentSeq)).toEqual([null, null, 2, 3, null, 4])
  expect(events.map(({ brokenLink }) => brokenLink)).toEqual([false, false, false, false, false, false])
  expect(summary).toMatchObject({ cyclesCut: 2, brokenLinks: 0 })
})

it('mends a link when the parent is written after its child', () => {
  const { events, summary } = read([message(1, null), message(3, 2), message(2, 1)])
  expect(events.map(({ parentSeq, brokenLink }) => ({ parentSeq, brokenLink }))).toEqual([
    { parentSeq: null, brokenLink: false },
    { parentSeq: 3, brokenLink: false },
    { parentSeq: 1, brokenLink: false },
  ])
  expect(summary.brokenLinks).toBe(0)
})
