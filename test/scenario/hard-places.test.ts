import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'
import { allEvents } from '../kit/snapshot.ts'

let home: TestHome
beforeEach(() => {
  home = makeFixtureHome()
})
afterEach(() => home.remove())

const reprise = (env: Record<string, string>, args: readonly string[], cwd = '/') =>
  spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], {
    env: { ...home.env, ...env },
    encoding: 'utf8',
    timeout: 60_000,
    cwd,
  })

describe('a damaged store', () => {
  it('never hides a session whose file is there', async () => {
    let daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    const before = (await daemon.call('runs.list', {})).runs.map(({ id, events }) => [id, events])
    await daemon.stop()
    const packs = path.join(home.data, 'store.git/objects/pack')
    for (const name of fs.readdirSync(packs).filter((one) => one.endsWith('.pack'))) {
      const file = path.join(packs, name)
      fs.chmodSync(file, 0o600)
      const fd = fs.openSync(file, 'r+')
      fs.writeSync(fd, Buffer.from([1, 2, 3, 4]), 0, 4, 10)
      fs.closeSync(fd)
    }
    for (const end of ['', '-wal', '-shm']) fs.rmSync(path.join(home.data, `index.db${end}`), { force: true })
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    const { runs } = await daemon.call('runs.list', {})
    expect(runs.map(({ id, events }) => [id, events]).sort()).toEqual(before.sort())
    const gaps = (await daemon.call('health.gaps', { limit: 1000 })).gaps
    expect(gaps.some(({ kind }) => kind === 'store_damaged' || kind === 'not_archived')).toBe(true)
    expect((await daemon.call('store.check', {})).ok).toBe(false)
    expect((await allEvents(daemon, String(runs[0]?.id))).length).toBeGreaterThan(0)
    await daemon.stop()
  })
})

describe('a data directory', () => {
  it('may be named relative to where one stands', () => {
    const cwd = path.dirname(home.data)
    const env = { REPRISE_HOME: 'data-here' }
    expect(JSON.parse(reprise(env, ['sync-now', '--json'], cwd).stdout).sessions).toBe(15)
    expect(fs.existsSync(path.join(cwd, 'data-here', 'daemon.json'))).toBe(true)
    expect(reprise(env, ['stop'], cwd).status).toBe(0)
  })

  it.skipIf(process.platform !== 'linux')('that cannot be made is refused at once', () => {
    for (const args of [['status'], ['start', '--no-window'], ['sync-now']]) {
      const began = Date.now()
      const { status, signal } = reprise({ REPRISE_HOME: '/proc/nope/reprise' }, args)
      expect([status === 0, signal]).toEqual([false, null])
      expect(Date.now() - began).toBeLessThan(30_000)
    }
    const { status, stderr } = reprise({ REPRISE_HOME: '/proc/nope/reprise', REPRISE_NO_DAEMON: '1' }, ['runs'])
    expect([status, stderr]).toEqual([4, expect.stringContaining('/proc/nope')])
  })

  it('made by a newer version is left alone, with the code for it', () => {
    expect(reprise({ REPRISE_NO_DAEMON: '1' }, ['sync-now']).status).toBe(0)
    const file = path.join(home.data, 'store.json')
    const format = JSON.parse(fs.readFileSync(file, 'utf8'))
    fs.writeFileSync(file, JSON.stringify({ ...format, version: 999 }))
    const { status, stdout } = reprise({ REPRISE_NO_DAEMON: '1' }, ['runs', '--json'])
    expect([status, JSON.parse(stdout).error.code]).toEqual([4, 'newer_version'])
  })

  it('with damaged settings says so', async () => {
    fs.mkdirSync(home.data, { recursive: true, mode: 0o700 })
    fs.writeFileSync(path.join(home.data, 'settings.json'), '{"collection": "dig')
    const daemon = await startDaemon(home)
    const { gaps } = await daemon.call('status.get', {})
    // While the homes are looked at for the first time, what is not watched yet may stand before it.
    expect(gaps.find(({ kind }) => kind === 'settings_damaged')?.path).toBe(path.join(home.data, 'settings.json'))
    await daemon.stop()
  })
})

describe('a page in a browser', () => {
  it('finds the next daemon at the same address with the same key', async () => {
    let daemon = await startDaemon(home)
    const first = await daemon.call('browser.open', {})
    const address = fs.readFileSync(first.page, 'utf8')
    await daemon.stop()
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    expect((await daemon.call('status.get', {})).daemon.url).toBe(first.url)
    expect(fs.readFileSync(first.page, 'utf8')).toBe(address)
    const token = /#t=([^"]+)/.exec(address)?.[1]
    const answer = await fetch(`${first.url}/rpc/settings.get`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${token}` },
    })
    expect(answer.status).toBe(200)
    await daemon.call('browser.close', {})
    await daemon.stop()
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    expect((await daemon.call('status.get', {})).daemon.url).toBeNull()
    await daemon.stop()
  })
})

describe.skipIf(process.platform !== 'linux' || process.getuid?.() !== 0)('a full disk', () => {
  it('ends every command with a sentence, never with a hang', () => {
    fs.mkdirSync(home.data, { recursive: true })
    const mounted = spawnSync(
      'unshare',
      [
        '-m',
        'bash',
        '-c',
        `mount -t tmpfs -o size=1m tmpfs "$REPRISE_HOME" && for c in sync-now runs status check; do timeout 45 "$0" "$1" $c; echo "code $?"; done`,
        process.execPath,
        path.join(root, 'bin/reprise.mjs'),
      ],
      { env: { ...home.env, REPRISE_NO_DAEMON: '1' }, encoding: 'utf8', timeout: 200_000 },
    )
    const codes = mounted.stdout
      .split('\n')
      .filter((line) => line.startsWith('code '))
      .map((line) => Number(line.slice(5)))
    expect(codes.length).toBe(4)
    for (const code of codes) expect(code).not.toBe(124)
  }, 220_000)
})

describe('the collection level', () => {
  it('of digests keeps no words and no transcripts', async () => {
    const daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    await daemon.call('settings.set', { collection: 'digests' })
    await daemon.stop()
    for (const name of fs.readdirSync(home.data))
      if (name.startsWith('index.db') || name === 'store.git')
        fs.rmSync(path.join(home.data, name), { recursive: true })
    const bare = await startDaemon(home)
    await bare.call('sync.now', {})
    const { runs } = await bare.call('runs.list', {})
    expect(runs.length).toBe(15)
    expect((await bare.call('search.run', { text: 'median' })).total).toBe(0)
    expect((await bare.call('runs.recover', { run: String(runs[0]?.id) })).lines).toBe(0)
    await bare.stop()
  })
})
