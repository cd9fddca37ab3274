import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { SessionProblem, Surroundings } from '../../../../daemon/runtimes/adapter.ts'
import { describeHome } from '../../../../daemon/runtimes/claude-code/describe-home.ts'
import { findHomes, stateFileOf, watchPlaces } from '../../../../daemon/runtimes/claude-code/homes.ts'
import { listSessions, listSideFiles } from '../../../../daemon/runtimes/claude-code/list-sessions.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'

const directory = temporaryDirectory('homes')

function surroundings(env: Surroundings['env'] = {}, platform: NodeJS.Platform = 'linux'): Surroundings {
  return {
    platform,
    userHome: join(directory(), 'dev'),
    env,
    systemRoot: join(directory(), 'system'),
    now: () => new Date(0),
  }
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(directory(), path)), { recursive: true })
  writeFileSync(join(directory(), path), text)
}

describe('findHomes', () => {
  it('looks where the variable points, then at the default and the older place', () => {
    write('elsewhere/projects/x', '')
    const homes = findHomes(surroundings({ CLAUDE_CONFIG_DIR: join(directory(), 'elsewhere') }))
    expect(homes).toEqual([
      { path: join(directory(), 'elsewhere'), foundBy: 'CLAUDE_CONFIG_DIR', exists: true },
      { path: join(directory(), 'dev/.claude'), foundBy: 'default', exists: false },
      { path: join(directory(), 'dev/.config/claude'), foundBy: 'older default', exists: false },
    ])
  })

  it('names a place once', () => {
    expect(findHomes(surroundings({ CLAUDE_CONFIG_DIR: join(directory(), 'dev/.claude/') })).length).toBe(2)
  })

  it('never asks to watch the user home itself', () => {
    const places = watchPlaces(join(directory(), 'dev/.claude'), surroundings())
    expect(places.map(({ path }) => path)).not.toContain(join(directory(), 'dev'))
    expect(places.map(({ path }) => path)).toContain(join(directory(), 'dev/.claude.json'))
    expect(stateFileOf('/cfg', surroundings())).toBe('/cfg/.claude.json')
  })
})

describe('describeHome', () => {
  const home = (): string => join(directory(), 'dev/.claude')

  it('tells missing, unreadable and empty apart', () => {
    expect(describeHome(home(), surroundings())).toMatchObject({ state: 'missing', retention: null })
    write('dev/.claude', 'a file')
    expect(describeHome(home(), surroundings())).toMatchObject({ state: 'unreadable' })
    mkdirSync(join(directory(), 'bare'))
    expect(describeHome(join(directory(), 'bare'), surroundings())).toMatchObject({ state: 'empty' })
    write('fresh/settings.json', '{}')
    expect(describeHome(join(directory(), 'fresh'), surroundings())).toMatchObject({
      state: 'empty',
      reason: 'no session was written here yet',
    })
  })

  // B13: the period is shown, so that nobody learns of it months later.
  it.each([
    ['{}', null, { days: 30, from: 'default' }],
    ['{"cleanupPeriodDays":0}', null, { days: 0, from: 'user' }],
    ['{"cleanupPeriodDays":3650}', null, { days: 3650, from: 'user' }],
    ['{"cleanupPeriodDays":3650}', '{"cleanupPeriodDays":7}', { days: 7, from: 'managed' }],
    ['{"cleanupPeriodDays":"long"}', null, { days: 30, from: 'default' }],
  ])('reads the retention of %s with managed %s', (user, managed, expected) => {
    write('dev/.claude/projects/x', '')
    write('dev/.claude/settings.json', user)
    if (managed !== null) write('system/etc/claude-code/managed-settings.json', managed)
    const { retention } = describeHome(home(), surroundings())
    const from = {
      user: join(home(), 'settings.json'),
      managed: join(directory(), 'system/etc/claude-code/managed-settings.json'),
      default: 'default',
    }
    expect(retention).toEqual({ days: expected.days, from: from[expected.from as keyof typeof from] })
  })

  it('lets the last managed drop-in win', () => {
    write('dev/.claude/projects/x', '')
    write('system/etc/claude-code/managed-settings.json', '{"cleanupPeriodDays":1}')
    write('system/etc/claude-code/managed-settings.d/10.json', '{"cleanupPeriodDays":10}')
    write('system/etc/claude-code/managed-settings.d/20.json', '{"cleanupPeriodDays":20}')
    expect(describeHome(home(), surroundings()).retention?.days).toBe(20)
  })

  it('takes a damaged file as a reason and goes on', () => {
    write('dev/.claude/projects/x', '')
    write('dev/.claude/settings.json', '{"cleanupPeriodDays":')
    write('dev/.claude/sessions/1.json', '{"pid":')
    const { state, reason, retention } = describeHome(home(), surroundings())
    expect(state).toBe('ok')
    expect(reason).toContain('settings.json: not valid JSON')
    expect(reason).toContain('1.json: not valid JSON')
    expect(retention?.days).toBe(30)
  })

  it('names sessions of living processes only, and never opens a key', () => {
    write('dev/.claude/projects/x', '')
    write(
      `dev/.claude/sessions/${process.pid}.json`,
      JSON.stringify({ pid: process.pid, sessionId: 'live', cwd: '/w', version: '2.1.332' }),
    )
    write('dev/.claude/sessions/4194303.json', JSON.stringify({ pid: 4194303, sessionId: 'dead' }))
    mkdirSync(join(home(), `sessions/${process.pid}.key`))
    expect(describeHome(home(), surroundings()).live).toEqual([
      { session: 'live', pid: process.pid, cwd: '/w', version: '2.1.332' },
    ])
  })

  it('finds the version of an installed package behind a link in PATH, without running it', () => {
    const packages = 'lib/node_modules/@anthropic-ai/claude-code'
    write(`${packages}/package.json`, '{"name":"@anthropic-ai/claude-code","version":"2.1.332"}')
    write(`${packages}/bin/claude.exe`, 'must not run')
    mkdirSync(join(directory(), 'bin'))
    symlinkSync(join(directory(), packages, 'bin/claude.exe'), join(directory(), 'bin/claude'))
    const found = (PATH: string): string | null => describeHome(home(), surroundings({ PATH })).programVersion
    expect(found(`/nowhere:${join(directory(), 'bin')}`)).toBe('2.1.332')
    write('share/claude/versions/2.1.300', 'binary')
    mkdirSync(join(directory(), 'native'))
    symlinkSync(join(directory(), 'share/claude/versions/2.1.300'), join(directory(), 'native/claude'))
    expect(found(join(directory(), 'native'))).toBe('2.1.300')
    expect(found('/nowhere')).toBeNull()
  })
})

describe('listSessions', () => {
  const home = (): string => join(directory(), 'dev/.claude')
  const list = (): {
    units: ReturnType<typeof listSessions> extends Iterable<infer U> ? U[] : never
    problems: SessionProblem[]
  } => {
    const problems: SessionProblem[] = []
    return { units: [...listSessions(home(), (problem) => problems.push(problem))], problems }
  }

  it('gathers a session with its side files, and its subagents as sessions of their own', () => {
    write('dev/.claude/projects/-w/s1.jsonl', '')
    write('dev/.claude/projects/-w/s1/tool-results/a.txt', '')
    write('dev/.claude/projects/-w/s1/subagents/agent-x.jsonl', '')
    write('dev/.claude/projects/-w/s1/subagents/agent-x.meta.json', '{"agentType":"general-purpose","toolUseId":"t1"}')
    write('dev/.claude/projects/-w/memory/MEMORY.md', '')
    write('dev/.claude/file-history/s1/abc@v1', '')
    const { units, problems } = list()
    expect(problems).toEqual([])
    expect(units.map((unit) => [...listSideFiles(unit, () => {})])).toEqual([
      [
        { path: join(home(), 'projects/-w/s1/tool-results/a.txt'), isCopy: false },
        { path: join(home(), 'file-history/s1/abc@v1'), isCopy: true },
      ],
      [{ path: join(home(), 'projects/-w/s1/subagents/agent-x.meta.json'), isCopy: false }],
    ])
    expect(units).toMatchObject([
      {
        session: 's1',
        relation: null,
        sideFiles: [join(home(), 'projects/-w/s1/tool-results/a.txt'), join(home(), 'file-history/s1/abc@v1')],
        meta: { folder: '-w' },
      },
      {
        session: 's1/x',
        parentSession: 's1',
        relation: 'subagent',
        sideFiles: [join(home(), 'projects/-w/s1/subagents/agent-x.meta.json')],
        meta: { agentType: 'general-purpose', toolUseId: 't1' },
      },
    ])
  })

  it('finds the session of a subagent that lies beside the sessions', () => {
    write('dev/.claude/projects/-w/agent-y.jsonl', '{"broken\n{"type":"user","sessionId":"s1"}\n')
    expect(list().units).toMatchObject([{ session: 's1/y', parentSession: 's1', relation: 'subagent' }])
  })

  it('reports what it cannot read and shows the rest', () => {
    write('dev/.claude/projects/-a/s1.jsonl', '')
    write('dev/.claude/projects/-b/s2.jsonl', '')
    write('dev/.claude/projects/-b/s2/subagents/agent-x.jsonl', '')
    write('dev/.claude/projects/-b/s2/subagents/agent-x.meta.json', '[')
    write('dev/.claude/projects/-c/s3/tool-results/left.txt', '')
    writeFileSync(
      Buffer.concat([Buffer.from(join(home(), 'projects/-a/')), Buffer.from([0xff]), Buffer.from('.jsonl')]),
      '',
    )
    const { units, problems } = list()
    expect(units.map(({ session }) => session)).toEqual(['s1', 's2', 's2/x'])
    expect(problems.map(({ reason }) => reason)).toEqual([
      'the name is not valid UTF-8',
      'no JSON object',
      'belongs to a session whose own file is not there',
    ])
  })

  it('lets neither of two files with one session id hide the other', () => {
    write('dev/.claude/projects/-a/s1.jsonl', '')
    write('dev/.claude/projects/-b/s1.jsonl', '')
    const { units, problems } = list()
    expect(units.map(({ session }) => session)).toEqual(['s1', 's1@-b'])
    expect(problems[0]?.reason).toContain('the same session id')
  })

  it('says nothing of a home without sessions', () => {
    expect(list()).toEqual({ units: [], problems: [] })
  })
})
