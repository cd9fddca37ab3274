import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SessionUnit } from '../../../../daemon/runtimes/adapter.ts'
import { type EventParts, readDetail } from '../../../../daemon/runtimes/claude-code/detail.ts'
import { claudeCode } from '../../../../daemon/runtimes/claude-code/index.ts'
import { type FinalEvent, looseUnit, readSession } from '../../../kit/read-session.ts'

const fixtures = join(import.meta.dirname, '../../../fixtures/claude-code')
const demo = join(fixtures, 'sessions/projects/-home-dev-demo')

function open(path: string): {
  events: readonly FinalEvent[]
  detail: (event: FinalEvent | undefined, side?: (path: string) => string | null) => EventParts
} {
  const lines = readFileSync(path, 'utf8').split('\n')
  const { events } = readSession(claudeCode, looseUnit(path, 's'))
  return {
    events,
    detail: (event, readSideFile = () => null) => {
      if (event === undefined) throw new Error('no such event')
      const rows = event.lines.map((line): unknown => JSON.parse(lines[line - 1] ?? ''))
      return readDetail({
        kind: event.kind,
        id: event.id,
        toolUseId: event.toolUseId,
        tool: event.tool,
        rows,
        readSideFile,
      })
    },
  }
}

describe('readDetail', () => {
  it('shows a reply with its request', () => {
    const { events, detail } = open(join(demo, '10000000-0000-4000-8000-000000000001.jsonl'))
    const { parts } = detail(events.find(({ kind }) => kind === 'model'))
    expect(parts.map(({ role, label }) => `${role}: ${label}`)).toEqual([
      'text: Answer',
      'context: Request',
      'text: Calls Bash',
    ])
    expect(parts[0]?.text).toBe('I will look at the project first.')
    expect(JSON.parse(parts[1]?.text ?? '')).toMatchObject({ model: 'claude-opus-5-5', max_tokens: 128000 })
  })

  it('shows what a call was given and gave', () => {
    const { events, detail } = open(join(demo, '40000000-0000-4000-8000-000000000001.jsonl'))
    const parallel = events.find(({ toolUseId }) => toolUseId === 'toolu_000008lab')
    expect(detail(parallel).parts).toMatchObject([
      { role: 'input', label: 'Command', text: 'exit 1' },
      { role: 'input', label: 'Input', format: 'json' },
      { role: 'error', text: 'Exit code 1', format: 'ansi' },
    ])
  })

  it('shows both sides of an edit', () => {
    const { events, detail } = open(join(demo, '10000000-0000-4000-8000-000000000001.jsonl'))
    const [change] = detail(events.find(({ tool }) => tool === 'Edit')).changes
    expect(change).toMatchObject({ path: '/home/dev/demo/src/stats.js', change: 'change', why: null })
    expect(change?.before).not.toContain('median')
    expect(change?.after).toContain('function median(xs)')
    const [created] = detail(events.find(({ tool }) => tool === 'Write')).changes
    expect(created).toMatchObject({ change: 'add', before: null })
  })

  it('reads an output that was spilled to a side file, and says so when it is gone', () => {
    const { events, detail } = open(join(demo, '40000000-0000-4000-8000-000000000002.jsonl'))
    const spilled = events.find(({ toolUseId }) => toolUseId === 'toolu_000002lab')
    const asked: string[] = []
    const read = (path: string): string => {
      asked.push(path)
      return readFileSync(join(demo, path.slice(path.indexOf('40000000'))), 'utf8')
    }
    const whole = detail(spilled, read).parts.find(({ role }) => role === 'output')
    expect(whole?.text.length).toBe(30001)
    expect(asked.length).toBe(1)
    const gone = detail(spilled).parts.filter(({ role }) => role !== 'input')
    expect(gone.map(({ label }) => label)).toEqual(['Head of the output', 'Missing'])
    expect(gone[0]?.text.startsWith('<persisted-output>')).toBe(true)
  })

  it('shows the text of one of several instruction files of a row', () => {
    const { events, detail } = open(
      join(fixtures, 'actual-use/projects/-home-dev-ws-demo/90000000-0000-4000-8000-000000000001.jsonl'),
    )
    for (const event of events.filter(({ kind }) => kind === 'instructions' || kind === 'rule')) {
      const { parts } = detail(event)
      expect(parts).toMatchObject([{ role: 'context', label: event.summary, format: 'markdown' }])
      expect(parts[0]?.text).not.toBe('')
    }
    const denied = detail(events.find(({ kind }) => kind === 'denied'))
    expect(JSON.parse(denied.parts[1]?.text ?? '')).toEqual({
      kind: 'permission-rule',
      source: 'hook',
      reason: 'hook:PreToolUse',
    })
  })

  it('shows something for every event of every fixture', () => {
    for (const path of [
      join(fixtures, 'actual-use/projects/-home-dev-ws-demo/90000000-0000-4000-8000-000000000001.jsonl'),
      join(demo, '50000000-0000-4000-8000-000000000001.jsonl'),
      join(demo, '60000000-0000-4000-8000-000000000001.jsonl'),
      join(demo, '30000000-0000-4000-8000-000000000001.jsonl'),
      join(fixtures, '../wild/claude-2.1.205-row-types.jsonl'),
      join(fixtures, '../wild/claude-2.1-two-session-ids.jsonl'),
      join(fixtures, '../wild/claude-2.0-snapshots-only.jsonl'),
    ]) {
      const { events, detail } = open(path)
      for (const event of events)
        expect(detail(event).parts.length, `${path} ${event.seq} ${event.kind}`).toBeGreaterThan(0)
    }
  })

  it('shows the files of a checkpoint as they were, and says what is not known of them', () => {
    const { events, detail } = open(join(demo, '50000000-0000-4000-8000-000000000001.jsonl'))
    const last = events.filter(({ kind }) => kind === 'checkpoint').at(-1)
    const shown = detail(last, (name) => (name.endsWith('@v2') ? `content of ${name}` : null)).parts
    expect(shown.map(({ role, label, text }) => [role, label, text])).toMatchObject([
      ['context', 'test/median.test.js, version 2', 'content of e9ed432567f509f5@v2'],
      ['context', 'src/stats.js, version 2', 'content of dca3e2090ef877d1@v2'],
      ['raw', 'file-history-snapshot', expect.stringContaining('trackedFileBackups')],
    ])
    const delta = events.find(({ summary }) => summary === 'src/stats.js')
    expect(detail(delta).parts[0]).toMatchObject({
      role: 'error',
      label: 'src/stats.js, version 1: not known',
      text: 'Copy dca3e2090ef877d1@v1: it is not there any more.',
    })
    const absent = events.find(({ summary }) => summary.endsWith('was not there'))
    expect(detail(absent).parts[0]).toMatchObject({ label: 'test/median.test.js, version 1: was not there' })
  })
})

describe('describeEvent', () => {
  const spill = (named: string): unknown[] => [
    {
      type: 'user',
      toolUseResult: { persistedOutputPath: named },
      message: { content: [{ type: 'tool_result', tool_use_id: 't', content: 'head' }] },
    },
  ]
  const ask = async (unit: SessionUnit, named: string, bytes: Uint8Array | null, total = bytes?.length ?? 0) => {
    const asked: string[] = []
    const content = await claudeCode.describeEvent(
      unit,
      { id: 'x', kind: 'tool', tool: 'Bash', toolUseId: 't' },
      spill(named).map((value) => ({ line: 1, byte: 0, bytes: 0, value })),
      (path) => {
        asked.push(path)
        return Promise.resolve({ bytes, total, why: bytes === null ? 'it was too large' : null })
      },
    )
    return { asked, parts: content.parts }
  }
  const unit = looseUnit('/h/.claude/projects/-w/s1.jsonl', 's1', '/h/.claude')

  it('asks for files of this session only, whatever path the record names', async () => {
    const { asked } = await ask(unit, '/elsewhere/../../etc/passwd', Buffer.from('x'))
    expect(asked).toEqual(['/h/.claude/projects/-w/s1/tool-results/passwd'])
    const subagent: SessionUnit = {
      ...unit,
      session: 's1/a',
      parentSession: 's1',
      relation: 'subagent',
      file: '/h/.claude/projects/-w/s1/subagents/agent-a.jsonl',
    }
    expect((await ask(subagent, '/any/out.txt', Buffer.from('x'))).asked).toEqual([
      '/h/.claude/projects/-w/s1/tool-results/out.txt',
    ])
  })

  it('says why an output is missing, cut, or no text', async () => {
    const told = async (bytes: Uint8Array | null, total?: number) =>
      (await ask(unit, '/any/out.txt', bytes, total)).parts.map(({ label, text }) => `${label}: ${text}`)
    expect(await told(null)).toContain('Missing: The whole output was written to /any/out.txt; it was too large.')
    expect(await told(Buffer.from([0, 1, 2, 3]))).toContain(
      'Missing: The whole output was written to /any/out.txt; no text (4 bytes).',
    )
    expect(await told(Buffer.from('abc'), 10)).toContain('Cut: Of /any/out.txt the first 3 of 10 bytes are shown.')
  })
})
