import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import type { WorkspacePlace } from '../../../../daemon/capture/workspaces/look.ts'
import { isolateGit } from '../../../../daemon/git/core.ts'
import { initBare } from '../../../../daemon/git/init-bare.ts'
import { describeFolder, userGit } from '../../../kit/git-directory.ts'
import { temporaryDirectory } from '../../../kit/temporary-directory.ts'
import { testLooks } from '../../../kit/workspace-looks.ts'

const directory = temporaryDirectory('seed')
const key = `sk-ant-api03-${'Ab3dEf6hIj9kLm2nOp5q'.repeat(4)}-abcdefAA`
let place: WorkspacePlace
let seeded: ReturnType<typeof testLooks>
let plain: ReturnType<typeof testLooks>
let store = ''
const git = (...args: string[]) => userGit(place.path, args)
const write = (path: string, content: string) => {
  mkdirSync(dirname(join(place.path, path)), { recursive: true })
  writeFileSync(join(place.path, path), content)
}
/** Git, and we, take a file for unchanged only when it is older than the index. */
const age = () => {
  const past = Date.now() / 1000 - 100
  for (const name of git('ls-files', '-z').split('\0'))
    if (name !== '' && !lstatSync(join(place.path, name)).isSymbolicLink())
      utimesSync(join(place.path, name), past, past)
  spawnSync('sleep', ['0.02'])
  git('update-index', '-q', '--refresh')
}
const linked = () => readdirSync(join(store, 'objects', 'pack')).filter((name) => name.endsWith('.pack'))
const many = (count: number) => {
  for (let n = 0; n < count; n += 1) write(`src/${n % 50}/f${n}`, `file ${n}\n`)
}
const oids = (kit: ReturnType<typeof testLooks>) =>
  kit.appended.flatMap(({ changes }) => changes.flatMap((change) => ('oid' in change ? [change.oid] : [])))

beforeEach(async () => {
  store = join(directory(), 'data', 'store.git')
  mkdirSync(store, { recursive: true })
  const context = isolateGit(process.env)
  await initBare(context, store)
  const home = join(directory(), 'home')
  mkdirSync(join(home, 'project'), { recursive: true })
  seeded = testLooks(directory(), {
    seed: { gitDir: store, git: context, env: { HOME: home } },
    cacheFolder: join(directory(), 'data', 'cache-a'),
  })
  plain = testLooks(directory(), { cacheFolder: join(directory(), 'data', 'cache-b') })
  place = seeded.looks.identify(join(home, 'project'))
  git('init', '-q', '-b', 'main')
})

describe('the first state of a large repository', () => {
  it('is made of the user’s objects, is the same as when everything is read, and survives the user’s gc', async () => {
    many(5_100)
    write('run', '#!/bin/sh\n')
    spawnSync('chmod', ['755', join(place.path, 'run')])
    symlinkSync('run', join(place.path, 'link'))
    git('add', '.')
    git('commit', '-qm', 'one')
    git('repack', '-adq')
    write('src/1/f1', 'staged only\n')
    git('add', 'src/1/f1')
    age()
    write('src/2/f2', 'changed\n')
    write('untracked', 'new\n')
    const before = describeFolder(join(place.path, '.git'))
    const one = await seeded.look(place)
    expect(describeFolder(join(place.path, '.git'))).toEqual(before)
    expect(one.about.files).toBe(5_103)
    expect((await plain.look(place)).state.tree).toBe(one.state.tree)
    expect(oids(seeded).length).toBe(5_101)
    expect(linked()).toHaveLength(1)
    const pack = join('objects', 'pack', linked()[0] ?? '')
    expect(statSync(join(store, pack)).ino).toBe(statSync(join(place.path, '.git', pack)).ino)
    git('reset', '-q', '--hard')
    git('commit', '-q', '--amend', '-m', 'other')
    git('reflog', 'expire', '--expire=now', '--all')
    git('gc', '-q', '--prune=now')
    const asked = spawnSync('git', [`--git-dir=${store}`, 'cat-file', '--batch-check'], {
      input: oids(seeded).join('\n'),
    })
    expect(asked.stdout.toString()).not.toContain('missing')
    // The search afterwards finds nothing, and the next look has nothing to do.
    await seeded.looks.settled(place.id)
    expect((await seeded.look(place, ['src/9/f9'])).changes).toEqual([])
  }, 30_000)

  it('never takes over what a setting or an attribute may have converted', async () => {
    write('.gitattributes', '*.crlf text\n*.id ident\nsub/** text=auto\n')
    many(5_100)
    write('a.crlf', 'one\r\ntwo\r\n')
    write('b.crlf', 'one\ntwo\n')
    write('c.id', '$Id$\n')
    write('sub/d', 'x\r\n')
    git('add', '.')
    age()
    const one = await seeded.look(place)
    expect((await plain.look(place)).state.tree).toBe(one.state.tree)
    expect(oids(seeded).length).toBe(5_102) // with .gitattributes and b.crlf, without a.crlf, c.id and sub/d
  }, 30_000)

  it('reads what an index with another history says nothing certain of', async () => {
    many(5_100)
    git('config', 'core.autocrlf', 'input')
    write('w.txt', 'one\r\n')
    spawnSync('sleep', ['0.1'])
    git('add', '.')
    git('config', '--unset', 'core.autocrlf')
    const one = await seeded.look(place)
    // Nothing tells any more that it was converted; the search afterwards does.
    await seeded.looks.settled(place.id)
    const tip = await seeded.states.tip(place.id)
    expect((await plain.look(place)).state.tree).toBe(tip?.tree)
    expect(tip?.n).toBe(one.state.n + 1)
  }, 30_000)

  it('exchanges a file with a secret for what the vault keeps, in the next state', async () => {
    many(5_100)
    write('config.ini', `key = ${key}\n`)
    git('add', '.')
    age()
    const one = await seeded.look(place)
    await seeded.looks.settled(place.id)
    const tip = await seeded.states.tip(place.id)
    expect(tip?.n).toBe(2)
    const entry = tip === null ? null : await seeded.states.entry(tip.tree, 'config.ini')
    expect(entry === null ? null : (await seeded.states.kept(entry)).as).toBe('vault')
    expect(seeded.vault.originals.size).toBe(1)
    const next = await seeded.look(place)
    expect(next.changes).toEqual([])
    expect(next.state.n).toBe(2)
    expect(one.about.files).toBe(5_101)
  }, 30_000)

  it('takes loose objects and those of alternates, and copies where it cannot link', async () => {
    const other = join(directory(), 'home', 'other')
    mkdirSync(other)
    many(5_100)
    git('add', '.')
    git('commit', '-qm', 'one')
    age()
    const loose = await seeded.look(place)
    expect(oids(seeded).length).toBe(5_100)
    expect((await plain.look(place)).state.tree).toBe(loose.state.tree)
    userGit(directory(), ['clone', '-q', '--shared', place.path, other])
    spawnSync('sleep', ['0.1'])
    userGit(other, ['update-index', '-q', '--refresh'])
    appendFileSync(join(other, 'src/1/f1'), 'more')
    const shared = seeded.looks.identify(other)
    const two = await seeded.look(shared)
    expect(two.state.tree).toBe((await plain.look(shared)).state.tree)
    rmSync(other, { recursive: true })
  }, 60_000)
})
