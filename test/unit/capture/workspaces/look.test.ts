import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspacePlace } from '../../../../daemon/capture/workspaces/look.ts'
import { isolateGit } from '../../../../daemon/git/core.ts'
import type { WorkspaceState, WorkspaceStates } from '../../../../daemon/store/states.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'
import { testLooks } from '../../../kit/workspace-looks.ts'

const directory = temporaryDirectory('look')
let place: WorkspacePlace
let kit: ReturnType<typeof testLooks>
const at = (path: string) => join(place.path, path)
const write = (path: string, content: string | Uint8Array) => {
  mkdirSync(dirname(at(path)), { recursive: true })
  writeFileSync(at(path), content)
}
const git = (...args: string[]) => {
  const done = spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: place.path })
  expect(done.status, String(done.stderr)).toBe(0)
}
const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`
const paths = async (state: WorkspaceState, states: WorkspaceStates = kit.states) => {
  const found: string[] = []
  for await (const entry of states.entries(state.tree)) found.push(`${entry.mode} ${entry.path}`)
  return found
}
const told = (changes: readonly { readonly change: string; readonly path: string }[]) =>
  changes.map(({ change, path }) => `${change} ${path}`).sort()

beforeEach(() => {
  kit = testLooks(directory())
  mkdirSync(join(kit.home, 'project'))
  place = kit.looks.identify(join(kit.home, 'project'))
})

describe('a look', () => {
  it('keeps bytes, modes, links and odd names, and notes empty folders', async () => {
    write('a.txt', 'one')
    write('bin/run', '#!/bin/sh\n')
    chmodSync(at('bin/run'), 0o755)
    symlinkSync('nowhere/at all', at('link'))
    mkdirSync(at('empty/inner'), { recursive: true })
    write('-dash "quoted"\n', 'odd')
    writeFileSync(Buffer.concat([Buffer.from(`${place.path}/`), Buffer.from([0xff, 0xfe, 0x20])]), 'raw')
    const { state, before, changes } = await kit.look(place)
    expect(before).toBeNull()
    expect(changes).toEqual([])
    expect(await paths(state)).toEqual([
      '100644 -dash "quoted"\n',
      '100644 a.txt',
      '100755 bin/run',
      '120000 link',
      '100644 \xff\xfe ',
    ])
    expect(state.about).toMatchObject({ emptyFolders: ['empty/inner'], files: 5, partial: null, leftOutCount: 0 })
    const again = await kit.look(place)
    expect(again.state).toEqual(state)
    expect(again.changes).toEqual([])
    expect(kit.appended).toHaveLength(1)
  })

  it('tells what was added, changed, made executable, turned into a link and deleted, with digests', async () => {
    write('change', 'before')
    write('mode', 'x')
    write('type', 'x')
    write('gone/one', '1')
    write('gone/two', '2')
    await kit.look(place)
    write('change', 'after!')
    chmodSync(at('mode'), 0o755)
    rmSync(at('type'))
    symlinkSync('change', at('type'))
    rmSync(at('gone'), { recursive: true })
    write('new/file', 'new')
    const { changes, state } = await kit.look(place)
    expect(told(changes)).toEqual([
      'add new/file',
      'change change',
      'delete gone/one',
      'delete gone/two',
      'mode mode',
      'type type',
    ])
    expect(changes.find(({ path }) => path === 'change')).toMatchObject({
      before: digestOf('before'),
      after: digestOf('after!'),
      beforeMode: '100644',
      bytes: 6,
    })
    expect(changes.find(({ path }) => path === 'mode')).toMatchObject({
      before: digestOf('x'),
      after: digestOf('x'),
      afterMode: '100755',
    })
    expect(await paths(state)).toEqual(['100644 change', '100755 mode', '100644 new/file', '120000 type'])
  })

  it('looks only at what the hint names, into new folders too', async () => {
    write('a/one', '1')
    write('b/two', '2')
    await kit.look(place)
    write('a/one', 'changed')
    write('b/two', 'changed too')
    write('c/d/new', 'n')
    const hinted = await kit.look(place, ['a/one', 'c'])
    expect(told(hinted.changes)).toEqual(['add c/d/new', 'change a/one'])
    expect(hinted.walked).toBeLessThan(8)
    const full = await kit.look(place)
    expect(told(full.changes)).toEqual(['change b/two'])
    rmSync(at('c'), { recursive: true })
    rmSync(at('a/one'))
    const gone = await kit.look(place, ['c/d/new', 'a/one'])
    expect(told(gone.changes)).toEqual(['delete a/one', 'delete c/d/new'])
    expect(gone.about.emptyFolders).toEqual(['a'])
  })

  it('sees a change that keeps size and time', async () => {
    write('same', 'aaaa')
    await kit.look(place)
    write('same', 'bbbb')
    utimesSync(at('same'), 1_000_000, 1_000_000)
    await kit.look(place)
    write('same', 'cccc')
    utimesSync(at('same'), 1_000_000, 1_000_000)
    expect(told((await kit.look(place)).changes)).toEqual(['change same'])
  })

  it('goes on after a restart with what it wrote down, and from the state alone', async () => {
    write('a', '1')
    write('key.pem', 'k')
    await kit.look(place)
    await kit.looks.forget(place.id)
    write('a', '22')
    const restarted = kit.again()
    expect(told((await restarted.look(place)).changes)).toEqual(['change a'])
    rmSync(join(directory(), 'data', 'cache'), { recursive: true })
    const bare = kit.again()
    expect((await bare.look(place)).changes).toEqual([])
    write('key.pem', 'kk')
    expect(told((await bare.look(place)).changes)).toEqual(['change key.pem'])
  })

  it('follows the state when it was moved on by others', async () => {
    write('a', '1')
    const { state } = await kit.look(place)
    await kit.looks.forget(place.id)
    await kit.states.append(
      place.id,
      state.commit,
      [{ path: 'b', mode: '100644', content: Buffer.from('x') }],
      state.about,
    )
    expect(told((await kit.again().look(place)).changes)).toEqual(['delete b'])
    await kit.looks.look(place, { hint: null, deadline: null })
  })
})

describe('what is left out', () => {
  it('follows nested .gitignore files, info/exclude and caches, and keeps what Git tracks', async () => {
    git('init', '-q')
    write('.gitignore', '*.log\nbuild/\n/top\n')
    write('.git/info/exclude', 'private\n')
    write('sub/.gitignore', '!keep.log\n')
    for (const path of [
      'x.log',
      'sub/keep.log',
      'sub/top',
      'top',
      'private',
      'build/out',
      'build/tracked',
      'build/deep/tracked',
    ])
      write(path, path)
    write('cached/CACHEDIR.TAG', 'Signature: 8a477f597d28d172789f06886806bc55\n')
    write('cached/thing', 'x')
    git('add', '-f', 'build/tracked', 'build/deep/tracked')
    const { state, about } = await kit.look(place)
    expect(await paths(state)).toEqual(
      ['.gitignore', 'build/deep/tracked', 'build/tracked', 'sub/.gitignore', 'sub/keep.log', 'sub/top'].map(
        (p) => `100644 ${p}`,
      ),
    )
    expect(about.leftOut.map(({ path, reason }) => `${reason} ${path}`).sort()).toEqual([
      'cache cached/',
      'ignored build/out',
      'ignored private',
      'ignored top',
      'ignored x.log',
    ])
    git('rm', '-q', '--cached', 'build/tracked')
    const untracked = await kit.look(place)
    expect(untracked.changes).toEqual([])
    expect(await paths(untracked.state)).not.toContain('100644 build/tracked')
    write('.gitignore', '*.log\n/top\n')
    const { changes } = await kit.look(place, ['.gitignore'])
    expect(told(changes)).toEqual(['add build/out', 'add build/tracked', 'change .gitignore'])
  })

  it('takes the settings before everything else', async () => {
    const looks = testLooks(directory(), { settings: () => ({ workspace_excludes: ['*.big', '/out'] }) })
    write('a.big', '1')
    write('out/x', '1')
    write('in/out', '1')
    const { state, about } = await looks.look(place)
    expect(await paths(state, looks.states)).toEqual(['100644 in/out'])
    expect(about.leftOut.map(({ path, reason }) => `${reason} ${path}`)).toEqual(['excluded a.big', 'excluded out/'])
  })

  it('names pipes and sockets, and never opens them', async () => {
    spawnSync('mkfifo', [at('pipe')])
    write('a', '1')
    const { about } = await kit.look(place)
    expect(about.leftOut).toEqual([{ path: 'pipe', reason: 'special', why: 'a pipe', bytes: null }])
  })

  it('keeps what it knew of what cannot be looked at', async () => {
    write('a', '1')
    write('kept/inner', '2')
    await kit.look(place)
    renameSync(at('kept'), at('away'))
    writeFileSync(at('kept'), '')
    const changed = await kit.look(place)
    expect(told(changed.changes)).toEqual(['add away/inner', 'add kept', 'delete kept/inner'])
  })
})

describe('secrets', () => {
  const key = `sk-ant-api03-${'Ab3dEf6hIj9kLm2nOp5q'.repeat(4)}-abcdefAA`
  it('go to the vault, and credentials nowhere', async () => {
    write('.env', `ANTHROPIC_API_KEY=${key}\n`)
    write('auth.json', '{"token":"x"}')
    const { state, about } = await kit.look(place)
    const entry = await kit.states.entry(state.tree, '.env')
    const kept = entry === null ? null : await kit.states.kept(entry)
    expect(kept).toMatchObject({ as: 'vault' })
    expect(kept?.as === 'vault' ? kit.vault.originals.get(kept.ref)?.content.toString() : '').toContain(key)
    const auth = await kit.states.entry(state.tree, 'auth.json')
    expect(auth === null ? null : await kit.states.kept(auth)).toMatchObject({ as: 'unkept' })
    expect(about.leftOut.map(({ path, reason }) => `${reason} ${path}`)).toEqual(['credential auth.json'])
    expect(JSON.stringify(kit.appended.map(({ changes }) => changes))).not.toContain(
      Buffer.from(key).toString('base64'),
    )
    await kit.look(place)
    expect(kit.appended).toHaveLength(1)
    expect((await kit.again().look(place)).changes).toEqual([])
  })

  it('are looked for in large files, over the borders of windows', async () => {
    const filler = 'plain words of a log\n'.repeat(430_000)
    const middle = 512 * 1024 * 3 - 20
    write('big.log', `${filler.slice(0, middle)}\n${key}\n${filler.slice(middle)}`)
    write('plain.log', filler)
    const { state } = await kit.look(place)
    const kinds: string[] = []
    for await (const entry of kit.states.entries(state.tree)) kinds.push((await kit.states.kept(entry)).as)
    expect(kinds).toEqual(['vault', 'large'])
    expect(kit.large.objects.size).toBe(1)
  })

  it('leave nothing behind where only digests are kept', async () => {
    const looks = testLooks(directory(), { collection: () => 'digests' })
    write('a', 'some text')
    write('.env', `KEY=${key}\n`)
    const { state } = await looks.look(place)
    for await (const entry of looks.states.entries(state.tree))
      expect((await looks.states.kept(entry)).as).toBe('unkept')
    expect(looks.vault.originals.size).toBe(0)
    write('a', 'other text')
    expect((await looks.look(place)).changes[0]).toMatchObject({ path: 'a', change: 'change' })
  })
})

describe('limits', () => {
  it('give a partial state that says so and is completed later; what was not read is not gone', async () => {
    for (let n = 0; n < 10; n += 1) write(`d/f${n}`, `${n}`.repeat(1000))
    const looks = testLooks(directory(), { settings: () => ({ workspace_budget: { bytes: 3500 } }) })
    const first = await looks.look(place)
    expect(first.about).toMatchObject({ files: 3, leftOutCount: 7 })
    expect(first.about.partial).toContain('7 files (7000 bytes)')
    expect((await looks.look(place)).about.files).toBe(6)
    expect((await looks.look(place)).about.files).toBe(9)
    const last = await looks.look(place)
    expect(last.about).toMatchObject({ files: 10, leftOutCount: 0, partial: null })
    for (let n = 0; n < 10; n += 1) write(`d/f${n}`, `${n}`.repeat(1001))
    const changed = await looks.look(place)
    expect(told(changed.changes)).toHaveLength(3)
    expect(changed.about.files).toBe(10)
  })

  it('count files, and time', async () => {
    for (let n = 0; n < 10; n += 1) write(`d${n}/f`, `${n}`)
    const few = testLooks(directory(), { settings: () => ({ workspace_budget: { files: 4 } }) })
    const { about } = await few.look(place)
    expect(about.files).toBe(4)
    expect(about.partial).toContain('over the limit of 4 files')
    let ticks = 0
    const slow = testLooks(directory(), { clock: () => (ticks += 1) })
    const first = await slow.looks.look(place, { hint: null, deadline: 20 })
    expect(first.about.partial).toContain('no time was left')
    let state = first
    for (let n = 0; n < 20 && state.about.partial !== null; n += 1)
      state = await slow.looks.look(place, { hint: null, deadline: ticks + 100 })
    expect(state.about.partial).toBeNull()
    expect(state.about.files).toBe(10)
  })
})

describe('repositories in a workspace', () => {
  it('are captured in place, each as its own unit, and nothing of theirs is touched', async () => {
    git('init', '-q', '-b', 'main')
    write('a', '1')
    git('add', '.')
    git('commit', '-qm', 'one')
    mkdirSync(at('inner'))
    git('-C', 'inner', 'init', '-q', '-b', 'other')
    write('inner/uncommitted', 'x')
    git('worktree', 'add', '-q', 'tree', '-b', 'side')
    mkdirSync(at('linked'))
    symlinkSync('../.git', at('linked/.git'))
    write('linked/file', 'x')
    write('broken/.git', 'gitdir: /nowhere\n')
    write('broken/file', 'x')
    const { state, about } = await kit.look(place)
    expect(await paths(state)).toEqual(
      ['a', 'broken/file', 'inner/uncommitted', 'linked/file', 'tree/a'].map((path) => `100644 ${path}`),
    )
    expect(
      about.units.map(({ path, kind, branch, head }) => `${path}:${kind}:${branch}:${head?.length ?? null}`),
    ).toEqual([
      ':repository:main:40',
      'broken:worktree:null:null',
      'inner:repository:other:null',
      'linked:repository:null:null',
      'tree:worktree:side:40',
    ])
    expect(existsSync(at('inner/.git/HEAD'))).toBe(true)
    expect(readFileSync(at('broken/.git'), 'latin1')).toBe('gitdir: /nowhere\n')
    git('checkout', '-q', '-b', 'next')
    expect((await kit.look(place, ['.git/HEAD'])).about.units[0]).toMatchObject({ branch: 'next' })
  })
})

it('says of each repository whether it differs from its commit', async () => {
  const asked = testLooks(directory(), {
    seed: { gitDir: join(directory(), 'none'), git: isolateGit(process.env), env: {} },
  })
  const dirty = async (hint: readonly string[] | null = null) =>
    (await asked.look(place, hint)).about.units.map((unit) => unit.dirty)
  git('init', '-q', '-b', 'main')
  write('a', '1')
  write('b', '1')
  git('add', '.')
  expect(await dirty()).toEqual([true]) // no commit yet
  git('commit', '-qm', 'one')
  write('untracked', 'x')
  expect(await dirty()).toEqual([false])
  write('a', '2')
  expect(await dirty(['a'])).toEqual([true])
  write('b', '2')
  expect(await dirty()).toEqual([true])
  git('commit', '-qam', 'two')
  expect(await dirty()).toEqual([false])
  write('a', '3')
  git('add', 'a')
  expect(await dirty()).toEqual([true])
})
