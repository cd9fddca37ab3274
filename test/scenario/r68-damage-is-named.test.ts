import { execFile, execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, root, type TestHome } from '../kit/fixture-home.ts'
import { sessionFile, type Talk, turn, writeSession } from '../kit/sessions.ts'

/** R68: whoever reads what was altered is told so, by its name, wherever they read it. */
let home: TestHome
let daemon: TestDaemon
let run: string
let digest: string
const talk: Talk = {
  session: '68000000-0000-4000-8000-000000000001',
  cwd: '/home/dev/shop',
  startedAt: '2026-10-01T08:00:00.000Z',
}

beforeEach(async () => {
  home = makeEmptyHome()
  fs.mkdirSync(path.join(home.home, '.claude'))
  fs.writeFileSync(path.join(home.home, '.claude/CLAUDE.md'), 'Always be kind to tests.\n')
  writeSession(home.home, talk, turn(talk, 0, 'make the shop faster', 'It is faster now.'))
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  const { runs } = await daemon.call('runs.list', {})
  run = String(runs[0]?.id)
  digest = String(runs[0]?.manifest)
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const git = (args: readonly string[], input?: Buffer) =>
  execFileSync('git', ['--git-dir', path.join(home.data, 'store.git'), ...args], {
    ...(input === undefined ? {} : { input }),
    stdio: ['pipe', 'pipe', 'ignore'],
  })

/** One byte of a stored object, in a way Git finds right. */
const alter = async (ref: string, file: string, before: string): Promise<void> => {
  await daemon.stop()
  const content = git(['cat-file', 'blob', `${ref}:${file}`])
  const at = content.indexOf(before) + before.length
  expect(at).toBeGreaterThan(before.length - 1)
  content[at] = (content[at] ?? 0) ^ 1
  const old = git(['rev-parse', ref]).toString().trim()
  const head = `commit ${ref}\ncommitter x <x@x> 1 +0000\ndata 1\nx\nfrom ${old}\nM 100644 inline ${file}\ndata ${content.length}\n`
  git(['fast-import', '--quiet', '--force'], Buffer.concat([Buffer.from(head), content, Buffer.from('\n')]))
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
}

const reprise = (...args: string[]): Promise<{ code: number; said: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], { env: home.env }, (error, out, note) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, said: out + note }),
    )
  })

describe('an altered manifest', () => {
  it('is named by manifest, instructions, show, export and check, and in the list of gaps', async () => {
    await alter('refs/reprise/manifests', `${digest.slice(7, 9)}/${digest.slice(7)}.json`, '"runtime":"')
    for (const args of [['manifest', digest], ['manifest', run], ['instructions', run], ['check']]) {
      const { code, said } = await reprise(...args)
      expect(code, args.join(' ')).toBe(1)
      expect(said, args.join(' ')).toContain(digest)
    }
    const shown = await reprise('show', run)
    expect(shown.code).toBe(0)
    expect(shown.said).toContain(`Manifest ${digest} is damaged`)
    expect(shown.said).toContain('make the shop faster')
    const file = path.join(home.home, 'run.md')
    expect((await reprise('export', run, '-o', file)).code).toBe(0)
    expect(fs.readFileSync(file, 'utf8')).toContain(`not in this export: manifest ${digest}`)
    const { gaps } = await daemon.call('status.get', {})
    expect(gaps.find(({ kind }) => kind === 'store_damaged')?.message).toContain(digest)
    // What is not damaged is found all the same.
    expect((await daemon.call('search.run', { text: 'faster' })).total).toBeGreaterThan(0)
  }, 60_000)
})

describe('an altered text of a source', () => {
  it('is named by manifest, instructions and check', async () => {
    const { manifest } = await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: home.home })
    const text = manifest.instructions.sources.find(({ path: file }) => file?.endsWith('CLAUDE.md'))?.text_digest ?? ''
    await alter('refs/reprise/texts', `${text.slice(7, 9)}/${text.slice(7)}`, 'Always be ')
    const target = manifest.integrity.manifest_digest
    const shown = await reprise('manifest', target)
    expect(shown.said).toContain(text)
    for (const args of [['instructions', target], ['check']]) {
      const { code, said } = await reprise(...args)
      expect(code, args.join(' ')).toBe(1)
      expect(said, args.join(' ')).toContain(text)
    }
  }, 60_000)
})

describe('an altered session in the archive', () => {
  it('is named by show, export and check, also when it is all there is', async () => {
    fs.rmSync(sessionFile(home.home, talk))
    const file = path.relative(path.join(home.home, '.claude'), sessionFile(home.home, talk))
    await alter(`refs/sessions/${run}`, `1/${file.replaceAll('/', '%2F')}/00000000.jsonl`, 'make the ')
    const read = await daemon.call('runs.event', { run, seq: 1 }).then(
      () => 'given out',
      (error: Error) => error.message,
    )
    expect(read).toMatch(/does not match its digest/)
    const out = path.join(home.home, 'run.md')
    await reprise('export', run, '-o', out)
    expect(fs.readFileSync(out, 'utf8')).toMatch(/damaged: .*does not match its digest/)
    const { code, said } = await reprise('check')
    expect(code).toBe(1)
    expect(said).toContain(run)
    await alter(`refs/sessions/${run}`, 'files.json', '"bytes":')
    expect((await reprise('show', run)).said).toContain('files.json')
  }, 60_000)
})
