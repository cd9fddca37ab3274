import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { codex } from '../../../../daemon/runtimes/codex/index.ts'
import { looseUnit, readSession, type SessionReading } from '../../../kit/read-session.ts'

const scratch = mkdtempSync(join(tmpdir(), 'reprise-codex-unit-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
export const thread = '01a22d2b-0000-7000-8000-000000000001'
let n = 0

/** Reads a session made of these records, a second apart. */
export function readRecords(records: readonly Readonly<Record<string, unknown>>[], session = thread): SessionReading {
  const file = join(scratch, `${++n}.jsonl`)
  const lines = records.map((record, at) =>
    JSON.stringify({ timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, at)).toISOString(), ...record }),
  )
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''))
  return readSession(codex, looseUnit(file, session, '/home/dev/.codex'))
}

export const item = (payload: Readonly<Record<string, unknown>>, metadata?: unknown) => ({
  type: 'response_item',
  payload,
  ...(metadata === undefined ? {} : { metadata }),
})
export const event = (type: string, payload: Readonly<Record<string, unknown>> = {}) => ({
  type: 'event_msg',
  payload: { type, ...payload },
})
export const meta = (payload: Readonly<Record<string, unknown>> = {}) => ({
  type: 'session_meta',
  payload: { id: thread, cwd: '/w', cli_version: '0.171.0', history_mode: 'paginated', ...payload },
})
export const said = (role: 'user' | 'assistant' | 'developer', text: string) =>
  item({ type: 'message', role, content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }] })
export const call = (id: string, name: string, input: unknown) =>
  item({ type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) })
export const output = (id: string, text: unknown) => item({ type: 'function_call_output', call_id: id, output: text })
