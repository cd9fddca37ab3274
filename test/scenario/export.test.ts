import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ExportFormat, exportFormats, type Manifest, manifestSchema } from '../../contract/index.ts'
import { canonicalBytes } from '../../daemon/manifest/canonical.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'
import { type Talk, turn, writeSession } from '../kit/sessions.ts'
import { allEvents } from '../kit/snapshot.ts'

/** Exports (R99, B24): what is written is whole, proves itself, and stands only where it may. */
let home: TestHome
let daemon: TestDaemon
let out: string
let run: string
let other: string
const talk: Talk = {
  session: 'e0000000-0000-4000-8000-000000000001',
  cwd: '/home/dev/<b>shop</b>',
  startedAt: '2026-10-01T08:00:00.000Z',
}
const hostile = '<script>alert("x")</script> </pre><img src=x onerror=alert(1)> & `````` ``` # no heading'

beforeAll(async () => {
  home = makeFixtureHome()
  writeSession(home.home, talk, [
    ...turn(talk, 0, hostile, 'line\n```\n# still text\n```'),
    ...turn(talk, 1, 'go on', 'done'),
  ])
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  const { runs } = await daemon.call('runs.list', {})
  run = String(runs.find(({ session }) => session === talk.session)?.id)
  other = String(runs.find(({ calls, relation }) => calls.total > 3 && relation === null)?.id)
  out = path.join(home.home, 'exports')
  fs.mkdirSync(out)
}, 60_000)
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

const write = async (id: string, format: ExportFormat, name = `${id}.${format === 'bundle' ? 'tar.gz' : format}`) => {
  const file = path.join(out, name)
  const answer = await daemon.call('export.run', { run: id, format, file, replace: true })
  expect(answer).toMatchObject({ file, bytes: fs.statSync(file).size })
  return fs.readFileSync(file, 'utf8')
}
/** A bundle opened by the system's own tar. */
const unpack = (file: string): string => {
  const folder = fs.mkdtempSync(path.join(out, 'open-'))
  execFileSync('tar', ['-xzf', file, '-C', folder])
  return folder
}
const readJson = (file: string) => JSON.parse(fs.readFileSync(file, 'utf8'))

describe('a bundle', () => {
  it('holds everything it lists, by digest, and manifests in the form that was signed', async () => {
    await write(other, 'bundle', 'b.tar.gz')
    const folder = unpack(path.join(out, 'b.tar.gz'))
    const index = readJson(path.join(folder, 'index.json'))
    expect(index).toMatchObject({ format: 'reprise-bundle', version: 1, kind: 'run', run: other })
    const listed = index.entries.map(({ name }: { name: string }) => name)
    for (const { name, bytes, digest } of index.entries) {
      const content = fs.readFileSync(path.join(folder, name))
      expect(content.length, name).toBe(bytes)
      expect(`sha256:${createHash('sha256').update(content).digest('hex')}`, name).toBe(digest)
    }
    const found = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' })
    const files = found.filter((name) => fs.statSync(path.join(folder, name)).isFile())
    expect(files.sort()).toEqual([...listed, 'README.md', 'index.json'].sort())
    const { run: described } = readJson(path.join(folder, 'run.json'))
    for (const { manifest } of described.stretches) {
      const bytes = fs.readFileSync(path.join(folder, `manifests/${manifest.slice(7)}.json`))
      const value: Manifest = manifestSchema.parse(JSON.parse(bytes.toString()))
      expect(canonicalBytes(value).equals(bytes)).toBe(true)
      const { integrity, ...body } = value
      expect(integrity.manifest_digest).toBe(manifest)
      expect(`sha256:${createHash('sha256').update(canonicalBytes(body)).digest('hex')}`).toBe(manifest)
    }
    const events = fs.readFileSync(path.join(folder, 'events.jsonl'), 'utf8').trimEnd().split('\n')
    expect(events.length).toBe((await allEvents(daemon, other)).length)
    const [lines = ''] = listed.filter((name: string) => name.startsWith('session/'))
    expect(fs.readFileSync(path.join(folder, lines), 'utf8')).toBe(
      (await daemon.call('runs.recover', { run: other })).text,
    )
    expect(fs.readFileSync(path.join(folder, 'README.md'), 'utf8')).toContain(`Run ${other}`)
  })

  it('leaves nothing behind in the data directory', () => {
    expect(fs.readdirSync(path.join(home.data, 'tmp'))).toEqual([])
  })
})

describe('the other formats', () => {
  it('are JSON, lines of JSON, a page without scripts, and text that stays inside its fences', async () => {
    const events = await allEvents(daemon, run)
    const json = JSON.parse(await write(run, 'json'))
    expect(json.events.map((one: { event: { seq: number } }) => one.event.seq)).toEqual(events.map(({ seq }) => seq))
    expect(json.events[0].parts[0].body.text).toBe(hostile)
    const lines = (await write(run, 'jsonl')).trimEnd().split('\n')
    const types = lines.map((line) => JSON.parse(line).type)
    expect(types[0]).toBe('run')
    expect(types.filter((type) => type === 'event').length).toBe(events.length)

    const html = await write(run, 'html')
    expect(html).not.toMatch(/<script|<img|<iframe|<[^>]*\s(?:src|on\w+)=|href="(?!#)/i)
    expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;')
    expect(html).toContain("default-src 'none'")
    const md = await write(run, 'md')
    const fence = '`'.repeat(7)
    expect(md).toContain(`${fence}\n${hostile}\n${fence}`)
    expect(md).toContain('/home/dev/\\<b\\>shop\\</b\\>')
    // Outside of its fences no line of a session stands at all.
    const outside = md.replaceAll(/^(`{3,}).*\n[\s\S]*?\n\1$/gm, '')
    expect(outside).not.toMatch(/^# (?:no heading|still text)/m)
    expect(outside).not.toContain('<script>')
  })
})

describe('where an export may stand', () => {
  const refused = (file: string, more: { replace?: boolean } = {}) =>
    daemon.call('export.run', { run, format: 'md', file, ...more }).then(
      () => 'written',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    )

  it('is no home of an agent, no data of ours, and nothing inside .git', async () => {
    const repo = path.join(home.home, 'repo')
    fs.mkdirSync(path.join(repo, '.git/info'), { recursive: true })
    fs.symlinkSync(path.join(repo, '.git'), path.join(out, 'link'))
    fs.symlinkSync(path.join(home.home, '.claude'), path.join(out, 'agent'))
    for (const file of [
      path.join(home.home, '.claude/x.md'),
      path.join(home.home, '.claude/projects/../x.md'),
      path.join(out, 'agent/x.md'),
      path.join(home.data, 'x.md'),
      path.join(repo, '.git/x.md'),
      path.join(repo, '.git/info/x.md'),
      path.join(out, 'link/x.md'),
    ])
      expect(await refused(file), file).toMatch(/^refused: /)
    expect(fs.readdirSync(path.join(repo, '.git'))).toEqual(['info'])
    expect(await refused(path.join(repo, 'x.md'))).toBe('written')
  })

  it('is a full path in a folder that is there, and no folder itself', async () => {
    expect(await refused('x.md')).toMatch(/^wrong_usage: .*absolute/)
    expect(await refused(path.join(out, 'none/x.md'))).toMatch(/^not_found: .*none/)
    fs.mkdirSync(path.join(out, 'folder.md'))
    expect(await refused(path.join(out, 'folder.md'))).toMatch(/^wrong_usage: .*folder/)
    expect(await refused(path.join(out, 'x.md/y.md'))).toMatch(/^(?:not_found|refused): /)
  })

  it('is no file that is there, unless it is to be replaced; a failure leaves the old one', async () => {
    const file = path.join(out, 'kept.md')
    fs.writeFileSync(file, 'mine')
    expect(await refused(file)).toMatch(/^conflict: .*kept\.md/)
    expect(fs.readFileSync(file, 'utf8')).toBe('mine')
    await expect(
      daemon.call('export.run', { run: 'r_000000000000', format: 'md', file, replace: true }),
    ).rejects.toThrow()
    expect(fs.readFileSync(file, 'utf8')).toBe('mine')
    expect(await refused(file, { replace: true })).toMatch(/^refused: .*kept\.md was not written by an export/)
    expect(fs.readFileSync(file, 'utf8')).toBe('mine')
    for (const format of exportFormats) {
      const again = path.join(out, `again.${format === 'bundle' ? 'tgz' : format}`)
      for (const replace of [false, true])
        await expect(daemon.call('export.run', { run, format, file: again, replace })).resolves.toBeTruthy()
    }
    const incident = { a: run, b: other, file: path.join(out, 'again.tar.gz') }
    for (const replace of [false, true]) await daemon.call('export.incident', { ...incident, replace })
    // A link is neither replaced nor followed.
    const target = path.join(home.home, 'target.md')
    fs.writeFileSync(target, 'not to be touched')
    fs.symlinkSync(target, path.join(out, 'link.md'))
    expect(await refused(path.join(out, 'link.md'), { replace: true })).toMatch(/^refused: .*no ordinary file/)
    expect(fs.readFileSync(target, 'utf8')).toBe('not to be touched')
    expect(fs.readdirSync(out).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })
})

describe('an incident', () => {
  it('holds both sides, their difference and a page that says it', async () => {
    const file = path.join(out, 'incident.tar.gz')
    const { redactions } = await daemon.call('export.incident', { a: run, b: other, file })
    expect(redactions).toBeGreaterThanOrEqual(0)
    const folder = unpack(file)
    const comparison = readJson(path.join(folder, 'comparison.json'))
    const page = fs.readFileSync(path.join(folder, 'incident.md'), 'utf8')
    expect(page).toContain('# Incident')
    expect(page.replaceAll('\\', '')).toContain(comparison.verdict)
    for (const { title } of comparison.causes.slice(0, 3)) expect(page.replaceAll('\\', '')).toContain(title)
    for (const heading of ['## Tests seen', '## Decisions of policy', '## Final effects', '## What was compared'])
      expect(page).toContain(heading)
    for (const side of ['a', 'b']) expect(fs.existsSync(path.join(folder, side, 'events.jsonl'))).toBe(true)
    const evidence = readJson(path.join(folder, 'evidence.json'))
    expect(evidence).toMatchObject({ a: { run }, b: { run: other } })
    expect(evidence.b.final_effects.files.length).toBeGreaterThan(0)
    expect(fs.readdirSync(path.join(folder, 'manifests')).length).toBeGreaterThanOrEqual(2)
  })
})

describe('the command', () => {
  const reprise = (...args: string[]): Promise<{ code: number; out: string; note: string }> =>
    new Promise((resolve) => {
      execFile(
        process.execPath,
        [path.join(root, 'bin/reprise.mjs'), ...args],
        { env: home.env, cwd: out },
        (error, said, note) => resolve({ code: typeof error?.code === 'number' ? error.code : 0, out: said, note }),
      )
    })

  it('writes where it stands, takes the format from the name, and says how many places are covered', async () => {
    const done = await reprise('export', run, '-o', 'by-command.html', '--json')
    expect(JSON.parse(done.out)).toEqual({
      file: path.join(fs.realpathSync(out), 'by-command.html'),
      bytes: expect.any(Number),
      redactions: 0,
    })
    expect(fs.readFileSync(path.join(out, 'by-command.html'), 'utf8')).toMatch(/^<!doctype html>/)
    expect((await reprise('export', '--incident', run, other, '-o', 'c.tar.gz')).code).toBe(0)
    expect((await reprise('export', run, '-o', 'by-command.html')).code).toBe(4)
    expect((await reprise('export', run, '-o', 'by-command.html', '--replace')).code).toBe(0)
    for (const args of [
      ['export', run],
      ['export', run, other, '-o', 'x.md'],
      ['export', '--incident', run, '-o', 'x.tar.gz'],
      ['export', run, '--format', 'pdf', '-o', 'x.pdf'],
      ['export', run, '-o', 'x.pdf'],
      ['export', run, '--format', 'json', '-o', 'x.md'],
      ['export', '--incident', run, other, '-o', 'x.html'],
      ['export', `${run}@2`, '-o', 'x.md'],
      ['export', `${run}#1`, '-o', 'x.md'],
    ])
      expect((await reprise(...args)).code, args.join(' ')).toBe(2)
    expect((await reprise('export', 'r_ffffffffffff', '-o', 'x.md')).code).toBe(3)
  }, 60_000)
})
