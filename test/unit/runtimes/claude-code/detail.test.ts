import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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
})
