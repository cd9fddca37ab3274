import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { EventContent, SessionUnit } from '../../daemon/runtimes/adapter.ts'
import { openclaw } from '../../daemon/runtimes/openclaw/index.ts'
import { addAgentDatabase, appendEvent, changeDatabase, openclawFixtures } from '../kit/openclaw-home.ts'
import { Collector, contentOf, type FinalEvent, readSession } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'

const MAIN = '46362ce9-bc67-41c7-83a6-68ec89201695'
const CHILD = '0edf39e0-5e58-41fc-aeb1-5e59fca05f86'

describe('OpenClaw: rows', () => {
  const root = temporaryDirectory('openclaw-rows')

  it('tells a call that a plugin stopped from one that failed', () => {
    const [blocked] = z
      .object({
        cases: z.array(
          z.looseObject({
            transcript: z.looseObject({ text: z.string(), details: z.record(z.string(), z.unknown()).optional() }),
          }),
        ),
      })
      .parse(JSON.parse(readFileSync(join(openclawFixtures, 'hooks/cases.json'), 'utf8'))).cases
    const { events } = read([
      ...call(
        'exec',
        { command: 'echo REAL > real.txt' },
        { text: blocked?.transcript.text ?? '', details: blocked?.transcript.details, isError: true },
      ),
    ])
    const tool = events.find(({ kind }) => kind === 'tool')
    expect(tool).toMatchObject({ ok: false, effects: [], effectsState: 'complete' })
    expect(events.find(({ kind }) => kind === 'denied')).toMatchObject({
      summary: 'plugin-before-tool-call: X',
      parentSeq: tool?.seq,
      tool: 'exec',
      ok: false,
    })
  })

  it('takes a command that ended with another code than 0 for failed, whatever the flag says', () => {
    const { events } = read(
      call('exec', { command: 'false' }, { text: '', details: { status: 'completed', exitCode: 1, durationMs: 7 } }),
    )
    expect(events.find(({ kind }) => kind === 'tool')).toMatchObject({ ok: false, durationMs: 7, effectsState: 'none' })
  })

  it('knows the files of a patch, from its details or from the patch itself', () => {
    const input =
      '*** Begin Patch\n*** Add File: new.txt\n+hello\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Delete File: old.txt\n*** End Patch'
    const wanted = [
      { path: '/home/dev/ws/new.txt', change: 'add' },
      { path: '/home/dev/ws/src/a.ts', change: 'change' },
      { path: '/home/dev/ws/old.txt', change: 'delete' },
    ]
    const summary = { added: ['new.txt'], modified: ['src/a.ts'], deleted: ['old.txt'] }
    for (const details of [{ summary }, undefined]) {
      const { events } = read(call('apply_patch', { input }, { text: 'Success', details }))
      const tool = events.find(({ kind }) => kind === 'tool')
      expect(tool?.effects.map(({ path, change }) => ({ path, change }))).toEqual(wanted)
      expect(tool?.effectsState).toBe('partial')
    }
  })

  it('does not take a write whose details were cut for a new file', () => {
    const { events } = read(
      call(
        'write',
        { path: 'big.txt', content: 'x\n' },
        { text: 'ok', details: { persistedDetailsTruncated: true, originalDetailKeys: ['changed'] } },
      ),
    )
    expect(events.find(({ kind }) => kind === 'tool')?.effects).toEqual([
      {
        path: '/home/dev/ws/big.txt',
        change: 'unknown',
        by: 'edit tool',
        before: null,
        after: `sha256:${createHash('sha256').update('x\n').digest('hex')}`,
        addedLines: null,
        removedLines: null,
      },
    ])
  })

  it('tells what a call used: a skill by its file, memory as the bounded view that was given (R47)', async () => {
    const view = 'MEMORY.md:3-4\nThe deploy key lives in the vault.'
    const rows = [
      ...call('read', { path: '/opt/skills/release-notes/SKILL.md' }, { text: '# how' }, 10),
      ...call(
        'memory_search',
        { query: 'deploy key' },
        { text: view, details: { results: [{ path: 'MEMORY.md' }] } },
        20,
      ),
      ...call('read', { path: 'memory/2026-01-05.md' }, { text: 'notes' }, 30),
    ]
    const { events, unit } = read(rows)
    expect(
      events.filter(({ kind }) => kind === 'skill' || kind === 'memory').map(({ kind, summary }) => [kind, summary]),
    ).toEqual([
      ['skill', 'release-notes'],
      ['memory', 'deploy key, 1 results'],
      ['memory', '/home/dev/ws/memory/2026-01-05.md'],
    ])
    const recall = events.find(({ kind }) => kind === 'memory') ?? fail()
    expect((await describeOf(unit, recall)).parts).toEqual([
      { role: 'context', label: 'Recalled, as the agent was given it', text: view, format: 'markdown' },
      { role: 'context', label: 'Size', text: `${view.length} characters`, format: 'text' },
    ])
    const body = openclaw.inferManifest(readSession(openclaw, unit).summary.stretches[0] ?? fail())
    expect(body.capabilities.skills).toMatchObject([{ name: 'release-notes', used: true }])
  })

  it('tells words of another session and of the program from those of a person', () => {
    const from = (kind: string, id: string, second: number) => ({
      ...message(
        id,
        { role: 'user', content: 'do this', provenance: { kind, sourceSessionKey: 'agent:main:main' } },
        second,
      ),
    })
    const { events, summary } = read([
      from('inter_session', 'm1', 1),
      from('internal_system', 'm2', 2),
      from('external_user', 'm3', 3),
    ])
    expect(events.map(({ kind, summary: words }) => [kind, words])).toEqual([
      ['context', 'from another session: do this'],
      ['context', 'from the program: do this'],
      ['prompt', 'do this'],
    ])
    expect(summary.firstPrompt).toBe('do this')
  })

  it('takes time marks and channel metadata off a prompt, but keeps a prompt that is nothing else', () => {
    const meta = 'Sender (untrusted metadata):\n```json\n{\n  "id": "42"\n}\n```\n\n'
    for (const [content, words] of [
      ['[Fri 2026-01-16 11:32 UTC] hello', 'hello'],
      [`Conversation info (untrusted metadata):\n\`\`\`json\n{"id": 1}\n\`\`\`\n\n${meta}how are you?`, 'how are you?'],
      [meta, meta],
      ['[not a time] hello', '[not a time] hello'],
    ] as const)
      expect(read([message('m1', { role: 'user', content }, 1)]).summary.firstPrompt).toBe(words)
  })

  it('begins a stretch where the context is reset or the model becomes another one, not where it is chosen', () => {
    const rows = [
      { type: 'model_change', id: 'c1', provider: 'demo', modelId: 'small', timestamp: at(1) },
      { type: 'thinking_level_change', id: 'c2', thinkingLevel: 'low', timestamp: at(1) },
      message('m1', { role: 'user', content: 'one' }, 2),
      message(
        'm2',
        { role: 'assistant', provider: 'demo', model: 'small', content: [{ type: 'text', text: 'first' }] },
        3,
      ),
      { type: 'model_change', id: 'c3', provider: 'demo', modelId: 'small', timestamp: at(4) },
      message('m3', { role: 'user', content: 'two' }, 5),
      { type: 'model_change', id: 'c4', provider: 'demo', modelId: 'large', timestamp: at(6) },
      { type: 'thinking_level_change', id: 'c5', thinkingLevel: 'high', timestamp: at(6) },
      message('m4', { role: 'user', content: 'three' }, 7),
      { type: 'reset', id: 'r1', reason: 'new', timestamp: at(8) },
      message('m5', { role: 'user', content: 'four' }, 9),
    ]
    const { stretches, events, summary } = read(rows)
    expect(stretches.map(({ n, cause, startedAt }) => ({ n, cause, startedAt }))).toEqual([
      { n: 1, cause: 'start', startedAt: at(0) },
      { n: 2, cause: 'resume', startedAt: at(6) },
      { n: 3, cause: 'start', startedAt: at(8) },
    ])
    expect(
      events.filter(({ kind }) => kind === 'prompt').map(({ summary: words, stretch }) => [words, stretch]),
    ).toEqual([
      ['one', 1],
      ['two', 1],
      ['three', 2],
      ['four', 3],
    ])
    expect(
      summary.stretches
        .map((stretch) => openclaw.inferManifest(stretch).execution)
        .map(({ model, reasoning }) => [model, reasoning]),
    ).toEqual([
      ['demo/small', 'low'],
      ['demo/large', 'high'],
      ['demo/large', 'high'],
    ])
  })

  it('gives each stretch the trace of its own turns, which is written before their rows', () => {
    const trace = (second: number, version: string) => ({
      type: 'trace.metadata',
      ts: at(second),
      runId: `run${second}`,
      data: {
        harness: { version, invocation: ['node', 'openclaw', 'agent', '--local', '--message', 'gateway'] },
        model: {},
      },
    })
    const folder = join(root(), '.openclaw/agents/main/sessions')
    mkdirSync(folder, { recursive: true })
    const events = [trace(1, '2026.6.1'), trace(10, '2026.7.1'), trace(20, '2026.7.2')]
    writeFileSync(join(folder, 's1.trajectory.jsonl'), events.map((event) => `${JSON.stringify(event)}\n`).join(''))
    const snapshot = (id: string, modelId: string, second: number) => ({
      type: 'custom',
      customType: 'model-snapshot',
      id,
      timestamp: at(second),
      data: { provider: 'demo', modelId },
    })
    const { summary } = read([
      snapshot('c1', 'small', 2),
      message('m1', { role: 'user', content: 'one' }, 3),
      snapshot('c2', 'large', 11),
      message('m2', { role: 'user', content: 'two' }, 12),
      message('m3', { role: 'user', content: 'three' }, 21),
    ])
    expect(summary.versions).toEqual(['2026.6.1', '2026.7.1', '2026.7.2'])
    expect(
      summary.stretches.map(({ startedAt, version, record }) => [startedAt, version, record.configurations]),
    ).toEqual([
      [at(0), '2026.6.1', 1],
      [at(11), '2026.7.1', 2],
    ])
    const body = openclaw.inferManifest(summary.stretches[1] ?? fail())
    expect(body.execution).toMatchObject({ surface: 'agent --local', model: 'demo/large' })
    expect(body.unknown).toContainEqual({
      field: 'execution',
      why: 'the trajectory shows 2 configurations within this stretch; this is the first',
    })
  })

  it('keeps an attempt that failed beside the one that went well, and counts neither twice', () => {
    const usage = { input: 5, output: 2, cacheRead: 1, cacheWrite: 0 }
    const { events, summary } = read([
      message('m1', { role: 'user', content: 'go' }, 1),
      message(
        'm2',
        {
          role: 'assistant',
          model: 'm',
          content: [],
          stopReason: 'error',
          errorMessage: '529 overloaded',
          usage: { input: 0, output: 0 },
        },
        2,
      ),
      message(
        'm3',
        {
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'done' }],
          stopReason: 'stop',
          usage,
          responseId: 'r1',
        },
        3,
      ),
      message(
        'm4',
        {
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'done' }],
          stopReason: 'stop',
          usage,
          responseId: 'r1',
        },
        4,
      ),
      message(
        'm3',
        {
          role: 'assistant',
          model: 'm',
          content: [{ type: 'text', text: 'done' }],
          stopReason: 'stop',
          usage,
          responseId: 'r1',
        },
        5,
      ),
    ])
    expect(events.map(({ kind, ok, summary: words }) => [kind, ok, words])).toEqual([
      ['prompt', null, 'go'],
      ['error', false, '529 overloaded'],
      ['model', null, 'done'],
      ['model', null, 'done'],
    ])
    expect(summary).toMatchObject({
      tokens: { input: 5, output: 2, cache_read: 1, cache_write: 0 },
      tokensAreLowerBound: true,
      repeatedRows: 1,
      failed: false,
    })
  })

  it('shows a result that came late, and the branch an event hangs on', () => {
    const rows = [
      message('m1', { role: 'user', content: 'one' }, 1),
      message('m2', { role: 'assistant', content: [{ type: 'text', text: 'a' }] }, 2, 'm1'),
      { type: 'leaf', id: 'l1', parentId: 'm2', targetId: 'm1', timestamp: at(3) },
      message('m3', { role: 'assistant', content: [{ type: 'text', text: 'b' }] }, 4, 'l1'),
      message('m5', { role: 'user', content: 'child first' }, 5, 'm4'),
      message('m4', { role: 'user', content: 'parent later' }, 6, 'm3'),
    ]
    const { events, summary } = read(rows)
    const seqs = new Map(events.map(({ id, seq }) => [id, seq]))
    const parentOf = (id: string) => events.find((event) => event.id === id)?.parentSeq
    expect(parentOf('m3')).toBe(seqs.get('l1'))
    expect(parentOf('l1')).toBe(seqs.get('m1'))
    expect(parentOf('m5')).toBe(seqs.get('m4'))
    expect(summary).toMatchObject({ brokenLinks: 0, roots: 1 })
  })

  it('names the session by what was chosen for it, and keeps labels and unknown custom rows', () => {
    const { summary, events } = read([
      { type: 'session_info', id: 'i1', name: 'Release day', timestamp: at(1) },
      { type: 'label', id: 'i2', targetId: 'i1', label: 'start', timestamp: at(2) },
      { type: 'custom', id: 'i3', customType: 'some-plugin.state', data: {}, timestamp: at(3) },
      {
        type: 'custom',
        id: 'i4',
        customType: 'openclaw:prompt-error',
        data: { error: 'no credits' },
        timestamp: at(4),
      },
      message('m1', { role: 'somebody', content: 'words' }, 5),
    ])
    expect(summary).toMatchObject({
      agentTitle: 'Release day',
      failed: true,
      unknownRecords: { 'message/somebody': 1 },
    })
    expect(events.map(({ kind, summary: words }) => [kind, words])).toEqual([
      ['note', 'named Release day'],
      ['note', 'label start'],
      ['note', 'some-plugin.state'],
      ['error', 'no credits'],
      ['unknown', 'message of somebody: words'],
    ])
  })

  it('links a subagent to the window of its parent in which it was started', () => {
    const home = join(root(), '.openclaw')
    const file = addAgentDatabase(home, 'main', 'agent-db')
    changeDatabase(file, (db) => {
      db.prepare(
        "update session_nodes set spawned_by = 'agent:main:main' where session_key = 'agent:main:subagent:child1'",
      ).run()
      db.prepare('update session_windows set created_at = created_at - 60000 where session_id = ?').run(MAIN)
      // The main session was reset afterwards: the child still belongs to the window before.
      db.prepare(
        "insert into session_windows (session_id, session_key, previous_session_id, reason, created_at, updated_at) values ('99999999-0000-4000-8000-000000000001', 'agent:main:main', ?, 'reset', 1796054900000, 1796054900000)",
      ).run(MAIN)
      appendEvent(db, MAIN, {
        type: 'message',
        id: 'spawn-call-000000',
        parentId: null,
        timestamp: '2026-11-30T16:06:00.000Z',
        message: {
          role: 'assistant',
          content: [{ type: 'toolCall', id: 'spawn1', name: 'sessions_spawn', arguments: { task: 'look' } }],
        },
      })
      appendEvent(db, MAIN, {
        type: 'message',
        id: 'spawn-result-0000',
        parentId: 'spawn-call-000000',
        timestamp: '2026-11-30T16:06:01.000Z',
        message: {
          role: 'toolResult',
          toolCallId: 'spawn1',
          toolName: 'sessions_spawn',
          content: [{ type: 'text', text: 'accepted' }],
          details: { status: 'accepted', childSessionKey: 'agent:main:subagent:child1', runId: 'r' },
          isError: false,
        },
      })
    })
    const units = [...openclaw.listSessions(home, () => {})]
    expect(units.find(({ session }) => session === CHILD)).toMatchObject({ relation: 'subagent', parentSession: MAIN })
    const main = units.find(({ session }) => session === MAIN) ?? fail()
    expect(readSession(openclaw, main).events.find(({ tool }) => tool === 'sessions_spawn')).toMatchObject({
      subagentSession: CHILD,
    })
  })

  it('links a subagent whose session comes after the call, when it is there', () => {
    const home = join(root(), '.openclaw')
    const file = addAgentDatabase(home, 'main', 'agent-db')
    const key = 'agent:main:subagent:late'
    changeDatabase(file, (db) => {
      const said = (id: string, content: unknown) => ({
        type: 'message',
        id,
        parentId: null,
        timestamp: '2026-11-30T16:06:00.000Z',
        message: content,
      })
      appendEvent(
        db,
        MAIN,
        said('spawn-call-000000', {
          role: 'assistant',
          content: [{ type: 'toolCall', id: 'spawn1', name: 'sessions_spawn', arguments: {} }],
        }),
      )
      appendEvent(
        db,
        MAIN,
        said('spawn-result-0000', {
          role: 'toolResult',
          toolCallId: 'spawn1',
          content: [],
          details: { childSessionKey: key },
        }),
      )
    })
    const unit = [...openclaw.listSessions(home, () => {})].find(({ session }) => session === MAIN) ?? fail()
    const collector = new Collector()
    const reader = openclaw.openReader(unit)
    for (const [n, line] of contentOf(openclaw, unit).toString('utf8').trimEnd().split('\n').entries())
      reader.readLine({ line: n + 1, byte: n, bytes: 1, value: JSON.parse(line) }, collector)
    const spawn = () => collector.events.find(({ tool }) => tool === 'sessions_spawn')?.subagentSession
    expect(spawn()).toBeNull()
    changeDatabase(file, (db) => {
      db.prepare(
        'insert into session_nodes (session_key, current_session_id, entry_json, updated_at) values (?, ?, ?, 1)',
      ).run(key, 'late-session', '{}')
      db.prepare(
        'insert into session_windows (session_id, session_key, created_at, updated_at) values (?, ?, 1, 1)',
      ).run('late-session', key)
    })
    reader.readMeta?.({ ...unit.meta, title: 'Renamed' }, collector)
    expect(spawn()).toBe('late-session')
    expect(reader.summary().agentTitle).toBe('Renamed')
  })

  it('keeps the place of an event that cannot be unpacked', () => {
    const home = join(root(), '.openclaw')
    const file = addAgentDatabase(home, 'main', 'agent-db')
    changeDatabase(file, (db) => {
      db.exec('pragma ignore_check_constraints = 1')
      db.prepare(
        "update transcript_events set event_zstd = x'28b52ffd00' where event_zstd is not null and seq = 4",
      ).run()
    })
    const unit =
      [...openclaw.listSessions(home, () => {})].find(({ session }) => session.startsWith('b200a363')) ?? fail()
    const { summary, events } = readSession(openclaw, unit)
    expect(summary).toMatchObject({ rows: 12, unknownRecords: { 'reprise.unreadable_event': 1 }, brokenLinks: 1 })
    expect(events.find(({ kind }) => kind === 'unknown')?.summary).toMatch(
      /^event 4 of the database could not be unpacked: /,
    )
  })

  it('shows both sides of an edit and the whole of a new file', async () => {
    const home = join(root(), '.openclaw')
    addAgentDatabase(home, 'main', 'agent-db')
    const unit = [...openclaw.listSessions(home, () => {})].find(({ session }) => session === MAIN) ?? fail()
    const { events } = readSession(openclaw, unit)
    const shown = async (tool: string) =>
      (await describeOf(unit, events.find((event) => event.tool === tool) ?? fail())).changes
    expect(await shown('write')).toEqual([
      { path: 'notes.txt', change: 'add', before: null, after: 'alpha\nbeta\n', why: null },
    ])
    expect(await shown('edit')).toEqual([
      {
        path: 'notes.txt',
        change: 'change',
        before: 'alpha\nbeta\n',
        after: 'alpha\ngamma\n',
        why: 'the record holds the changed places only',
      },
    ])
    const failed = events.find(({ tool, ok }) => tool === 'read' && ok === false) ?? fail()
    expect((await describeOf(unit, failed)).parts.map(({ role, label }) => [role, label])).toEqual([
      ['input', 'Input'],
      ['error', 'Error'],
      ['context', 'Details'],
    ])
    for (const event of events) expect((await describeOf(unit, event)).parts.length, event.id).toBeGreaterThan(0)
  })

  function read(rows: readonly unknown[]): ReturnType<typeof readSession> & { readonly unit: SessionUnit } {
    const home = join(root(), '.openclaw')
    const folder = join(home, 'agents/main/sessions')
    mkdirSync(folder, { recursive: true })
    const header = { type: 'session', version: 4, id: 's1', timestamp: at(0), cwd: '/home/dev/ws' }
    writeFileSync(join(folder, 's1.jsonl'), [header, ...rows].map((row) => `${JSON.stringify(row)}\n`).join(''))
    const unit = [...openclaw.listSessions(home, () => {})].find(({ session }) => session === 's1') ?? fail()
    return { ...readSession(openclaw, unit), unit }
  }
})

async function describeOf(unit: SessionUnit, event: FinalEvent): Promise<EventContent> {
  const lines = contentOf(openclaw, unit).toString('utf8').split('\n')
  return openclaw.describeEvent(
    unit,
    event,
    event.lines.map((line) => ({ line, byte: 0, bytes: 0, value: JSON.parse(lines[line - 1] ?? 'null') as unknown })),
    () => Promise.resolve({ bytes: null, total: 0, why: 'not needed' }),
  )
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 5, 12, 0, second)).toISOString()

const message = (
  id: string,
  content: Readonly<Record<string, unknown>>,
  second: number,
  parentId: string | null = null,
) => ({
  type: 'message',
  id,
  parentId,
  timestamp: at(second),
  message: content,
})

/** A call and its result. */
const call = (
  name: string,
  input: Readonly<Record<string, unknown>>,
  answer: { readonly text: string; readonly details?: unknown; readonly isError?: boolean },
  second = 1,
): readonly unknown[] => [
  message(
    `call${second}`,
    { role: 'assistant', model: 'm', content: [{ type: 'toolCall', id: `id${second}`, name, arguments: input }] },
    second,
  ),
  message(
    `result${second}`,
    {
      role: 'toolResult',
      toolCallId: `id${second}`,
      toolName: name,
      content: [{ type: 'text', text: answer.text }],
      ...(answer.details === undefined ? {} : { details: answer.details }),
      isError: answer.isError ?? false,
    },
    second + 1,
    `call${second}`,
  ),
]

function fail(): never {
  throw new Error('not there')
}
