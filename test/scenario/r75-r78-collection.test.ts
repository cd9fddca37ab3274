import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, root, type TestHome } from '../kit/fixture-home.ts'
import { plantedSecrets } from '../kit/secrets.ts'
import { sessionFile, type Talk, turn, writeSession } from '../kit/sessions.ts'

/** R74–R78: what is kept is what the level of the place says, and an original is opened only for a reason that is on record. */
const key = plantedSecrets().find(({ family }) => family === 'github')?.secret ?? ''
let home: TestHome
let daemon: TestDaemon

const talk = (n: number, cwd: string): Talk => ({
  session: `75000000-0000-4000-8000-00000000000${n}`,
  cwd,
  startedAt: `2026-10-01T0${n}:00:00.000Z`,
})
const shop = talk(1, '/home/dev/shop')
const client = talk(2, '/home/dev/client/app')
const words = (one: Talk) =>
  turn(one, 0, `use ${key} for the rollout`, `I use ${key} for it`, { base: Number(one.session.at(-1)) * 100 })

beforeEach(async () => {
  home = makeEmptyHome()
  fs.mkdirSync(path.join(home.home, '.claude'))
  fs.writeFileSync(path.join(home.home, '.claude/CLAUDE.md'), `Deploy with ${key} .\nBe kind.\n`)
  daemon = await startDaemon(home)
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const runOf = async (one: Talk) => {
  const { runs } = await daemon.call('runs.list', {})
  return String(runs.find(({ session }) => session === one.session)?.id)
}
const refs = () =>
  execFileSync('git', [
    '--git-dir',
    path.join(home.data, 'store.git'),
    'for-each-ref',
    '--format=%(refname)',
  ]).toString()
const reprise = (...args: string[]): Promise<string> =>
  new Promise((resolve) => {
    execFile(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], { env: home.env }, (_, out, note) =>
      resolve(out + note),
    )
  })

describe('levels by place', () => {
  it('a directory where only digests are kept leaves no text, while others do', async () => {
    await daemon.call('settings.set', {
      collection_overrides: [{ of: 'workspace', path: '/home/dev/client', level: 'digests' }],
    })
    for (const one of [shop, client]) writeSession(home.home, one, words(one))
    await daemon.call('sync.now', {})
    const { hits } = await daemon.call('search.run', { text: 'rollout' })
    expect(new Set(hits.map(({ run }) => run))).toEqual(new Set([await runOf(shop)]))
    expect(refs()).toContain(`refs/sessions/${await runOf(shop)}`)
    const kept = await daemon.call('runs.recover', { run: await runOf(client) }).catch(() => ({ text: '' }))
    expect(kept.text).toBe('')
    const settings = await daemon.call('settings.get', {})
    expect(settings.collection_overrides).toEqual([{ of: 'workspace', path: '/home/dev/client', level: 'digests' }])
  })

  it('refuses a path that is not absolute or is named twice, naming the entry', async () => {
    const set = (...paths: string[]) =>
      daemon.call('settings.set', {
        collection_overrides: paths.map((place) => ({ of: 'home' as const, path: place, level: 'digests' as const })),
      })
    await expect(set('/a', 'b/c')).rejects.toThrow(/collection_overrides\.1\.path.*absolute/)
    await expect(set('/a', '/a/')).rejects.toThrow(/collection_overrides\.1\.path.*twice/)
    expect((await set('~/.claude')).collection_overrides?.[0]?.path).toBe(path.join(home.home, '.claude'))
  })
})

describe('originals', () => {
  it('lie encrypted in the vault, are opened by reference when nothing else has them, and each opening is on record', async () => {
    expect((await daemon.call('status.get', {})).vault.objects).toBe(0)
    await daemon.call('settings.set', { collection: 'originals' })
    writeSession(home.home, shop, words(shop))
    await daemon.call('sync.now', {})
    const { manifest } = await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: home.home })
    const { vault } = await daemon.call('status.get', {})
    expect(vault).toMatchObject({ key_store: 'file', note: expect.stringContaining('file') })
    expect(vault.objects).toBeGreaterThanOrEqual(3)

    // The agent's file goes; only the covered text and the vault are left.
    fs.rmSync(sessionFile(home.home, shop))
    await daemon.call('sync.now', {})
    const run = await runOf(shop)
    const detail = await daemon.call('runs.event', { run, seq: 1 })
    expect(detail.parts[0]?.body.text).toMatch(/^use ‹secret:github:[0-9a-f]{8}› for the rollout$/)
    const [span] = detail.parts[0]?.body.hidden ?? []
    expect(span).toMatchObject({ family: 'github', characters: 0 })
    const reason = 'whether the rollout used the old key'
    expect(await daemon.call('sensitive.reveal', { ref: String(span?.ref), reason })).toEqual({ text: key, why: null })
    const place = String(span?.ref).replace(/~\d+-\d+$/, '~0-3')
    expect(await daemon.call('sensitive.reveal', { ref: place, reason })).toMatchObject({ text: null })

    const source = manifest.instructions.sources.find(({ path: file }) => file?.endsWith('CLAUDE.md'))
    const whole = await reprise('reveal', `text:${source?.text_digest}`, '--reason', 'the rules of that day')
    expect(whole).toContain(`Deploy with ${key} .`)
    expect(await reprise('reveal', `text:${source?.text_digest}`)).toContain('--reason is missing')
    const listed = await reprise('reveal', `${run}@1`)
    expect(listed).toContain(String(span?.ref))
    expect(listed).not.toContain(key)

    const { reads, total } = await daemon.call('sensitive.reads', {})
    expect(total).toBe(2)
    expect(reads.map((read) => read.reason)).toEqual(['the rules of that day', reason])
    expect(reads[1]).toMatchObject({ ref: span?.ref, family: 'github', where: `${run}@1`, by: 'socket' })
    expect(await reprise('reveal', '--log')).toContain(reason)

    // Nothing of it stands anywhere in clear, and no export holds it.
    const file = path.join(home.home, 'run.json')
    await daemon.call('export.run', { run, format: 'json', file })
    expect(fs.readFileSync(file, 'utf8')).not.toContain(key)
    await daemon.stop()
    for (const name of fs.readdirSync(home.data, { recursive: true, encoding: 'utf8' })) {
      const one = path.join(home.data, name)
      if (fs.statSync(one).isFile()) expect(fs.readFileSync(one).includes(key), name).toBe(false)
    }
    daemon = await startDaemon(home)
  }, 60_000)

  it('that were altered are named by check', async () => {
    await daemon.call('settings.set', { collection: 'originals' })
    writeSession(home.home, shop, words(shop))
    await daemon.call('sync.now', {})
    expect((await daemon.call('store.check', {})).ok).toBe(true)
    const folder = path.join(home.data, 'vault/objects')
    const [part = ''] = fs.readdirSync(folder)
    const [name = ''] = fs.readdirSync(path.join(folder, part))
    const object = path.join(folder, part, name)
    const bytes = fs.readFileSync(object)
    bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    fs.writeFileSync(object, bytes)
    const { ok, damaged } = await daemon.call('store.check', {})
    expect(ok).toBe(false)
    expect(damaged.join()).toContain(object)
  })

  it('are not kept at the level of covered texts, and that is said', async () => {
    writeSession(home.home, shop, words(shop))
    await daemon.call('sync.now', {})
    fs.rmSync(sessionFile(home.home, shop))
    await daemon.call('sync.now', {})
    const detail = await daemon.call('runs.event', { run: await runOf(shop), seq: 1 })
    const [span] = detail.parts[0]?.body.hidden ?? []
    expect(await daemon.call('sensitive.reveal', { ref: String(span?.ref), reason: 'a test' })).toEqual({
      text: null,
      why: 'the original is not kept: only the covered text is in the store',
    })
    expect((await daemon.call('sensitive.reads', {})).reads).toEqual([])
  })
})
