import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { linesFrom } from '../../daemon/runtimes/adapter.ts'
import { codex } from '../../daemon/runtimes/codex/index.ts'
import {
  type CodexRollout,
  codexCompressed,
  codexDocument,
  codexPlace,
  codexRollouts,
  codexThread,
  codexUnit,
  makeCodexHome,
} from '../kit/codex-home.ts'
import { type FinalEvent, looseUnit, readSession, type SessionReading } from '../kit/read-session.ts'
import { testSessions } from './session-suite.ts'

const fixtures = join(import.meta.dirname, '../fixtures')
const reverted = codexThread('resumed')

testSessions('Codex', {
  adapter: codex,
  makeHome: makeCodexHome,
  isSessionFile: (path) => path.endsWith('.jsonl') && basename(path).startsWith('rollout-') && !path.includes(reverted),
  sessionsElsewhere: () => [reverted, codexDocument, codexCompressed],
  writing: {
    session: reverted,
    append: (home) =>
      appendFileSync(
        codexPlace(home, codexRollouts['resumed-after-revert']),
        '{"timestamp":"2026-11-30T15:56:20.000Z","ordinal":23,"type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}\n',
      ),
    changeEarlier: (home) =>
      appendFileSync(
        codexPlace(home, codexRollouts.resumed),
        '{"type":"event_msg","payload":{"type":"shutdown_complete"}}\n',
      ),
  },
  unknownRecord: '{"timestamp":"2026-11-30T15:56:20.000Z","type":"never_written","payload":{}}',
})

const root = mkdtempSync(join(tmpdir(), 'reprise-codex-'))
let home = ''
beforeAll(() => {
  home = makeCodexHome(root).home
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const read = (name: CodexRollout): SessionReading => readSession(codex, codexUnit(home, codexThread(name)))
const shape = ({ kind, tool, ok, effectsState }: FinalEvent): readonly unknown[] => [kind, tool, ok, effectsState]
const calls = ({ events }: SessionReading): readonly FinalEvent[] => events.filter(({ kind }) => kind === 'tool')
const find = ({ events }: SessionReading, id: string): FinalEvent => {
  const event = events.find((each) => each.toolUseId === id)
  if (event === undefined) throw new Error(`no call ${id}`)
  return event
}

describe('Codex: recorded sessions', () => {
  it('reads edits, failing and passing tests, and parallel calls of a model with direct tools', () => {
    const reading = read('direct-edit-test-fix')
    expect(reading.events.map(shape)).toEqual([
      ['note', null, null, 'not_applicable'],
      ['context', null, null, 'not_applicable'],
      ['context', null, null, 'not_applicable'],
      ['tool_schema', null, null, 'not_applicable'],
      ['context', null, null, 'not_applicable'],
      ['prompt', null, null, 'not_applicable'],
      ['model', null, null, 'not_applicable'],
      ['tool', 'apply_patch', true, 'complete'],
      ['model', null, null, 'not_applicable'],
      ['tool', 'exec_command', false, 'none'],
      ['model', null, null, 'not_applicable'],
      ['tool', 'apply_patch', true, 'complete'],
      ['model', null, null, 'not_applicable'],
      ['tool', 'exec_command', true, 'none'],
      ['model', null, null, 'not_applicable'],
      ['tool', 'exec_command', true, 'none'],
      ['tool', 'exec_command', true, 'none'],
      ['model', null, null, 'not_applicable'],
    ])
    expect(reading.summary).toMatchObject({
      versions: ['0.171.0'],
      models: ['gpt-5.5'],
      workspaces: ['/home/dev/demo'],
      firstPrompt: 'make calc and test it',
      openCalls: 0,
      failed: false,
      requests: 6,
      rows: 48,
      tokens: { input: 621, output: 60, cache_read: 0, cache_write: 0 },
      tokensAreLowerBound: false,
      unknownRecords: {},
    })
    expect(reading.events.filter(({ kind }) => kind === 'model').map(({ tokens }) => tokens?.input)).toEqual([
      101, 102, 103, 104, 105, 106,
    ])
    const [first, second] = reading.events.filter(({ tool }) => tool === 'apply_patch')
    expect(first?.effects.map(({ path, change, addedLines }) => [path, change, addedLines])).toEqual([
      ['/home/dev/demo/calc.py', 'add', 6],
      ['/home/dev/demo/test_calc.py', 'add', 14],
    ])
    // The tree that the run really left behind (its exchange says so) has this very content.
    const final = z
      .object({ final_tree_sha256: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(fixtures, 'codex/exchanges/direct-edit-test-fix/run.json'), 'utf8')))
    expect(first?.effects[1]).toMatchObject({
      before: null,
      after: `sha256:${final.final_tree_sha256['test_calc.py']}`,
    })
    expect(second?.effects).toEqual([
      {
        path: '/home/dev/demo/calc.py',
        change: 'change',
        by: 'edit tool',
        before: null,
        after: null,
        addedLines: 1,
        removedLines: 1,
      },
    ])
  })

  it('puts commands and patches of a script under the call of the script', () => {
    const reading = read('code-mode-edit-test-fix')
    const scripts = calls(reading).filter(({ tool }) => tool === 'exec')
    expect(scripts.map(shape)).toEqual(Array(3).fill(['tool', 'exec', true, 'not_applicable']))
    const below = scripts.map(({ seq }) =>
      calls(reading)
        .filter(({ parentSeq }) => parentSeq === seq)
        .map(({ tool, ok, summary }) => [tool, ok, summary]),
    )
    expect(below).toEqual([
      [
        ['apply_patch', true, '/home/dev/demo/calc.py\n/home/dev/demo/test_calc.py'],
        ['exec_command', false, 'python3 -B test_calc.py'],
      ],
      [
        ['apply_patch', true, '/home/dev/demo/calc.py'],
        ['exec_command', true, 'python3 -B test_calc.py'],
      ],
      [
        ['exec_command', true, 'pwd; ls'],
        ['exec_command', true, 'git status --short'],
      ],
    ])
    expect(reading.events.filter(({ kind }) => kind === 'tool_schema').map(({ summary }) => summary)).toEqual([
      expect.stringContaining('12 tools: functions.exec, functions.wait'),
    ])
    expect(reading.summary).toMatchObject({ requests: 4, openCalls: 0 })
  })

  it('tells failures, refusals and what did not run apart', () => {
    const reading = read('failing-tools')
    expect(calls(reading).map(({ toolUseId, ok, effectsState }) => [toolUseId, ok, effectsState])).toEqual([
      ['call_1', false, 'none'],
      ['call_2', false, 'complete'],
      ['call_3', false, 'complete'],
      ['call_4', false, 'complete'],
      ['call_5', false, 'none'],
      // It was still running when the program ended and was killed; its record came last.
      ['call_6', false, 'none'],
      ['call_7', false, 'complete'],
      ['call_8', false, 'complete'],
    ])
    expect(find(reading, 'call_6').lines).toEqual([31, 33, 48])
    expect(
      reading.events.filter(({ kind }) => kind === 'denied').map(({ toolUseId, summary }) => [toolUseId, summary]),
    ).toEqual([
      ['call_4', expect.stringContaining('no network tools')],
      ['call_5', '/bin/bash: line 1: /home/dev/outside.txt: Read-only file system'],
      ['call_8', expect.stringContaining('denied by a hook')],
    ])
    expect(reading.summary).toMatchObject({ failed: false, openCalls: 0 })
  })

  it('reads a call of a server', () => {
    const reading = read('mcp-tool-call')
    expect(calls(reading).map(({ tool, ok, durationMs, summary }) => [tool, ok, durationMs, summary])).toEqual([
      ['mcp__labmcp__echo', true, 1, 'hi'],
    ])
  })

  it('reads approval, interruption and compaction, each record under its own turn', () => {
    const reading = read('approved-interrupted-compacted')
    const late = find(reading, 'call_3')
    // The command of the interrupted turn ended two turns later.
    expect(late).toMatchObject({ ok: false, durationMs: 1157, lines: [24, 26, 51] })
    expect(reading.events.filter(({ kind }) => kind === 'note').map(({ summary, ok }) => [summary, ok])).toEqual([
      [expect.stringContaining('session began: lab'), null],
      ['turn ended early: interrupted', false],
    ])
    const compaction = reading.events.find(({ kind }) => kind === 'compact')
    expect(compaction).toMatchObject({ summary: expect.stringContaining('SUMMARY'), lines: [35, 40] })
    expect(reading.events.filter(({ kind }) => kind === 'prompt').map(({ summary }) => summary)).toEqual([
      'escalate please',
      'interrupt me',
      'after compaction',
    ])
    expect(reading.summary).toMatchObject({ requests: 5, tokens: { input: 515, output: 50 } })
    // One process of an app server: nothing says that it was started anew.
    expect(reading.stretches.map(({ cause }) => cause)).toEqual(['start'])
  })

  it('begins a stretch with every process of `exec`, and with a revert', () => {
    const reading = read('resumed')
    expect(reading.stretches.map(({ cause, firstSeq }) => [cause, firstSeq])).toEqual([
      ['start', 1],
      ['resume', 10],
      ['fork', 14],
    ])
    expect(reading.events.map(({ stretch }) => stretch)).toEqual([...Array(9).fill(1), ...Array(4).fill(2), 3])
    expect(reading.events.at(-1)).toMatchObject({ kind: 'resume', summary: 'went back to before record 20' })
    // One thread in two files is one run, and what it used is counted once.
    expect(reading.summary).toMatchObject({
      session: reverted,
      rows: 38,
      agentTitle: 'Named thread',
      otherSessionIds: [],
      tokens: { input: 406, output: 40 },
      requests: 4,
    })
  })

  it('names the thread and the record a fork goes on from, and counts only its own usage', () => {
    const parent = read('resumed')
    const fork = read('forked')
    const [first] = fork.events
    expect(first).toMatchObject({ kind: 'resume', originSession: reverted })
    // The identity of the last record they share is one that the parent has given to an event of its own.
    const shared = first?.rowIds.filter((id) => parent.events.some(({ rowIds }) => rowIds.includes(id)))
    expect(shared).toEqual([`${reverted}#33`])
    expect(parent.events.find(({ rowIds }) => rowIds.includes(`${reverted}#33`))?.summary).toBe('Second done')
    expect(fork.summary).toMatchObject({ tokens: { input: 101, output: 10 }, requests: 1 })
    expect(fork.stretches.map(({ cause }) => cause)).toEqual(['fork'])
  })

  it('links a subagent to the call that started it', () => {
    const parent = read('subagent-parent')
    const child = codexUnit(home, codexThread('subagent-child'))
    expect(child).toMatchObject({ relation: 'subagent', parentSession: codexThread('subagent-parent') })
    expect(find(parent, 'call_1')).toMatchObject({ tool: 'collaboration.spawn_agent', subagentSession: child.session })
    const reading = readSession(codex, child)
    expect(reading.summary).toMatchObject({ session: child.session, requests: 2, otherSessionIds: [] })
    expect(reading.events.filter(({ kind }) => kind === 'prompt').map(({ summary }) => summary)).toEqual([
      expect.stringContaining('NEW_TASK'),
    ])
  })

  it('reads the older history mode, which has no command events', () => {
    const reading = read('legacy-history-mode')
    expect(calls(reading).map(({ tool, ok, effectsState }) => [tool, ok, effectsState])).toEqual([
      ['exec_command', false, 'none'],
      ['apply_patch', true, 'complete'],
    ])
    expect(find(reading, 'call_2').effects.map(({ path, change }) => [path, change])).toEqual([
      ['/home/dev/demo/a.txt', 'add'],
    ])
    expect(reading.events.filter(({ kind }) => kind === 'prompt')).toHaveLength(1)
    expect(reading.events.filter(({ kind }) => kind === 'model')).toHaveLength(3)
    expect(reading.summary).toMatchObject({ requests: 3, tokens: { input: 306, output: 30 } })
  })

  it('reads a compressed session as the plain one', () => {
    const unit = codexUnit(home, codexCompressed)
    expect(linesFrom(unit)).toBe('compressed')
    const { events, summary } = readSession(codex, unit)
    expect(events.map(({ kind, summary: words }) => [kind, words])).toEqual(
      read('mcp-tool-call').events.map(({ kind, summary: words }) => [kind, words]),
    )
    expect(summary.session).toBe(codexCompressed)
  })

  it('keeps the session when its file is archived', () => {
    const name = codexRollouts['failing-tools']
    const from = codexPlace(home, name)
    const to = join(home, 'archived_sessions', name)
    const before = codexUnit(home, codexThread('failing-tools'))
    mkdirSync(dirname(to), { recursive: true })
    renameSync(from, to)
    const after = codexUnit(home, codexThread('failing-tools'))
    renameSync(to, from)
    expect(after).toEqual({ ...before, file: to })
  })
})

const counts = z.record(z.string(), z.number())
const measured = z.object({
  bytes: z.number(),
  lines: z.number(),
  readable_rows: z.number(),
  record_types: counts,
  cli_versions: counts.default({}),
  session_ids: counts,
  cwds: counts.optional(),
  models: counts.default({}),
  tool_calls: z.number(),
  tool_results: z.number(),
  calls_without_result: z.number(),
  results_without_call: z.number(),
  tools: counts.default({}),
  usage_sum_of_segment_finals: z
    .object({ input_tokens: z.number(), cached_input_tokens: z.number(), output_tokens: z.number() })
    .optional(),
  min_timestamp: z.string(),
  max_timestamp: z.string(),
  timestamp_steps_back: z.number(),
})
const all = z
  .record(z.string(), z.unknown())
  .parse(JSON.parse(readFileSync(join(fixtures, 'wild/expected.json'), 'utf8')))
const expected = Object.entries(all)
  .filter(([name]) => name.startsWith('codex-') && name.endsWith('.jsonl'))
  .map(([name, value]) => [name, measured.parse(value)] as const)

describe('Codex: files from the wild', () => {
  it.each(expected)('%s reads as measured', (name, truth) => {
    const reading = readSession(codex, looseUnit(join(fixtures, 'wild', name), name, '/home/dev/.codex'))
    const { summary } = reading
    expect(reading.cursor).toEqual({ byte: truth.bytes, line: truth.lines, open: null })
    expect(reading.unreadable).toEqual([])
    expect(summary.rows).toBe(truth.readable_rows)
    expect(summary.recordTypes).toEqual(truth.record_types)
    expect(summary.versions).toEqual(Object.keys(truth.cli_versions))
    expect([summary.session]).toEqual(Object.keys(truth.session_ids))
    if (truth.cwds !== undefined) expect(summary.workspaces).toEqual(Object.keys(truth.cwds))
    expect(summary.models).toEqual(Object.keys(truth.models))
    expect(summary.startedAt).toBe(truth.min_timestamp)
    expect(summary.endedAt).toBe(truth.max_timestamp)
    expect(summary.clockStepsBack).toBe(truth.timestamp_steps_back)
    expect(summary.unknownRecords).toEqual({})
    const known = calls(reading).filter(({ tool }) => tool !== null)
    expect(known.length).toBe(truth.tool_calls)
    expect(known.filter(({ ok }) => ok !== null).length).toBe(truth.tool_results - truth.results_without_call)
    expect(summary.openCalls).toBe(truth.calls_without_result)
    const found: Record<string, number> = {}
    for (const { tool } of known) found[tool ?? ''] = (found[tool ?? ''] ?? 0) + 1
    expect(found).toEqual(truth.tools)
    const usage = truth.usage_sum_of_segment_finals
    expect(summary.tokensAreLowerBound).toBe(usage === undefined)
    expect(summary.tokens).toEqual({
      input: (usage?.input_tokens ?? 0) - (usage?.cached_input_tokens ?? 0),
      output: usage?.output_tokens ?? 0,
      cache_read: usage?.cached_input_tokens ?? 0,
      cache_write: 0,
    })
  })

  const wild = (name: string) =>
    readSession(codex, looseUnit(join(fixtures, 'wild', name), name.replace(/\.jsonl$/, ''), '/home/dev/.codex'))

  it('counts prompts and answers that stand twice once', () => {
    const { events } = wild('codex-0.41-first-envelope.jsonl')
    expect(events.map(({ kind, lines }) => [kind, lines])).toEqual([
      ['note', [1]],
      ['context', [2]],
      ['prompt', [3, 4]],
      ['model', [7, 8, 10, 11]],
      ['prompt', [12, 13]],
      ['model', [16, 17, 19, 20]],
    ])
  })

  it('reads bare items: noise is neither event nor damage, the directory stands in words only', () => {
    const { events, summary } = wild('codex-2025-bare-items-crlf.jsonl')
    expect(summary.workspaces).toEqual([expect.stringMatching(/\/projects\/ramov-duvapid-fafebi$/)])
    expect(events.filter(({ kind }) => kind === 'prompt').map(({ line }) => line)).toEqual([6, 23])
    expect(events.filter(({ kind }) => kind === 'instructions').map(({ line }) => line)).toEqual([3])
    expect(events.filter(({ kind }) => kind === 'model')).toHaveLength(5)
  })

  it('reads the single document of the first format as lines', () => {
    const unit = codexUnit(home, codexDocument)
    expect(linesFrom(unit)).toBe('document')
    const { events, summary } = readSession(codex, unit)
    expect(events.map(({ kind, tool, ok }) => [kind, tool, ok])).toEqual([
      ['note', null, null],
      ['prompt', null, null],
      ['model', null, null],
      ['tool', 'shell', null],
    ])
    expect(events[1]?.summary).toContain('\r')
    expect(summary).toMatchObject({
      session: codexDocument,
      rows: 3,
      openCalls: 1,
      versions: [],
      models: [],
      workspaces: [],
    })
    expect(summary.startedAt).toBe('2025-03-29T11:03:20.415Z')
  })
})
