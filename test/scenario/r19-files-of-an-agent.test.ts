import { spawnSync } from 'node:child_process'
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
const write = (file: string, content: string | Uint8Array) => {
  fs.mkdirSync(path.dirname(file), { recursive: true })
  fs.writeFileSync(file, content)
}
const settingsText =
  '\uFEFF{\r\n  "model": "opus",\r\n  "permissions": {\r\n    "deny": ["Read(./.env)"],\r\n    "allow": []\r\n  },\r\n  "zz_other": 1\r\n}'
const settings = () => path.join(claude, 'settings.json')
const get = (file: string, version?: string) =>
  daemon.call('files.get', { home: claude, path: file, ...(version === undefined ? {} : { version }) })
const versions = async (file: string) => (await daemon.call('files.versions', { home: claude, path: file })).versions
const look = () => daemon.call('drift.look', {})

beforeAll(async () => {
  home = makeEmptyHome()
  shop = path.join(home.home, 'shop')
  claude = path.join(home.home, '.claude')
  write(path.join(shop, 'CLAUDE.md'), 'Prices are in cents.\n')
  write(settings(), settingsText)
  write(path.join(claude, 'CLAUDE.md'), 'Be brief.\nUse tabs.\nNever push.\n')
  write(path.join(claude, '.credentials.json'), '{"claudeAiOauth":{"accessToken":"sk-ant-oat01-abcdefghijklmnop"}}')
  write(
    path.join(claude, 'skills/release/SKILL.md'),
    '---\nname: release\ndescription: makes a release\n---\nRun it.\n',
  )
  write(path.join(claude, 'skills/release/run.sh'), '#!/bin/sh\necho release\n')
  fs.chmodSync(path.join(claude, 'skills/release/run.sh'), 0o755)
  const at = new Date(Date.now() - 5 * 3_600_000).toISOString()
  const talk = { session: '11fe0000-0000-4000-8000-000000000001', cwd: shop, startedAt: at }
  writeSession(home.home, talk, turn(talk, 1, 'how much is it', 'four hundred'))
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  await look()
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

describe('the files of an agent', () => {
  it('are all listed, with the scripts of a skill, and credentials only as what they are', async () => {
    const { files, workspaces, running } = await daemon.call('files.list', { home: claude, workspace: shop })
    const by = (name: string) => files.find((one) => one.path.endsWith(name))
    expect(workspaces).toEqual([shop])
    expect(running).toBe(false)
    expect(by('.claude/settings.json')).toMatchObject({
      area: 'home',
      kind: 'settings',
      format: 'json',
      editable: true,
      versions: 1,
    })
    expect(by('.claude/CLAUDE.md')).toMatchObject({ kind: 'instructions', state: 'loaded', shown: 'CLAUDE.md' })
    expect(by('shop/CLAUDE.md')).toMatchObject({ area: 'project', shown: 'CLAUDE.md' })
    expect(by('release/SKILL.md')?.kind).toBe('skill')
    expect(by('release/run.sh')).toMatchObject({ kind: 'skill', versions: 1 })
    expect(by('.credentials.json') ?? { editable: false, digest: null }).toMatchObject({
      editable: false,
      digest: null,
    })
    await expect(get(path.join(claude, '.credentials.json'))).rejects.toThrow('credential')
    await expect(get('/etc/passwd')).rejects.toThrow('no file of')
  })

  it('keep mark, line ends and everything else when one key changes, and have the state before as a version', async () => {
    const before = await get(settings())
    expect(before).toMatchObject({ bom: true, line_end: 'crlf', whole: true })
    expect(before.text?.text.startsWith('{\n')).toBe(true)
    const saved = await daemon.call('files.save', {
      home: claude,
      path: settings(),
      edits: [{ key: ['permissions', 'deny', 1], value: 'Bash(rm:*)' }],
      expected: before.file.digest,
      note: 'strict',
      name: 'strict',
    })
    expect(saved).toMatchObject({
      unchanged: false,
      version: { name: 'strict', note: 'strict', writer: { who: 'reprise' } },
    })
    expect(fs.readFileSync(settings(), 'utf8')).toBe(settingsText.replace('.env)"]', '.env)", "Bash(rm:*)"]'))
    await look()
    const all = await versions(settings())
    expect(all.map(({ id }) => id)[0]).toBe(saved.version.id)
    expect(all).toHaveLength(2)
    expect(all.every(({ restorable }) => restorable)).toBe(true)
    // Back to the first state, byte for byte, as its text says.
    const old = await get(settings(), all[1]?.id)
    const back = await daemon.call('files.save', {
      home: claude,
      path: settings(),
      text: old.text?.text ?? '',
      expected: saved.file.digest,
    })
    expect(fs.readFileSync(settings(), 'utf8')).toBe(settingsText)
    expect(back.version.digest).toBe(all[1]?.digest)
    // The look afterwards knows who it was, and makes no second version of it.
    await look()
    const { changes } = await daemon.call('drift.list', { path: settings() })
    expect(changes[0]?.writer).toMatchObject({ who: 'reprise' })
    expect((await versions(settings())).length).toBe(3)
    const keys = await daemon.call('files.versions', { home: claude, path: settings(), key: 'permissions.deny' })
    expect(keys.versions).toHaveLength(3)
    expect(keys.versions[0]?.why).toContain('["Read(./.env)"]')
  })

  it('are not written when they are not what the editor began with', async () => {
    const { file } = await get(path.join(claude, 'CLAUDE.md'))
    fs.writeFileSync(path.join(claude, 'CLAUDE.md'), 'Be brief.\nUse spaces.\nNever push.\n')
    const attempt = daemon.call('files.save', { home: claude, path: file.path, text: 'mine\n', expected: file.digest })
    await expect(attempt).rejects.toMatchObject({ code: 'conflict' })
    expect(fs.readFileSync(file.path, 'utf8')).toContain('Use spaces.')
    await expect(
      daemon.call('files.save', {
        home: claude,
        path: path.join(claude, 'rules/new.md'),
        text: 'x\n',
        expected: `sha256:${'0'.repeat(64)}`,
      }),
    ).rejects.toMatchObject({ code: 'conflict' })
    const made = await daemon.call('files.save', {
      home: claude,
      path: path.join(claude, 'rules/new.md'),
      text: 'A rule.\n',
      expected: null,
    })
    expect(made.file).toMatchObject({ kind: 'other', versions: 1 })
    expect((await get(path.join(claude, 'rules/new.md'))).file.kind).toBe('rule')
  })

  it('tell line by line which state each line came with', async () => {
    const file = path.join(claude, 'CLAUDE.md')
    await look()
    const { file: now } = await get(file)
    const saved = await daemon.call('files.save', {
      home: claude,
      path: file,
      text: 'Be brief.\nUse spaces.\nNever push.\nAsk first.\n',
      expected: now.digest,
    })
    const { lines, complete } = await daemon.call('files.blame', { home: claude, path: file })
    const all = await versions(file)
    expect(complete).toBe(true)
    expect(lines.map(({ text }) => text)).toEqual(['Be brief.', 'Use spaces.', 'Never push.', 'Ask first.'])
    expect(lines.map(({ version }) => all.findIndex(({ id }) => id === version))).toEqual([2, 1, 2, 0])
    expect(lines[1]?.writer.who).toBe('user')
    expect(lines[3]).toMatchObject({ version: saved.version.id, writer: { who: 'reprise' } })
  })

  it('never get a placeholder, nor a secret nobody meant, and keep the one that is there', async () => {
    const file = path.join(shop, 'CLAUDE.local.md')
    const secret = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'
    write(file, `one\ntoken: ${secret}\nthree\n`)
    await look()
    const shown = await get(file)
    expect(shown.whole).toBe(false)
    expect(shown.text?.text).not.toContain(secret)
    const text = shown.text?.text ?? ''
    const save = (next: string, more = {}) =>
      daemon.call('files.save', { home: claude, path: file, text: next, expected: shown.file.digest, ...more })
    await expect(save(text.replace('token:', 'the token:'))).rejects.toThrow('placeholder')
    await expect(save(`${text}key: sk-ant-api03-${'Ab3'.repeat(30)}AA\n`)).rejects.toThrow('secret')
    await save(text.replace('three', 'four'))
    expect(fs.readFileSync(file, 'utf8')).toBe(`one\ntoken: ${secret}\nfour\n`)
    const { lines } = await daemon.call('files.blame', { home: claude, path: file })
    expect(JSON.stringify(lines)).not.toContain(secret)
    expect((await versions(file)).every(({ restorable }) => restorable)).toBe(true)
  })

  it('are written through a link only when that is wanted, and the link stays', async () => {
    const shared = path.join(home.home, 'shared/team.md')
    const rule = path.join(claude, 'rules/team.md')
    write(shared, 'Shared.\n')
    fs.mkdirSync(path.dirname(rule), { recursive: true })
    fs.symlinkSync(shared, rule)
    const { file } = await get(rule)
    expect(file.link_target).toBe(fs.realpathSync(shared))
    const save = (through_link?: true) =>
      daemon.call('files.save', {
        home: claude,
        path: rule,
        text: 'Shared more.\n',
        expected: file.digest,
        ...(through_link === undefined ? {} : { through_link }),
      })
    await expect(save()).rejects.toThrow('is a link')
    expect(fs.readFileSync(shared, 'utf8')).toBe('Shared.\n')
    await save(true)
    expect(fs.readFileSync(shared, 'utf8')).toBe('Shared more.\n')
    expect(fs.lstatSync(rule).isSymbolicLink()).toBe(true)
  })

  it('are checked before they are saved: what is wrong, and what would change where', async () => {
    const check = (text: string) => daemon.call('files.check', { home: claude, path: settings(), text })
    const typo = await check('{\n  "model": "sonnet",\n  "permissions": {\n    "alow": []\n  }\n}\n')
    expect(typo.problems).toContainEqual(
      expect.objectContaining({ code: 'unknown_key', line: 4, repair: 'did you mean allow?' }),
    )
    const effect = typo.effects.find(({ workspace }) => workspace === shop)
    expect(effect?.changes).toContainEqual(
      expect.objectContaining({ field: expect.stringContaining('model'), before: 'opus', after: 'sonnet' }),
    )
    expect((await check('{\n  "model": "a"\n  "b": 1\n}')).problems[0]).toMatchObject({ code: 'syntax', line: 3 })
    expect(fs.readFileSync(settings(), 'utf8')).toBe(settingsText)
    const rule = path.join(shop, 'CLAUDE.md')
    const imports = await daemon.call('files.check', { home: claude, path: rule, text: 'See @nowhere.md please.\n' })
    expect(imports.problems.map(({ code }) => code)).toContain('missing_import')
    expect(imports.effects[0]?.effective_after).not.toBe(imports.effects[0]?.effective_before)
  })

  it('that are gone keep their history, and names last', async () => {
    const file = path.join(claude, 'skills/release/run.sh')
    fs.rmSync(file)
    await look()
    const { files } = await daemon.call('files.list', { home: claude })
    expect(files.find((one) => one.path === file)).toMatchObject({ state: 'deleted' })
    const [gone, first] = await versions(file)
    expect(gone?.deleted).toBe(true)
    expect((await get(file, first?.id)).text?.text).toContain('echo release')
    const { version } = await daemon.call('files.name', { version: String(first?.id), name: 'works' })
    expect(version.name).toBe('works')
    expect((await versions(file))[1]?.name).toBe('works')
  })

  it('have every state of a file that an updater put back, with the one that came back', async () => {
    const file = path.join(claude, 'agents/writer.md')
    for (const n of [1, 2, 3, 2]) {
      write(file, `---\nname: writer\ndescription: state ${n}\n---\nWrite.\n`)
      await look()
    }
    const all = await versions(file)
    expect(all).toHaveLength(4)
    expect(all[0]?.digest).toBe(all[2]?.digest)
    expect(new Set(all.map(({ id }) => id)).size).toBe(4)
    const texts = await Promise.all(all.map(async ({ id }) => (await get(file, id)).text?.text ?? ''))
    expect(texts.map((text) => /state (\d)/.exec(text)?.[1])).toEqual(['2', '3', '2', '1'])
    // The index is made anew from the store: the same states under the same ids.
    await daemon.call('store.reindex', {})
    await daemon.idle()
    expect((await versions(file)).map(({ id }) => id)).toEqual(all.map(({ id }) => id))
  })

  it('can be worked with from the command', () => {
    const reprise = (input: string, ...args: string[]) => {
      const done = spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), 'files', ...args], {
        env: home.env,
        encoding: 'utf8',
        input,
      })
      return { code: done.status, out: done.stdout, note: done.stderr }
    }
    expect(reprise('', 'list').out).toContain('settings.json')
    const saved = reprise('', 'save', settings(), '--set', 'permissions.ask=["Bash(git push:*)"]', '--note', 'careful')
    expect(saved.code, saved.note).toBe(0)
    expect(JSON.parse(fs.readFileSync(settings(), 'utf8').slice(1)).permissions.ask).toEqual(['Bash(git push:*)'])
    expect(reprise('', 'versions', settings()).out).toContain('careful')
    expect(reprise('', 'blame', settings()).out).toContain('reprise')
    expect(reprise('', 'show', settings()).out).toContain('git push')
    const wrong = reprise('{"model": 5}', 'check', settings(), '--text', '-')
    expect(wrong.code).toBe(1)
    expect(wrong.note).toContain('model is a number')
    expect(
      reprise('', 'save', settings(), '--unset', 'permissions.ask', '--expected', `sha256:${'0'.repeat(64)}`).code,
    ).toBe(4)
    const id = /^(v_[0-9a-f]{12})/m.exec(reprise('', 'versions', settings()).out)?.[1] ?? ''
    expect(reprise('', 'name', id, 'careful').code).toBe(0)
    expect(reprise('', 'show', '/nowhere/at/all').code).toBe(3)
  })
})
