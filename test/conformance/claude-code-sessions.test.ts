import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { looseUnit, readSession } from '../kit/read-session.ts'
import { testSessions } from './session-suite.ts'

const fixtures = join(import.meta.dirname, '../fixtures')

testSessions('Claude Code', {
  adapter: claudeCode,
  makeHome(root) {
    const home = join(root, 'home', '.claude')
    mkdirSync(home, { recursive: true })
    cpSync(join(fixtures, 'claude-code/sessions/projects'), join(home, 'projects'), { recursive: true })
    cpSync(join(fixtures, 'claude-code/sessions/file-history'), join(home, 'file-history'), { recursive: true })
    cpSync(join(fixtures, 'claude-code/actual-use/projects'), join(home, 'projects'), { recursive: true })
    for (const name of Object.keys(expected)) {
      const folder = join(home, 'projects', '-wild')
      mkdirSync(folder, { recursive: true })
      cpSync(join(fixtures, 'wild', name), join(folder, name))
    }
    const userHome = join(root, 'home')
    return { home, surroundings: { platform: 'linux', userHome, env: {}, systemRoot: root, now: () => new Date(0) } }
  },
  isSessionFile: (path) => path.endsWith('.jsonl'),
  unknownRecord: '{"type":"never-written","uuid":"00000000-0000-4000-8000-00000000dead","parentUuid":null}',
})

const counts = z.record(z.string(), z.number())
const measured = z.object({
  bytes: z.number(),
  lines: z.number(),
  blank_lines: z.number(),
  unreadable_lines: z.array(z.object({ line: z.number(), bytes: z.number(), why: z.string() })).default([]),
  readable_rows: z.number(),
  rows_a_reader_must_deliver: z.number().optional(),
  record_types: counts,
  record_types_with_recovered_rows: counts.optional(),
  versions: counts.default({}),
  distinct_session_ids: z.number(),
  session_ids: counts.default({}),
  cwds: counts.default({}),
  is_sidechain: counts.default({}),
  repeated_uuid_rows: z.number(),
  uuids_on_two_rows_after_repair: z.number().default(0),
  roots: z.number(),
  broken_parent_links: z.number(),
  broken_parent_lines: z.array(z.number()).default([]),
  distinct_message_ids: z.number(),
  synthetic_rows: z.number(),
  models: counts.default({}),
  usage_last_row_per_message_id: z.object({
    input_tokens: z.number(),
    output_tokens: z.number(),
    cache_creation_input_tokens: z.number(),
    cache_read_input_tokens: z.number(),
  }),
  tool_calls: z.number(),
  tool_results: z.number(),
  calls_without_result: z.number(),
  results_without_call: z.number(),
  error_results: z.number().default(0),
  tools: counts.default({}),
  api_error_rows: z.number(),
  min_timestamp: z.string().optional(),
  max_timestamp: z.string().optional(),
  timestamp_steps_back: z.number().default(0),
})

const all = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(readFileSync(join(fixtures, 'wild/expected.json'), 'utf8')))
const expected = Object.fromEntries(
  Object.entries(all)
    .filter(([name]) => name.startsWith('claude-'))
    .map(([name, value]) => [name, measured.parse(value)]),
)

describe('Claude Code: files from the wild', () => {
  it.each(Object.entries(expected))('%s reads as measured', (name, truth) => {
    const reading = readSession(claudeCode, looseUnit(join(fixtures, 'wild', name), name.replace('.jsonl', '')))
    const { events, summary, unreadable } = reading
    const calls = events.filter(({ kind, tool }) => kind === 'tool' && tool !== null)

    expect(reading.cursor).toEqual({ byte: truth.bytes, line: truth.lines, open: null })
    expect(reading.blank).toBe(truth.blank_lines)
    expect(unreadable.map(({ line, bytes, repaired }) => ({ line, bytes, repaired }))).toEqual(
      truth.unreadable_lines.map(({ line, bytes }) => ({ line, bytes, repaired: true })),
    )
    expect(summary.rows).toBe(truth.rows_a_reader_must_deliver ?? truth.readable_rows)
    expect(summary.recordTypes).toEqual(truth.record_types_with_recovered_rows ?? truth.record_types)
    expect(summary.repeatedRows).toBe(truth.repeated_uuid_rows + truth.uuids_on_two_rows_after_repair)
    expect([...summary.versions]).toEqual(Object.keys(truth.versions))
    expect(new Set(summary.workspaces)).toEqual(new Set(Object.keys(truth.cwds)))
    expect(summary.otherSessionIds.length).toBe(Math.max(0, truth.distinct_session_ids - 1))
    if (truth.distinct_session_ids > 0) expect(Object.keys(truth.session_ids)).toContain(summary.session)
    else expect(summary.session).toBe(name.replace('.jsonl', ''))

    expect(summary.roots).toBe(truth.roots)
    expect(summary.brokenLinks).toBe(truth.broken_parent_links)
    expect(events.filter(({ brokenLink }) => brokenLink).map(({ line }) => line)).toEqual(truth.broken_parent_lines)
    expect(summary.clockStepsBack).toBe(truth.timestamp_steps_back)
    expect(summary.startedAt).toBe(truth.min_timestamp ?? null)
    expect(summary.endedAt).toBe(truth.max_timestamp ?? null)

    const usage = truth.usage_last_row_per_message_id
    expect(summary.tokens).toEqual({
      input: usage.input_tokens,
      output: usage.output_tokens,
      cache_read: usage.cache_read_input_tokens,
      cache_write: usage.cache_creation_input_tokens,
    })
    expect(events.filter(({ kind }) => kind === 'model').length).toBe(truth.distinct_message_ids - truth.synthetic_rows)
    expect(events.filter(({ kind }) => kind === 'error').length).toBe(truth.api_error_rows)

    expect(calls.length).toBe(truth.tool_calls)
    expect(calls.filter(({ ok }) => ok !== null).length).toBe(truth.tool_results - truth.results_without_call)
    expect(calls.filter(({ ok }) => ok === false).length).toBe(truth.error_results)
    expect(summary.openCalls).toBe(truth.calls_without_result)
    expect(events.filter(({ kind, tool }) => kind === 'tool' && tool === null).length).toBe(truth.results_without_call)
    expect(count(calls.map(({ tool }) => tool ?? ''))).toEqual(truth.tools)
    expect(summary.unknownRecords).toEqual({})
  })

  it('a sidechain in the main file is no part of the conversation', () => {
    const { events, summary } = readWild('claude-2.0-sidechain-in-main-file.jsonl')
    expect(events.filter(({ lane }) => lane === 'sidechain').map(({ line }) => line)).toEqual([1, 2])
    expect(events.find(({ kind, lane }) => kind === 'prompt' && lane === 'main')?.line).toBe(3)
    expect(summary.firstPrompt).toBe('delaza')
    expect(summary.models).toEqual(['claude-sonnet-4-5-20250929'])
    expect(summary.tokensAreLowerBound).toBe(true)
  })

  it('a file of snapshots only has no conversation and 22 checkpoints', () => {
    const { summary } = readWild('claude-2.0-snapshots-only.jsonl')
    expect(summary).toMatchObject({
      conversation: false,
      checkpoints: 22,
      workspaces: [],
      versions: [],
      startedAt: null,
    })
  })

  it('two session ids along one chain are one session', () => {
    const { summary } = readWild('claude-2.1-two-session-ids.jsonl')
    expect(summary.session).toBe('b1f01b29-5caa-4039-8581-2110c060b81b')
    expect(summary.otherSessionIds).toEqual(['7c4cf05e-e7f8-465f-adb2-23e013786e5e'])
    expect(summary.tokensAreLowerBound).toBe(true)
  })

  it('a restarted file keeps its orphans and the error that ended it', () => {
    const { events, summary } = readWild('claude-2.1-file-restarted.jsonl')
    expect(summary.failed).toBe(true)
    expect(events.map(({ kind }) => kind)).toEqual(['model', 'tool', 'context', 'error'])
    expect(events[0]).toMatchObject({ brokenLink: true, parentSeq: null })
  })

  it('the title a person gave wins', () => {
    expect(readWild('claude-2.1.205-row-types.jsonl').summary.agentTitle).toBe('Kadune vataneb deg seve')
  })
})

function readWild(name: string): ReturnType<typeof readSession> {
  return readSession(claudeCode, looseUnit(join(fixtures, 'wild', name), name.replace('.jsonl', '')))
}

function count(names: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {}
  for (const name of names) found[name] = (found[name] ?? 0) + 1
  return found
}
