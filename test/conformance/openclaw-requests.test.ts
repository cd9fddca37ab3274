import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RawLine, RebuiltRequest, SessionLines, SessionUnit } from '../../daemon/runtimes/adapter.ts'
import { openclaw } from '../../daemon/runtimes/openclaw/index.ts'
import { addAgentDatabase, openclawFixtures } from '../kit/openclaw-home.ts'
import { contentOf, readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

const wireSchema = z.object({
  body: z.object({
    model: z.string(),
    messages: z.array(z.looseObject({ role: z.string(), content: z.unknown() })),
  }),
})
type Wire = z.infer<typeof wireSchema>['body']['messages'][number]
const sentIn = (name: string): readonly Wire[] =>
  wireSchema.parse(JSON.parse(readFileSync(join(openclawFixtures, 'requests', name), 'utf8'))).body.messages

const TIME = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]+\] /
const RUNTIME = /\n\nRuntime: agent=.*$/s

/** What no transcript holds is taken off: system prompt, internal context, the time before a prompt and the Runtime line behind it. */
function normalise(messages: readonly Wire[]): readonly Wire[] {
  return messages
    .filter(
      ({ role, content }) => role !== 'system' && !JSON.stringify(content).includes('BEGIN_OPENCLAW_INTERNAL_CONTEXT'),
    )
    .map((message) =>
      message.role === 'user' && typeof message.content === 'string'
        ? { ...message, content: message.content.replace(TIME, '').replace(RUNTIME, '') }
        : message,
    )
}

describe('OpenClaw: requests', () => {
  const root = temporaryDirectory('openclaw-requests')

  it('rebuilds the messages of a recorded request, less what no transcript holds', async () => {
    const unit = databaseUnit('agent-db', '46362ce9-bc67-41c7-83a6-68ec89201695')
    const request = await requestOf(unit, (words) => words === 'second turn ok')
    // The vendor's own words in it are left out of the fixture, on both sides.
    const [system, ...messages] = request.body.messages as readonly Wire[]
    expect(system).toEqual({ role: 'system', content: '<vendor system prompt, 22849 chars>' })
    expect(request.system.map(({ text }) => text)).toEqual(['<vendor system prompt, 22849 chars>'])
    expect(messages).toEqual(normalise(sentIn('main-turn2.json')))
    expect(request.model).toBe('scripted-1')
    expect(request.exact).toBe(false)
    expect(request.why).toContain('OpenClaw records no requests')
    expect(request.why).toContain('without tools and parameters')
    expect(request.why).toContain('the system prompt is that of the trajectory')
    expect(request.messages.map(({ role, asSent }) => [role, asSent])).toEqual(
      normalise(sentIn('main-turn2.json')).map(({ role }) => [role, role !== 'user']),
    )
    // The request before led to the last answer of the first turn.
    expect(request.before).toMatchObject({ line: 22, kept: 12, messages: 12 })
  })

  it('begins behind a compaction, with its summary and what it kept', async () => {
    const unit = databaseUnit('compaction-db', 'f3a4c53e-6ae9-42ec-82de-0ef455b14cc2')
    const request = await requestOf(unit, (words) => words === 'turn 5')
    const messages = request.messages.map(({ role, blocks }) => [role, blocks.map(({ kind }) => kind).join('+')])
    expect(messages).toEqual([
      ['user', 'text'],
      ['assistant', 'text'],
      ['user', 'text'],
      ['assistant', 'call'],
      ['tool', 'result'],
    ])
    // Its trajectory was taken out of the fixture, as the program prunes it after 14 days.
    expect(request.system).toEqual([])
    expect(request.why).toContain('without system prompt, tools and parameters')
    expect(request.messages[0]?.blocks[0]?.text).toContain('Turn Context (split turn)')
    expect(request.messages[1]?.blocks[0]?.text).toBe('turn 4')
    expect(request.before).toMatchObject({ kept: 3, messages: 3 })
  })

  it('follows the branch that was gone on with, and leaves out deliveries and attempts that failed', async () => {
    const rows = [
      { type: 'session', version: 3, id: 's1', timestamp: at(0), cwd: '/home/dev' },
      user('a1', null, 'first', 1),
      assistant('a2', 'a1', 'first answer', 2),
      user('b1', 'a2', 'left behind', 3),
      assistant('b2', 'b1', 'left behind too', 4),
      { type: 'leaf', id: 'l1', parentId: 'b2', targetId: 'a2', timestamp: at(5) },
      user('c1', 'l1', 'second', 6),
      {
        ...assistant('c2', 'c1', 'no answer', 7),
        message: { role: 'assistant', content: [], stopReason: 'error', errorMessage: '529' },
      },
      {
        ...assistant('c3', 'c2', 'delivered', 8),
        message: {
          role: 'assistant',
          provider: 'openclaw',
          model: 'delivery-mirror',
          content: [{ type: 'text', text: 'delivered' }],
        },
      },
      assistant('c4', 'c3', 'second answer', 9),
    ]
    const unit = fileUnit(rows)
    const request = await requestOf(unit, (words) => words === 'second answer')
    expect(request.body.messages).toEqual([
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'first answer' },
      { role: 'user', content: 'second' },
    ])
  })

  it('keeps ids and groups results where the Messages API was spoken', async () => {
    const call = (id: string) => ({ type: 'toolCall', id, name: 'read', arguments: { path: id } })
    const unit = fileUnit([
      { type: 'session', version: 4, id: 's1', timestamp: at(0), cwd: '/home/dev' },
      user('a1', null, 'look', 1),
      {
        ...assistant('a2', 'a1', '', 2),
        message: { role: 'assistant', api: 'anthropic-messages', content: [call('toolu_1'), call('toolu_2')] },
      },
      result('a3', 'a2', 'toolu_1', 'one', 3),
      result('a4', 'a3', 'toolu_2', 'two', 4),
      {
        ...assistant('a5', 'a4', 'seen', 5),
        message: { role: 'assistant', api: 'anthropic-messages', content: [{ type: 'text', text: 'seen' }] },
      },
    ])
    const request = await requestOf(unit, (words) => words === 'seen')
    expect(request.body.messages).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'look' }] },
      {
        role: 'assistant',
        content: [
          { type: 'tool_use', id: 'toolu_1', name: 'read', input: { path: 'toolu_1' } },
          { type: 'tool_use', id: 'toolu_2', name: 'read', input: { path: 'toolu_2' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'one' },
          { type: 'tool_result', tool_use_id: 'toolu_2', content: 'two' },
        ],
      },
    ])
  })

  it('drops what is no letter or digit from ids, as the recorded pair shows', () => {
    const { toolIdSanitising } = z
      .object({ toolIdSanitising: z.object({ idInModelReply: z.string(), idInNextRequest: z.string() }) })
      .parse(JSON.parse(readFileSync(join(openclawFixtures, 'requests/expected.json'), 'utf8')))
    const unit = fileUnit([
      { type: 'session', version: 4, id: 's1', timestamp: at(0), cwd: '/home/dev' },
      user('a1', null, 'look', 1),
      {
        ...assistant('a2', 'a1', '', 2),
        message: {
          role: 'assistant',
          api: 'openai-completions',
          content: [{ type: 'toolCall', id: toolIdSanitising.idInModelReply, name: 'read', arguments: {} }],
        },
      },
      result('a3', 'a2', toolIdSanitising.idInModelReply, 'one', 3),
      assistant('a4', 'a3', 'seen', 4),
    ])
    return requestOf(unit, (words) => words === 'seen').then((request) => {
      const [, reply, answer] = request.body.messages as Record<string, unknown>[]
      expect(reply).toMatchObject({ tool_calls: [{ id: toolIdSanitising.idInNextRequest }] })
      expect(answer).toMatchObject({ tool_call_id: toolIdSanitising.idInNextRequest })
    })
  })

  it('keeps every word of the two runs that differ in their session only', () => {
    for (const call of ['call1', 'call2']) {
      const [one, other] = ['run1', 'run2'].map((run) => normalise(sentIn(`exec-${run}-${call}.json`)))
      const plain = (messages: readonly Wire[] | undefined) =>
        JSON.stringify(messages).replaceAll(/calllab\d+/g, 'call')
      expect(plain(one)).toBe(plain(other))
    }
    // A retry carries words that are in no transcript: a line that says it was queued, and one that tells to go on.
    const [first, second, third] = [1, 2, 3].map((n) => normalise(sentIn(`retry-attempt${n}.json`)))
    expect(second).not.toEqual(first)
    expect(third).toEqual(second)
    expect(JSON.stringify(first)).toContain('SAY retried')
  })

  function databaseUnit(fixture: string, session: string): SessionUnit {
    const home = join(root(), '.openclaw')
    addAgentDatabase(home, 'main', fixture)
    return found(home, session)
  }

  function fileUnit(rows: readonly unknown[]): SessionUnit {
    const home = join(root(), '.openclaw')
    const folder = join(home, 'agents/main/sessions')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 's1.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    return found(home, 's1')
  }
})

function found(home: string, session: string): SessionUnit {
  const unit = [...openclaw.listSessions(home, () => {})].find((one) => one.session === session)
  if (unit === undefined) throw new Error(`no session ${session}`)
  return unit
}

/** The request of the reply with these words. */
async function requestOf(unit: SessionUnit, isIt: (words: string) => boolean): Promise<RebuiltRequest> {
  const lines = linesOf(contentOf(openclaw, unit))
  const reply = readSession(openclaw, unit).events.find(({ kind, summary }) => kind === 'model' && isIt(summary))
  if (reply === undefined) throw new Error('no such reply')
  return openclaw.rebuildRequest(
    unit,
    lines.filter(({ line }) => reply.lines.includes(line)),
    sessionLines(lines),
  )
}

function linesOf(content: Buffer): readonly RawLine[] {
  let byte = 0
  return content
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((text, n) => {
      const bytes = Buffer.byteLength(text)
      const line = { line: n + 1, byte, bytes, value: JSON.parse(text) as unknown }
      byte += bytes + 1
      return line
    })
}

const sessionLines = (lines: readonly RawLine[]): SessionLines => ({
  scan: async (visit) => {
    for (const line of lines) if (!visit(line)) return
  },
  read: async (places) => places.flatMap(({ line }) => lines.filter((one) => one.line === line)),
})

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 12, 0, second)).toISOString()
const user = (id: string, parentId: string | null, content: string, second: number) => ({
  type: 'message',
  id,
  parentId,
  timestamp: at(second),
  message: { role: 'user', content },
})
const assistant = (id: string, parentId: string, text: string, second: number) => ({
  type: 'message',
  id,
  parentId,
  timestamp: at(second),
  message: {
    role: 'assistant',
    api: 'openai-completions',
    provider: 'demo',
    model: 'm',
    content: [{ type: 'text', text }],
    stopReason: 'stop',
  },
})
const result = (id: string, parentId: string, toolCallId: string, text: string, second: number) => ({
  type: 'message',
  id,
  parentId,
  timestamp: at(second),
  message: { role: 'toolResult', toolCallId, toolName: 'read', content: [{ type: 'text', text }], isError: false },
})
