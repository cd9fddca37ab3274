import { execFileSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asDigest, asRunId, type Digest, type Drift } from '../../contract/index.ts'
import { signManifest, verifyManifest } from '../../daemon/manifest/sign.ts'
import { keyIdOf } from '../../daemon/secrets/keys.ts'
import { manifestBody, type OpenedStore, openTestStore, sliceOf, temporaryDirectory } from '../kit/store.ts'

/** R68, R69: whatever byte of what is stored changes, it is noticed and named, and never given out as if it were true. */
const RUN = asRunId('r_0123456789ab')
let dir: ReturnType<typeof temporaryDirectory>
let opened: OpenedStore
let digest: Digest
let text: Digest
beforeEach(async () => {
  dir = temporaryDirectory()
  opened = await openTestStore(dir.path)
  digest = asDigest((await opened.store.manifests.put(manifestBody({ settings: {} }))).integrity.manifest_digest)
  text = asDigest(`sha256:${'a'.repeat(64)}`)
  await opened.store.texts.put([{ digest: text, text: 'Always write tests first.' }])
  await opened.store.sessions.append(RUN, { title: 'x' }, [sliceOf('s.jsonl', '{"a":1}\n{"b":2}\n')], false)
})
afterEach(async () => {
  await opened.store.close()
  dir.remove()
})

const gitDir = () => join(dir.path, 'store.git')
const raw = (args: readonly string[], input?: string | Buffer) =>
  execFileSync('git', [`--git-dir=${gitDir()}`, ...args], { input, stdio: ['pipe', 'pipe', 'ignore'] })
const reopen = async () => {
  await opened.store.close()
  opened = await openTestStore(dir.path)
}

/** Replaces a blob below a ref in a way Git finds perfectly right: new blob, trees and commit. */
async function rewrite(ref: string, path: string, change: (content: Buffer) => Buffer): Promise<void> {
  await opened.store.close()
  const content = change(raw(['cat-file', 'blob', `${ref}:${path}`]))
  const old = raw(['rev-parse', ref]).toString().trim()
  const stream = [
    Buffer.from(
      `commit ${ref}\ncommitter x <x@x> 1 +0000\ndata 1\nx\nfrom ${old}\nM 100644 inline ${path}\ndata ${content.length}\n`,
    ),
    content,
    Buffer.from('\n'),
  ]
  raw(['fast-import', '--quiet', '--force'], Buffer.concat(stream))
  opened = await openTestStore(dir.path)
}
const manifestPath = () => `${digest.slice(7, 9)}/${digest.slice(7)}.json`

describe('a manifest', () => {
  it('with any one bit of any byte changed is damaged', async () => {
    const { keys } = opened
    const { bytes } = signManifest(manifestBody({ settings: {} }), keys)
    expect(verifyManifest(bytes, digest, keys.publicKeyOf).integrity.manifest_digest).toBe(digest)
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
      expect(() => verifyManifest(changed, digest, keys.publicKeyOf), `byte ${at}`).toThrowError(
        expect.objectContaining({ code: 'damaged' }),
      )
    }
    for (const changed of [
      Buffer.concat([bytes, Buffer.from('\n')]),
      bytes.subarray(1),
      Buffer.alloc(0),
      Buffer.from(JSON.stringify(JSON.parse(bytes.toString()), null, 1)),
    ]) {
      expect(() => verifyManifest(changed, digest, keys.publicKeyOf)).toThrowError(
        expect.objectContaining({ code: 'damaged' }),
      )
    }
  })

  it('changed inside the repository with right Git objects is damaged', async () => {
    await rewrite('refs/reprise/manifests', manifestPath(), (content) =>
      Buffer.from(content.toString().replace('"2.1.0"', '"2.1.1"')),
    )
    await expect(opened.store.manifests.get(digest)).rejects.toMatchObject({
      code: 'damaged',
      message: expect.stringContaining(digest),
    })
    const { ok, damaged } = await opened.store.check()
    expect(ok).toBe(false)
    expect(damaged.join('\n')).toContain(digest)
  })

  it('put in the place of another one is damaged', async () => {
    const other = signManifest(manifestBody({ stretch: 9 }), opened.keys)
    await rewrite('refs/reprise/manifests', manifestPath(), () => other.bytes)
    await expect(opened.store.manifests.get(digest)).rejects.toMatchObject({ code: 'damaged' })
  })

  it('signed again with another key is damaged', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519')
    const forged = signManifest(manifestBody({ settings: {} }), { privateKey, publicKey, keyId: keyIdOf(publicKey) })
    expect(forged.digest).toBe(digest)
    await rewrite('refs/reprise/manifests', manifestPath(), () => forged.bytes)
    await expect(opened.store.manifests.get(digest)).rejects.toThrow(/unknown key/)
    const posing = signManifest(manifestBody({ settings: {} }), { privateKey, publicKey, keyId: opened.keys.keyId })
    await rewrite('refs/reprise/manifests', manifestPath(), () => posing.bytes)
    await expect(opened.store.manifests.get(digest)).rejects.toThrow(/signature/)
  })

  it('of a later format is told to be newer', async () => {
    const later = signManifest({ ...manifestBody(), manifest_version: 2 as 1 }, opened.keys)
    expect(() => verifyManifest(later.bytes, later.digest, opened.keys.publicKeyOf)).toThrowError(
      expect.objectContaining({ code: 'newer_version' }),
    )
  })
})

describe('texts and sessions', () => {
  it('changed inside the repository with right Git objects are damaged', async () => {
    await rewrite('refs/reprise/texts', `aa/${text.slice(7)}`, (content) =>
      Buffer.from(content.toString().replace('tests', 'texts')),
    )
    await expect(opened.store.texts.get(text)).rejects.toMatchObject({ code: 'damaged' })
    await rewrite(`refs/sessions/${RUN}`, '1/s.jsonl/00000000.jsonl', (content) =>
      Buffer.from(content.toString().replace('"a":1', '"a":7')),
    )
    const read = async () => {
      for await (const line of opened.store.sessions.read(RUN, 's.jsonl')) expect(line).toBeDefined()
    }
    await expect(read()).rejects.toMatchObject({ code: 'damaged' })
    const { damaged } = await opened.store.check()
    expect(damaged.join('\n')).toContain(text)
    expect(damaged.join('\n')).toContain('s.jsonl')
  })
})

describe('every other object', () => {
  /** One byte of a JSON text, in a value: what is left still parses. */
  const alter = (content: Buffer, before: string): Buffer => {
    const at = content.indexOf(before) + before.length
    expect(at, content.toString()).toBeGreaterThan(before.length - 1)
    const changed = Buffer.from(content)
    changed[at] = (changed[at] ?? 0) === 0x31 ? 0x32 : 0x31
    return changed
  }
  const readLines = async () => {
    for await (const line of opened.store.sessions.read(RUN, 's.jsonl')) expect(line).toBeDefined()
  }
  const damagedOf = async () => {
    const { ok, damaged } = await opened.store.check()
    expect(ok).toBe(false)
    return damaged.join('\n')
  }

  it.each([
    ['the places of archived lines', '1/s.jsonl/00000000.lines', '"first_byte":', '00000000.lines|part 0 of s.jsonl'],
    ['the list of files of a session', 'files.json', '"lines":', 'files.json'],
    ['what a session is', 'run.json', '"title":"', 'run.json'],
  ])('%s: altered in a way Git finds right, it is named', async (_, file, before, named) => {
    await rewrite(`refs/sessions/${RUN}`, file, (content) => alter(content, before))
    if (file === 'run.json') expect(await opened.store.sessions.about(RUN)).toEqual({})
    else await expect(readLines()).rejects.toMatchObject({ code: 'damaged' })
    expect(await damagedOf()).toMatch(new RegExp(`${RUN}.*(?:${named})`))
  })

  it('an archived session put in the place of another one', async () => {
    const other = asRunId('r_ba9876543210')
    await opened.store.sessions.append(other, { title: 'y' }, [sliceOf('s.jsonl', '{"a":2}\n{"b":3}\n')], false)
    await opened.store.close()
    raw(['update-ref', `refs/sessions/${RUN}`, `refs/sessions/${other}`])
    opened = await openTestStore(dir.path)
    await expect(readLines()).rejects.toMatchObject({ code: 'damaged' })
    expect(await damagedOf()).toContain(RUN)
  })

  it('a signature', async () => {
    await rewrite('refs/reprise/manifests', manifestPath(), (content) => alter(content, '"signature":"'))
    await expect(opened.store.manifests.get(digest)).rejects.toThrow(/signature/)
    expect(await damagedOf()).toContain(digest)
  })

  it('a text that a manifest names: any byte, its count and its seal', async () => {
    for (const before of ['"redactions":', '"mac":"', 'Always ']) {
      await rewrite('refs/reprise/texts', `aa/${text.slice(7)}`, (content) => alter(content, before))
      await expect(opened.store.texts.get(text), before).rejects.toMatchObject({ code: 'damaged' })
      expect(await damagedOf()).toContain(text)
      await opened.store.close()
      raw(['update-ref', 'refs/reprise/texts', 'refs/reprise/texts~1'])
      opened = await openTestStore(dir.path)
    }
  })

  it('a change of configuration', async () => {
    const drift: Drift = {
      id: 'd_1',
      at: '2026-11-30T12:00:00.000Z',
      home: 'h_0123456789ab',
      home_path: '/home/dev/.claude',
      runtime: 'claude-code',
      workspace: null,
      kind: 'configuration',
      title: 'model 1 changed',
      changes: [],
      writer: { who: 'unknown', run: null, seq: null, why: 'no run was going on' },
      alert: null,
      helpers: [],
      before: null,
      after: digest,
    }
    await opened.store.configuration.append(drift)
    await opened.store.close()
    const [path = ''] = raw(['ls-tree', '-r', '--name-only', 'refs/homes/h_0123456789ab']).toString().split('\n')
    opened = await openTestStore(dir.path)
    const seen: unknown[] = []
    for await (const one of opened.store.configuration.list()) seen.push(one)
    expect(seen).toEqual([drift])
    await rewrite('refs/homes/h_0123456789ab', path, (content) => alter(content, '"title":"model '))
    for await (const one of opened.store.configuration.list()) expect(one).toBe('not given out')
    expect(await damagedOf()).toMatch(/h_0123456789ab/)
    expect(opened.logged.join('\n')).toContain('seal')
  })

  it('exchanged keys, each by its name', async () => {
    for (const name of ['hmac.key', 'signing.pem']) {
      await opened.store.close()
      const path = join(dir.path, 'keys', name)
      const old = readFileSync(path)
      const { privateKey } = generateKeyPairSync('ed25519')
      writeFileSync(
        path,
        name === 'hmac.key' ? Buffer.alloc(32, 3) : privateKey.export({ type: 'pkcs8', format: 'pem' }),
      )
      opened = await openTestStore(dir.path)
      expect(await damagedOf()).toContain(`keys/${name}`)
      await expect(
        name === 'hmac.key' ? opened.store.texts.get(text) : opened.store.manifests.get(digest),
      ).rejects.toMatchObject({ code: 'damaged' })
      await opened.store.close()
      writeFileSync(path, old)
      opened = await openTestStore(dir.path)
      expect((await opened.store.check()).damaged).toEqual([])
    }
  })

  it('a pack that is cut off', async () => {
    await opened.store.maintain()
    await opened.store.close()
    const folder = join(gitDir(), 'objects', 'pack')
    const [pack = ''] = readdirSync(folder).filter((name) => name.endsWith('.pack'))
    chmodSync(join(folder, pack), 0o600)
    const intact = readFileSync(join(folder, pack))
    for (const length of [0, 11, Math.floor(intact.length / 2), intact.length - 1]) {
      writeFileSync(join(folder, pack), intact.subarray(0, length))
      opened = await openTestStore(dir.path)
      expect(await damagedOf(), `${length} bytes`).toMatch(/pack|refs|missing|damaged/)
      await opened.store.close()
      writeFileSync(join(folder, pack), intact)
    }
    opened = await openTestStore(dir.path)
  })
})

describe('the files of the repository', () => {
  const packFile = (ending: string) => {
    const folder = join(gitDir(), 'objects', 'pack')
    return readdirSync(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => join(folder, name))
      .sort()
  }
  /** Gives the content or the code of the failure; anything else fails the test. */
  const outcome = async <T>(work: Promise<T>) =>
    work.then(
      (value) => (value === null ? 'absent' : 'intact'),
      (error: unknown) => {
        expect(error).toMatchObject({ code: 'damaged' })
        return 'damaged'
      },
    )

  for (const ending of ['.pack', '.idx']) {
    it(`a bit changed anywhere in a ${ending} is found by check, and never read as content or as absence`, async () => {
      await opened.store.maintain()
      await opened.store.close()
      const [path] = packFile(ending)
      if (path === undefined) throw new Error('no pack')
      chmodSync(path, 0o600)
      const intact = readFileSync(path)
      const step = Math.max(1, Math.floor(intact.length / 24))
      for (let at = 3; at < intact.length; at += step) {
        const changed = Buffer.from(intact)
        changed[at] = (changed[at] ?? 0) ^ 0x10
        writeFileSync(path, changed)
        opened = await openTestStore(dir.path)
        const seen = [
          await outcome(opened.store.manifests.get(digest)),
          await outcome(opened.store.texts.get(text)),
          await outcome(opened.store.sessions.state(RUN)),
        ]
        expect(seen, `byte ${at}`).not.toContain('absent')
        expect((await opened.store.check()).ok, `byte ${at}`).toBe(false)
        await opened.store.close()
        writeFileSync(path, intact)
        restoreRefs()
      }
      opened = await openTestStore(dir.path)
      expect((await opened.store.check()).damaged).toEqual([])
    }, 120_000)
  }

  /** What a damaged start put aside. */
  function restoreRefs(): void {
    const folder = join(dir.path, 'quarantine')
    if (!existsSync(folder)) return
    for (const name of readdirSync(folder)) {
      const oid = readFileSync(join(folder, name), 'utf8').trim()
      raw(['update-ref', name.replace('refs_reprise_', 'refs/reprise/').replace(/\.\d+$/, ''), oid])
      renameSync(join(folder, name), join(dir.path, `done-${Math.random()}`))
    }
  }

  it('a lost pack is damage, not absence, and new content can be stored all the same', async () => {
    await opened.store.maintain()
    await opened.store.close()
    for (const path of [...packFile('.pack'), ...packFile('.idx')])
      renameSync(path, join(dir.path, `lost-${path.slice(-12)}`))
    opened = await openTestStore(dir.path)
    await expect(opened.store.manifests.get(digest)).rejects.toMatchObject({ code: 'damaged' })
    await expect(opened.store.texts.get(text)).rejects.toMatchObject({ code: 'damaged' })
    await expect(opened.store.sessions.state(RUN)).rejects.toMatchObject({ code: 'damaged' })
    const put = await opened.store.manifests.put(manifestBody({ stretch: 5 }))
    await reopen()
    expect(await opened.store.manifests.get(asDigest(put.integrity.manifest_digest))).toEqual(put)
    await expect(opened.store.manifests.get(digest)).rejects.toMatchObject({ code: 'damaged' })
    const seen = []
    for await (const entry of opened.store.sessions.list()) seen.push(entry)
    expect(seen).toEqual([{ run: RUN, about: {} }])
    expect(opened.logged.join('\n')).toContain('run.json')
    const { ok, quarantined } = await opened.store.check()
    expect(ok).toBe(false)
    expect(quarantined.length).toBeGreaterThan(0)
  })

  it('an emptied ref, a changed config and HEAD are put aside and told', async () => {
    await opened.store.close()
    writeFileSync(join(gitDir(), 'refs/sessions', RUN), '')
    writeFileSync(join(gitDir(), 'config'), '[core\n')
    writeFileSync(join(gitDir(), 'HEAD'), '')
    opened = await openTestStore(dir.path)
    expect(await opened.store.manifests.get(digest)).not.toBeNull()
    await opened.store.sessions.append(RUN, { title: 'again' }, [sliceOf('s.jsonl', '{"a":1}\n')], false)
    const { quarantined, damaged } = await opened.store.check()
    expect(quarantined.join()).toMatch(/HEAD.*config.*refs_sessions_r_0123456789ab/)
    expect(damaged.join()).toContain('refs/sessions/r_0123456789ab was unreadable')
  })
})
