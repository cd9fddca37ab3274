import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ObjectReader } from '../../../daemon/git/cat-file-batch.ts'
import { GitError, git, isolateGit } from '../../../daemon/git/core.ts'
import { countObjects } from '../../../daemon/git/count-objects.ts'
import { type CommitRequest, FastImport, quotePath } from '../../../daemon/git/fast-import.ts'
import { forEachRef } from '../../../daemon/git/for-each-ref.ts'
import { fsck } from '../../../daemon/git/fsck.ts'
import { initBare } from '../../../daemon/git/init-bare.ts'
import { objectId, parseTree, treeOfCommit } from '../../../daemon/git/objects.ts'
import { deleteRef } from '../../../daemon/git/update-ref.ts'
import { requireGit } from '../../../daemon/git/version.ts'
import { temporaryDirectory } from '../../kit/store.ts'

const context = isolateGit(process.env)
let dir: ReturnType<typeof temporaryDirectory>
let gitDir: string
beforeEach(async () => {
  dir = temporaryDirectory()
  gitDir = join(dir.path, 'x.git')
  await initBare(context, gitDir)
})
afterEach(() => dir.remove())

const commitOf = (ref: string, parent: string | null, changes: Record<string, string | Uint8Array | null>) => ({
  ref,
  parent,
  message: 'm\n',
  at: 1_700_000_000,
  changes: Object.entries(changes).map(([path, content]) => ({
    path,
    content: typeof content === 'string' ? Buffer.from(content) : content,
  })),
})

describe('git', () => {
  it('throws a GitError with arguments and answer for what the caller did not list', async () => {
    const error: unknown = await git(['rev-parse', 'nowhere'], { git: context, gitDir }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(GitError)
    expect(error).toMatchObject({ args: ['rev-parse', 'nowhere'], result: { exitCode: 128 } })
    const listed = await git(['rev-parse', 'nowhere'], { git: context, gitDir, expectedErrors: [/unknown revision/] })
    expect(listed.expected).toBe(0)
    expect((await git(['rev-parse', 'nowhere'], { git: context, gitDir, successExitCodes: [128] })).exitCode).toBe(128)
  })

  it('passes input and reads binary output', async () => {
    const bytes = Buffer.from([0, 255, 10, 13])
    const { stdout } = await git(['hash-object', '-w', '--stdin'], { git: context, gitDir, input: bytes })
    expect(stdout.toString().trim()).toBe(objectId('blob', bytes))
    expect(
      (await git(['cat-file', 'blob', stdout.toString().trim()], { git: context, gitDir })).stdout.equals(bytes),
    ).toBe(true)
  })

  it('knows its version and refuses one that is too old', async () => {
    expect((await requireGit(context))[0]).toBeGreaterThanOrEqual(2)
    const old = join(dir.path, 'git')
    writeFileSync(old, '#!/bin/sh\necho git version 2.20.1\n', { mode: 0o755 })
    await expect(requireGit(isolateGit(process.env, old))).rejects.toMatchObject({ code: 'refused' })
  })
})

/** One commit per ref, without a chain. */
const writeEach = async (writer: FastImport, commits: readonly CommitRequest[]): Promise<string[]> =>
  (await writer.write(commits.map((commit) => [commit] as const))).map(([written]) => written?.id ?? '')

describe('fast-import', () => {
  it('writes commits that follow each other in one group, with modes, known objects and whole folders, and names a tree', async () => {
    const writer = new FastImport(context, gitDir)
    const link = { path: 'in/link', mode: '120000' as const, content: Buffer.from('../run') }
    const [chain = []] = await writer.write([
      [
        {
          ...commitOf('refs/x/a', null, {}),
          changes: [{ path: 'in/run', mode: '100755', content: Buffer.from('#!') }, link],
          treeOf: 'in',
        },
        { ...commitOf('refs/x/a', null, { 'in/more': 'm' }), treeOf: 'in' },
        { ...commitOf('refs/x/a', null, { in: null }), treeOf: 'in' },
      ],
    ])
    const [one, two, three] = chain
    expect(three?.tree).toBeNull()
    expect(one?.tree).not.toBe(two?.tree)
    const [[copy] = []] = await writer.write([
      [
        {
          ...commitOf('refs/x/b', null, {}),
          changes: [
            { path: 'all', mode: '40000', oid: one?.tree ?? '' },
            { path: 'again', mode: '100644', oid: objectId('blob', Buffer.from('m')) },
          ],
          merges: [two?.id ?? ''],
        },
      ],
    ])
    await writer.close()
    const tree = (commit: string) => git(['ls-tree', '-r', commit], { git: context, gitDir })
    expect((await tree(copy?.id ?? '')).stdout.toString().replace(/ blob [0-9a-f]+/g, '')).toBe(
      '100644\tagain\n120000\tall/link\n100755\tall/run\n',
    )
    expect((await git(['rev-list', 'refs/x/a'], { git: context, gitDir })).stdout.toString().split('\n')).toEqual([
      three?.id,
      two?.id,
      one?.id,
      '',
    ])
    expect((await git(['rev-list', '--count', 'refs/x/b'], { git: context, gitDir })).stdout.toString()).toBe('3\n')
    expect(await fsck(context, gitDir)).toEqual([])
  })

  it('takes any bytes in a path and any content, and gives the ids', async () => {
    const names = [
      'plain',
      'with space',
      '"quoted"',
      'back\\slash',
      'new\nline',
      '-dash',
      '\u00ff\u00fe',
      '\u00c3\u00a9',
      'tab\there',
      '*glob?[x]',
      '.gitignore',
    ]
    const writer = new FastImport(context, gitDir)
    const [id = ''] = await writeEach(writer, [
      commitOf('refs/x/a', null, Object.fromEntries(names.map((name, n) => [`dir/${name}`, Buffer.from([n, 0, 255])]))),
    ])
    await writer.close()
    const reader = new ObjectReader(context, gitDir)
    const commit = await reader.read(id)
    const root = parseTree(
      (await reader.read(treeOfCommit(commit?.content ?? Buffer.alloc(0))))?.content ?? Buffer.alloc(0),
    )
    const folder = parseTree((await reader.read(root[0]?.oid ?? ''))?.content ?? Buffer.alloc(0))
    expect(folder.map(({ name }) => name).sort()).toEqual([...names].sort())
    for (const entry of folder)
      expect([...((await reader.read(entry.oid))?.content ?? [])]).toEqual([names.indexOf(entry.name), 0, 255])
    await reader.close()
    expect(await fsck(context, gitDir)).toEqual([])
  })

  it('refuses paths that mean something to git before a byte is written', async () => {
    const names = [
      '.git/config',
      'a/.GIT/x',
      '../x',
      'a//b',
      '',
      '/a',
      'a/./b',
      'git~1/x',
      '.git. /x',
      '.g\u00e2\u0080\u008cit',
    ]
    for (const path of names) expect(() => quotePath(path)).toThrow(TypeError)
    const writer = new FastImport(context, gitDir)
    await expect(writeEach(writer, [commitOf('refs/x/a', null, { good: 'x', '.git/hooks/x': 'y' })])).rejects.toThrow(
      TypeError,
    )
    await writer.close()
    expect((await forEachRef(context, gitDir, ['refs/'])).refs.size).toBe(0)
  })

  it('has written pack and ref when it answers, and removes paths', async () => {
    const writer = new FastImport(context, gitDir)
    const [first = ''] = await writeEach(writer, [commitOf('refs/x/a', null, { a: '1', b: '2' })])
    expect((await forEachRef(context, gitDir, ['refs/x/'])).refs.get('refs/x/a')).toBe(first)
    const [second = '', other = ''] = await writeEach(writer, [
      commitOf('refs/x/a', first, { a: null }),
      commitOf('refs/x/b', null, { c: '3' }),
    ])
    await writer.abort()
    const { refs } = await forEachRef(context, gitDir, ['refs/'])
    expect([...refs]).toEqual([
      ['refs/x/a', second],
      ['refs/x/b', other],
    ])
    expect((await git(['ls-tree', '--name-only', 'refs/x/a'], { git: context, gitDir })).stdout.toString()).toBe('b\n')
  })

  it('rejects a group whose process ends, with what git said', async () => {
    const writer = new FastImport(context, gitDir)
    await expect(writeEach(writer, [commitOf('refs/x/a', 'f'.repeat(40), { a: '1' })])).rejects.toThrow(
      /fast-import ended/,
    )
    expect(writer.ended).toBe(true)
    await expect(writer.write([])).rejects.toThrow(/has ended/)
  })

  it('gives the same commit for the same request', async () => {
    const first = new FastImport(context, gitDir)
    const ids = await writeEach(first, [commitOf('refs/x/a', null, { a: '1' })])
    await first.close()
    const second = new FastImport(context, gitDir)
    expect(await writeEach(second, [commitOf('refs/x/a', null, { a: '1' })])).toEqual(ids)
    await second.close()
  })
})

describe('reading objects', () => {
  it('answers many at once in order, null for missing ones, and sees what is written later', async () => {
    const reader = new ObjectReader(context, gitDir)
    expect(await reader.read('0'.repeat(40))).toBeNull()
    const writer = new FastImport(context, gitDir)
    const big = Buffer.alloc(3_000_000, 'x')
    await writeEach(writer, [commitOf('refs/x/a', null, { big, small: 's', empty: '' })])
    const asked = [
      objectId('blob', big),
      '1'.repeat(40),
      objectId('blob', Buffer.from('s')),
      objectId('blob', Buffer.alloc(0)),
    ]
    const got = await Promise.all(asked.map((oid) => reader.read(oid)))
    expect(got.map((object) => object?.content.length ?? null)).toEqual([3_000_000, null, 1, 0])
    await expect(reader.read('refs/x/a')).rejects.toThrow(TypeError)
    await writer.close()
    await reader.close()
    await expect(reader.read('0'.repeat(40))).rejects.toThrow(/closed/)
  })

  it('calls an altered loose object damaged and goes on with the others', async () => {
    const { stdout } = await git(['hash-object', '-w', '--stdin'], { git: context, gitDir, input: 'good' })
    const good = stdout.toString().trim()
    const bad = objectId('blob', Buffer.from('bad'))
    mkdirSync(join(gitDir, 'objects', bad.slice(0, 2)), { recursive: true })
    const other = (await git(['hash-object', '-w', '--stdin'], { git: context, gitDir, input: 'else' })).stdout
      .toString()
      .trim()
    const { readFileSync } = await import('node:fs')
    writeFileSync(
      join(gitDir, 'objects', bad.slice(0, 2), bad.slice(2)),
      readFileSync(join(gitDir, 'objects', other.slice(0, 2), other.slice(2))),
    )
    const worse = objectId('blob', Buffer.from('worse'))
    mkdirSync(join(gitDir, 'objects', worse.slice(0, 2)), { recursive: true })
    writeFileSync(join(gitDir, 'objects', worse.slice(0, 2), worse.slice(2)), 'no zlib stream')
    const reader = new ObjectReader(context, gitDir)
    const settled = await Promise.allSettled([
      reader.read(bad),
      reader.read(worse),
      reader.read(good),
      reader.read(worse),
      reader.read(good),
    ])
    const told = settled.map((one) => (one.status === 'rejected' ? 'damaged' : (one.value?.content.toString() ?? null)))
    expect(told).toEqual(['damaged', null, 'good', null, 'good'])
    for (const one of settled) if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'damaged' })
    await reader.close()
    expect((await fsck(context, gitDir)).length).toBeGreaterThan(0)
  })
})

describe('refs', () => {
  it('lists broken ones apart and takes one away only from where it points', async () => {
    const writer = new FastImport(context, gitDir)
    const [id = ''] = await writeEach(writer, [commitOf('refs/x/a', null, { a: '1' })])
    await writer.close()
    writeFileSync(join(gitDir, 'refs/x/b'), 'nonsense\n')
    const { refs, broken } = await forEachRef(context, gitDir, ['refs/'])
    expect([...refs.keys()]).toEqual(['refs/x/a'])
    expect(broken).toEqual(['refs/x/b'])
    await expect(deleteRef(context, gitDir, 'refs/x/a', '1'.repeat(40))).rejects.toBeInstanceOf(GitError)
    await deleteRef(context, gitDir, 'refs/x/a', id)
    expect(readdirSync(join(gitDir, 'refs/x'))).toEqual(['b'])
    expect((await countObjects(context, gitDir)).objects).toBe(3)
  })
})
