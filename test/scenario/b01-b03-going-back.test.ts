import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RollbackScope } from '../../contract/index.ts'
import { ActingAgent } from '../kit/acting-agent.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { look, plant } from '../kit/rollback-tree.ts'

// B01 a restore wipes what it never saw; B02 a rollback of a home deletes the user's own files there; B03 restoring one session undoes another's
// work; R02 every file is touched; R03 names that are no ASCII.

let home: TestHome
let daemon: TestDaemon
let shop: string
let claude: string
beforeAll(async () => {
  home = makeEmptyHome()
  claude = path.join(home.home, '.claude')
  shop = path.join(home.home, 'w/shop')
  plant(claude, {
    'settings.json': '{\n  "model": "opus"\n}\n',
    'CLAUDE.md': 'be brief\n',
    'my-notes.txt': 'mine',
    '.credentials.json': '{"claudeAiOauth":{"accessToken":"x"}}',
    'todos/1.json': '[]',
  })
  plant(shop, { 'src/x.ts': 'one\n', 'a.ts': 'a\n', 'b.ts': 'b\n', 'big/0.txt': '0' })
  for (let n = 1; n < 300; n += 1) fs.writeFileSync(path.join(shop, 'big', `${n}.txt`), String(n))
  execFileSync('git', ['init', '-q', shop])
  fs.writeFileSync(path.join(shop, '.gitignore'), 'ignored/\n')
  daemon = await startDaemon(home)
})
afterAll(async () => {
  await daemon.stop()
  home.remove()
})

const sync = () => daemon.call('sync.now', {})
const runOf = async (agent: ActingAgent) => {
  const { runs } = await daemon.call('runs.list', {})
  const run = runs.find(({ session }) => session === agent.session)
  if (!run) throw new Error('the run is not known')
  return run.id
}
const roll = async (target: string, scope: RollbackScope, more = {}) => {
  const { plan } = await daemon.call('rollback.plan', { target, scope })
  return daemon.call('rollback.apply', { target, scope, plan: plan.id, ...more })
}
const times = (folder: string) =>
  new Map(
    fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => [name, fs.lstatSync(path.join(folder, name)).mtimeMs] as const),
  )

describe('going back', () => {
  it('B01, R02: restores what the run changed, keeps what nobody knows of, touches nothing else', async () => {
    const agent = new ActingAgent(home.home, shop).says('change x')
    await sync()
    agent.writes(path.join(shop, 'src/x.ts'), 'two\n')
    agent.bash('rm a.ts; touch made.ts', () => {
      fs.rmSync(path.join(shop, 'a.ts'))
      fs.writeFileSync(path.join(shop, 'made.ts'), 'made')
    })
    await sync()
    await sleep(1_600) // beyond what clocks may differ: the user comes later
    plant(shop, { 'output/a.jsonl': 'results\n', 'ignored/cache': 'c' })
    const run = await runOf(agent)
    const { events } = await daemon.call('runs.events', { run })
    const bash = events.find(({ tool }) => tool === 'Bash')
    expect(bash?.effects.map(({ change, by, path: file }) => [change, by, path.basename(file)]).sort()).toEqual([
      ['add', 'shell', 'made.ts'],
      ['delete', 'shell', 'a.ts'],
    ])
    const kept = times(shop)
    const { plan, record } = await roll(`${run}@1`, { workspace: true })
    expect(plan.is_rollback).toBe(false)
    expect(plan.writes.map((one) => path.basename(one.path)).sort()).toEqual(['a.ts', 'x.ts'])
    expect(plan.deletes.map((one) => path.basename(one.path))).toEqual(['made.ts'])
    expect(plan.kept.find((one) => one.path.endsWith('output/a.jsonl'))).toMatchObject({ deletable: true })
    expect(record).toMatchObject({ state: 'applied', error: null })
    expect(look(shop)).toMatchObject({
      'src/x.ts': 'one\n',
      'a.ts': 'a\n',
      'output/a.jsonl': 'results\n',
      'ignored/cache': 'c',
    })
    expect(fs.existsSync(path.join(shop, 'made.ts'))).toBe(false)
    const now = times(shop)
    const touched = [...now]
      .filter(([name, at]) => !name.startsWith('.git') && kept.get(name) !== at)
      .map(([name]) => name)
    expect(touched.sort()).toEqual(['a.ts', 'src', 'src/x.ts'])
    // The one that is kept can be deleted, by its own tick, and comes back with the undo.
    const again = await daemon.call('rollback.plan', { target: `${run}@1`, scope: { workspace: true } })
    const deleted = await daemon.call('rollback.apply', {
      target: `${run}@1`,
      scope: { workspace: true },
      plan: again.plan.id,
      delete_kept: [path.join(shop, 'output/a.jsonl')],
    })
    expect(deleted.record.paths.map(({ result }) => result)).toEqual(['done'])
    expect(fs.existsSync(path.join(shop, 'output/a.jsonl'))).toBe(false)
    await daemon.call('rollback.undo', {})
    expect(fs.readFileSync(path.join(shop, 'output/a.jsonl'), 'utf8')).toBe('results\n')
    await daemon.call('rollback.undo', { id: record.id })
    expect(look(shop)).toMatchObject({ 'src/x.ts': 'two\n', 'made.ts': 'made' })
    expect(fs.existsSync(path.join(shop, 'a.ts'))).toBe(false)
  })

  it('B03: what another run or the user wrote since stays, and is named', async () => {
    plant(shop, { 'one.ts': '1\n', 'two.ts': '2\n' })
    const a = new ActingAgent(home.home, shop).says('first agent')
    const b = new ActingAgent(home.home, shop).says('second agent')
    await sync()
    a.writes(path.join(shop, 'one.ts'), 'by a\n').writes(path.join(shop, 'own.ts'), 'by a\n')
    await sync()
    b.writes(path.join(shop, 'two.ts'), 'by b\n').writes(path.join(shop, 'one.ts'), 'by a, then b\n')
    await sync()
    const [runA, runB] = [await runOf(a), await runOf(b)]
    const { plan, record } = await roll(`${runA}@1`, { workspace: true })
    expect(plan.conflicts.map((one) => [path.basename(one.path), one.last_writer.run]).sort()).toEqual([
      ['one.ts', runB],
      ['two.ts', runB],
    ])
    expect(plan.deletes.map((one) => path.basename(one.path))).toEqual(['own.ts'])
    expect(record.state).toBe('applied')
    expect(look(shop)).toMatchObject({ 'one.ts': 'by a, then b\n', 'two.ts': 'by b\n' })
    // Somebody writes between the look at the plan and the click: nothing is done.
    const { plan: seen } = await daemon.call('rollback.plan', { target: `${runA}@1`, scope: { workspace: true } })
    fs.writeFileSync(path.join(shop, 'one.ts'), 'late\n')
    await expect(
      daemon.call('rollback.apply', {
        target: `${runA}@1`,
        scope: { workspace: true },
        plan: seen.id,
        choices: [{ path: path.join(shop, 'one.ts'), choice: 'target' }],
      }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(fs.readFileSync(path.join(shop, 'one.ts'), 'utf8')).toBe('late\n')
  })

  it('R03: names of any bytes come back', async () => {
    const names = ['\u0444\u0430\u0439\u043b', 'with space', 'new\nline', '-dash', ':(glob)*', 'e\u0301', '\u00e9'].map(
      (name) => Buffer.from(name).toString('latin1'),
    )
    const tree = Object.fromEntries([...names, '\xff\xfe'].map((name) => [`odd/${name}`, `1 ${name}`]))
    plant(shop, tree)
    const agent = new ActingAgent(home.home, shop).says('odd names')
    await sync()
    agent.bash('change them all', () => {
      for (const name of Object.keys(tree)) fs.writeFileSync(Buffer.from(`${shop}/${name}`, 'latin1'), 'two')
    })
    await sync()
    const { record } = await roll(`${await runOf(agent)}@1`, { workspace: true })
    expect(record.state).toBe('applied')
    expect(look(shop)).toMatchObject(tree)
  })

  it('B02: only files of the configuration that differ change in a home; everything else keeps bytes and times', async () => {
    const { manifest } = await daemon.call('manifest.resolve', { runtime: 'claude-code', workspace: shop })
    const target = manifest.integrity.manifest_digest
    fs.writeFileSync(path.join(claude, 'settings.json'), '{"model": "haiku"}')
    plant(claude, { 'rules/new.md': 'a rule that was not there\n' })
    const before = look(claude)
    const kept = times(claude)
    const { plan, record } = await roll(target, { home: true }, { reason: 'the model was changed by mistake' })
    expect(plan.is_rollback).toBe(true)
    expect(record).toMatchObject({
      state: 'applied',
      reason: 'the model was changed by mistake',
      verification: { reached: true, target_digest: manifest.instructions.effective_digest },
    })
    expect(record.target.manifest).toBe(target)
    const { 'rules/new.md': _, ...rest } = before
    expect(look(claude)).toEqual({ ...rest, 'settings.json': '{\n  "model": "opus"\n}\n', rules: null })
    const touched = [...times(claude)].filter(([name, at]) => kept.get(name) !== at).map(([name]) => name)
    expect(touched.sort()).toEqual(['rules', 'settings.json'])
    const undone = await daemon.call('rollback.undo', {})
    expect(undone.record.state).toBe('applied')
    expect(look(claude)).toEqual(before)
    const { rollbacks } = await daemon.call('rollback.list', {})
    expect(rollbacks.find(({ id }) => id === record.id)).toMatchObject({ state: 'undone', undone_by: undone.record.id })
    const { items } = await daemon.call('timeline.page', { filter: { kind: ['rollback'] } })
    expect(items.map(({ type }) => type)).toContain('rollback')
  })

  it('R01, R04: what cannot be finished leaves all as it was, with the cause', async () => {
    plant(shop, { 'fixed/f': '1', 'free.ts': '1' })
    const agent = new ActingAgent(home.home, shop).says('two places')
    await sync()
    agent.bash('change both', () => {
      fs.writeFileSync(path.join(shop, 'fixed/f'), '2')
      fs.writeFileSync(path.join(shop, 'free.ts'), '2')
    })
    await sync()
    const run = await runOf(agent)
    const { plan } = await daemon.call('rollback.plan', { target: `${run}@1`, scope: { workspace: true } })
    // Its folder becomes a link after the look: whatever is behind it must not be written.
    fs.renameSync(path.join(shop, 'fixed'), path.join(home.home, 'elsewhere'))
    fs.symlinkSync(path.join(home.home, 'elsewhere'), path.join(shop, 'fixed'))
    const failed = await daemon
      .call('rollback.apply', { target: `${run}@1`, scope: { workspace: true }, plan: plan.id })
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: 'conflict' })
    expect(fs.readFileSync(path.join(home.home, 'elsewhere/f'), 'utf8')).toBe('2')
    expect(fs.readFileSync(path.join(shop, 'free.ts'), 'utf8')).toBe('2')
    expect(fs.readdirSync(shop).filter((name) => name.startsWith('.reprise'))).toEqual([])
    expect((await daemon.call('store.check', {})).damaged).toEqual([])
  })
})
