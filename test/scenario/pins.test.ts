import { execFileSync, spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, root, type TestHome } from '../kit/fixture-home.ts'
import { turn, writeSession } from '../kit/sessions.ts'

let home: TestHome
let daemon: TestDaemon
let shop: string
let claude: string
let bin: string
const session = '11fe0000-0000-4000-8000-000000000007'
const write = (file: string, content: string, mode = 0o644) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content, { mode })
}
const rule = () => path.join(shop, 'CLAUDE.md')
const settings = (model: string) => write(path.join(claude, 'settings.json'), `${JSON.stringify({ model })}\n`)
const install = (version: string) => {
  const program = path.join(home.home, 'versions', version)
  write(program, `#!/bin/sh\necho ran ${version} "$@"\nexit 7\n`, 0o755)
  fs.rmSync(path.join(bin, 'claude'), { force: true })
  fs.symlinkSync(program, path.join(bin, 'claude'))
}
const server = (version: string) =>
  write(path.join(home.home, 'server/package.json'), JSON.stringify({ name: 'prices', version }))
const reprise = (...args: string[]) => {
  const done = spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], {
    env: { ...daemonEnv(), LC_ALL: 'C' },
    encoding: 'utf8',
    cwd: shop,
  })
  return { code: done.status, out: done.stdout, note: done.stderr, json: () => JSON.parse(done.stdout) }
}
const daemonEnv = () => ({ ...home.env, PATH: `${bin}:${home.env.PATH}` })
const pinNow = (name: string, part: readonly string[], more: readonly string[] = []) =>
  reprise(
    'pins',
    'set',
    name,
    'now',
    '--runtime',
    'claude-code',
    '--workspace',
    shop,
    ...part.flatMap((one) => ['--part', one]),
    ...more,
    '--json',
  )
const check = async (name: string) =>
  (await daemon.call('pins.check', { name, workspace: shop })).pins.find((pin) => pin.name === name)
const look = () => daemon.call('drift.look', {})

beforeAll(async () => {
  home = makeEmptyHome()
  shop = path.join(home.home, 'shop')
  claude = path.join(home.home, '.claude')
  bin = path.join(home.home, 'bin')
  fs.mkdirSync(bin)
  install('2.1.332')
  settings('opus')
  server('1.0.0')
  write(rule(), 'Prices are in cents.\n')
  write(path.join(home.home, 'server/index.js'), '')
  const prices = { command: 'node', args: [path.join(home.home, 'server/index.js')] }
  write(path.join(shop, '.mcp.json'), JSON.stringify({ mcpServers: { prices } }))
  execFileSync('git', ['init', '-q', '-b', 'release/1', shop], { env: { ...home.env, GIT_CONFIG_NOSYSTEM: '1' } })
  const talk = { session, cwd: shop, startedAt: new Date(Date.now() - 5 * 3_600_000).toISOString() }
  writeSession(home.home, talk, turn(talk, 1, 'how much is it', 'four hundred'))
  daemon = await startDaemon({ ...home, env: daemonEnv() })
  await daemon.call('sync.now', {})
  await look()
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

describe('pins', () => {
  it('are honoured while nothing moves, whole or in parts', async () => {
    const whole = pinNow('whole', [], ['--note', 'the good one'])
    expect(whole.code, whole.note).toBe(0)
    expect(whole.json().pin).toMatchObject({ state: 'honoured', parts: [{ kind: 'manifest' }], note: 'the good one' })
    for (const part of ['binary', 'model', 'mcp_package:prices', `file:${rule()}`]) {
      const made = pinNow(part.split(':')[0]?.replace('_', '-') ?? '', [part])
      expect(made.code, made.note).toBe(0)
      expect(made.json().pin.state).toBe('honoured')
      expect(made.json().pin.parts[0].value).toBeTruthy()
    }
    expect(pinNow('whole', []).code).toBe(4)
    expect(pinNow('none', ['plugin:nope']).code).toBe(3)
    const { pins } = await daemon.call('pins.list', {})
    expect(pins.map(({ name, state }) => [name, state])).toEqual([
      ['binary', 'honoured'],
      ['file', 'honoured'],
      ['mcp-package', 'honoured'],
      ['model', 'honoured'],
      ['whole', 'honoured'],
    ])
  })

  it('say which part cannot be honoured: wanted, found, since when, and whether it can be brought back', async () => {
    write(rule(), 'Prices are in euros.\n')
    await look()
    const file = await check('file')
    expect(file).toMatchObject({ state: 'cannot' })
    expect(file?.violations).toMatchObject([{ kind: 'file', name: rule(), restorable: true }])
    expect(file?.violations[0]?.since).not.toBeNull()
    expect(await check('model')).toMatchObject({ state: 'honoured' })
    expect((await check('whole'))?.violations.map(({ kind, name }) => [kind, name])).toContainEqual(['file', rule()])
    const listed = (await daemon.call('pins.list', {})).pins.find(({ name }) => name === 'whole')
    expect(listed?.state).toBe('cannot')
    write(rule(), 'Prices are in cents.\n')
    await look()
    expect(await check('whole')).toMatchObject({ state: 'honoured', violations: [] })

    server('1.1.0')
    expect((await check('mcp-package'))?.violations).toMatchObject([
      { kind: 'mcp_package', wanted: '1.0.0', found: '1.1.0' },
    ])
    const floating = { prices: { command: 'npx', args: ['-y', 'prices'] } }
    const list = fs.readFileSync(path.join(shop, '.mcp.json'))
    write(path.join(shop, '.mcp.json'), JSON.stringify({ mcpServers: floating }))
    expect((await check('mcp-package'))?.violations[0]?.why).toContain('leaves its version open')
    fs.writeFileSync(path.join(shop, '.mcp.json'), list)
    server('1.0.0')

    settings('sonnet')
    expect((await check('model'))?.violations).toMatchObject([{ kind: 'model', wanted: 'opus', found: 'sonnet' }])
    settings('opus')

    install('2.1.400')
    const moved = await check('binary')
    expect(moved).toMatchObject({ state: 'cannot', violations: [{ kind: 'binary', restorable: false }] })
    expect((await check('whole'))?.violations.map(({ kind }) => kind)).toContain('binary')
    install('2.1.332')
    expect(await check('whole')).toMatchObject({ state: 'honoured' })
  })

  it('hold a run back before it starts, with what to do, and let it through with its exit code', async () => {
    const good = reprise('run', '--pin', 'file', '--', 'claude', 'hello')
    expect(good.code, good.note).toBe(7)
    expect(good.out).toBe('ran 2.1.332 hello\n')
    expect(good.note).toContain('was not recorded')
    write(rule(), 'Prices are in euros.\n')
    const refused = reprise('run', '--pin', 'file', '--', 'claude', 'hello')
    expect(refused).toMatchObject({ code: 4, out: '' })
    expect(refused.note).toContain(`--only ${rule()}`)
    expect(reprise('pins', 'check', 'file', '--workspace', shop).code).toBe(4)
    // Nothing is required: any other run starts.
    expect(reprise('run', '--', 'claude').code).toBe(7)
    write(rule(), 'Prices are in cents.\n')
  })

  it('are required for a class of runs: by agent, place and branch', async () => {
    const made = pinNow('release', ['model'], ['--require', `runtime=claude-code,workspace=${shop},branch=release/*`])
    expect(made.code, made.note).toBe(0)
    settings('sonnet')
    expect(reprise('run', '--', 'claude').code).toBe(4)
    expect(reprise('run', '--runtime', 'codex', '--', path.join(bin, 'claude')).code).toBe(7)
    execFileSync('git', ['-C', shop, 'symbolic-ref', 'HEAD', 'refs/heads/main'])
    expect(reprise('run', '--', 'claude').code).toBe(7)
    expect(reprise('run', '--workspace', home.home, '--', 'claude').code).toBe(7)
    execFileSync('git', ['-C', shop, 'symbolic-ref', 'HEAD', 'refs/heads/release/1'])
    settings('opus')
    const dry = reprise('pins', 'drop', 'release', '--dry-run', '--json').json()
    expect(dry).toMatchObject({
      dropped: false,
      loses: expect.arrayContaining([expect.stringContaining('not held to it')]),
    })
    expect(reprise('pins', 'drop', 'release').code).toBe(0)
    expect(reprise('pins', 'drop', 'release').code).toBe(3)
  })

  it('are found again in the store when their document is lost', async () => {
    const before = (await daemon.call('pins.list', {})).pins.map(({ name, manifest }) => [name, manifest])
    await daemon.stop()
    fs.rmSync(path.join(home.data, 'pins.json'))
    daemon = await startDaemon({ ...home, env: daemonEnv() })
    expect((await daemon.call('pins.list', {})).pins.map(({ name, manifest }) => [name, manifest])).toEqual(before)
  })
})
