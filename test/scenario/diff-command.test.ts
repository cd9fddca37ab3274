import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Comparison, Output } from '../../contract/index.ts'
import { git } from '../kit/claude-code-tree.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeFixtureHome, root, type TestHome } from '../kit/fixture-home.ts'

/** `reprise diff` and its endpoints over the recorded sessions of the real program. */
let home: TestHome
let daemon: TestDaemon
let workspace = ''
beforeAll(async () => {
  home = makeFixtureHome()
  workspace = path.join(home.home, 'shop')
  fs.mkdirSync(path.join(workspace, '.claude'), { recursive: true })
  fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), 'Prices are in cents.\n')
  git(workspace, 'init', '-q', '-b', 'main', '.')
  daemon = await startDaemon(home)
  await daemon.call('sync.now', {})
  await daemon.idle()
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

const reprise = (...args: string[]) => {
  const done = spawnSync(process.execPath, [path.join(root, 'bin/reprise.mjs'), ...args], {
    env: home.env,
    encoding: 'utf8',
    maxBuffer: 1 << 27,
  })
  return { code: done.status, out: done.stdout, note: done.stderr }
}
const diff = (...args: string[]): Comparison => {
  const done = reprise('diff', ...args, '--json')
  expect(done.code, done.note + done.out).toBe(0)
  return JSON.parse(done.out) as Comparison
}
const [first, second] = ['10000000-0000-4000-8000-000000000001', '80000000-0000-4000-8000-000000000001']

describe('reprise diff', () => {
  it('compares runs, stretches, points and manifests, and carries what scripts rely on', () => {
    const result = diff(first, second)
    expect(Object.keys(result)).toEqual(
      expect.arrayContaining([
        'identical',
        'causes',
        'fields',
        'use',
        'categories',
        'text',
        'steps',
        'notes',
        'verdict',
      ]),
    )
    for (const cause of result.causes)
      expect(Object.keys(cause)).toEqual(
        expect.arrayContaining(['rank', 'kind', 'class', 'title', 'before', 'after', 'evidence']),
      )
    expect(result.a).toMatchObject({
      target: first,
      runtime: 'claude-code',
      origin: 'inferred',
      task: expect.stringMatching(/^task_[0-9a-f]{12}$/),
    })
    // Manifests by digest or prefix give the same fields, and no steps.
    const bare = diff(result.a.manifest, result.b.manifest.slice(7, 23))
    expect(bare.fields).toEqual(result.fields)
    expect(bare.steps).toBeNull()
    expect(bare.a.run).toBeNull()
    // A point counts what happened up to it.
    const point = diff(`${first}@3`, `${first}#1`)
    expect(point.identical).toBe(true)
    expect(point.steps?.aligned.filter(({ state }) => state === 'only_b').length).toBeGreaterThan(0)
  })

  it('says when both sides are one', () => {
    const result = diff(first, first)
    expect(result).toMatchObject({ identical: true, notes: expect.arrayContaining(['both sides are the same target']) })
    expect(result.steps?.first_difference).toBeNull()
    expect(reprise('diff', first, first).out).toContain('both took the same')
  })

  it('resolves now for the other side, or for what it is told', () => {
    const now = diff(first, 'now', '--workspace', workspace)
    expect(now.b).toMatchObject({ target: 'now', runtime: 'claude-code', workspace, origin: 'resolved', run: null })
    expect(now.notes.join('\n')).toContain('resolved without start flags')
    const made = diff('now', 'now', '--runtime', 'claude-code', '--workspace', workspace)
    expect(made.identical).toBe(true)
    fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), 'Prices are in euros.\n')
    const changed = diff(made.a.manifest, 'now')
    expect(changed.causes[0]).toMatchObject({
      kind: 'instruction',
      title: 'Instructions CLAUDE.md changed',
      text: { a: 'Prices are in cents.', b: 'Prices are in euros.' },
    })
    const flagged = diff('now', made.a.manifest, '--flag=--bare')
    expect(flagged.causes.map(({ kind }) => kind)).toContain('flag')
    // The directory of that run is not on this machine.
    expect(reprise('diff', first, 'now').code).toBe(3)
    expect(reprise('diff', 'now', 'now').code).toBe(2)
  })

  it('covers secrets in what it shows', () => {
    const secret = ['ghp', '0123456789abcdefghijklmnopqrstuvwxyz'].join('_')
    const before = diff('now', 'now', '--runtime', 'claude-code', '--workspace', workspace).a.manifest
    fs.writeFileSync(path.join(workspace, 'CLAUDE.md'), `The key is ${secret}.\n`)
    fs.writeFileSync(path.join(workspace, '.claude/settings.json'), JSON.stringify({ env: { SHOP_TOKEN: secret } }))
    const done = reprise('diff', before, 'now', '--json')
    expect(done.code).toBe(0)
    expect(done.out).toContain('SHOP_TOKEN')
    expect(done.out).not.toContain(secret)
    expect(reprise('diff', before, 'now').out).not.toContain(secret)
  })

  it('speaks in exit codes: found or not, strict or not', () => {
    expect(reprise('diff', 'nothing', first).code).toBe(3)
    expect(reprise('diff', '2000', first).code).toBe(3)
    expect(reprise('diff', `${first}@9999`, first).code).toBe(3)
    expect(reprise('diff', first).code).toBe(2)
    expect(reprise('diff', first, second, '--runtime', 'nobody').code).toBe(2)
    expect(reprise('diff', first, second, '--strict').code).toBe(6)
  })

  it('prints causes with evidence, what is equal and what could not be compared', () => {
    const { out } = reprise('diff', first, second)
    expect(out).toMatch(/^A {2}r_[0-9a-f]+ /)
    expect(out).toMatch(/^1 {2}(configuration|external state|model behaviour) {2}/m)
    expect(out).toMatch(/^equal.*: \d+ of 12/m)
    expect(out).toContain('could not be compared:')
  })
})

describe('what a run used, and whom to compare it with', () => {
  // The command blocks this process while it runs: connections that were closed meanwhile have to be noticed first.
  beforeEach(() => sleep(100))

  it('is told for runs that failed and runs that did not', async () => {
    const use: Output<'runs.use'> = await daemon.call('runs.use', { run: first })
    expect(use.used.find(({ kind, name }) => kind === 'tool' && name === 'Bash')).toMatchObject({
      declared: true,
      times: expect.any(Number),
      version: expect.stringMatching(/^sha256:/),
    })
    expect(use.reconciled.final.map(({ path: file }) => file)).toContain('/home/dev/demo/src/stats.js')
    expect(use.steps.map(({ step }) => step)).toEqual([
      'discover',
      'resolve',
      'validate',
      'freeze',
      'execute',
      'use',
      'reconcile',
    ])
    expect(use.steps[0]).toMatchObject({ state: 'partial', why: expect.any(String) })
    for (const { id } of (await daemon.call('runs.list', {})).runs)
      expect((await daemon.call('runs.use', { run: id })).run).toBe(id)
  })

  it('names partners with the rule that chose them, those of the same task first', async () => {
    const { runs } = await daemon.call('runs.list', {})
    const sameTask = runs.filter(({ title }) => title === 'Add a median function')
    const newest = sameTask[0]
    const { partners, task } = await daemon.call('compare.partners', { run: newest?.id ?? '' })
    expect(task).toBe(newest?.task)
    expect(partners[0]).toMatchObject({
      rule: 'the run before it that was given the same task',
      run: { id: sameTask[1]?.id },
    })
    expect(new Set(partners.map(({ run }) => run.id)).size).toBe(partners.length)
    expect(partners.map(({ run }) => run.id)).not.toContain(newest?.id)
    const oldest = runs.at(-1)
    expect((await daemon.call('compare.partners', { run: oldest?.id ?? '' })).partners).toEqual([])
  })
})
