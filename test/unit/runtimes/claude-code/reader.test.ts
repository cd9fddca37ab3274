import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { claudeCode } from '../../../../daemon/runtimes/claude-code/index.ts'
import { type FinalEvent, looseUnit, readSession, type SessionReading } from '../../../kit/read-session.ts'

const projects = join(import.meta.dirname, '../../../fixtures/claude-code/sessions/projects')
const actualUse = join(import.meta.dirname, '../../../fixtures/claude-code/actual-use/projects/-home-dev-ws-demo')

function read(n: string, folder = '-home-dev-demo'): SessionReading {
  const session = `${n.slice(0, 8)}-0000-4000-8000-00000000000${n.slice(9)}`
  return readSession(claudeCode, looseUnit(join(projects, folder, `${session}.jsonl`), session))
}

function readActualUse(): SessionReading {
  const session = '90000000-0000-4000-8000-000000000001'
  return readSession(claudeCode, looseUnit(join(actualUse, `${session}.jsonl`), session))
}

function readText(text: string, session = 's'): SessionReading {
  const directory = mkdtempSync(join(tmpdir(), 'reprise-reader-'))
  try {
    const file = join(directory, `${session}.jsonl`)
    writeFileSync(file, text)
    return readSession(claudeCode, looseUnit(file, session))
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

const calls = ({ events }: SessionReading): readonly FinalEvent[] => events.filter(({ kind }) => kind === 'tool')
const kinds = ({ events }: SessionReading, kind: string): readonly FinalEvent[] =>
  events.filter((event) => event.kind === kind)

describe('calls and their results', () => {
  it('finds 9 calls of which 7 failed', () => {
    const found = calls(read('40000000-1'))
    expect(found.map(({ tool, ok }) => `${tool} ${ok}`)).toEqual([
      'Read false',
      'Edit false',
      'Bash false',
      'NoSuchTool false',
      'Read false',
      'Bash false',
      'Bash true',
      'Bash false',
      'Read true',
    ])
    expect(found.every(({ durationMs }) => durationMs !== null && durationMs >= 0)).toBe(true)
  })

  it('hangs parallel calls on one reply and the next reply on the last result', () => {
    const { events } = read('40000000-1')
    const reply = events.find(({ messageId, kind }) => kind === 'model' && messageId === 'msg_000007lab')
    const parallel = events.filter(({ kind, parentSeq }) => kind === 'tool' && parentSeq === reply?.seq)
    expect(parallel.map(({ toolUseId }) => toolUseId)).toEqual([
      'toolu_000007lab',
      'toolu_000008lab',
      'toolu_000009lab',
    ])
    expect(events.find(({ messageId, kind }) => kind === 'model' && messageId === 'msg_000008lab')?.parentSeq).toBe(
      parallel[2]?.seq,
    )
  })

  it('names the lines of a call: its own and its result', () => {
    expect(calls(read('40000000-1'))[1]?.lines).toEqual([27, 28])
  })

  it('rebuilds what the edit tools did to files, byte for byte', () => {
    const effects = calls(read('10000000-1')).flatMap((event) => event.effects)
    const original = 'sha256:52b5c12b52e6c79cc18511ecd73720737b6739c9d033bc4b8778904bf0e6f15c'
    const final = 'sha256:813f3d1317ec0a666d4e150d01d6f77042c5a7e66606f103d88531548e676e12'
    expect(effects).toEqual([
      {
        path: '/home/dev/demo/src/stats.js',
        change: 'change',
        by: 'edit tool',
        before: original,
        after: effects[2]?.before,
        addedLines: 6,
        removedLines: 1,
      },
      {
        path: '/home/dev/demo/test/median.test.js',
        change: 'add',
        by: 'edit tool',
        before: null,
        after: 'sha256:092fcac0c43e995c04b8d680b831638534a97a29b27564fd55e29f729eaf609f',
        addedLines: 7,
        removedLines: 0,
      },
      {
        path: '/home/dev/demo/src/stats.js',
        change: 'change',
        by: 'edit tool',
        before: effects[0]?.after,
        after: final,
        addedLines: 3,
        removedLines: 2,
      },
    ])
  })

  it('says of shell commands that their effects were not captured, never that there were none', () => {
    const states = calls(read('10000000-1')).map(({ tool, effectsState }) => `${tool} ${effectsState}`)
    expect(states).toEqual([
      'Bash none',
      'Read not_applicable',
      'Edit complete',
      'Write complete',
      'Bash none',
      'Edit complete',
      'Bash none',
    ])
  })

  it('links a call to the session of the subagent it started', () => {
    expect(calls(read('20000000-2'))[0]?.subagentSession).toBe('20000000-0000-4000-8000-000000000002/a8175585b760ae4b3')
    expect(calls(read('20000000-1'))[0]?.subagentSession).toBe('20000000-0000-4000-8000-000000000001/ab4177d2da55ddee5')
  })

  it('keeps a result whose call is not in the record', () => {
    const row = {
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'gone', content: 'words' }] },
    }
    const { events, words, summary } = readText(`${JSON.stringify(row)}\n`)
    expect(events).toMatchObject([{ kind: 'tool', tool: null, toolUseId: 'gone', ok: true }])
    expect(words).toEqual([{ seq: 1, role: 'output', text: 'words' }])
    expect(summary.openCalls).toBe(0)
  })
})

describe('replies', () => {
  it('counts usage once per reply and keeps replies of a reused id apart by their request', () => {
    const reading = read('30000000-1')
    expect(reading.summary.tokens).toEqual({ input: 405, output: 80, cache_read: 0, cache_write: 0 })
    expect(kinds(reading, 'model').length).toBe(4)
  })

  it('takes the values of the last row', () => {
    const row = (n: number, output: number): string =>
      `${JSON.stringify({ type: 'assistant', uuid: `u${n}`, parentUuid: n === 1 ? null : `u${n - 1}`, version: '2.1.50', message: { id: 'm', role: 'assistant', model: 'x', stop_reason: n === 3 ? 'end_turn' : null, content: [{ type: 'text', text: `part ${n}` }], usage: { input_tokens: 10, output_tokens: output } } })}\n`
    const { events, summary } = readText(row(1, 2) + row(2, 2) + row(3, 90))
    expect(events).toMatchObject([
      { kind: 'model', tokens: { input: 10, output: 90 }, rowIds: ['u1', 'u2', 'u3'], lines: [1, 2, 3] },
    ])
    expect(events[0]?.keys.length).toBe(3)
    expect(summary).toMatchObject({ tokens: { input: 10, output: 90 }, tokensAreLowerBound: false })
  })

  it('shows failed attempts and what came after them', () => {
    const reading = read('60000000-1')
    expect(kinds(reading, 'error').map(({ summary }) => summary)).toEqual([
      '529 Overloaded (attempt 1 of 10)',
      '500 boom (attempt 2 of 10)',
      '429 slow (attempt 3 of 10)',
    ])
    expect(reading.summary.failed).toBe(false)
  })

  it('names the line of the request with its parameters', () => {
    expect(kinds(read('10000000-1'), 'model')[0]?.lines).toEqual([20, 18, 21])
  })
})

describe('starts of the program', () => {
  it('finds a start and four resumes, two of which compact', () => {
    const reading = read('30000000-1')
    expect(reading.stretches.map(({ cause, startedAt }) => `${cause} ${startedAt}`)).toEqual([
      'start 2026-11-30T15:57:25.428Z',
      'resume 2026-11-30T15:57:26.337Z',
      'resume 2026-11-30T15:57:28.131Z',
      'resume 2026-11-30T15:57:28.996Z',
      'resume 2026-11-30T15:58:44.777Z',
    ])
    for (const { n, firstSeq } of reading.stretches) expect(reading.events[firstSeq - 1]?.stretch).toBe(n)
    expect(kinds(reading, 'compact').map(({ stretch }) => stretch)).toEqual([3, 5])
  })

  it('tells the own part of a fork from the copied one', () => {
    const reading = read('30000000-2')
    expect(reading.stretches.map(({ n, cause, firstSeq }) => ({ n, cause, firstSeq }))).toEqual([
      { n: 1, cause: 'start', firstSeq: 1 },
      { n: 2, cause: 'fork', firstSeq: 18 },
    ])
    expect(reading.events[17]).toMatchObject({ kind: 'prompt', summary: 'fork prompt', stretch: 2 })
    const copied = kinds(reading, 'model').filter(({ originSession }) => originSession !== null)
    expect(copied.map(({ originSession }) => originSession)).toEqual(
      Array(3).fill('30000000-0000-4000-8000-000000000001'),
    )
    expect(reading.summary.startedAt).toBe('2026-11-30T15:57:27.492Z')
  })

  it('finds the start after a killed program by its first request, and moves the rows before it over', () => {
    const reading = readActualUse()
    expect(reading.stretches.map(({ cause, startedAt }) => `${cause} ${startedAt}`)).toEqual([
      'start 2026-11-30T17:56:55.691Z',
      'resume 2026-11-30T17:56:57.767Z',
      'resume 2026-11-30T17:57:02.690Z',
    ])
    expect(kinds(reading, 'prompt').map(({ summary, stretch }) => `${stretch} ${summary}`)).toEqual([
      '1 do the rich things',
      '2 start and wait',
      '3 once again',
    ])
  })

  it('takes the prompts of a subagent for its conversation', () => {
    const file = join(
      projects,
      '-home-dev-demo/20000000-0000-4000-8000-000000000002/subagents/agent-a8175585b760ae4b3.jsonl',
    )
    const unit = {
      ...looseUnit(file, '20000000-0000-4000-8000-000000000002/a8175585b760ae4b3'),
      relation: 'subagent' as const,
    }
    const { events, summary } = readSession(claudeCode, unit)
    expect(events.every(({ lane }) => lane === 'main')).toBe(true)
    expect(summary).toMatchObject({ firstPrompt: 'explore the code in src', conversation: true, otherSessionIds: [] })
    expect(summary.session).toBe(unit.session)
  })
})

describe('actual use', () => {
  const reading = readActualUse()

  it('shows every instruction file and rule in the order it entered the context', () => {
    const loaded = reading.events.filter(
      ({ kind, line }) => (kind === 'instructions' || kind === 'rule') && line === 12,
    )
    expect(loaded.length).toBe(34)
    expect(loaded[0]).toMatchObject({ kind: 'instructions', summary: '/home/dev/.claude/CLAUDE.md' })
    expect(loaded.find(({ summary }) => summary.endsWith('/a-user-rule.md'))?.kind).toBe('rule')
    expect(loaded.at(-1)?.summary).toBe('/home/dev/ws/demo/docs/local-imp.md')
  })

  it('shows the rules and instructions that a touched file brought in', () => {
    const lazy = reading.events.filter(({ kind, line }) => (kind === 'instructions' || kind === 'rule') && line > 12)
    expect(lazy.map(({ kind, summary }) => `${kind} ${summary.replace('/home/dev/ws/demo/', '')}`)).toEqual([
      'rule .claude/rules/paths-ts.md',
      'instructions pkg/CLAUDE.md',
      'instructions pkg/sub-imp.md',
      'instructions pkg/.claude/CLAUDE.md',
      'instructions pkg/CLAUDE.local.md',
      'rule pkg/.claude/rules/sub-rule.md',
      'rule pkg/.claude/rules/sub-rule-paths.md',
      'rule .claude/rules/paths-dir.md',
    ])
  })

  it('shows what was refused and by whom, and that it changed nothing', () => {
    expect(kinds(reading, 'denied').map(({ tool, summary }) => `${tool}: ${summary.slice(0, 40)}`)).toEqual([
      'WebFetch: permission-rule, hook:PreToolUse: PreToo',
      "Bash: user-rejected, unknown: rm in '/home/dev",
    ])
    const refused = calls(reading).find(({ summary }) => summary.startsWith('rm -rf'))
    expect(refused).toMatchObject({ ok: false, effects: [], effectsState: 'complete' })
  })

  it('shows the skill that was called and the schemas that were resolved', () => {
    expect(kinds(reading, 'skill').map(({ summary }) => summary)).toEqual(['p-skill'])
    expect(kinds(reading, 'tool_schema').map(({ summary }) => summary.slice(0, 18))).toEqual([
      '12 tools: Agent, B',
      'mcp__projmcp__echo',
      '13 tools: Agent, B',
      'mcp__projmcp__echo',
    ])
  })

  it('shows hooks with their outcome', () => {
    expect(kinds(reading, 'hook').map(({ summary, ok }) => `${summary.slice(0, 20)} ${ok}`)).toEqual([
      'SessionStart:startup true',
      'PostToolUse:Write: e true',
      'PostToolUse:Write null',
      'Stop: true true',
    ])
  })

  it('knows nothing of rows it has no name for, and here there are none', () => {
    expect(reading.unknown).toEqual([])
    expect(reading.summary.unknownRecords).toEqual({})
  })
})

describe('content keys', () => {
  const keysOf = ({ events }: SessionReading): readonly string[] =>
    events.flatMap(({ keys, kind }) => (kind === 'context' ? [] : keys))

  const textOf = (path: string): string => readFileSync(join(projects, path), 'utf8')
  const recording = '-home-dev-demo/80000000-0000-4000-8000-000000000001.jsonl'

  it('are equal for a recording and its replay in another directory, once the paths in the results are mapped back', () => {
    const replay = textOf('-home-dev-replays-wt-7/80000000-0000-4000-8000-000000000002.jsonl')
    expect(keysOf(readText(replay.replaceAll('/home/dev/replays/wt-7', '/home/dev/demo')))).toEqual(
      keysOf(readText(textOf(recording))),
    )
    expect(keysOf(readText(textOf(recording))).length).toBe(10)
  })

  it('do not depend on the working directory, ids, times or session', () => {
    const other = textOf(recording)
      .replaceAll('/home/dev/demo', '/srv/other place')
      .replaceAll('2026-11-30T', '2027-01-01T')
      .replaceAll('msg_0000', 'msg_9999')
      .replaceAll('toolu_0000', 'toolu_9999')
      .replaceAll('80000000-0000-4000-8000-000000000001', '81111111-0000-4000-8000-000000000001')
    expect(keysOf(readText(other))).toEqual(keysOf(readText(textOf(recording))))
  })

  it('differ as soon as a word differs', () => {
    const before = keysOf(readText(textOf(recording)))
    const after = keysOf(
      readText(textOf(recording).replace('"role":"user","content":"go"', '"role":"user","content":"go on"')),
    )
    expect(after[0]).not.toBe(before[0])
    expect(after.slice(1)).toEqual(before.slice(1))
  })
})
