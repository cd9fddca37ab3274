import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asDigest, asRunId } from '../../../contract/index.ts'
import { manifestBody, type OpenedStore, openTestStore, sliceOf, temporaryDirectory } from '../../kit/store.ts'

const RUN = asRunId('r_0123456789ab')
const FILE = 'projects/-home-someone/session.jsonl'
const sha = (bytes: string | Uint8Array) => asDigest(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)

let dir: ReturnType<typeof temporaryDirectory>
let opened: OpenedStore
beforeEach(async () => {
  dir = temporaryDirectory()
  opened = await openTestStore(dir.path)
})
afterEach(async () => {
  await opened.store.close()
  dir.remove()
})

async function reopen() {
  await opened.store.close()
  opened = await openTestStore(dir.path)
}

async function readAll(file = FILE, generation?: number) {
  const lines = []
  for await (const line of opened.store.sessions.read(RUN, file, generation))
    lines.push({ ...line, text: Buffer.from(line.text) })
  return lines
}

describe('manifests', () => {
  it('gives the same digest and one object for the same body', async () => {
    const { manifests } = opened.store
    const [a, b] = await Promise.all([manifests.put(manifestBody()), manifests.put(manifestBody())])
    const c = await manifests.put(manifestBody())
    expect(a.integrity).toEqual(b.integrity)
    expect(c).toEqual(a)
    expect(manifests.count()).toBe(1)
    const other = await manifests.put(manifestBody({ stretch: 2 }))
    expect(other.integrity.manifest_digest).not.toBe(a.integrity.manifest_digest)
    await reopen()
    expect(opened.store.manifests.count()).toBe(2)
    expect(await opened.store.manifests.get(asDigest(a.integrity.manifest_digest))).toEqual(a)
  })

  it('finds digests by prefix and says null for unknown ones', async () => {
    const put = await opened.store.manifests.put(manifestBody())
    const digest = put.integrity.manifest_digest
    expect(await opened.store.manifests.find(digest.slice(7, 13))).toEqual([digest])
    expect(await opened.store.manifests.find(digest.slice(0, 20))).toEqual([digest])
    expect(await opened.store.manifests.get(sha('nothing'))).toBeNull()
  })

  it('keeps fields of a later minor version', async () => {
    const put = await opened.store.manifests.put({ ...manifestBody(), later_field: { a: [1, null] } })
    expect(await opened.store.manifests.get(asDigest(put.integrity.manifest_digest))).toMatchObject({
      later_field: { a: [1, null] },
    })
  })
})

describe('texts', () => {
  it('keeps redacted texts by the digest before redaction', async () => {
    const secret = `Use sk-ant-api03-${'Ab1'.repeat(20)} here`
    const plain = 'Rules — ünïcode ✓\r\nline two'
    await opened.store.texts.put([
      { digest: sha(secret), text: secret },
      { digest: sha(plain), text: plain },
    ])
    await opened.store.texts.put([{ digest: sha(plain), text: plain }])
    await reopen()
    expect(await opened.store.texts.get(sha(plain))).toEqual({ text: plain, redactions: 0 })
    const got = await opened.store.texts.get(sha(secret))
    expect(got?.redactions).toBe(1)
    expect(got?.text).toMatch(/^Use ‹secret:anthropic:[0-9a-f]{8}› here$/)
    expect(await opened.store.texts.get(sha('else'))).toBeNull()
  })
})

describe('sessions', () => {
  it('keeps a file without secrets to the byte, whatever its bytes', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":"é"}\n'),
      Buffer.from([0xff, 0xfe, 0x00, 0x0d, 0x0a]),
      randomBytes(3000),
      Buffer.from('\n\n\nlast line without end'),
    ])
    await opened.store.sessions.append(RUN, { title: 't' }, [sliceOf(FILE, bytes)], false)
    await reopen()
    const lines = await readAll()
    expect(Buffer.concat(lines.map(({ text }) => text)).equals(bytes)).toBe(true)
    expect(lines.map(({ line }) => line)).toEqual(lines.map((_, index) => index + 1))
    for (const { byte, bytes: length, text } of lines)
      expect(bytes.subarray(byte, byte + length).equals(text)).toBe(true)
    expect(await opened.store.sessions.state(RUN)).toEqual([
      { file: FILE, lines: lines.length, bytes: bytes.length, prefixDigest: sha(bytes), generation: 1 },
    ])
    expect((await opened.store.check()).damaged).toEqual([])
  })

  it('appends, digests over restarts, and tells original places of redacted lines', async () => {
    const lines = Array.from({ length: 40 }, (_, n) =>
      n % 7 === 3 ? `{"n":${n},"key":"ghp_${'a1B2'.repeat(9)}"}\n` : `{"n":${n}}\n`,
    )
    let before = { lines: 0, bytes: 0 }
    for (const [n, line] of lines.entries()) {
      await opened.store.sessions.append(RUN, { n }, [sliceOf(FILE, line, before)], false)
      before = { lines: before.lines + 1, bytes: before.bytes + line.length }
      if (n % 10 === 5) await reopen()
    }
    const whole = lines.join('')
    expect((await opened.store.sessions.state(RUN))[0]).toMatchObject({
      lines: 40,
      bytes: whole.length,
      prefixDigest: sha(whole),
    })
    let byte = 0
    for (const [n, got] of (await readAll()).entries()) {
      expect(got).toMatchObject({ line: n + 1, byte, bytes: lines[n]?.length })
      expect(got.text.toString()).toBe(
        (lines[n] ?? '').replace(/ghp_\w+/, /‹[^›]+›/.exec(got.text.toString())?.[0] ?? ''),
      )
      byte += got.bytes
    }
    const listed = []
    for await (const entry of opened.store.sessions.list()) listed.push(entry)
    expect(listed).toEqual([{ run: RUN, about: { n: 39 } }])
    expect((await opened.store.check()).ok).toBe(true)
  })

  it('does not leave a part per line', async () => {
    let before = { lines: 0, bytes: 0 }
    for (let n = 0; n < 200; n += 1) {
      const line = `${JSON.stringify({ n, text: 'x'.repeat(400) })}\n`
      await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, line, before)], false)
      before = { lines: before.lines + 1, bytes: before.bytes + line.length }
    }
    const parts = new Set((await treeOf('refs/sessions/r_0123456789ab')).filter((name) => name.endsWith('.jsonl')))
    expect(parts.size).toBeLessThanOrEqual(8)
    expect(await readAll()).toHaveLength(200)
  })

  it('takes lines of any size and bounds its parts', async () => {
    const long = `{"x":"${'lorem ipsum '.repeat(1_000_000)}"}\n`
    const text = `${'{"short":1}\n'.repeat(600_000)}${long}${'{"after":1}\n'.repeat(10)}`
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, text)], false)
    const hash = createHash('sha256')
    let last = { line: 0, byte: 0, bytes: 0 }
    for await (const line of opened.store.sessions.read(RUN, FILE)) {
      hash.update(line.text)
      last = line
    }
    expect(hash.digest('hex')).toBe(sha(text).slice(7))
    expect(last.line).toBe(600_011)
  })

  it('leaves out what is archived already and refuses a gap', async () => {
    const text = 'one\ntwo\nthree\n'
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, 'one\ntwo\n')], false)
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, 'one\ntwo\n')], false)
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, text)], false)
    expect((await readAll()).map((line) => line.text.toString())).toEqual(['one\n', 'two\n', 'three\n'])
    const far = sliceOf(FILE, 'five\n', { lines: 4, bytes: text.length + 5 })
    await expect(opened.store.sessions.append(RUN, {}, [far], false)).rejects.toMatchObject({ code: 'conflict' })
    const wrong = { ...sliceOf(FILE, 'a\nb\n', { lines: 3, bytes: text.length }), lineBytes: [1, 3] }
    await expect(opened.store.sessions.append(RUN, {}, [wrong], false)).rejects.toThrow(/lineBytes/)
  })

  it('goes on with a last line that had no end', async () => {
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, 'one\ntw')], false)
    await opened.store.sessions.append(
      RUN,
      {},
      [sliceOf(FILE, 'o\nthr', { lines: 1, bytes: 6 })].map((slice) => ({ ...slice, firstLine: 2 })),
      false,
    )
    await opened.store.sessions.append(RUN, {}, [{ ...sliceOf(FILE, 'three\n'), firstLine: 3, firstByte: 8 }], false)
    expect((await readAll()).map((line) => [line.line, line.byte, line.text.toString()])).toEqual([
      [1, 0, 'one\n'],
      [2, 4, 'two\n'],
      [3, 8, 'three\n'],
    ])
    expect((await opened.store.sessions.state(RUN))[0]?.prefixDigest).toBe(sha('one\ntwo\nthree\n'))
  })

  it('keeps several files of odd names apart', async () => {
    const files = [
      'a.jsonl',
      'dir/a.jsonl',
      '.git',
      '../../etc/x',
      'naïve ✓.jsonl',
      `${'long/'.repeat(80)}end.jsonl`,
      'new\nline',
      '-dash',
      'A.jsonl',
    ]
    await opened.store.sessions.append(
      RUN,
      {},
      files.map((file) => sliceOf(file, `${file.length}\n`)),
      false,
    )
    expect((await opened.store.sessions.state(RUN)).map(({ file }) => file)).toEqual(files)
    for (const file of files)
      expect((await readAll(file)).map(({ text }) => text.toString())).toEqual([`${file.length}\n`])
    expect((await opened.store.check()).damaged).toEqual([])
  })

  it('appends of many runs share checkpoints', async () => {
    const runs = Array.from({ length: 300 }, (_, n) => asRunId(`r_${n.toString(16).padStart(12, '0')}`))
    await Promise.all(
      runs.map((run, n) => opened.store.sessions.append(run, { n }, [sliceOf(FILE, `{"n":${n}}\n`)], false)),
    )
    const seen = []
    for await (const { about } of opened.store.sessions.list()) seen.push(about.n)
    expect(seen).toHaveLength(300)
    const packs = readdirSync(join(dir.path, 'store.git/objects/pack')).filter((name) => name.endsWith('.pack'))
    expect(packs.length).toBeLessThan(10)
  })
})

describe('the directory', () => {
  it('is closed to others down to the last file, under any umask', async () => {
    const before = process.umask(0o022)
    try {
      await reopen()
      await opened.store.manifests.put(manifestBody())
      await opened.store.texts.put([{ digest: sha('x'), text: 'x' }])
      await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, 'x\n')], false)
      await opened.store.maintain()
      await opened.store.manifests.put(manifestBody({ stretch: 3 }))
    } finally {
      process.umask(before)
    }
    const open: string[] = []
    const walk = (path: string) => {
      const { mode } = statSync(path)
      // fast-import makes its next, still empty pack with the umask alone; the folders above it are closed all the same.
      if ((mode & 0o077) !== 0 && !/tmp_pack_/.test(path)) open.push(`${path} ${(mode & 0o777).toString(8)}`)
      if (statSync(path).isDirectory()) for (const name of readdirSync(path)) walk(join(path, name))
    }
    walk(dir.path)
    expect(open).toEqual([])
  })

  it('tells its size without git, and the number agrees with git', async () => {
    await opened.store.manifests.put(manifestBody())
    await opened.store.sessions.append(RUN, {}, [sliceOf(FILE, 'x\n')], false)
    const size = opened.store.size()
    expect(size.objects).toBe((await opened.store.check()).objects)
    expect(size.bytes).toBeGreaterThan(1000)
  })

  it('maintenance leaves few packs and all content, with writes going on', async () => {
    const all: Promise<unknown>[] = []
    for (let n = 0; n < 60; n += 1) {
      await opened.store.manifests.put(manifestBody({ stretch: n }))
      if (n % 20 === 19) all.push(opened.store.maintain())
    }
    await Promise.all(all)
    await opened.store.maintain()
    const packs = readdirSync(join(dir.path, 'store.git/objects/pack')).filter((name) => name.endsWith('.pack'))
    expect(packs.length).toBeLessThan(6)
    expect(opened.store.manifests.count()).toBe(60)
    expect((await opened.store.check()).damaged).toEqual([])
    await opened.store.manifests.put(manifestBody({ stretch: 100 }))
  })
})

async function treeOf(ref: string): Promise<string[]> {
  const { git, isolateGit } = await import('../../../daemon/git/core.ts')
  const { stdout } = await git(['ls-tree', '-r', '-z', '--name-only', ref], {
    git: isolateGit(process.env),
    gitDir: join(dir.path, 'store.git'),
  })
  return stdout
    .toString()
    .split('\0')
    .filter((name) => name !== '')
}
