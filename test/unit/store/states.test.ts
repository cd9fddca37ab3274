import { execFileSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asDigest, asRunId } from '../../../contract/index.ts'
import type { AgentCommitRequest, StateAbout, TreeId, WorkspaceId } from '../../../daemon/store/states.ts'
import type { Store } from '../../../daemon/store/store.ts'
import { openTestStore, temporaryDirectory } from '../../kit/store.ts'

const workspace = 'w_0123456789ab' as WorkspaceId
const run = asRunId('r_0123456789ab')
const about = (change: Partial<StateAbout> = {}): StateAbout => ({
  v: 1,
  workspace,
  path: '/w/shop',
  at: '2026-11-01T10:00:00.000Z',
  leftOut: [],
  leftOutCount: 0,
  partial: null,
  units: [],
  emptyFolders: [],
  files: 0,
  bytes: 0,
  ...change,
})
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
const digestOf = (content: Uint8Array) => asDigest(`sha256:${createHash('sha256').update(content).digest('hex')}`)
async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}
async function* once(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield content
}

let dir: ReturnType<typeof temporaryDirectory>
let store: Store
beforeEach(async () => {
  dir = temporaryDirectory('states')
  store = (await openTestStore(dir.path)).store
})
afterEach(async () => {
  await store.close()
  dir.remove()
})

describe('states of a workspace', () => {
  it('follow each other, with every kind of entry, and survive a new start', async () => {
    const odd = ['new\nline', '\xff\xfe', '-dash', '"quoted"', 'über'.normalize('NFD')].map((name) =>
      Buffer.from(name, 'latin1').toString('latin1'),
    )
    const first = await store.states.append(
      workspace,
      null,
      [
        ...odd.map((path) => ({ path, mode: '100644' as const, content: bytes(path) })),
        { path: 'bin/run', mode: '100755', content: bytes('#!/bin/sh\r\n') },
        { path: 'bin/link', mode: '120000', content: bytes('../nowhere') },
      ],
      about({ files: 7 }),
    )
    const second = await store.states.append(
      workspace,
      first.commit,
      [
        { path: 'bin', gone: true },
        { path: 'bin', mode: '100644', content: bytes('a file now') },
        { path: '-dash/below', mode: '100644', content: bytes('a folder now') },
      ],
      about({ files: 7 }),
    )
    expect(second.n).toBe(2)
    expect((await listOf(store.states.differences(first.tree, second.tree))).map(({ path }) => path)).toEqual([
      '-dash',
      '-dash/below',
      'bin/link',
      'bin/run',
      'bin',
    ])
    expect((await listOf(store.states.entries(first.tree))).map(({ path, mode }) => `${mode} ${path}`).sort()).toEqual(
      [...odd.map((path) => `100644 ${path}`), '100755 bin/run', '120000 bin/link'].sort(),
    )
    await store.close()
    store = (await openTestStore(dir.path)).store
    expect(await store.states.tip(workspace)).toEqual(second)
    const entry = await store.states.entry(first.tree, 'bin/run')
    expect(entry && (await collect(store.states.read(entry))).toString()).toBe('#!/bin/sh\r\n')
    expect(entry && (await store.states.digest(entry))).toBe(digestOf(bytes('#!/bin/sh\r\n')))
    expect((await listOf(store.states.history(workspace))).map(({ n }) => n)).toEqual([2, 1])
    await expect(store.states.append(workspace, first.commit, [], about())).rejects.toMatchObject({ code: 'conflict' })
    expect(await store.check()).toMatchObject({ ok: true })
  })

  it('can become empty and be filled again', async () => {
    const first = await store.states.append(
      workspace,
      null,
      [{ path: 'a', mode: '100644', content: bytes('1') }],
      about(),
    )
    const empty = await store.states.append(workspace, first.commit, [{ path: 'a', gone: true }], about())
    expect(await listOf(store.states.entries(empty.tree))).toEqual([])
    const again = await store.states.append(
      workspace,
      empty.commit,
      [{ path: 'a', mode: '100644', oid: (await store.states.entry(first.tree, 'a'))?.oid ?? '' }],
      about(),
    )
    expect(again.tree).toBe(first.tree)
  })

  it('keeps large contents in pieces once, and finds them again after a byte was put in', async () => {
    const content = randomBytes(30_000_000)
    const { digest } = await store.large.put(once(content))
    const before = await store.large.size()
    const changed = Buffer.concat([content.subarray(0, 15_000_000), Buffer.from('x'), content.subarray(15_000_000)])
    await store.large.put(once(changed))
    const after = await store.large.size()
    expect(after.objects).toBe(2)
    expect(after.bytes - before.bytes).toBeLessThan(9_000_000)
    const state = await store.states.append(
      workspace,
      null,
      [{ path: 'big', mode: '100644', large: digest, bytes: content.length }],
      about(),
    )
    const entry = await store.states.entry(state.tree, 'big')
    if (!entry) throw new Error('no entry')
    expect((await collect(store.states.read(entry))).equals(content)).toBe(true)
    expect(await store.large.sweep(new Set([digest]))).toBeGreaterThan(0)
    expect((await collect(store.large.read(digest))).equals(content)).toBe(true)
    const folder = join(dir.path, 'large', 'pieces')
    const part = readdirSync(folder)[0] ?? ''
    const piece = join(folder, part, readdirSync(join(folder, part))[0] ?? '')
    writeFileSync(piece, Buffer.alloc(statSync(piece).size))
    await expect(collect(store.large.read(digest))).rejects.toMatchObject({ code: 'damaged' })
    expect((await store.check()).ok).toBe(false)
  })

  it('leads to the vault for a secret and says why something is not kept', async () => {
    const state = await store.states.append(
      workspace,
      null,
      [{ path: 'auth.json', mode: '100644', unkept: 'credentials are never copied', mark: 'hmac:0', bytes: 10 }],
      about(),
    )
    const entry = await store.states.entry(state.tree, 'auth.json')
    if (!entry) throw new Error('no entry')
    expect(await store.states.kept(entry)).toMatchObject({ as: 'unkept', bytes: 10 })
    await expect(collect(store.states.read(entry))).rejects.toMatchObject({ code: 'refused' })
    expect(await store.states.digest(entry)).toBeNull()
  })
})

describe('agent commits', () => {
  const request = (seq: number, tree: TreeId | null, change: Partial<AgentCommitRequest> = {}): AgentCommitRequest => ({
    run,
    seq,
    eventId: `e${seq}`,
    parentEvent: seq === 0 ? null : `e${seq - 1}`,
    summary: `step ${seq}`,
    at: '2026-11-01T10:00:00.000Z',
    manifest: { digest: digestOf(bytes('m')), json: bytes('{}') },
    tree,
    event: { kind: 'tool', call: { tool: 'Bash' } },
    external: { network: 'not captured: no proxy' },
    ...change,
  })

  it('seal an action with its effect, readable by plain git, and are never changed', async () => {
    const one = await store.states.append(
      workspace,
      null,
      [{ path: 'a', mode: '100644', content: bytes('1') }],
      about(),
    )
    const two = await store.states.append(
      workspace,
      one.commit,
      [{ path: 'a', mode: '100644', content: bytes('2') }],
      about(),
    )
    const written = await store.commits.append([
      request(0, one.tree),
      request(1, two.tree, { exchange: [{ name: 'model.json', content: bytes('{"x":1}') }] }),
      request(2, two.tree, { summary: 'line\nbreak' }),
    ])
    await store.commits.append([request(5, null)])
    await expect(store.commits.append([request(5, two.tree)])).rejects.toMatchObject({ code: 'conflict' })
    const read = await listOf(store.commits.read(run))
    expect(read.map(({ seq, tree }) => [seq, tree])).toEqual([
      [0, one.tree],
      [1, two.tree],
      [2, two.tree],
      [5, null],
    ])
    expect((await store.commits.at(run, 1))?.event).toMatchObject({ pre_state: one.tree, post_state: two.tree })
    expect(await store.commits.at(run, 3)).toBeNull()
    const gitDir = join(dir.path, 'store.git')
    const plain = (...args: string[]) => execFileSync('git', ['--git-dir', gitDir, ...args], { encoding: 'utf8' })
    expect(plain('log', '--format=%s|%(trailers:key=Seq,valueonly,separator=%x20)', `refs/runs/${run}`)).toBe(
      'step 5|5\nline break|2\nstep 1|1\nstep 0|0\n',
    )
    expect(plain('show', `${written[1]?.commit}:workspace/a`)).toBe('2')
    expect(plain('show', `${written[1]?.commit}:exchange/model.json`)).toBe('{"x":1}')
    expect(plain('ls-tree', '--name-only', written[2]?.commit ?? '')).toBe(
      'event.json\nexternal.json\nmanifest.json\nworkspace\n',
    )
    await store.close()
    store = (await openTestStore(dir.path)).store
    expect(await store.commits.tip(run)).toMatchObject({ seq: 5, tree: null })
    await store.commits.append([request(6, two.tree)])
    expect((await store.commits.at(run, 6))?.tree).toBe(two.tree)
    expect(await store.check()).toMatchObject({ ok: true })
  })
})

describe('files of configuration, safety snapshots and names', () => {
  it('come back byte for byte; secrets only through the vault', async () => {
    const plain = Buffer.from([0xef, 0xbb, 0xbf, 0x0d, 0x0a, 0xff])
    const secret = bytes(`{"key": "sk-ant-api03-${'aB3'.repeat(31)}-AA"}\n`)
    for (const content of [plain, secret])
      await store.files.put([{ digest: digestOf(content), bytes: content, source: '/h/settings.json' }])
    expect(await store.files.get(digestOf(plain))).toEqual(plain)
    expect(await store.files.get(digestOf(secret))).toEqual(secret)
    expect(await store.files.get(digestOf(bytes('other')))).toBeNull()
    const all = execFileSync(
      'git',
      ['--git-dir', join(dir.path, 'store.git'), 'cat-file', '--batch', '--batch-all-objects'],
      { encoding: 'latin1' },
    )
    expect(all).not.toContain('aB3aB3')
    expect(await store.check()).toMatchObject({ ok: true })
    rmSync(join(dir.path, 'vault'), { recursive: true })
    await expect(store.files.get(digestOf(secret))).rejects.toMatchObject({ code: 'damaged' })
  })
})
