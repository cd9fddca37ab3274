import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { linesFrom, type SessionProblem, type Surroundings } from '../../../../daemon/runtimes/adapter.ts'
import { codex } from '../../../../daemon/runtimes/codex/index.ts'
import { contentOf, looseUnit, readSession } from '../../../kit/read-session.ts'

const thread = '01a22d2b-0000-7000-8000-000000000001'
const other = '01a22d2b-0000-7000-8000-000000000002'
let root = ''
let home = ''
const around = (more: Partial<Surroundings> = {}): Surroundings => ({
  platform: 'linux',
  userHome: join(root, 'home'),
  env: {},
  systemRoot: root,
  now: () => new Date(0),
  ...more,
})
const put = (path: string, text: string | Buffer): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}
const head = (id: string, more: Readonly<Record<string, unknown>> = {}): string =>
  `${JSON.stringify({ timestamp: '2026-01-01T00:00:00.000Z', type: 'session_meta', payload: { id, ...more } })}\n`
const list = () => {
  const problems: SessionProblem[] = []
  return { units: [...codex.listSessions(home, (problem) => problems.push(problem))], problems }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'reprise-codex-places-'))
  home = join(root, 'home/.codex')
  mkdirSync(home, { recursive: true })
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('homes', () => {
  it('are where CODEX_HOME points and in the usual place', () => {
    expect(codex.findHomes(around()).map(({ path, foundBy, exists }) => [path, foundBy, exists])).toEqual([
      [home, 'default', true],
    ])
    const named = around({ env: { CODEX_HOME: 'work/codex' } })
    expect(codex.findHomes(named).map(({ path, exists }) => [path, exists])).toEqual([
      [join(root, 'home/work/codex'), false],
      [home, true],
    ])
    expect(codex.findHomes(around({ env: { CODEX_HOME: home } }))).toHaveLength(1)
  })

  it('say when they are missing, empty or no directory', () => {
    expect(codex.describeHome(join(root, 'none'), around())).toMatchObject({ state: 'missing' })
    expect(codex.describeHome(home, around())).toMatchObject({ state: 'empty' })
    put('home/.codex/config.toml', '')
    expect(codex.describeHome(home, around())).toMatchObject({
      state: 'empty',
      reason: expect.stringContaining('no session'),
    })
    expect(codex.describeHome(join(home, 'config.toml'), around())).toMatchObject({ state: 'unreadable' })
  })

  it('know which threads a process holds, and that a lock left behind is none', () => {
    mkdirSync(join(home, 'sessions'))
    const held = put(`home/.codex/thread-writer-locks/${thread}.lock`, '')
    put(`home/.codex/thread-writer-locks/${other}.lock`, '')
    put('home/.codex/thread-writer-locks/.coordination.lock', '')
    const { ino } = statSync(held)
    put('proc/locks', `1: POSIX  ADVISORY  READ 7 fe:00:5 128 128\n3: FLOCK  ADVISORY  WRITE 4711 fe:00:${ino} 0 EOF\n`)
    expect(codex.describeHome(home, around()).live).toEqual([{ session: thread, pid: 4711, cwd: null, version: null }])
    expect(codex.describeHome(home, around({ platform: 'darwin' })).live).toEqual([])
  })

  it('are watched where sessions and configuration lie', () => {
    const places = codex.watchPlaces(home, around())
    expect(places.filter(({ what }) => what === 'sessions').map(({ path }) => path)).toEqual([
      join(home, 'sessions'),
      join(home, 'archived_sessions'),
    ])
    for (const path of [home, join(home, 'rules'), join(root, 'home/.agents/skills'), join(root, 'etc/codex')])
      expect(places.map((place) => place.path)).toContain(path)
  })

  it('hold files of the program that are no configuration', () => {
    for (const name of [
      'state_5.sqlite-wal',
      'session_index.jsonl.lock',
      'tmp/arg0/x',
      'installation_id',
      'history.jsonl',
    ])
      expect(codex.helperFile(home, join(home, name)), name).not.toBeNull()
    for (const name of ['config.toml', 'AGENTS.md', 'hooks.json', 'rules/default.rules', '.env', 'work.config.toml'])
      expect(codex.helperFile(home, join(home, name)), name).toBeNull()
  })
})

describe('the program', () => {
  it('is the executable of the platform behind the script of the npm package', () => {
    const scope = 'lib/node_modules/@openai'
    put(`${scope}/codex/package.json`, '{"name":"@openai/codex","version":"0.171.0"}')
    put(`${scope}/codex/bin/codex.js`, '#!/usr/bin/env node\n')
    const program = put(`${scope}/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex`, '')
    put(`${scope}/codex-linux-x64/package.json`, '{"name":"@openai/codex","version":"0.171.0-linux-x64"}')
    mkdirSync(join(root, 'bin'))
    symlinkSync(join(root, scope, 'codex/bin/codex.js'), join(root, 'bin/codex'))
    expect(codex.findProgram(home, around({ env: { PATH: join(root, 'bin') } }))).toEqual({
      version: '0.171.0',
      path: program,
      installedBy: 'npm @openai/codex',
    })
    expect(codex.describeHome(home, around({ env: { PATH: join(root, 'bin') } })).programVersion).toBe('0.171.0')
  })

  it('is what PATH leads to, with the version its path names, or none', () => {
    const file = put('opt/Caskroom/codex/0.99.1/codex', '')
    expect(codex.findProgram(home, around({ env: { PATH: dirname(file) } }))).toEqual({
      version: '0.99.1',
      path: file,
      installedBy: 'brew',
    })
    const plain = put('usr/bin/codex', '')
    expect(codex.findProgram(home, around({ env: { PATH: dirname(plain) } }))).toEqual({
      version: null,
      path: plain,
      installedBy: 'native',
    })
    expect(codex.findProgram(home, around({ env: { PATH: join(root, 'nothing') } }))).toBeNull()
  })

  it('is the copy of the background daemon when there is no other', () => {
    for (const version of ['0.9.0', '0.171.0'])
      put(
        `home/.codex/packages/app-server-daemon/${version}/package.json`,
        `{"name":"@openai/codex","version":"${version}"}`,
      )
    expect(codex.findProgram(home, around())).toMatchObject({
      version: '0.171.0',
      installedBy: expect.stringContaining('copy'),
    })
  })
})

describe('sessions', () => {
  const name = (id: string, end = 'jsonl'): string => `rollout-2026-01-01T00-00-00-${id}.${end}`

  it('are found without their thread in the name, and names that are none are told', () => {
    put('home/.codex/sessions/2026/01/01/rollout-odd.jsonl', head(thread))
    put('home/.codex/sessions/2026/01/01/notes.jsonl', '{}')
    put('home/.codex/sessions/2026/01/01/.DS_Store', '')
    const { units, problems } = list()
    expect(units.map(({ session }) => session)).toEqual(['rollout-odd'])
    expect(problems.map(({ path, reason }) => [path.split('/').at(-1), reason])).toEqual([
      ['notes.jsonl', 'is not named like a session of Codex'],
    ])
    const [unit] = units
    expect(unit && readSession(codex, unit).summary.session).toBe(thread)
  })

  it('count once while a file is moved or compressed, the fuller one', () => {
    const long = head(thread) + head(thread)
    put(`home/.codex/sessions/2026/01/01/${name(thread)}`, head(thread))
    const archived = put(`home/.codex/archived_sessions/${name(thread)}`, long)
    put(`home/.codex/sessions/2026/01/01/${name(other, 'jsonl.zst')}`, Buffer.from([0x28, 0xb5]))
    const plain = put(`home/.codex/sessions/2026/01/01/${name(other)}`, head(other))
    const { units, problems } = list()
    expect(units.map(({ session, file }) => [session, file])).toEqual([
      [thread, archived],
      [other, plain],
    ])
    expect(units.every((unit) => linesFrom(unit) === null)).toBe(true)
    expect(problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('stands a second time'),
      expect.stringContaining('stands a second time'),
    ])
  })

  it('are linked to their parent by their head, however long it is', () => {
    const spawn = {
      source: { subagent: { thread_spawn: { parent_thread_id: thread } } },
      base_instructions: { text: 'x'.repeat(300_000) },
    }
    put(`home/.codex/sessions/2026/01/01/${name(other)}`, head(other, spawn))
    const third = '01a22d2b-0000-7000-8000-000000000003'
    const late = { base_instructions: { text: 'x'.repeat(300_000) }, source: spawn.source }
    put(`home/.codex/sessions/2026/01/01/${name(third)}`, head(third, late))
    expect(list().units.map(({ relation, parentSession }) => [relation, parentSession])).toEqual([
      ['subagent', thread],
      // The parent stands behind the long texts here: the head is read on.
      ['subagent', thread],
    ])
  })

  it('that are damaged say which file and what is wrong', () => {
    const document = put(`home/.codex/sessions/rollout-2025-03-29-${thread}.json`, '{"session": {')
    const packed = put(`home/.codex/sessions/2026/01/01/${name(other, 'jsonl.zst')}`, Buffer.from('no zstd at all'))
    const { units, problems } = list()
    expect(problems.map(({ path }) => path)).toEqual([packed])
    for (const [n, file] of [document, packed].entries()) {
      const unit = units.find((each) => each.session === [thread, other][n])
      if (unit === undefined) throw new Error(`${file} is not listed`)
      expect(() => contentOf(codex, unit)).toThrow(file)
    }
    put(`home/.codex/sessions/rollout-2025-03-29-${thread}.json`, '{"items": []}')
    expect(() => contentOf(codex, { ...looseUnit(document, thread, home), meta: { lines_from: 'document' } })).toThrow(
      '"session" is missing',
    )
  })

  it('that cannot be listed are a problem, not an absence', { skip: process.getuid?.() === 0 }, () => {
    put(`home/.codex/sessions/2026/01/01/${name(thread)}`, head(thread))
    const folder = join(home, 'sessions/2026')
    chmodSync(folder, 0)
    const { units, problems } = list()
    chmodSync(folder, 0o755)
    expect(units).toEqual([])
    expect(problems.map(({ path }) => path)).toEqual([folder])
  })

  it('are read from several zstd frames and with characters that lie across chunks', () => {
    const lines = Array.from(
      { length: 4000 },
      (_, n) =>
        `${JSON.stringify({ type: 'event_msg', payload: { type: 'warning', message: `ä€😀 ${n} ${'ü'.repeat(n % 700)}` } })}\n`,
    )
    const text = head(thread) + lines.join('')
    const plain = put('plain.jsonl', text)
    const file = join(home, 'sessions/2026/01/01', name(thread, 'jsonl.zst'))
    mkdirSync(dirname(file), { recursive: true })
    try {
      execFileSync('zstd', ['-q', plain, '-o', file])
    } catch {
      // Without the program: the fixture shows that compressed sessions are read.
      return
    }
    const [unit] = list().units
    expect(unit && contentOf(codex, unit).toString('utf8')).toBe(readFileSync(plain, 'utf8'))
  })

  it('take their title from the list of names, the last one given', () => {
    put(`home/.codex/sessions/2026/01/01/${name(thread)}`, head(thread))
    put(
      'home/.codex/session_index.jsonl',
      `{"id":"${thread}","thread_name":"One"}\n{"id":"${thread}","thread_name":"Two"}\n{"id":"x`,
    )
    const [unit] = list().units
    expect(unit && readSession(codex, unit).summary.agentTitle).toBe('Two')
  })
})

describe('typed prompts', () => {
  it('are read with their seconds, and shown', async () => {
    const record = { session_id: thread, ts: 1796053046, text: 'hello tui' }
    expect(codex.promptHistoryFile(home)).toBe(join(home, 'history.jsonl'))
    expect(codex.readTypedPrompt(record)).toEqual({
      session: thread,
      text: 'hello tui',
      at: '2026-11-30T15:37:26.000Z',
      cwd: null,
    })
    expect(codex.readTypedPrompt({ ts: 1 })).toBeNull()
    const file = put('typed.jsonl', `${JSON.stringify(record)}\n`)
    const unit = { ...looseUnit(file, thread, home), meta: { typed_only: true } }
    const { events, summary } = readSession(codex, unit)
    expect(events.map(({ kind, summary: words }) => [kind, words])).toEqual([['prompt', 'hello tui']])
    expect(summary).toMatchObject({ conversation: false, firstPrompt: 'hello tui', tokensAreLowerBound: true })
    const place = { id: 'typed@0', kind: 'prompt', tool: null, toolUseId: null } as const
    const line = { line: 1, byte: 0, bytes: 1, value: record }
    const { parts } = await codex.describeEvent(unit, place, [line], async () => ({ bytes: null, total: 0, why: null }))
    expect(parts).toEqual([{ role: 'prompt', label: 'Prompt', text: 'hello tui', format: 'markdown' }])
  })
})
