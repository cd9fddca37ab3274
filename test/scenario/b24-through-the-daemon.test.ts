import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents } from '../kit/snapshot.ts'

/** Made up for this test, in the forms of real keys. */
const secrets = [
  `sk-ant-api03-${'Zq8rT2mLx9vBn4KpW7yUcE1sHd6jFg3a'.repeat(2)}`,
  `ghp_${'a7Bd9Ef2Gh4Jk6Lm8Np1Qr3St5Uv7Wx9Yz0A'}`,
  'AKIAQ3EGR7TYUPLMXV2B',
  'postgres://shop:Tr0ub4dor-and-3-horses@db.internal/shop',
]

let home: TestHome
let daemon: TestDaemon
const talk: Talk = {
  session: 'b2400000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-10-01T08:00:00.000Z',
}

beforeAll(async () => {
  home = makeEmptyHome()
  fs.mkdirSync(path.join(home.home, '.claude'))
  fs.writeFileSync(
    path.join(home.home, '.claude/settings.json'),
    JSON.stringify({ env: { SHOP_TOKEN: secrets[1] }, permissions: { allow: [`Bash(curl -H "x: ${secrets[0]}":*)`] } }),
  )
  fs.writeFileSync(path.join(home.home, '.claude/CLAUDE.md'), `Deploy with ${secrets[2]} please.\n`)
  writeSession(
    home.home,
    talk,
    secrets.flatMap((secret, n) => turn(talk, n, `use ${secret} for the deploy ${n}`, `I used ${secret} as asked`)),
  )
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: home.home })
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

describe('B24: secrets in sessions and configuration', () => {
  it('reach no title, summary, search, detail or manifest', async () => {
    const { runs } = await daemon.call('runs.list', {})
    const id = String(runs[0]?.id)
    const events = await allEvents(daemon, id)
    const details = await Promise.all(events.map(({ seq }) => daemon.call('runs.event', { run: id, seq, whole: true })))
    const said = JSON.stringify([
      runs,
      events,
      details,
      await daemon.call('timeline.page', { density_buckets: 10 }),
      await daemon.call('search.run', { text: 'deploy' }),
      await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: home.home }),
      await daemon.call('manifest.instructions', { target: String(runs[0]?.manifest), all: true }),
      await daemon.call('status.get', {}),
      await daemon.call('runs.recover', { run: id }),
    ])
    for (const secret of secrets) expect(said.includes(secret), secret.slice(0, 12)).toBe(false)
    expect(said).toContain('‹secret:')
    expect((await daemon.call('search.run', { text: secrets[2] as string })).total).toBe(0)
  })

  it('lie nowhere in the data directory, in no log and in no object of the store', async () => {
    await daemon.stop()
    const { execFileSync } = await import('node:child_process')
    const objects = execFileSync(
      'git',
      ['--git-dir', path.join(home.data, 'store.git'), 'cat-file', '--batch', '--batch-all-objects', '--unordered'],
      { maxBuffer: 1 << 28 },
    )
    const files = fs
      .readdirSync(home.data, { recursive: true, encoding: 'utf8' })
      .map((name) => path.join(home.data, name))
      .filter((file) => fs.statSync(file).isFile())
    expect(files.some((file) => file.endsWith('index.db'))).toBe(true)
    for (const secret of secrets) {
      expect(objects.includes(secret)).toBe(false)
      for (const file of files)
        expect(fs.readFileSync(file).includes(secret), `${file} ${secret.slice(0, 12)}`).toBe(false)
    }
    for (const file of [home.data, ...files]) expect(fs.statSync(file).mode & 0o077, file).toBe(0)
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
  })

  it('are opened one at a time, and every opening is on record', async () => {
    const { runs } = await daemon.call('runs.list', {})
    const detail = await daemon.call('runs.event', { run: String(runs[0]?.id), seq: 1 })
    const hidden = detail.parts[0]?.body.hidden[0]
    expect(hidden).toMatchObject({ characters: secrets[0]?.length })
    const reason = 'to see whether the deploy used the old key'
    expect(await daemon.call('sensitive.reveal', { ref: String(hidden?.ref), reason })).toEqual({
      text: secrets[0],
      why: null,
    })
    await expect(daemon.call('sensitive.reveal', { ref: String(hidden?.ref), reason: ' ' })).rejects.toThrow(/reason/)
    const { reads } = await daemon.call('sensitive.reads', {})
    expect(reads[0]).toMatchObject({ ref: hidden?.ref, family: hidden?.family, by: 'socket', reason })
    expect(reads[0]?.who).not.toBe('')
    // A span that was not covered cannot be had this way: it would be reading without a record.
    const [place] = String(hidden?.ref).split(/:\d+-\d+$/)
    expect(await daemon.call('sensitive.reveal', { ref: `${place}:0-3`, reason })).toMatchObject({ text: null })
    expect((await daemon.call('sensitive.reads', {})).reads.length).toBe(reads.length)
  })
})
