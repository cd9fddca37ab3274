import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openclaw } from '../../../../daemon/runtimes/openclaw/index.ts'
import { readFileName } from '../../../../daemon/runtimes/openclaw/session-files.ts'
import { parseSessionKey } from '../../../../daemon/runtimes/openclaw/session-key.ts'
import { addAgentDatabase, changeDatabase, surroundingsOf } from '../../../kit/openclaw-home.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'

describe('OpenClaw: homes', () => {
  const root = temporaryDirectory('openclaw-home')

  it('finds the state directory of the environment, the default one, and every profile that is there', () => {
    for (const name of ['.openclaw', '.openclaw-work', '.openclaw-zoo', '.clawdbot']) mkdirSync(join(root(), name))
    writeFileSync(join(root(), '.openclaw-file'), '')
    const found = openclaw.findHomes(
      surroundingsOf(root(), { OPENCLAW_STATE_DIR: '~/elsewhere', OPENCLAW_PROFILE: 'work' }),
    )
    expect(found.map(({ path, foundBy, exists }) => [path.slice(root().length + 1), foundBy, exists])).toEqual([
      ['elsewhere', 'OPENCLAW_STATE_DIR', false],
      ['.openclaw-work', 'OPENCLAW_PROFILE', true],
      ['.openclaw', 'default', true],
      ['.clawdbot', 'name of an earlier release', true],
      ['.openclaw-zoo', 'profile', true],
    ])
  })

  it('looks below OPENCLAW_HOME first, and below the user’s own home as well', () => {
    mkdirSync(join(root(), 'other/.openclaw'), { recursive: true })
    const found = openclaw.findHomes(surroundingsOf(root(), { OPENCLAW_HOME: '~/other', OPENCLAW_PROFILE: 'default' }))
    expect(found.map(({ path, exists }) => [path.slice(root().length + 1), exists])).toEqual([
      ['other/.openclaw', true],
      ['.openclaw', false],
    ])
  })

  it('describes a home by its program, else by what its files say', () => {
    const home = join(root(), '.openclaw')
    const about = (env = {}) => openclaw.describeHome(home, surroundingsOf(root(), env))
    expect(about()).toMatchObject({ state: 'missing', programVersion: null })
    mkdirSync(home)
    expect(about()).toMatchObject({ state: 'empty', reason: 'the directory is empty' })
    addAgentDatabase(home, 'main', 'agent-db')
    expect(about()).toEqual({
      state: 'ok',
      reason: null,
      programVersion: '2026.9.6',
      retention: { days: 30, from: 'default' },
      live: [],
    })
    const file = join(home, 'openclaw.json')
    writeFileSync(
      file,
      "{ // mine\n meta: { lastTouchedVersion: '2026.9.7' }, session: { maintenance: { pruneAfter: '2w' } } }",
    )
    expect(about()).toMatchObject({ programVersion: '2026.9.7', retention: { days: 14, from: file } })
    const installed = join(root(), 'lib/node_modules/openclaw')
    mkdirSync(installed, { recursive: true })
    writeFileSync(join(installed, 'package.json'), '{"name":"openclaw","version":"2026.10.1"}')
    writeFileSync(join(installed, 'openclaw'), '#!/bin/sh\n')
    expect(about({ PATH: installed })).toMatchObject({ programVersion: '2026.10.1' })
    expect(openclaw.findProgram(home, surroundingsOf(root(), { PATH: installed }))).toEqual({
      version: '2026.10.1',
      path: join(installed, 'openclaw'),
      installedBy: 'npm openclaw',
    })
    writeFileSync(file, '{ half')
    writeFileSync(
      join(home, 'agents/main/agent/openclaw-agent.sqlite'),
      'no database at all, but long enough to be read'.repeat(50),
    )
    expect(about()).toMatchObject({
      state: 'ok',
      reason: expect.stringMatching(/not valid JSON5.*is no SQLite database/s),
    })
  })

  it('says that a session runs only while its owner lives', () => {
    const home = join(root(), '.openclaw')
    const session = '46362ce9-bc67-41c7-83a6-68ec89201695'
    const file = addAgentDatabase(home, 'main', 'agent-db')
    changeDatabase(file, (db) =>
      db.prepare("update session_windows set status = 'running' where session_id = ?").run(session),
    )
    const live = () => openclaw.describeHome(home, surroundingsOf(root())).live
    expect(live()).toEqual([])
    const locks = join(home, 'tmp/openclaw-1000')
    mkdirSync(locks, { recursive: true })
    const lock = (pid: number) =>
      writeFileSync(join(locks, 'gateway.state.lock'), JSON.stringify({ pid, createdAt: 'now', configPath: '' }))
    lock(2 ** 30)
    expect(live()).toEqual([])
    lock(process.pid)
    expect(live()).toEqual([{ session, pid: process.pid, cwd: null, version: null }])
  })

  it('watches agents, configuration with the folders of its includes, and locks', () => {
    const home = join(root(), '.openclaw')
    mkdirSync(join(home, 'agents/main'), { recursive: true })
    mkdirSync(join(root(), 'shared'))
    writeFileSync(
      join(home, 'openclaw.json'),
      "{ $include: ['./parts/models.json5'], agents: { $include: '../shared/agents.json5' } }",
    )
    writeFileSync(join(root(), 'shared/agents.json5'), "{ defaults: { $include: './deeper/defaults.json5' } }")
    const places = openclaw.watchPlaces(home, surroundingsOf(root()))
    const of = (what: string) =>
      places.filter((place) => place.what === what).map(({ path, depth }) => [path.slice(root().length + 1), depth])
    expect(of('sessions')).toEqual([['.openclaw/agents', 2]])
    expect(of('live')).toEqual([['.openclaw/tmp', 1]])
    expect(of('configuration').map(([path]) => path)).toEqual([
      '.openclaw',
      '.openclaw/parts',
      'shared',
      'shared/deeper',
      '.openclaw/skills',
      '.openclaw/hooks',
      '.openclaw/extensions',
      '.openclaw/agents/main/agent/workshop-skills',
    ])
    expect(places.some(({ path }) => path === root())).toBe(false)
  })

  it('knows the files the program writes for itself (B18)', () => {
    const home = join(root(), '.openclaw')
    const why = (name: string) => openclaw.helperFile(home, join(home, name))
    for (const name of [
      'openclaw.json.bak',
      'openclaw.json.bak.4',
      'openclaw.json.last-good',
      'openclaw.json.rejected.2026-11-30T16-00-00Z',
      'openclaw.json.clobbered.1796054697443',
      'config-journal-fingerprint.key',
      'state/openclaw.sqlite-wal',
      'tmp/openclaw-1000/gateway.state.lock',
      'backups/tools-md-migration/TOOLS.md',
      'plugin-skills/canvas/SKILL.md',
      'agents/main/sessions/s1.jsonl',
    ])
      expect(why(name), name).not.toBeNull()
    for (const name of [
      'openclaw.json',
      '.env',
      'skills/mine/SKILL.md',
      'hooks/h/handler.ts',
      'workspace/AGENTS.md',
      'backups',
    ])
      expect(why(name), name).toBeNull()
  })

  it('keeps profiles apart: each state directory is a home with its own sessions', () => {
    const [one, other] = [join(root(), '.openclaw'), join(root(), '.openclaw-work')]
    addAgentDatabase(one, 'main', 'agent-db')
    mkdirSync(other)
    cpSync(join(one, 'agents'), join(other, 'agents'), { recursive: true })
    const units = [one, other].map((home) => [...openclaw.listSessions(home, () => {})])
    expect(units[0]?.map(({ session }) => session)).toEqual(units[1]?.map(({ session }) => session))
    expect(units[1]?.every(({ home, file }) => home === other && file.startsWith(other))).toBe(true)
  })
})

describe('OpenClaw: names', () => {
  it.each([
    ['agent:main:main', { agent: 'main', kind: 'main' }],
    [
      'agent:ops:telegram:group:-100:42',
      { agent: 'ops', kind: 'group', channel: 'telegram', peer: '-100:42', thread: null },
    ],
    ['agent:main:telegram:group:42:topic:7', { kind: 'group', channel: 'telegram', peer: '42', thread: '7' }],
    ['agent:main:slack:channel:C01:thread:17.5', { kind: 'channel', channel: 'slack', peer: 'c01', thread: '17.5' }],
    ['agent:main:discord:acc:direct:9', { kind: 'direct', channel: 'discord', peer: '9' }],
    ['agent:main:cron:job:run:1', { kind: 'cron', channel: null }],
    ['agent:main:subagent:a:subagent:b', { kind: 'subagent' }],
    ['agent:main:explicit:big', { kind: 'explicit' }],
    ['agent:main:dashboard:x', { kind: 'other' }],
    [null, { agent: null, kind: 'unknown' }],
  ] as const)('reads the session key %s', (key, wanted) => {
    expect(parseSessionKey(key)).toMatchObject(wanted)
  })

  it.each([
    ['s1.jsonl', ['s1', 'live', null]],
    ['s1.jsonl.reset.2026-01-16T11-40-00.000Z', ['s1', 'reset', '2026-01-16T11-40-00.000Z']],
    [
      `s1.jsonl.deleted.2026-01-16T11-40-00.000Z.${'a'.repeat(32)}.zst`,
      ['s1', 'deleted', `2026-01-16T11-40-00.000Z.${'a'.repeat(32)}`],
    ],
    ['s1.jsonl.bak.2026-01-16T11-40-00Z', ['s1', 'backup', '2026-01-16T11-40-00Z']],
    ['s1.jsonl.imported-1796055285113', ['s1', 'imported', '1796055285113']],
    ['s1.jsonl.reset.2026-01-16T11-40-00.000Z.imported-1', ['s1', 'reset', '2026-01-16T11-40-00.000Z']],
    ['s1.trajectory.jsonl', ['s1', 'trajectory', null]],
    ['s1.trajectory.jsonl.imported-1', ['s1', 'trajectory', '1']],
    [
      's1.checkpoint.11111111-1111-4111-8111-111111111111.jsonl',
      ['s1', 'checkpoint', '11111111-1111-4111-8111-111111111111'],
    ],
  ] as const)('knows what %s is', (name, wanted) => {
    const file = readFileName(name)
    expect([file?.session, file?.kind, file?.stamp]).toEqual(wanted)
  })

  it.each(['sessions.json', 's1.trajectory-path.json', 's1.jsonl.lock', 'notes.txt', 's1.jsonl.orig'])(
    'takes %s for no session',
    (name) => {
      expect(readFileName(name)).toBeNull()
    },
  )
})
