import { spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Drift } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { turn, uuid, writeSession } from '../kit/sessions.ts'

let home: TestHome
let daemon: TestDaemon
let shop: string
let bakery: string
const servers = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [name, { command: name, env: { TOKEN: `secret-value-of-${name}` } }]))
const write = (file: string, content: unknown) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2))
}
const inHome = (name: string) => path.join(home.home, name)
const hoursAgo = (n: number) => new Date(Date.now() - n * 3_600_000).toISOString()

beforeEach(async () => {
  home = makeEmptyHome()
  shop = inHome('shop')
  bakery = inHome('bakery')
  for (const [n, workspace] of [shop, bakery].entries()) {
    write(path.join(workspace, 'CLAUDE.md'), 'Prices are in cents.\n')
    const talk = { session: `11fe0000-0000-4000-8000-00000000000${n}`, cwd: workspace, startedAt: hoursAgo(5) }
    writeSession(home.home, talk, turn(talk, n, 'how much is it', 'four hundred'))
  }
  write(inHome('.claude/settings.json'), { model: 'opus', permissions: { deny: ['Read(./.env)'] } })
  write(inHome('.claude.json'), { numStartups: 1, mcpServers: servers('a', 'b', 'c') })
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  await look()
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const look = () => daemon.call('drift.look', {})
const changes = async (): Promise<readonly Drift[]> =>
  (await daemon.call('drift.list', {})).changes.filter(({ kind }) => kind !== 'first_seen')
const onTimeline = async () =>
  (await daemon.call('timeline.page', {})).items.flatMap((item) => (item.type === 'configuration' ? [item.drift] : []))

describe('configuration that changes outside of a run', () => {
  it('is no event while nothing changes, whatever the agent counts in its state file', async () => {
    write(inHome('.claude.json'), { numStartups: 2, tipsHistory: { a: 3 }, mcpServers: servers('a', 'b', 'c') })
    await look()
    expect(await changes()).toEqual([])
    expect((await daemon.call('drift.list', {})).changes.map(({ workspace }) => workspace).sort()).toEqual(
      [null, bakery, shop].sort(),
    )
  })

  it('is told once for all workspaces it concerns, by key, with who could have made it', async () => {
    write(inHome('.claude/settings.json'), { model: 'sonnet', permissions: { deny: ['Read(./.env)'] } })
    await look()
    const [change, ...more] = await changes()
    expect(more).toEqual([])
    expect(change).toMatchObject({
      kind: 'configuration',
      workspace: null,
      alert: null,
      writer: { who: 'user', run: null },
    })
    expect(change?.changes).toContainEqual({
      path: inHome('.claude/settings.json'),
      what: 'model',
      before: 'opus',
      after: 'sonnet',
      same_as: null,
    })
    expect((await onTimeline()).map(({ id }) => id)).toEqual([change?.id])
    // Both sides are manifests one can open.
    for (const target of [change?.before, change?.after])
      expect((await daemon.call('manifest.get', { target: String(target) })).intact).toBe(true)
  })

  it('is one entry when a rule goes, although a workspace joins rules of its own to it', async () => {
    write(path.join(shop, '.claude/settings.json'), { permissions: { deny: ['Read(./secrets/**)'] } })
    await look()
    const before = (await changes()).length
    write(inHome('.claude/settings.json'), { model: 'opus' })
    await look()
    const [change, ...more] = (await changes()).slice(0, (await changes()).length - before)
    expect(more).toEqual([])
    expect(change).toMatchObject({ workspace: null, alert: 'deny rules 1 → 0' })
    expect(change?.changes.map(({ what, after }) => [what, after])).toEqual([['deny Read(./.env)', null]])
  })

  it('is not told anew of a file that holds a secret, nor of the order of keys', async () => {
    const settings = { model: 'opus', env: { API_TOKEN: 'ghp_abcdefghijklmnopqrstuvwxyz0123456789' } }
    write(inHome('.claude/settings.json'), settings)
    write(path.join(shop, 'CLAUDE.local.md'), 'token: ghp_abcdefghijklmnopqrstuvwxyz0123456789\n')
    await look()
    const before = (await changes()).length
    write(inHome('.claude/settings.json'), {
      env: settings.env,
      statusLine: { type: 'command', command: 'date' },
      model: 'opus',
    })
    await look()
    write(inHome('.claude/settings.json'), {
      model: 'opus',
      statusLine: { command: 'date', type: 'command' },
      env: settings.env,
    })
    await look()
    const since = (await changes()).slice(0, (await changes()).length - before)
    // The first adds a status line; the second says the same in another order.
    expect(
      since
        .flatMap((change) => change.changes.map(({ what }) => what))
        .filter((what) => what !== 'content')
        .sort(),
    ).toEqual(['statusLine.command', 'statusLine.type'])
  })

  it('is not told of a home that is away', async () => {
    const before = (await changes()).length
    fs.renameSync(inHome('.claude'), inHome('.claude-away'))
    await look()
    fs.renameSync(inHome('.claude-away'), inHome('.claude'))
    await look()
    expect(await changes()).toHaveLength(before)
  })

  it('is told for the workspace whose file it is', async () => {
    write(path.join(shop, 'CLAUDE.md'), 'Prices are in euros.\n')
    write(path.join(shop, '.claude/rules/http.md'), 'Retry twice.\n')
    await look()
    const [change] = await changes()
    expect(change).toMatchObject({ workspace: shop })
    expect(change?.changes.map(({ path: file, what }) => [path.basename(String(file)), what]).sort()).toEqual([
      ['CLAUDE.md', 'content'],
      ['http.md', 'appeared'],
    ])
    expect(await changes()).toHaveLength(1)
  })

  it('names the run whose own record shows the action (B21, R06)', async () => {
    const file = path.join(shop, 'CLAUDE.md')
    const at = new Date().toISOString()
    const talk = { session: '11fe0000-0000-4000-8000-00000000000a', cwd: shop, startedAt: at }
    const common = { cwd: shop, sessionId: talk.session, version: '2.1.332', isSidechain: false, timestamp: at }
    const edit = [
      {
        ...common,
        type: 'assistant',
        uuid: uuid(501),
        parentUuid: uuid(500),
        message: {
          id: 'msg_edit',
          role: 'assistant',
          model: 'm',
          content: [
            { type: 'tool_use', id: 'toolu_1', name: 'Write', input: { file_path: file, content: 'By a run.\n' } },
          ],
        },
      },
      {
        ...common,
        type: 'user',
        uuid: uuid(502),
        parentUuid: uuid(501),
        message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
        toolUseResult: {
          type: 'update',
          filePath: file,
          content: 'By a run.\n',
          structuredPatch: [],
          originalFile: 'x',
        },
      },
    ].map((row) => JSON.stringify(row))
    writeSession(home.home, talk, [...turn(talk, 0, 'write it', 'yes', { base: 500, at }).slice(0, 1), ...edit])
    write(file, 'By a run.\n')
    await daemon.call('sync.now', {})
    await look()
    const change = (await changes()).find(({ changes: list }) => list.some((one) => one.path === file))
    expect(change?.writer).toMatchObject({ who: 'run', seq: 3, run: expect.stringMatching(/^r_/) })
  })

  it('B17: losing all MCP servers is an alert; values of their variables are nowhere', async () => {
    write(inHome('.claude.json'), { numStartups: 3, mcpServers: {} })
    await look()
    const [change] = await changes()
    expect(change).toMatchObject({ alert: 'MCP servers 3 → 0' })
    expect(change?.changes.map(({ what, after }) => [what, after])).toEqual([
      ['mcp server a', null],
      ['mcp server b', null],
      ['mcp server c', null],
    ])
    expect(JSON.stringify(await daemon.call('drift.list', {}))).not.toContain('secret-value-of')
  })

  it('B18: an old state that comes back is recognised, helper files are told with it', async () => {
    const settings = inHome('.claude/settings.json')
    const first = fs.readFileSync(settings, 'utf8')
    write(settings, { model: 'opus', permissions: { deny: ['Read(./.env)', 'Read(./keys)'] }, cleanupPeriodDays: 365 })
    await look()
    fs.writeFileSync(inHome('.claude.json.backup'), '{}')
    write(settings, first)
    await look()
    const [back, forth] = await changes()
    expect(forth?.changes.every(({ same_as }) => same_as === null)).toBe(true)
    expect(back?.changes.length).toBeGreaterThan(0)
    for (const { same_as } of back?.changes ?? []) expect(same_as).toMatch(/^\d{4}-/)
    expect(back?.helpers).toEqual([{ path: inHome('.claude.json.backup'), why: expect.any(String) }])
  })

  it('is found by its words, and kept when the index is lost', async () => {
    write(inHome('.claude/settings.json'), { model: 'haiku', permissions: { deny: ['Read(./.env)'] } })
    await look()
    const before = await daemon.call('drift.list', {})
    const hit = (await daemon.call('search.configuration', { text: 'haiku' })).hits[0]
    expect((await daemon.call('manifest.get', { target: String(hit?.drift) })).manifest.integrity.manifest_digest).toBe(
      hit?.manifest,
    )
    expect(hit).toMatchObject({ what: 'model', path: inHome('.claude/settings.json') })
    // What was there from the beginning is found too, also by the words of its text.
    expect((await daemon.call('search.configuration', { text: 'cents' })).hits[0]).toMatchObject({
      what: 'text',
      path: expect.stringMatching(/CLAUDE\.md$/),
    })
    expect((await daemon.call('search.configuration', { text: '"mcp server b"' })).hits[0]).toMatchObject({
      what: 'mcp server b',
    })
    await daemon.stop()
    for (const name of fs.readdirSync(home.data)) if (name.startsWith('index.db')) fs.rmSync(path.join(home.data, name))
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    await look()
    expect(await daemon.call('drift.list', {})).toEqual(before)
  })

  it('is noticed by itself, also after it happened while nobody looked', async () => {
    write(inHome('.claude/settings.json'), { model: 'watched', permissions: { deny: ['Read(./.env)'] } })
    for (let waited = 0; (await changes()).length === 0 && waited < 20_000; waited += 100) await sleep(100)
    expect(await changes()).toHaveLength(1)
    await daemon.stop()
    write(inHome('.claude/settings.json'), { model: 'away', permissions: { deny: ['Read(./.env)'] } })
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    await look()
    const [change] = await changes()
    expect(change).toMatchObject({ writer: { who: 'unknown', why: expect.stringContaining('not running') } })
  })
})

it('B17: eight careless writers never make a torn state a change', async () => {
  const file = inHome('.claude.json')
  const text = JSON.stringify({ mcpServers: servers('a', 'b', 'c'), filler: 'x'.repeat(20_000) })
  fs.writeFileSync(file, text)
  const writer = `
    const fs = require('node:fs')
    const [file, text] = [process.argv[1], process.argv[2]]
    const wait = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
    const once = () => {
      const handle = fs.openSync(file, 'w'); wait(2)
      fs.writeSync(handle, text.slice(0, 500)); wait(2)
      fs.writeSync(handle, text.slice(500)); fs.closeSync(handle)
      setTimeout(once, 5 + Math.random() * 20)
    }
    once()`
  const writers = Array.from({ length: 8 }, () =>
    spawn(process.execPath, ['-e', writer, file, text], { stdio: 'ignore' }),
  )
  const ended = writers.map((child) => new Promise((resolve) => child.once('exit', resolve)))
  try {
    const until = Date.now() + 8_000
    while (Date.now() < until) {
      await Promise.race([look(), sleep(500)])
      await sleep(50)
    }
  } finally {
    for (const child of writers) child.kill('SIGKILL')
    await Promise.all(ended)
    fs.writeFileSync(file, text)
  }
  await look()
  expect(await changes()).toEqual([])
}, 60_000)
