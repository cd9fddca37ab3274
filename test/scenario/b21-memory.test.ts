import fs from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Manifest } from '../../contract/index.ts'
import { startDaemon, type TestDaemon } from '../kit/daemon.ts'
import { makeEmptyHome, type TestHome } from '../kit/fixture-home.ts'
import { hermesFixtures, writeDatabase } from '../kit/hermes-home.ts'

const SESSION = '20261130_161525_c9524f'
let home: TestHome
let daemon: TestDaemon
let alpha = ''
let beta = ''
let workspace = ''

beforeEach(async () => {
  home = makeEmptyHome()
  const root = path.join(home.home, '.hermes')
  alpha = path.join(root, 'profiles', 'alpha')
  beta = path.join(root, 'profiles', 'beta')
  workspace = path.join(home.home, 'ws')
  fs.mkdirSync(workspace)
  for (const [profile, fact] of [
    [alpha, 'alpha uses make'],
    [beta, 'beta uses ninja'],
  ] as const) {
    fs.mkdirSync(path.join(profile, 'memories'), { recursive: true })
    fs.writeFileSync(path.join(profile, 'memories', 'MEMORY.md'), fact)
    fs.cpSync(path.join(hermesFixtures, 'state-db-v25/state.db'), path.join(profile, 'state.db'))
  }
  fs.writeFileSync(path.join(root, 'active_profile'), 'alpha\n')
  writeDatabase(beta, (db) => db.exec('delete from messages; delete from session_model_usage; delete from sessions'))
})
afterEach(async () => {
  await daemon.stop()
  home.remove()
})

const memoryOf = (manifest: Manifest) =>
  manifest.context.memory.map(({ path: file, digest, profile }) => ({ file, digest, profile }))
const resolve = async (profile: string): Promise<Manifest> =>
  (await daemon.call('manifest.resolve', { runtime: 'hermes', workspace, home: profile })).manifest
const eventsOf = async () => {
  await daemon.call('sync.now', {})
  const { runs } = await daemon.call('runs.list', {})
  const run = runs.find(({ session }) => session === SESSION)
  if (run === undefined) throw new Error('no run')
  return { run, events: (await daemon.call('runs.events', { run: run.id })).events }
}

/** The run of profile alpha, as if its first call had written to `file`. */
function writeIn(file: string): void {
  writeDatabase(alpha, (db) => {
    db.exec(
      `update messages set tool_calls = replace(tool_calls, 'notes.txt', '${file}'), content = replace(content, '/home/dev/he-demo/notes.txt', '${file}') where id in (2, 3)`,
    )
  })
}

describe('B21: memory lands in the wrong agent', () => {
  it('keeps profiles apart as homes of their own, and says which is the active one', async () => {
    daemon = await startDaemon(home)
    await daemon.call('sync.now', {})
    const { homes } = await daemon.call('status.get', {})
    const found = homes
      .filter(({ runtime }) => runtime === 'hermes')
      .map(({ path: at, found_by }) => [path.basename(at), found_by])
    expect(found).toContainEqual(['alpha', 'profile alpha, the active one'])
    expect(found).toContainEqual(['beta', 'profile beta'])
    const { runs } = await daemon.call('runs.list', {})
    expect(new Set(runs.map(({ home: at }) => at))).toEqual(new Set([alpha]))
  })

  it('shows a write to the memory of beta in the run of alpha that made it, and in the manifests of beta', async () => {
    const wrong = path.join(beta, 'memories', 'MEMORY.md')
    writeIn(wrong)
    daemon = await startDaemon(home)
    const before = { alpha: await resolve(alpha), beta: await resolve(beta) }
    expect(memoryOf(before.alpha)).toEqual([
      { file: path.join(alpha, 'memories/MEMORY.md'), digest: expect.any(String), profile: 'alpha' },
    ])
    expect(memoryOf(before.beta)).toEqual([{ file: wrong, digest: expect.any(String), profile: 'beta' }])

    fs.writeFileSync(wrong, 'alpha\nbeta\n')
    const after = { alpha: await resolve(alpha), beta: await resolve(beta) }
    expect(memoryOf(after.alpha)).toEqual(memoryOf(before.alpha))
    expect(after.alpha.instructions.effective_digest).toBe(before.alpha.instructions.effective_digest)
    expect(memoryOf(after.beta)).not.toEqual(memoryOf(before.beta))
    expect(after.beta.instructions.effective_digest).not.toBe(before.beta.instructions.effective_digest)
    expect(after.beta.context.memory_manifest_digest).not.toBe(before.beta.context.memory_manifest_digest)

    const { run, events } = await eventsOf()
    expect(run.home).toBe(alpha)
    const call = events.find(({ tool, kind }) => kind === 'tool' && tool === 'write_file')
    // What the call left is what the file of beta holds: author run, profile and time are those of the event.
    const changed = after.beta.context.memory[0]
    expect(call?.effects).toMatchObject([{ path: wrong, by: 'edit tool', after: changed?.digest }])
    expect(call?.at).toBe('2026-11-30T16:15:26.050Z')
    const flagged = events.filter(({ kind, parent }) => kind === 'memory' && parent === call?.id)
    expect(flagged).toHaveLength(1)
    expect(flagged[0]?.summary).toContain('the memory of another home than the session')
    expect(flagged[0]?.summary).toContain('/profiles/alpha')

    // An old memory put back is the old manifest again.
    fs.writeFileSync(wrong, 'beta uses ninja')
    expect(memoryOf(await resolve(beta))).toEqual(memoryOf(before.beta))
  })

  it('does not flag a write to the memory of its own profile', async () => {
    writeIn(path.join(alpha, 'memories', 'MEMORY.md'))
    daemon = await startDaemon(home)
    const { events } = await eventsOf()
    const call = events.find(({ tool, kind }) => kind === 'tool' && tool === 'write_file')
    const [own] = events.filter(({ kind, parent }) => kind === 'memory' && parent === call?.id)
    expect(own?.summary).toContain('wrote ')
    expect(own?.summary).not.toContain('another home')
  })

  it('says of the memory tool which file it means, and that the record does not prove it', async () => {
    writeDatabase(alpha, (db) => {
      db.exec(
        `update messages set tool_calls = replace(tool_calls, '"name": "write_file"', '"name": "memory"') where id = 2`,
      )
      db.exec(
        `update messages set tool_name = 'memory', content = '{"success": true, "done": true, "target": "memory", "usage": "1% — 22/2,200 chars", "entry_count": 2}' where id = 3`,
      )
    })
    daemon = await startDaemon(home)
    const { run, events } = await eventsOf()
    const call = events.find(({ tool, kind }) => kind === 'tool' && tool === 'memory')
    expect(call).toMatchObject({
      ok: true,
      effects_state: 'partial',
      effects: [{ path: path.join(alpha, 'memories/MEMORY.md'), after: null }],
    })
    const detail = await daemon.call('runs.event', { run: run.id, seq: call?.seq ?? 0 })
    expect(detail.changes[0]?.why).toContain('the entries that were changed, not the file')
  })
})
