import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ManifestBody } from '../../../contract/index.ts'
import { isolateGit } from '../../../daemon/git/core.ts'
import { completeBody, taskId } from '../../../daemon/manifest/complete/complete-body.ts'
import { readDirtyState } from '../../../daemon/manifest/complete/dirty-digest.ts'
import { findServerPackage } from '../../../daemon/manifest/complete/mcp-packages.ts'
import { createProgramDigests } from '../../../daemon/manifest/complete/program-digest.ts'
import type { Surroundings } from '../../../daemon/runtimes/adapter.ts'
import { claudeCode } from '../../../daemon/runtimes/claude-code/index.ts'

let root = ''
let repo = ''
const git = (...args: string[]) =>
  execFileSync('git', ['-C', repo, '-c', 'user.name=Dev', '-c', 'user.email=dev@example.com', ...args], {
    env: { PATH: process.env.PATH, HOME: root },
  })
const write = (name: string, text: string) => {
  fs.mkdirSync(path.dirname(path.join(repo, name)), { recursive: true })
  fs.writeFileSync(path.join(repo, name), text)
}
const surroundings = (env: Record<string, string> = {}): Surroundings => ({
  platform: 'linux',
  userHome: root,
  env: { PATH: process.env.PATH ?? '', ...env },
  systemRoot: path.join(root, 'system'),
  now: () => new Date('2026-11-30T10:00:00.000Z'),
})

beforeEach(() => {
  root = fs.mkdtempSync(path.join(tmpdir(), 'reprise-complete-'))
  repo = path.join(root, 'repo')
  fs.mkdirSync(repo)
  git('init', '-q')
  write('a.txt', 'one\n')
  write('b.txt', 'two\n')
  git('add', '.')
  git('commit', '-qm', 'first')
})
afterEach(() => fs.rmSync(root, { recursive: true, force: true }))

const dirty = () =>
  readDirtyState(isolateGit({ PATH: process.env.PATH }), { gitDir: path.join(repo, '.git'), workTree: repo })
const digest = async () => {
  const state = await dirty()
  if (state.state === 'unknown') throw new Error(state.why)
  return state.digest
}

describe('how a work tree differs from its commit', () => {
  it('is nothing in a clean tree, also when a file was only touched', async () => {
    expect(await dirty()).toEqual({ state: 'known', digest: null, paths: 0 })
    fs.utimesSync(path.join(repo, 'a.txt'), new Date(), new Date(Date.now() + 5000))
    expect(await dirty()).toEqual({ state: 'known', digest: null, paths: 0 })
  })

  it('changes with every kind of change and goes back with it', async () => {
    const seen = new Set<string | null>([await digest()])
    const step = async (change: () => void) => {
      change()
      const now = await digest()
      expect(seen.has(now)).toBe(false)
      seen.add(now)
    }
    await step(() => write('a.txt', 'uno\n'))
    await step(() => write('a.txt', 'due\n'))
    await step(() => write('new.txt', 'x'))
    await step(() => write('new.txt', 'y'))
    await step(() => fs.rmSync(path.join(repo, 'b.txt')))
    await step(() => fs.symlinkSync('a.txt', path.join(repo, 'link')))
    await step(() => git('add', 'a.txt'))
    await step(() => fs.chmodSync(path.join(repo, 'a.txt'), 0o755))
    git('checkout', '-q', '-f', 'HEAD', '--', '.')
    git('reset', '-q', '--hard')
    git('clean', '-qfd')
    expect(await digest()).toBeNull()
  })

  it('runs nothing the repository names (R10)', async () => {
    const trap = path.join(root, 'trap')
    for (const key of ['filter.x.clean', 'filter.x.smudge', 'core.fsmonitor', 'core.sshCommand', 'diff.external'])
      git('config', key, `touch ${trap}; cat`)
    write('.gitattributes', '* filter=x\n')
    write('a.txt', 'changed\n')
    expect(await digest()).not.toBeNull()
    expect(fs.existsSync(trap)).toBe(false)
  })

  it('says so when there is too much to compare', async () => {
    for (let n = 0; n < 5; n += 1) write(`u${n}`, 'x')
    const state = await readDirtyState(
      isolateGit({ PATH: process.env.PATH }),
      { gitDir: path.join(repo, '.git'), workTree: repo },
      { paths: 3, bytes: 1e6, milliseconds: 5000 },
    )
    expect(state).toEqual({ state: 'unknown', why: '5 paths differ from the commit, more than 3' })
  })
})

describe('the package behind an MCP server', () => {
  const server = (command: string, args: string[]) =>
    ({ name: 's', command, args }) as unknown as ManifestBody['capabilities']['mcp_servers'][number]

  it('is what the runner is told, or what its cache holds when it is left open', () => {
    expect(findServerPackage(server('npx', ['-y', '@x/server@1.2.3']), surroundings())).toMatchObject({
      version: '1.2.3',
      floating: false,
    })
    expect(findServerPackage(server('npx', ['-y', '@x/server']), surroundings())).toMatchObject({
      version: null,
      floating: true,
    })
    const cached = path.join(root, '.npm/_npx/abc/node_modules/@x/server')
    fs.mkdirSync(cached, { recursive: true })
    fs.writeFileSync(path.join(cached, 'package.json'), '{"version":"2.0.1"}')
    expect(findServerPackage(server('npx', ['-y', '@x/server@latest']), surroundings())).toMatchObject({
      version: '2.0.1',
      floating: true,
    })
  })

  it('is the package a script lies in', () => {
    fs.writeFileSync(path.join(repo, 'package.json'), '{"version":"0.4.0"}')
    write('dist/server.mjs', '')
    expect(findServerPackage(server('node', [path.join(repo, 'dist/server.mjs')]), surroundings())).toMatchObject({
      version: '0.4.0',
      floating: false,
    })
  })
})

describe('a whole manifest', () => {
  const resolveHere = async (env: Record<string, string> = {}) => {
    const home = path.join(root, '.claude')
    fs.mkdirSync(home, { recursive: true })
    const around = surroundings(env)
    const { body } = claudeCode.resolve({ home, cwd: repo, flags: [], surroundings: around, version: null })
    const parts = { git: isolateGit(around.env), programs: createProgramDigests(), surroundings: around }
    return completeBody(parts, claudeCode, home, body, 'now')
  }

  it('names person, program by digest, work tree and host', async () => {
    const bin = path.join(root, 'bin')
    const program = path.join(root, 'claude/versions/2.1.332')
    fs.mkdirSync(path.dirname(program), { recursive: true })
    fs.mkdirSync(bin)
    fs.writeFileSync(program, 'program')
    fs.symlinkSync(program, path.join(bin, 'claude'))
    write('a.txt', 'changed\n')
    fs.mkdirSync(path.join(root, '.claude'), { recursive: true })
    fs.writeFileSync(path.join(root, '.claude/.credentials.json'), '{"token":"x"}')
    const body = await resolveHere({ USER: 'dev', PATH: `${bin}:${process.env.PATH}` })
    expect(body.principal).toMatchObject({ subject: 'user:dev', tenant: 'this machine' })
    expect(body.principal.auth_context_ref).toContain('.credentials.json')
    expect(body.execution).toMatchObject({ runtime_version: '2.1.332' })
    expect(body.execution.runtime_digest).toMatch(/^sha256:/)
    expect(body.unknown.filter(({ field }) => field.startsWith('execution.repo'))).toEqual([])
    expect(body.execution.repo?.dirty_digest).toMatch(/^sha256:/)
    expect(body.policy.capability_id).toMatch(/^cap_[0-9a-f]{12}$/)
    const unknown = body.unknown.map(({ field }) => field)
    for (const field of [
      'principal',
      'execution.runtime_digest',
      'execution.repo.dirty_digest',
      'execution.runtime_version',
    ])
      expect(unknown).not.toContain(field)
  })

  it('says what it could not find instead of leaving it empty', async () => {
    const body = await resolveHere({ PATH: '/nowhere' })
    expect(body.execution.runtime_digest).toBeNull()
    expect(body.unknown.map(({ field }) => field)).toContain('execution.runtime_digest')
  })

  it('gives the same words the same task', () => {
    expect(taskId(`sha256:${'a'.repeat(64)}`)).toBe('task_aaaaaaaaaaaa')
    expect(taskId(null)).toBeNull()
  })
})
