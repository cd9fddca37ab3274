import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { SessionUnit } from '../../daemon/runtimes/adapter.ts'
import { openclaw } from '../../daemon/runtimes/openclaw/index.ts'
import {
  addAgentDatabase,
  appendEvent,
  changeDatabase,
  openclawFixtures,
  surroundingsOf,
} from '../kit/openclaw-home.ts'
import { contentOf, readSession, type SessionReading } from '../kit/read-session.ts'
import { temporaryDirectory } from '../kit/temporary-directory.ts'
import { testSessions } from './session-suite.ts'

const MAIN = '46362ce9-bc67-41c7-83a6-68ec89201695'
const BIG = 'b200a363-36b6-441a-8988-99c044d6a08e'
const CHILD = '0edf39e0-5e58-41fc-aeb1-5e59fca05f86'
const GROUP = 'b25ba1ce-07dd-4b58-8ffd-d8c24fdd67e5'
const COMPACTED = 'f3a4c53e-6ae9-42ec-82de-0ef455b14cc2'
const LEGACY = 'c007a827-6e66-4724-9344-6eb71cd8ed34'
const WILD = 'da6fb185-8531-4dc6-9f31-e9b4334ffb8b'
const WILD_RESET = `${WILD}@reset-2026-01-16T11-40-00.000Z`

const wild = join(import.meta.dirname, '../fixtures/wild')

function makeHome(root: string): { home: string; userHome: string } {
  const userHome = join(root, 'home')
  const home = join(userHome, '.openclaw')
  addAgentDatabase(home, 'main', 'agent-db')
  addAgentDatabase(home, 'compact', 'compaction-db')
  const sessions = join(home, 'agents/old/sessions')
  cpSync(join(openclawFixtures, 'legacy-jsonl/agents/main/sessions'), sessions, { recursive: true })
  cpSync(join(wild, 'openclaw-session.jsonl.reset'), join(sessions, `${WILD}.jsonl.reset.2026-01-16T11-40-00.000Z`))
  return { home, userHome }
}

testSessions('OpenClaw', {
  adapter: openclaw,
  makeHome(root) {
    const { home, userHome } = makeHome(root)
    return { home, surroundings: surroundingsOf(userHome) }
  },
  isSessionFile: (path) =>
    path.includes('/sessions/') && /\.jsonl(\.reset\..*)?$/.test(path) && !path.includes('.trajectory.'),
  sessionsElsewhere: () => [MAIN, BIG, CHILD, GROUP, COMPACTED],
  writing: {
    session: MAIN,
    append: (home) =>
      changeDatabase(join(home, 'agents/main/agent/openclaw-agent.sqlite'), (db) =>
        appendEvent(db, MAIN, {
          type: 'message',
          id: 'aaaaaaaa-0000-4000-8000-000000000001',
          parentId: 'fa7ab9df-5d4d-4be1-9f7a-de6f0ddbf693',
          timestamp: '2026-11-30T16:06:00.000Z',
          message: { role: 'user', content: 'one more' },
        }),
      ),
    changeEarlier: (home) =>
      changeDatabase(join(home, 'agents/main/agent/openclaw-agent.sqlite'), (db) => {
        db.prepare(
          `update transcript_events set event_json = replace(event_json, 'second turn ok', 'another turn') where session_id = ?`,
        ).run(MAIN)
      }),
    isPassing: (path) => /-(wal|shm)$/.test(path),
  },
  unknownRecord: '{"type":"never-written","id":"00000000-0000-4000-8000-00000000dead","parentId":null}',
})

const callSchema = z.object({
  id: z.string(),
  name: z.string(),
  arguments: z.unknown(),
  result: z.object({ isError: z.boolean(), text: z.string() }),
})
const fileSchema = z.object({
  name: z.string(),
  path: z.string(),
  missing: z.boolean(),
  rawChars: z.number(),
  injectedChars: z.number(),
  truncated: z.boolean(),
})
const expectedSchema = z.object({
  userVersion: z.number(),
  sessions: z.array(
    z.object({
      sessionKey: z.string(),
      sessionId: z.string(),
      eventCount: z.number(),
      zstdEvents: z.number(),
      headerVersion: z.number(),
      headerCwd: z.string(),
      eventTypes: z.array(z.string()),
      userTexts: z.array(z.string()),
      finalAssistantTexts: z.array(z.string()),
      toolCalls: z.array(callSchema),
      compactions: z.array(
        z.object({ tokensBefore: z.number(), tokensAfter: z.number(), summary: z.string() }).loose(),
      ),
      activePathLength: z.number(),
      activeMessages: z.number(),
      effectiveContext: z.array(fileSchema),
      skills: z.number(),
      tools: z.array(z.string()),
    }),
  ),
})
type Expected = z.infer<typeof expectedSchema>['sessions'][number]

const expectedOf = (fixture: string): z.infer<typeof expectedSchema> =>
  expectedSchema.parse(JSON.parse(readFileSync(join(openclawFixtures, fixture, 'expected.json'), 'utf8')))

function unitOf(home: string, session: string): SessionUnit {
  const unit = [...openclaw.listSessions(home, () => {})].find((one) => one.session === session)
  if (unit === undefined) throw new Error(`no session ${session}`)
  return unit
}

const rowsOf = (unit: SessionUnit): Record<string, unknown>[] =>
  contentOf(openclaw, unit)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

function typeOf(row: Record<string, unknown>): string {
  if (row.type === 'message') return `message:${(row.message as { role: string }).role}`
  return row.type === 'custom' ? `custom:${String(row.customType)}` : String(row.type)
}

const calls = ({ events }: SessionReading) => events.filter(({ kind, tool }) => kind === 'tool' && tool !== null)
const wordsOf = ({ words }: SessionReading, role: string): string[] =>
  words.filter((one) => one.role === role).map(({ text }) => text)

describe('OpenClaw: the recorded databases', () => {
  const root = temporaryDirectory('openclaw')

  for (const [fixture, agent] of [
    ['agent-db', 'main'],
    ['compaction-db', 'compact'],
  ] as const) {
    it.each(expectedOf(fixture).sessions.map((truth) => [truth.sessionKey, truth] as const))(
      `${fixture}: %s reads as the program wrote it`,
      (_key, truth) => {
        const { home } = makeHome(join(root(), truth.sessionId))
        const unit = unitOf(home, truth.sessionId)
        expect(unit.meta).toMatchObject({ agent, session_key: truth.sessionKey, lines_from: 'database' })
        checkSession(unit, truth)
      },
    )
  }

  function checkSession(unit: SessionUnit, truth: Expected): void {
    const rows = rowsOf(unit)
    expect(rows.map(typeOf)).toEqual(truth.eventTypes)
    expect(rows.length).toBe(truth.eventCount)
    const reading = readSession(openclaw, unit)
    const { summary, events } = reading
    expect(summary).toMatchObject({
      rows: truth.eventCount,
      roots: 1,
      brokenLinks: 0,
      cyclesCut: 0,
      repeatedRows: 0,
      openCalls: 0,
      unknownRecords: {},
      otherSessionIds: [],
      conversation: true,
      failed: false,
      workspaces: [truth.headerCwd],
      models: ['scripted-1'],
    })
    expect(rows[0]).toMatchObject({ type: 'session', version: truth.headerVersion, cwd: truth.headerCwd })
    expect(wordsOf(reading, 'prompt').map((text) => text.slice(0, 120))).toEqual(truth.userTexts)
    expect(wordsOf(reading, 'answer')).toEqual(truth.finalAssistantTexts)
    expect(calls(reading).map(({ tool, toolUseId, ok }) => ({ tool, toolUseId, isError: ok === false }))).toEqual(
      truth.toolCalls.map(({ id, name, result }) => ({ tool: name, toolUseId: id, isError: result.isError })),
    )
    for (const [n, call] of calls(reading).entries()) {
      const output = reading.words.find(({ seq, role }) => seq === call.seq && role === 'output')?.text ?? ''
      const wanted = truth.toolCalls[n]?.result.text ?? ''
      expect(output.slice(0, wanted.length)).toBe(wanted)
    }
    const compactions = events.filter(({ kind }) => kind === 'compact')
    expect(compactions.map(({ summary: words }) => words)).toEqual(
      truth.compactions.map((one) => `compacted, ${one.tokensBefore} to ${one.tokensAfter} tokens`),
    )
    expect(rows.length - 1).toBe(truth.activePathLength)
    expect(rows.filter(({ type }) => type === 'message').length).toBe(truth.activeMessages)

    const [stretch, ...others] = summary.stretches
    expect(others).toEqual([])
    const body = openclaw.inferManifest(stretch ?? fail())
    const files = body.instructions.sources
    expect(body.instructions.resolved_order).toEqual(['workspace'])
    expect(files.map(({ scope }) => scope)).toContain('workspace')
    expect(
      files.map((file) => ({
        path: file.path,
        missing: file.reason?.startsWith('the file is missing') === true,
        rawChars: file.raw_chars,
        injectedChars: file.injected_chars,
        truncated: file.truncated !== null,
        loaded: file.status === 'loaded',
      })),
    ).toEqual(
      [...truth.effectiveContext]
        .sort((a, b) => Number(b.injectedChars > 0) - Number(a.injectedChars > 0))
        .map(({ name: _, ...file }) => ({ ...file, loaded: file.injectedChars > 0 })),
    )
    expect(body.capabilities.tools.map(({ name }) => name)).toEqual(truth.tools)
    expect(body.capabilities.tools.every(({ schema_digest }) => schema_digest !== null)).toBe(true)
    expect(
      body.capabilities.tools
        .filter(({ used }) => used === true)
        .map(({ name }) => name)
        .sort(),
    ).toEqual([...new Set(truth.toolCalls.map(({ name }) => name))].sort())
    expect(body.capabilities.skills.length).toBe(truth.skills)
    expect(body.execution).toMatchObject({ model: 'demo/scripted-1', reasoning: 'off', cwd: truth.headerCwd })
  }

  it('counts usage once a reply, and effects as the details tell them', () => {
    const { home } = makeHome(root())
    const { summary, events } = readSession(openclaw, unitOf(home, MAIN))
    expect(summary.tokens).toEqual({ input: 7028, output: 70, cache_read: 0, cache_write: 0 })
    expect(summary.tokensAreLowerBound).toBe(false)
    const effects = events.filter(({ effects: found }) => found.length > 0)
    expect(effects.map(({ tool, effectsState, effects: found }) => ({ tool, effectsState, found }))).toEqual([
      {
        tool: 'write',
        effectsState: 'complete',
        found: [
          {
            path: '/home/dev/.openclaw/workspace/notes.txt',
            change: 'add',
            by: 'edit tool',
            before: null,
            after: 'sha256:e49c81e2d2f84e259d40e2fb8192f3bcd198b355184845d76d8f58807d0d78ee',
            addedLines: 2,
            removedLines: 0,
          },
        ],
      },
      {
        tool: 'edit',
        effectsState: 'partial',
        found: [
          {
            path: '/home/dev/.openclaw/workspace/notes.txt',
            change: 'change',
            by: 'edit tool',
            before: null,
            after: null,
            addedLines: 1,
            removedLines: 1,
          },
        ],
      },
    ])
    const exec = events.find(({ tool }) => tool === 'exec')
    expect(exec).toMatchObject({ ok: true, durationMs: 284, effectsState: 'none' })
  })

  it('knows what the trajectory says: program, surface, plugins, tool policy', () => {
    const { home } = makeHome(root())
    const { summary } = readSession(openclaw, unitOf(home, MAIN))
    expect(summary.versions).toEqual(['2026.9.6'])
    const body = openclaw.inferManifest(summary.stretches[0] ?? fail())
    expect(body.execution).toMatchObject({
      runtime_version: '2026.9.6',
      surface: 'agent --local',
      model: 'demo/scripted-1',
      build: { git: 'eb377ac', node: 'v24.22.3', platform: 'linux x64 6.1.0-demo' },
      sandbox: { mode: 'off' },
    })
    expect(body.policy.permissions).toMatchObject({
      deny: [{ rule: 'browser', source: 'record:trajectory' }],
    })
    expect(body.capabilities.plugins.find(({ name }) => name === 'anthropic')).toMatchObject({
      version: '2026.9.6',
      status: 'active',
      reason: 'bundled default enablement',
    })
    expect(body.context).toMatchObject({
      session_scope: { kind: 'main' },
      memory_enabled: true,
    })
    expect(JSON.stringify(body)).not.toContain('alpha')
  })

  it('gives each session its scope and channel', () => {
    const { home } = makeHome(root())
    const contextOf = (session: string) =>
      openclaw.inferManifest(readSession(openclaw, unitOf(home, session)).summary.stretches[0] ?? fail()).context
    expect(contextOf(GROUP)).toMatchObject({
      session_scope: { kind: 'group' },
      channel: { name: 'telegram', peer: '42' },
    })
    expect(contextOf(CHILD)).toMatchObject({ session_scope: { kind: 'subagent' } })
    expect(contextOf(BIG)).toMatchObject({ session_scope: { kind: 'explicit' } })
    // A subagent whose parent is named nowhere stands by itself: below nothing it would never be seen.
    expect(unitOf(home, CHILD)).toMatchObject({ relation: null, parentSession: null })
  })

  it('reads what is in the write-ahead log only, and leaves both files as they are', () => {
    const truth = z
      .object({
        sessionId: z.string(),
        eventsWithWal: z.number(),
        eventsMainFileOnly: z.number(),
        lastUserTextWithWal: z.string(),
        lastEventIdWithWal: z.string(),
      })
      .parse(JSON.parse(readFileSync(join(openclawFixtures, 'hot-wal/expected.json'), 'utf8')))
    const home = join(root(), '.openclaw')
    const file = addAgentDatabase(home, 'main', 'hot-wal')
    const looks = () =>
      [file, `${file}-wal`].map((path) => [statSync(path).mtimeMs, readFileSync(path).toString('latin1')])
    const before = looks()
    const unit = unitOf(home, truth.sessionId)
    const reading = readSession(openclaw, unit)
    expect(reading.summary.rows).toBe(truth.eventsWithWal)
    expect(wordsOf(reading, 'prompt').at(-1)).toBe(truth.lastUserTextWithWal)
    expect(reading.events.at(-1)?.id).toBe(truth.lastEventIdWithWal)
    openclaw.describeHome(home, surroundingsOf(root()))
    expect(looks()).toEqual(before)
    expect(existsSync(`${file}-shm`)).toBe(false)

    const alone = join(root(), '.openclaw-alone')
    mkdirSync(join(alone, 'agents/main/agent'), { recursive: true })
    cpSync(file, join(alone, 'agents/main/agent/openclaw-agent.sqlite'))
    expect(readSession(openclaw, unitOf(alone, truth.sessionId)).summary.rows).toBe(truth.eventsMainFileOnly)
    expect(unitOf(alone, truth.sessionId).stamp).not.toEqual(unit.stamp)
  })
})

describe('OpenClaw: files of older versions', () => {
  const root = temporaryDirectory('openclaw-legacy')
  const truth = z
    .object({
      sessionKey: z.string(),
      sessionId: z.string(),
      headerVersion: z.number(),
      eventTypes: z.array(z.string()),
      injected: z.array(fileSchema),
    })
    .parse(JSON.parse(readFileSync(join(openclawFixtures, 'legacy-jsonl/expected.json'), 'utf8')))

  it('reads the session of 2026.7.1-2 with its index and trajectory', () => {
    const { home } = makeHome(root())
    const unit = unitOf(home, truth.sessionId)
    expect(unit.meta).toMatchObject({ agent: 'old', session_key: truth.sessionKey })
    expect(unit.file).toBe(join(home, `agents/old/sessions/${LEGACY}.jsonl`))
    const rows = rowsOf(unit)
    expect(rows.map(typeOf)).toEqual(truth.eventTypes)
    expect(rows[0]).toMatchObject({ version: truth.headerVersion })
    const { summary, events } = readSession(openclaw, unit)
    expect(summary.versions).toEqual(['2026.7.1-2'])
    const body = openclaw.inferManifest(summary.stretches[0] ?? fail())
    expect(
      body.instructions.sources
        .map(({ path, raw_chars, injected_chars }) => ({ path, raw_chars, injected_chars }))
        .sort(byPath),
    ).toEqual(
      truth.injected
        .map(({ path, rawChars, injectedChars }) => ({ path, raw_chars: rawChars, injected_chars: injectedChars }))
        .sort(byPath),
    )
    // Ids of eight digits say nothing by themselves: two sessions may share one.
    expect(events.flatMap(({ rowIds }) => rowIds).every((id) => /^[0-9a-f]{8}@2026-/.test(id))).toBe(true)
    expect([...openclaw.listSideFiles(unit, () => {})].map(({ path }) => path)).toEqual([
      join(home, `agents/old/sessions/${LEGACY}.trajectory.jsonl`),
    ])
  })

  it('reads the file a reset left behind as measured, as a session of its own', () => {
    const measured = z
      .object({
        readable_rows: z.number(),
        record_types: z.record(z.string(), z.number()),
        roots: z.number(),
        broken_parent_links: z.number(),
        assistant_rows_with_zero_usage: z.number(),
        first_timestamp_in_file: z.string(),
        last_timestamp_in_file: z.string(),
        timestamp_steps_back: z.number(),
        cwds: z.record(z.string(), z.number()),
        models: z.record(z.string(), z.number()),
      })
      .parse(
        z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(join(wild, 'expected.json'), 'utf8')))[
          'openclaw-session.jsonl.reset'
        ],
      )
    const { home } = makeHome(root())
    const sessions = join(home, 'agents/old/sessions')
    // The program went on with a new file of the same name.
    const header = { type: 'session', version: 3, id: WILD, timestamp: '2026-01-16T11:40:00.100Z', cwd: '/root' }
    const fresh = [
      header,
      {
        type: 'message',
        id: 'aa000001',
        parentId: null,
        timestamp: '2026-01-16T11:40:01.000Z',
        message: { role: 'user', content: 'anew' },
      },
    ]
    writeLines(join(sessions, `${WILD}.jsonl`), fresh)
    const old = readSession(openclaw, unitOf(home, WILD_RESET))
    expect(old.summary).toMatchObject({
      session: WILD_RESET,
      rows: measured.readable_rows,
      recordTypes: measured.record_types,
      roots: measured.roots,
      brokenLinks: measured.broken_parent_links,
      startedAt: measured.first_timestamp_in_file,
      endedAt: measured.last_timestamp_in_file,
      clockStepsBack: measured.timestamp_steps_back,
      workspaces: Object.keys(measured.cwds),
      unknownRecords: {},
      otherSessionIds: [],
      conversation: true,
      tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
      tokensAreLowerBound: true,
      models: ['pevobu-zetud/binizekoti/gogonalo/gogonalo-f5.2'],
    })
    const failed = old.events.filter(({ kind }) => kind === 'error')
    const notes = old.events.filter(({ kind, summary }) => kind === 'note' && summary.startsWith('delivered: '))
    expect([failed.length, notes.length]).toEqual([2, 3])
    expect(failed.length + notes.length).toBe(measured.assistant_rows_with_zero_usage)
    expect(old.events.every(({ tokens }) => tokens === null)).toBe(true)
    const now = readSession(openclaw, unitOf(home, WILD))
    expect(now.summary).toMatchObject({ session: WILD, rows: 2, firstPrompt: 'anew' })
  })

  it('finds sessions whose index is empty or damaged, and says so (R15)', () => {
    for (const [content, words] of [
      ['', 'empty'],
      ['{"agent:main:main": {"sess', 'no valid JSON'],
    ] as const) {
      const { home } = makeHome(join(root(), words))
      writeText(join(home, 'agents/old/sessions/sessions.json'), content)
      const problems: string[] = []
      const units = [...openclaw.listSessions(home, ({ reason }) => problems.push(reason))]
      expect(units.find(({ session }) => session === LEGACY)?.meta).toMatchObject({ session_key: null })
      expect(problems).toEqual([
        `the index of sessions is ${words}; 3 files were found without it, their session keys are not known`,
      ])
      expect(readSession(openclaw, unitOf(home, LEGACY)).summary.rows).toBe(truth.eventTypes.length)
    }
  })

  it('counts a session once that lies in the database, in its old file and in archives', () => {
    const { home } = makeHome(root())
    const whole = rowsOf(unitOf(home, MAIN))
    const before = readSession(openclaw, unitOf(home, MAIN))
    const text = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('')
    const lost = {
      type: 'custom',
      customType: 'only-in-the-file',
      id: '0b0b0b0b',
      parentId: null,
      timestamp: whole[3]?.timestamp,
    }
    const folder = join(home, 'agents/main/session-sqlite-import-archive')
    mkdirSync(folder, { recursive: true })
    writeText(
      join(folder, `${MAIN}.jsonl.imported-1796055285113`),
      text([...whole.slice(0, 4), lost, ...whole.slice(4, 12)]),
    )
    mkdirSync(join(home, 'agents/main/sessions'), { recursive: true })
    writeText(
      join(home, `agents/main/sessions/${MAIN}.jsonl.deleted.2026-11-30T16-10-00.000Z`),
      text(whole.slice(0, 9)),
    )
    const unit = unitOf(home, MAIN)
    expect([...openclaw.listSessions(home, () => {})].filter(({ session }) => session.startsWith(MAIN)).length).toBe(1)
    expect(rowsOf(unit)).toEqual([...whole.slice(0, 4), lost, ...whole.slice(4)])
    const after = readSession(openclaw, unit)
    expect(after.summary.repeatedRows).toBe(0)
    expect(after.summary.tokens).toEqual(before.summary.tokens)
    expect(unit.file).toBe(join(home, `agents/main/agent/openclaw-agent.sqlite#${MAIN}`))
  })

  it('reads what was set aside compressed, in the cold folder and in the database', () => {
    const { home } = makeHome(root())
    const file = join(home, 'agents/main/agent/openclaw-agent.sqlite')
    const whole = contentOf(openclaw, unitOf(home, BIG))
    const cold = join(home, 'agents/main/sessions/cold')
    mkdirSync(cold, { recursive: true })
    const packed = zstdFrame(whole)
    writeText(join(cold, `${'ab'.repeat(32)}.jsonl.zst`), packed)
    changeDatabase(file, (db) => {
      db.exec('pragma foreign_keys = off')
      db.prepare(
        `insert into session_transcript_cold_archives (session_id, generation, archive_name, archive_sha256, event_count, raw_bytes, archive_bytes, last_seq, archived_at, storage)
         values (?, 'g', ?, ?, 12, ?, ?, 11, 1796054800000, 'file')`,
      ).run(BIG, `${'ab'.repeat(32)}.jsonl.zst`, 'ab'.repeat(32), whole.length, packed.length)
      db.prepare(
        `insert into session_transcript_archives (session_id, generation, session_key, reason, encoding, archive_blob, archive_sha256, archive_name, created_at)
         values ('11111111-0000-4000-8000-000000000001', 'g', 'agent:main:main', 'deleted', 'zstd', ?, ?, '11111111-0000-4000-8000-000000000001.jsonl.deleted.2026-11-30T16-10-00.000Z.zst', 1796054900000)`,
      ).run(packed, 'cd'.repeat(32))
      db.prepare('delete from transcript_events where session_id = ?').run(BIG)
    })
    expect(contentOf(openclaw, unitOf(home, BIG)).equals(whole)).toBe(true)
    expect(contentOf(openclaw, unitOf(home, '11111111-0000-4000-8000-000000000001')).equals(whole)).toBe(true)
  })

  it('keeps agents apart that have a session of the same id', () => {
    const { home } = makeHome(root())
    addAgentDatabase(home, 'second', 'agent-db')
    const units = [...openclaw.listSessions(home, () => {})]
    expect(
      units.filter(({ session }) => session.startsWith(MAIN)).map(({ session, meta }) => [session, meta.agent]),
    ).toEqual([
      [MAIN, 'main'],
      [`${MAIN}@second`, 'second'],
    ])
    expect(new Set(units.map(({ file }) => file)).size).toBe(units.length)
  })

  it('says that a schema is newer than known, and reads what it knows', () => {
    const { home } = makeHome(root())
    changeDatabase(join(home, 'agents/main/agent/openclaw-agent.sqlite'), (db) => {
      db.exec(
        'pragma user_version = 24; update schema_meta set schema_version = 24; alter table transcript_events rename column created_at to written_at',
      )
    })
    const problems: string[] = []
    const units = [...openclaw.listSessions(home, ({ reason }) => problems.push(reason))]
    expect(problems).toEqual([
      'its schema 24 is newer than 23, the newest known here: what has the same names is read, the rest is not',
    ])
    expect(units.map(({ session }) => session)).toContain(MAIN)
    expect(readSession(openclaw, unitOf(home, MAIN)).summary.rows).toBe(25)
  })

  it('says why a database cannot be read, and reads the files beside it', () => {
    const { home } = makeHome(root())
    const file = join(home, 'agents/old/agent/openclaw-agent.sqlite')
    mkdirSync(join(home, 'agents/old/agent'), { recursive: true })
    writeText(file, 'this is no database, however long it goes on'.repeat(100))
    const problems: { path: string; reason: string }[] = []
    const units = [...openclaw.listSessions(home, (problem) => problems.push(problem))]
    expect(problems).toEqual([{ path: file, reason: `${file} is no SQLite database` }])
    expect(units.map(({ session }) => session)).toContain(LEGACY)
  })
})

function fail(): never {
  throw new Error('the session has no stretch')
}

const byPath = (a: { path: string | null }, b: { path: string | null }): number =>
  (a.path ?? '') < (b.path ?? '') ? -1 : 1

/** A zstd frame of raw blocks, as any decoder reads it; no encoder is at hand on this version of Node. */
function zstdFrame(content: Uint8Array): Uint8Array {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  const parts: Uint8Array[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0]), size]
  for (let at = 0; at < content.length; at += 100_000) {
    const block = content.subarray(at, at + 100_000)
    const last = at + block.length === content.length ? 1 : 0
    const head = Buffer.alloc(3)
    head.writeUIntLE(last | (block.length << 3), 0, 3)
    parts.push(head, block)
  }
  return Buffer.concat(parts)
}

function writeText(path: string, content: string | Uint8Array): void {
  writeFileSync(path, content)
}

function writeLines(path: string, rows: readonly unknown[]): void {
  writeText(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
