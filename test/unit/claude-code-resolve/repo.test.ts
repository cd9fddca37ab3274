import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDisk } from '../../../daemon/runtimes/shared/disk.ts'
import { findRepository } from '../../../daemon/runtimes/shared/repo.ts'
import { git } from '../../kit/claude-code-tree.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'reprise-repo-')))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const at = (name: string) => path.join(root, name)
const find = (name: string) => findRepository(openDisk('', '/etc/claude-code'), at(name))
const ask = (cwd: string, ...args: string[]) => execFileSync('git', args, { cwd: at(cwd), encoding: 'utf8' }).trim()
function make(name: string): void {
  mkdirSync(at(name), { recursive: true })
  git(at(name), 'init', '-q', '-b', 'main', '.')
  writeFileSync(at(`${name}/file`), name)
  git(at(name), 'add', '-A')
  git(at(name), 'commit', '-qm', 'one')
}

describe('findRepository agrees with git and never runs it', () => {
  it('a plain checkout, from a subdirectory', () => {
    make('a')
    mkdirSync(at('a/b/c'), { recursive: true })
    expect(find('a/b/c')).toMatchObject({
      top: at('a'),
      main: at('a'),
      sha: ask('a', 'rev-parse', 'HEAD'),
      branch: 'main',
      worktree: null,
      unknown: [],
    })
  })
  it('packed refs', () => {
    make('a')
    git(at('a'), 'pack-refs', '--all')
    expect(find('a')?.sha).toBe(ask('a', 'rev-parse', 'HEAD'))
  })
  it('a branch with a slash, then a detached head', () => {
    make('a')
    git(at('a'), 'checkout', '-qb', 'feature/x')
    expect(find('a')?.branch).toBe('feature/x')
    git(at('a'), 'checkout', '-q', '--detach')
    expect(find('a')).toMatchObject({ branch: null, sha: ask('a', 'rev-parse', 'HEAD') })
  })
  it('a linked work tree knows its main one', () => {
    make('a')
    git(at('a'), 'worktree', 'add', '-q', '../w', '-b', 'side')
    expect(find('w')).toMatchObject({
      top: at('w'),
      main: at('a'),
      branch: 'side',
      worktree: 'w',
      sha: ask('w', 'rev-parse', 'HEAD'),
    })
  })
  it('submodules with the commit that is checked out', () => {
    make('lib')
    make('a')
    execFileSync('git', ['-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', at('lib'), 'deps/lib'], {
      cwd: at('a'),
      env: { PATH: process.env.PATH ?? '', HOME: root },
    })
    expect(find('a')?.submodules).toEqual([{ path: 'deps/lib', sha: ask('a/deps/lib', 'rev-parse', 'HEAD') }])
    expect(find('a/deps/lib')).toMatchObject({ top: at('a/deps/lib'), main: at('a/deps/lib'), worktree: null })
    rmSync(at('a/deps/lib'), { recursive: true })
    expect(find('a')?.unknown).toEqual([{ field: 'execution.repo.submodules', why: 'deps/lib is not checked out' }])
  })
  it('an unborn branch and a separate git directory', () => {
    mkdirSync(at('n'))
    git(at('n'), 'init', '-q', '-b', 'main', `--separate-git-dir=${at('store')}`, '.')
    expect(find('n')).toMatchObject({
      top: at('n'),
      main: at('n'),
      sha: null,
      branch: 'main',
      unknown: [{ field: 'execution.repo.sha', why: 'refs/heads/main does not exist yet' }],
    })
  })
  it('no repository, and a .git that is none', () => {
    mkdirSync(at('x/.git'), { recursive: true })
    expect(find('x')).toBeNull()
  })
  it('a submodule path that leads out is refused', () => {
    make('a')
    writeFileSync(at('a/.gitmodules'), '[submodule "x"]\n\tpath = ../../elsewhere\n\turl = x\n')
    expect(find('a')).toMatchObject({
      submodules: [],
      unknown: [{ why: '../../elsewhere leads out of the repository' }],
    })
  })
})
