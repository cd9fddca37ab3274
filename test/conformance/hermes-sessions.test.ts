import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { RawLine, SessionLines, SessionProblem } from '../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../daemon/runtimes/claude-code/index.ts'
import { hermes } from '../../daemon/runtimes/hermes/index.ts'
import { hermesFixtures, layHermesHome, surroundingsFor, unitOf, writeDatabase } from '../kit/hermes-home.ts'
import { contentOf, looseUnit, readSession } from '../kit/read-session.ts'
import { testSessions } from './session-suite.ts'

const wild = join(import.meta.dirname, '../fixtures/wild')
const LOG = '20251205_174433_abcdef'
const SNAPSHOT_ONLY = '20261130_171717_abc123'
const roots: string[] = []
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true })
})
function freshRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'reprise-hermes-'))
  roots.push(root)
  return root
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(hermesFixtures, file), 'utf8'))

/** Database, snapshot of one of its sessions, a snapshot and a log of their own, and copies that are no sessions. */
function layEverything(root: string): string {
  const home = layHermesHome(root, 'state-db-v25')
  const sessions = join(home, 'sessions')
  const snapshot = 'session_20261130_161551_d5a626.json'
  cpSync(join(hermesFixtures, 'session-json', snapshot), join(sessions, snapshot))
  const own = {
    ...z.record(z.string(), z.unknown()).parse(read(`session-json/${snapshot}`)),
    session_id: SNAPSHOT_ONLY,
  }
  writeFileSync(join(sessions, `session_${SNAPSHOT_ONLY}.json`), JSON.stringify(own))
  cpSync(join(wild, 'hermes-session-log.jsonl'), join(sessions, `${LOG}.jsonl`))
  for (const [folder, name] of [
    ['exports', 'session-20261130_161525_c9524f.jsonl'],
    ['exports', 'trace-20261130_161525_c9524f.jsonl'],
    ['trajectory', 'trajectory_samples.jsonl'],
  ] as const)
    cpSync(join(hermesFixtures, folder, name), join(sessions, name))
  writeFileSync(join(sessions, 'sessions.json'), '{}')
  return home
}

const state25 = z
  .object({
    sessions: z.array(
      z.object({
        id: z.string(),
        parent: z.string().nullable(),
        source: z.string(),
        endReason: z.string().nullable(),
        cwd: z.string(),
        rows: z.number(),
        activeRows: z.number(),
        compactedRows: z.number(),
        activeRoles: z.array(z.string()),
        distinctToolCallIds: z.number(),
        toolCallRows: z.number(),
        toolCalls: z.array(
          z.looseObject({ id: z.string().optional(), name: z.string().optional(), arguments: z.string().optional() }),
        ),
        finalText: z.array(z.string()),
        systemPromptHash: z.string(),
        modelConfigKeys: z.array(z.string()),
        delegateFrom: z.string().nullable(),
      }),
    ),
    systemPrompts: z.array(z.object({ hash: z.string(), chars: z.number() })),
    compressionChains: z.array(z.array(z.string())),
    logicalConversations: z.number(),
  })
  .parse(read('state-db-v25/expected.json'))

testSessions('Hermes', {
  adapter: hermes,
  makeHome(root) {
    const home = layEverything(root)
    return { home, surroundings: surroundingsFor(root) }
  },
  isSessionFile: (path) => path.endsWith(`${LOG}.jsonl`),
  sessionsElsewhere: () => [...state25.sessions.map(({ id }) => id), SNAPSHOT_ONLY],
  writing: {
    session: '20261130_161551_d5a626',
    append(home) {
      writeDatabase(home, (db) => {
        const insert = db.prepare(
          'insert into messages (session_id, role, content, timestamp, finish_reason) values (?, ?, ?, ?, ?)',
        )
        insert.run('20261130_161551_d5a626', 'user', 'and once more', 1796055400, null)
        insert.run('20261130_161551_d5a626', 'assistant', 'once more', 1796055401, 'stop')
        db.exec(
          "update sessions set message_count = 10, input_tokens = 5000, title = 'Twice', ended_at = 1796055402 where id = '20261130_161551_d5a626'",
        )
      })
    },
    changeEarlier(home) {
      writeDatabase(home, (db) => db.exec("update messages set content = 'another' where id = 24"))
    },
    isPassing: (path) => /state\.db-(wal|shm|journal)$/.test(path),
  },
  unknownRecord: '{"row":"never-written"}',
})

describe('Hermes: schema 25 as 0.20.0 wrote it', () => {
  const home = layHermesHome(freshRoot(), 'state-db-v25')
  const units = [...hermes.listSessions(home, () => {})]

  it('lists every session, subagents and hidden ones too', () => {
    expect(units.map(({ session }) => session).sort()).toEqual(state25.sessions.map(({ id }) => id).sort())
  })

  it.each(state25.sessions.map((session) => [session.id, session] as const))(
    '%s reads as it was read back',
    (id, truth) => {
      const unit = unitOf(home, id)
      const lines = contentOf(hermes, unit)
        .toString('utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const messages = lines.filter(({ row }) => row === 'message')
      expect(messages).toHaveLength(truth.rows)
      expect(unit.meta.rows).toEqual({ all: truth.rows, active: truth.activeRows, archived: truth.compactedRows })
      const archived = new Set(
        lines
          .filter(({ row }) => row === 'archived')
          .flatMap(({ ids }) =>
            ids.flatMap(([first, last]: [number, number]) =>
              Array.from({ length: last - first + 1 }, (_, n) => first + n),
            ),
          ),
      )
      const active = messages.filter((message) => !archived.has(message.id))
      expect(active.map(({ role }) => role)).toEqual(truth.activeRoles)
      expect(archived.size).toBe(truth.compactedRows)

      const { events, summary, stretches } = readSession(hermes, unit)
      // Every call counts once, in the session it was made in: what a compaction inserted again is no call.
      const calls = events.filter(({ kind, tool }) => kind === 'tool' && tool !== null)
      expect(new Set(calls.map(({ toolUseId }) => toolUseId)).size).toBe(calls.length)
      expect(calls).toHaveLength(truth.distinctToolCallIds)
      const rowsWithCalls = messages.filter(
        (message) => message.role === 'assistant' && message.tool_calls !== undefined,
      )
      expect(rowsWithCalls.reduce((sum, message) => sum + JSON.parse(message.tool_calls).length, 0)).toBe(
        truth.toolCallRows,
      )
      for (const call of truth.toolCalls) {
        if (call.id === undefined) continue
        expect(calls.find(({ toolUseId }) => toolUseId === call.id)?.tool).toBe(call.name)
      }
      expect(calls.every(({ ok }) => ok !== null)).toBe(true)
      expect(summary.openCalls).toBe(0)
      for (const text of truth.finalText) expect(events.findLast(({ kind }) => kind === 'model')?.summary).toBe(text)

      expect(summary.conversation).toBe(truth.rows > 0)
      expect(summary.workspaces).toEqual([truth.cwd])
      expect(summary.unknownRecords).toEqual({})
      expect(unit.meta.end_reason ?? null).toBe(truth.endReason)
      expect(unit.relation).toBe(truth.delegateFrom === null ? null : 'subagent')
      expect(unit.parentSession).toBe(truth.delegateFrom)
      expect(stretches).toHaveLength(1)
      const body = hermes.inferManifest(summary.stretches[0] ?? fail())
      expect(body.execution).toMatchObject({
        surface: truth.source,
        cwd: truth.cwd,
      })
      expect(body.context.session_snapshot).toMatchObject({
        system_prompt: { digest: `sha256:${truth.systemPromptHash}`, hash: truth.systemPromptHash },
        parent_session: truth.parent,
      })
      const keys = Object.keys(z.record(z.string(), z.unknown()).parse(unit.meta.model_config)).sort()
      expect(keys).toEqual(truth.modelConfigKeys)
    },
  )

  it('holds each stored prompt to its hash', () => {
    const prompts = new Map<string, string>()
    for (const unit of units)
      hermes.writeLines?.(unit, (line) => {
        const row = JSON.parse(line)
        if (row.row === 'prompt') prompts.set(row.hash, row.prompt)
      })
    expect([...prompts].map(([hash, text]) => ({ hash, chars: [...text].length })).sort(byHash)).toEqual(
      state25.systemPrompts.map(({ hash, chars }) => ({ hash, chars })).sort(byHash),
    )
    for (const [hash, text] of prompts) expect(createHash('sha256').update(text, 'utf8').digest('hex')).toBe(hash)
  })

  it('makes one conversation of four chained sessions, counting what they share once', () => {
    const [chain] = state25.compressionChains
    if (chain === undefined) throw new Error('the fixture has a chain')
    const readings = chain.map((id) => readSession(hermes, unitOf(home, id)))
    const own = readings.flatMap(({ events }) =>
      events.filter(({ kind, originSession }) => kind === 'tool' && originSession === null),
    )
    expect(own).toHaveLength(new Set(own.map(({ toolUseId }) => toolUseId)).size)
    // Four calls before the first rotation, then three, three and one.
    expect(
      readings.map(
        ({ events }) => events.filter(({ kind, originSession }) => kind === 'tool' && originSession === null).length,
      ),
    ).toEqual([4, 3, 3, 1])
    for (const [at, id] of chain.entries()) {
      const before = chain[at - 1]
      if (before === undefined) continue
      expect(unitOf(home, id).meta).toMatchObject({ relation: 'continuation', parent: before })
      const copied =
        readings[at]?.events.filter(({ originSession, kind }) => originSession === before && kind !== 'resume') ?? []
      expect(copied.length).toBeGreaterThan(0)
      // Each copied event shares a row with one event of the session before: that is what links them.
      const rows = new Map(
        readings[at - 1]?.events.flatMap(({ rowIds, seq }) => rowIds.map((row) => [row, seq] as const)),
      )
      for (const event of copied)
        expect(
          event.rowIds.some((row) => rows.has(row)),
          `${id} ${event.id}`,
        ).toBe(true)
    }
  })

  it('counts conversations as the program does', () => {
    const roots = units.filter(({ relation, meta }) => relation === null && meta.relation !== 'continuation')
    expect(roots).toHaveLength(state25.logicalConversations)
  })

  it('finds what a tool run did, what it met on the way, and what it changed', () => {
    const { events, summary } = readSession(hermes, unitOf(home, '20261130_161525_c9524f'))
    const tools = events.filter(({ kind }) => kind === 'tool')
    expect(tools.map(({ tool, ok }) => [tool, ok])).toEqual([
      ['write_file', true],
      ['read_file', true],
      ['terminal', true],
      ['read_file', true],
      ['read_file', false],
      ['patch', true],
    ])
    const notes = '/home/dev/he-demo/notes.txt'
    const sha = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
    expect(tools[0]).toMatchObject({
      effectsState: 'partial',
      effects: [{ path: notes, change: 'unknown', before: null, after: sha('alpha\nbeta\n') }],
    })
    expect(tools[5]).toMatchObject({
      effectsState: 'complete',
      effects: [
        {
          path: notes,
          change: 'change',
          before: sha('alpha\nbeta\n'),
          after: sha('alpha\ngamma\n'),
          addedLines: 1,
          removedLines: 1,
        },
      ],
    })
    expect(tools[2]?.effectsState).toBe('none')
    const hints = events.filter(({ kind, id }) => kind === 'instructions' && id.includes('/hint/'))
    expect(hints.map(({ summary: words, parentSeq }) => [words, parentSeq])).toEqual([
      ['sub/deep/.cursorrules, because of sub/deep/f.txt', tools[3]?.seq],
      ['sub/AGENTS.md, because of sub/deep/f.txt', tools[3]?.seq],
    ])
    expect(summary.tokens).toEqual({ input: 6134, output: 60, cache_read: 0, cache_write: 0 })
    expect(events[0]).toMatchObject({
      kind: 'note',
      tokens: summary.tokens,
      summary: 'Session on cli: 6 model calls in all, cost unknown',
    })
    const body = hermes.inferManifest(summary.stretches[0] ?? fail())
    expect(
      body.instructions.sources.filter(({ scope }) => scope === 'path').map(({ path, trigger }) => [path, trigger]),
    ).toEqual([
      ['/home/dev/he-demo/sub/deep/.cursorrules', 'sub/deep/f.txt'],
      ['/home/dev/he-demo/sub/AGENTS.md', 'sub/deep/f.txt'],
    ])
  })

  it('names the session a delegated task ran in', () => {
    const { events } = readSession(hermes, unitOf(home, '20261130_161616_a96282'))
    expect(events.find(({ tool }) => tool === 'delegate_task')?.subagentSession).toBe('20261130_161626_abc293')
    const child = readSession(hermes, unitOf(home, '20261130_161626_abc293'))
    expect(child.summary).toMatchObject({ conversation: false, requests: 0 })
    expect(child.events.map(({ kind }) => kind)).toEqual(['note', 'note', 'context'])
  })

  it('counts the calls a compaction made as well', () => {
    const { summary } = readSession(hermes, unitOf(home, '20261130_161628_316df8'))
    expect(summary.tokens).toEqual({ input: 13639 + 2098, output: 130 + 20, cache_read: 0, cache_write: 0 })
  })

  it('shows an event in full', async () => {
    const unit = unitOf(home, '20261130_161525_c9524f')
    const reading = readSession(hermes, unit)
    const lines = linesOf(contentOf(hermes, unit))
    for (const event of reading.events) {
      const own = event.lines.flatMap((line) => lines.filter((one) => one.line === line))
      const { parts, changes } = await hermes.describeEvent(unit, event, own, async () => ({
        bytes: null,
        total: 0,
        why: null,
      }))
      expect(parts.length, event.id).toBeGreaterThan(0)
      if (event.tool === 'terminal')
        expect(parts.map(({ label, text }) => [label, text])).toContainEqual(['Output', '2 notes.txt'])
      if (event.tool === 'write_file')
        expect(changes).toEqual([
          {
            path: '/home/dev/he-demo/notes.txt',
            change: 'unknown',
            before: null,
            after: 'alpha\nbeta\n',
            why: 'the record does not hold the content before',
          },
        ])
      if (event.id === '9/hint/1')
        expect(parts).toEqual([{ role: 'context', label: 'sub/AGENTS.md', text: 'Sub rules', format: 'markdown' }])
      if (event.id === 'prompt/project/0') expect(parts[0]?.text).toBe('## AGENTS.md\n\nRoot rules')
    }
  })
})

describe('Hermes: a compaction is growth', () => {
  const home = layHermesHome(freshRoot(), 'state-db-v25')
  const session = '20261130_161628_316df8'
  const whole = contentOf(hermes, unitOf(home, session))
  /** The database as it was when `last` was its newest row: rows of an earlier compaction were not archived yet. */
  const asOf = (last: number, archivedUpTo: number): Buffer => {
    const then = layHermesHome(freshRoot(), 'state-db-v25')
    writeDatabase(then, (db) => {
      db.prepare('delete from messages where session_id = ? and id > ?').run(session, last)
      db.prepare('update messages set active = 1, compacted = 0 where session_id = ? and id > ?').run(
        session,
        archivedUpTo,
      )
    })
    return contentOf(hermes, unitOf(then, session))
  }

  it.each([
    ['before the first', 38, 29],
    ['with its first rows', 46, 38],
    ['after the first', 52, 38],
    ['with the rows of the second', 62, 52],
  ])('%s', (_name, last, archivedUpTo) => {
    const earlier = asOf(last, archivedUpTo)
    expect(whole.subarray(0, earlier.length).equals(earlier)).toBe(true)
    expect(earlier.length).toBeLessThan(whole.length)
  })

  it('reads the same rows once when a line was changed and all come again', () => {
    const unit = unitOf(home, session)
    const scratch = join(freshRoot(), 'twice.jsonl')
    writeFileSync(scratch, Buffer.concat([whole, whole]))
    const once = readSession(hermes, unit)
    const { lines_from: _, ...meta } = unit.meta
    const twice = readSession(hermes, { ...unit, file: scratch, meta })
    expect(twice.events.map(({ id }) => id)).toEqual(once.events.map(({ id }) => id))
    expect(twice.summary.repeatedRows).toBeGreaterThan(once.summary.repeatedRows)
  })
})

describe('Hermes: schema 30 from the source of upstream main', () => {
  const home = layHermesHome(freshRoot(), 'state-db-v30-synthetic')
  const truth = z
    .object({
      sessions: z.record(z.string(), z.looseObject({ kind: z.string() })),
      listedConversations: z.array(z.string()),
    })
    .parse(read('state-db-v30-synthetic/expected.json'))
  const relation: Readonly<Record<string, string | undefined>> = {
    root: undefined,
    'root of a compression chain': undefined,
    'compression continuation of 20260101_000200_cccccc': 'continuation',
    'subagent run': 'subagent',
    branch: 'branch',
    'reset continuation (separate conversation)': 'reset',
  }

  it.each(Object.entries(truth.sessions))('%s', (id, { kind }) => {
    expect(Object.keys(relation)).toContain(kind)
    const unit = unitOf(home, id)
    expect(unit.meta.relation).toBe(relation[kind])
    expect(unit.relation).toBe(kind === 'subagent run' ? 'subagent' : null)
    expect(readSession(hermes, unit).summary.unknownRecords).toEqual({})
  })

  it('knows undone rows from visible ones, and what was sent from what was typed', async () => {
    const unit = unitOf(home, '20260101_000000_aaaaaa')
    const { events, summary } = readSession(hermes, unit)
    expect(events.find(({ kind }) => kind === 'prompt')?.summary).toBe('list files')
    expect(events.at(-1)).toMatchObject({
      kind: 'note',
      summary: '2 messages before this were undone: the model does not see them any more',
    })
    expect(summary.agentTitle).toBe('Root')
    const lines = linesOf(contentOf(hermes, unit))
    const last = lines.at(-1) ?? fail()
    const rebuilt = await hermes.rebuildRequest(unit, [{ ...last, line: last.line + 1 }], asLines(lines))
    expect(rebuilt.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(rebuilt.body.messages).toMatchObject([
      { role: 'system' },
      { content: 'list files\n\n<hidden recall block>' },
      {},
      {},
      {},
    ])
  })

  it('counts a call once that a compaction inserted again', () => {
    const { events, summary } = readSession(hermes, unitOf(home, '20260101_000100_bbbbbb'))
    expect(events.filter(({ kind }) => kind === 'tool').map(({ toolUseId }) => toolUseId)).toEqual(['call_2'])
    expect(events.filter(({ kind }) => kind === 'compact')).toHaveLength(1)
    expect(summary.repeatedRows).toBe(2)
  })

  it('takes the inline prompt of an older row, frozen tool names, hidden and archived sessions', () => {
    const old = readSession(hermes, unitOf(home, '20260101_000600_hhhhhh')).summary.stretches[0] ?? fail()
    expect(hermes.recordedTexts(old).map(({ text }) => text)).toEqual(['inline legacy prompt'])
    expect(unitOf(home, '20260101_000700_iiiiii').meta.hidden).toBe(1)
    expect(unitOf(home, '20260101_000800_jjjjjj').meta.archived).toBe(1)
    const stretch = readSession(hermes, unitOf(home, '20260101_000000_aaaaaa')).summary.stretches[0] ?? fail()
    expect(hermes.inferManifest(stretch).capabilities.tools.map(({ name, used }) => [name, used])).toEqual([
      ['read_file', false],
      ['terminal', true],
    ])
    expect(truth.listedConversations).toHaveLength(6)
  })

  it('reads a list of parts, words only overheard, and a branch at a message', async () => {
    const other = layHermesHome(freshRoot(), 'state-db-v30-synthetic')
    const id = '20260101_000400_ffffff'
    writeDatabase(other, (db) => {
      const insert = db.prepare(
        'insert into messages (session_id, role, content, timestamp, observed, display_kind) values (?, ?, cast(? as text), ?, ?, ?)',
      )
      const list = JSON.stringify([
        { type: 'text', text: 'what is this' },
        { type: 'image_url', image_url: { url: 'data:x' } },
      ])
      insert.run(id, 'user', Buffer.from(`\u0000json:${list}`), 1767225700, 0, null)
      insert.run(id, 'user', Buffer.from('said in the group'), 1767225701, 1, null)
      insert.run(id, 'user', Buffer.from('go on by itself'), 1767225702, 0, 'auto_continue')
      db.exec(
        `update sessions set model_config = '{"_branched_from": "20260101_000000_aaaaaa", "_branched_from_message": 4}' where id = '${id}'`,
      )
    })
    const unit = unitOf(other, id)
    const { events } = readSession(hermes, unit)
    expect(events.filter(({ kind }) => kind === 'prompt').map(({ summary }) => summary)).toEqual([
      'branch question',
      'what is this\n[image_url]',
    ])
    expect(
      events.filter(({ kind, lines }) => kind === 'context' && (lines[0] ?? 0) > 3).map(({ summary }) => summary),
    ).toEqual(['Overheard: said in the group', 'auto_continue: go on by itself'])
    const parent = readSession(hermes, unitOf(other, '20260101_000000_aaaaaa')).events.find(
      ({ id: own }) => own === '4',
    )
    expect(events.find(({ kind }) => kind === 'resume')?.rowIds.some((row) => parent?.rowIds.includes(row))).toBe(true)
  })

  it('says that a schema is newer than any that was read, and reads it all the same', () => {
    const newer = layHermesHome(freshRoot(), 'state-db-v30-synthetic')
    writeDatabase(newer, (db) => {
      db.exec(
        'update schema_version set version = 99; alter table messages add column of_later text; update messages set of_later = 1',
      )
    })
    const root = join(newer, '..')
    expect(hermes.describeHome(newer, surroundingsFor(root)).reason).toContain('schema 99, newer than')
    const unit = unitOf(newer, '20260101_000000_aaaaaa')
    expect(readSession(hermes, unit).events.length).toBeGreaterThan(5)
    const body = hermes.inferManifest(readSession(hermes, unit).summary.stretches[0] ?? fail())
    expect(body.unknown.find(({ field }) => field === 'context.session_ref')?.why).toContain('schema 99')
  })

  it('reads a database that lacks columns of its own version', () => {
    const old = layHermesHome(freshRoot(), 'state-db-v30-synthetic')
    writeDatabase(old, (db) => {
      for (const column of ['compacted', 'api_content', 'display_kind'])
        db.exec(`alter table messages drop column ${column}`)
      for (const column of ['title', 'cwd', 'tool_names', 'hidden', 'system_prompt_hash'])
        db.exec(`alter table sessions drop column ${column}`)
    })
    const problems: SessionProblem[] = []
    const units = [...hermes.listSessions(old, (problem) => problems.push(problem))]
    expect(problems).toEqual([])
    expect(units).toHaveLength(10)
    for (const unit of units) expect(readSession(hermes, unit).unreadable).toEqual([])
  })
})

describe('Hermes: requests', () => {
  const home = layHermesHome(freshRoot(), 'state-db-v25')
  const request = z.object({
    body: z.object({ model: z.string(), messages: z.array(z.looseObject({ role: z.string() })) }),
  })
  const sent = (name: string) => request.parse(read(`requests/${name}.json`)).body

  it('puts the late call of a tool run together as it was sent', async () => {
    const unit = unitOf(home, '20261130_161525_c9524f')
    const lines = linesOf(contentOf(hermes, unit))
    const reply = lines.find(({ value }) => asMessage(value).id === 11) ?? fail()
    const rebuilt = await hermes.rebuildRequest(unit, [reply], asLines(lines))
    const want = sent('tools-run-late-call')
    expect(rebuilt.body.model).toBe(want.model)
    expect(rebuilt.body.messages).toEqual(want.messages)
    expect(rebuilt.system[0]?.text).toBe(want.messages[0]?.content)
    expect(rebuilt).toMatchObject({ exact: false, digest: null })
    expect(rebuilt.why).toContain('stores messages, not requests')
    expect(rebuilt.before).toMatchObject({ kept: 7, messages: 7 })
  })

  it.each(['identical-run-a', 'identical-run-b'])('%s', async (name) => {
    const session = name.endsWith('a') ? '20261130_161537_a1d299' : '20261130_161548_f0844d'
    const unit = unitOf(home, session)
    const lines = linesOf(contentOf(hermes, unit))
    const rebuilt = await hermes.rebuildRequest(unit, [lines.at(-1) ?? fail()], asLines(lines))
    expect(rebuilt.body.messages).toEqual(sent(name).messages)
    expect(rebuilt.before).toBeNull()
  })

  it('leaves out what a compaction took out', async () => {
    const unit = unitOf(home, '20261130_161628_316df8')
    const lines = linesOf(contentOf(hermes, unit))
    const last = lines.at(-1) ?? fail()
    const rebuilt = await hermes.rebuildRequest(unit, [last], asLines(lines))
    // 21 active rows, of which the last is the reply.
    expect(rebuilt.messages).toHaveLength(20)
  })
})

describe('Hermes: the other forms of a session', () => {
  it('adds the tools of a snapshot to the session of the database, and counts the session once', () => {
    const home = layEverything(freshRoot())
    const unit = unitOf(home, '20261130_161551_d5a626')
    expect(unit.meta.beside).toEqual(['sessions/session_20261130_161551_d5a626.json'])
    expect(readSession(hermes, unit).events.filter(({ kind }) => kind === 'prompt')).toHaveLength(2)
    const body = hermes.inferManifest(readSession(hermes, unit).summary.stretches[0] ?? fail())
    expect(body.capabilities.tools).toHaveLength(27)
    expect([...hermes.listSideFiles(unit, () => {})]).toEqual([
      { path: join(home, 'sessions/session_20261130_161551_d5a626.json'), isCopy: false },
    ])
  })

  it('reads a snapshot alone', () => {
    const truth = z.object({ roles: z.array(z.string()) }).parse(read('session-json/expected.json'))
    const unit = unitOf(layEverything(freshRoot()), SNAPSHOT_ONLY)
    const lines = contentOf(hermes, unit)
      .toString('utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.filter(({ row }) => row === 'message').map(({ role }) => role)).toEqual(truth.roles)
    expect(contentOf(hermes, unit).toString()).not.toContain('_db_persisted')
    const { summary } = readSession(hermes, unit)
    expect(summary).toMatchObject({
      conversation: true,
      openCalls: 0,
      firstPrompt: expect.stringContaining('SAY checkpointed'),
    })
    const body = hermes.inferManifest(summary.stretches[0] ?? fail())
    expect(body.execution).toMatchObject({
      model: 'scripted-1',
      endpoint_profile: 'http://127.0.0.1:8941/v1',
      surface: 'cli',
    })
  })

  it('uses what stands beside the database when it has the session and no message of it', () => {
    const home = layEverything(freshRoot())
    writeDatabase(home, (db) => db.exec("delete from messages where session_id = '20261130_161551_d5a626'"))
    const { events } = readSession(hermes, unitOf(home, '20261130_161551_d5a626'))
    expect(events.filter(({ kind }) => kind === 'prompt')).toHaveLength(2)
  })

  it('reads the log of a gateway: first row no message, times of no known zone', async () => {
    const all = z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(wild, 'expected.json'), 'utf8')))
    const truth = z
      .object({
        bytes: z.number(),
        lines: z.number(),
        readable_rows: z.number(),
        roles: z.record(z.string(), z.number()),
        tool_calls: z.number(),
        timestamp_steps_back: z.number(),
        first_timestamp_in_file: z.string(),
      })
      .parse(all['hermes-session-log.jsonl'])
    const unit = looseUnit(join(wild, 'hermes-session-log.jsonl'), 'hermes-session-log', '/home/dev/.hermes')
    const { events, summary, cursor, unreadable } = readSession(hermes, unit)
    expect(cursor).toEqual({ byte: truth.bytes, line: truth.lines, open: null })
    expect(unreadable).toEqual([])
    expect(summary.rows).toBe(truth.readable_rows)
    expect(summary.recordTypes).toEqual({ message: truth.readable_rows })
    expect(events.map(({ kind }) => kind)).toEqual(['note', 'prompt', 'model', 'prompt', 'model'])
    expect(events.filter(({ kind }) => kind === 'tool')).toHaveLength(truth.tool_calls)
    expect(events.filter(({ kind }) => kind === 'prompt')).toHaveLength(truth.roles.user ?? 0)
    expect(summary).toMatchObject({
      startedAt: null,
      endedAt: null,
      clockStepsBack: truth.timestamp_steps_back,
      models: ['gemma4:e2b'],
      session: 'hermes-session-log',
    })
    const body = hermes.inferManifest(summary.stretches[0] ?? fail())
    expect(body.execution).toMatchObject({ model: 'gemma4:e2b', surface: 'feishu' })
    expect(body.capabilities.tools.map(({ name }) => name)).toEqual([
      'browser_back',
      'read_file',
      'terminal',
      'write_file',
    ])
    expect(body.capabilities.tools.every(({ schema_digest }) => schema_digest !== null)).toBe(true)
    expect(body.unknown.find(({ field }) => field === 'created_at')?.why).toContain(truth.first_timestamp_in_file)
    const lines = linesOf(readFileSync(unit.file))
    const { parts } = await hermes.describeEvent(unit, events[1] ?? fail(), [lines[1] ?? fail()], async () => ({
      bytes: null,
      total: 0,
      why: null,
    }))
    expect(parts.at(-1)).toMatchObject({
      label: 'Time',
      text: `${truth.first_timestamp_in_file}, local time of the machine that wrote it; the zone is not recorded`,
    })
  })

  it('takes no export, trace or trajectory for a session', () => {
    const home = layHermesHome(freshRoot(), 'state-db-v25')
    rmSync(join(home, 'state.db'))
    for (const [folder, name] of [
      ['exports', 'session-20261130_161525_c9524f.jsonl'],
      ['exports', 'trace-20261130_161525_c9524f.jsonl'],
      ['trajectory', 'trajectory_samples.jsonl'],
    ] as const)
      cpSync(join(hermesFixtures, folder, name), join(home, 'sessions', name))
    const problems: SessionProblem[] = []
    expect([...hermes.listSessions(home, (problem) => problems.push(problem))]).toEqual([])
    expect(problems).toEqual([])
    writeFileSync(join(home, 'sessions', 'odd.jsonl'), '{"nobody":"knows"}\n')
    expect([...hermes.listSessions(home, (problem) => problems.push(problem))]).toEqual([])
    expect(problems).toMatchObject([{ reason: 'its first row is of no form known for Hermes' }])
  })

  it('is no session of Claude Code when it is a trace export of Hermes', () => {
    const home = join(freshRoot(), '.claude')
    const folder = join(home, 'projects', '-home-dev-elsewhere')
    mkdirSync(folder, { recursive: true })
    const name = 'trace-20261130_161525_c9524f.jsonl'
    cpSync(join(hermesFixtures, 'exports', name), join(folder, name))
    const problems: SessionProblem[] = []
    expect([...claudeCode.listSessions(home, (problem) => problems.push(problem))]).toEqual([])
    expect(problems).toMatchObject([{ path: join(folder, name), reason: expect.stringContaining('Hermes') }])
  })

  it('reports a damaged database and reads the files beside it', () => {
    const home = layEverything(freshRoot())
    writeFileSync(join(home, 'state.db'), Buffer.alloc(8192, 7))
    const problems: SessionProblem[] = []
    const units = [...hermes.listSessions(home, (problem) => problems.push(problem))]
    expect(problems).toMatchObject([{ path: join(home, 'state.db') }])
    expect(units.map(({ session }) => session).sort()).toEqual([LOG, '20261130_161551_d5a626', SNAPSHOT_ONLY].sort())
    expect(hermes.describeHome(home, surroundingsFor(join(home, '..'))).reason).toContain('state.db')
  })
})

describe('Hermes: what changes without the lines', () => {
  it('tells totals, title and end of now', () => {
    const home = layHermesHome(freshRoot(), 'state-db-v25')
    const session = '20261130_161551_d5a626'
    const before = unitOf(home, session)
    const reader = hermes.openReader(before)
    const amended: unknown[] = []
    const sink = {
      event: () => {},
      amend: (...change: unknown[]) => amended.push(change),
      words: () => {},
      stretch: () => {},
      unknownRecord: () => {},
    }
    for (const line of linesOf(contentOf(hermes, before))) reader.readLine(line, sink)
    writeDatabase(home, (db) =>
      db.exec(
        `update sessions set input_tokens = 9000, title = 'Named', ended_at = 1796055500 where id = '${session}'`,
      ),
    )
    const after = unitOf(home, session)
    expect(after.stamp).not.toEqual(before.stamp)
    expect(contentOf(hermes, after).equals(contentOf(hermes, before))).toBe(true)
    amended.length = 0
    reader.readMeta?.(after.meta, sink)
    expect(amended).toContainEqual([
      1,
      expect.objectContaining({ tokens: { input: 9000, output: 40, cache_read: 0, cache_write: 0 } }),
    ])
    expect(reader.summary()).toMatchObject({
      agentTitle: 'Named',
      tokens: { input: 9000 },
      endedAt: '2026-11-30T16:18:20.000Z',
    })
  })
})

function linesOf(content: Buffer): readonly RawLine[] {
  let byte = 0
  return content
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((text, at) => {
      const bytes = Buffer.byteLength(text, 'utf8')
      const line = { line: at + 1, byte, bytes, value: JSON.parse(text) }
      byte += bytes + 1
      return line
    })
}

const asLines = (lines: readonly RawLine[]): SessionLines => ({
  async scan(visit) {
    for (const line of lines) if (!visit(line)) return
  },
  async read(places) {
    return lines.filter(({ line }) => places.some((place) => place.line === line))
  },
})

const asMessage = (value: unknown): { id?: number | undefined } =>
  z.looseObject({ id: z.number().optional() }).catch({}).parse(value)
const byHash = (a: { hash: string }, b: { hash: string }): number => (a.hash < b.hash ? -1 : 1)

function fail(): never {
  throw new Error('nothing is there')
}
