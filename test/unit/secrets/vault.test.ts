import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lineRef, type Original, openVault, textRef } from '../../../daemon/secrets/vault.ts'
import { FIXED_NOW, temporaryDirectory } from '../../kit/store.ts'

let dir: ReturnType<typeof temporaryDirectory>
beforeEach(() => {
  dir = temporaryDirectory()
})
afterEach(() => dir.remove())

const open = (env: Record<string, string> = {}) => openVault(dir.path, { platform: 'linux', env }, FIXED_NOW)
const original = (ref: string, content: string): Original => ({
  about: { v: 1, ref, classification: 'secret', source: 'a test', families: ['npm'], at: '2026-11-30T12:00:00.000Z' },
  content: Buffer.from(content),
})
const objects = () => {
  const folder = join(dir.path, 'vault/objects')
  return readdirSync(folder).flatMap((part) => readdirSync(join(folder, part)).map((name) => join(folder, part, name)))
}

describe('the vault', () => {
  it('has no key and no object until the first original is to be kept', async () => {
    const vault = open()
    expect(await vault.state()).toMatchObject({ keyStore: 'none', objects: 0 })
    expect(await vault.get(textRef('sha256:x'))).toBeNull()
    await vault.put([])
    expect(existsSync(join(dir.path, 'keys'))).toBe(false)
    await vault.put([original('text:1', 'x')])
    expect(await vault.state()).toMatchObject({ keyStore: 'file', objects: 1 })
  })

  it('gives back what was put, with what it is and where it came from; on disk nothing of it can be read', async () => {
    const vault = open()
    await vault.prepare()
    const ref = lineRef('r_1', 'projects/s.jsonl', 1, 7)
    await vault.put([original(ref, 'the plain original'), original('text:2', 'another')])
    expect(await vault.state()).toEqual({ keyStore: 'file', why: null, objects: 2 })
    // Another thread, and the next life of the daemon, read it with the same key.
    const read = await open().get(ref)
    expect(read?.content.toString()).toBe('the plain original')
    expect(read?.about).toMatchObject({ ref, classification: 'secret', source: 'a test', families: ['npm'] })
    expect(await vault.get('text:none')).toBeNull()
    for (const file of objects()) {
      const bytes = readFileSync(file)
      for (const word of ['plain original', 'another', 'r_1', 'npm', ref]) expect(bytes.includes(word)).toBe(false)
      expect(file).not.toContain('r_1')
      expect(statSync(file).mode & 0o777).toBe(0o600)
    }
    expect(statSync(join(dir.path, 'keys/vault.key')).mode & 0o777).toBe(0o600)
    expect(statSync(join(dir.path, 'vault/objects')).mode & 0o077).toBe(0)
  })

  it('shows every altered byte, and an object in the place of another', async () => {
    const vault = open()
    await vault.prepare()
    await vault.put([original('text:1', 'one'), original('text:2', 'two')])
    const [first = '', second = ''] = objects()
    const intact = readFileSync(first)
    for (let at = 0; at < intact.length; at += 1) {
      const changed = Buffer.from(intact)
      changed[at] = (changed[at] ?? 0) ^ 4
      writeFileSync(first, changed)
      expect((await vault.verifyAll()).join(), `byte ${at}`).toContain(first)
    }
    writeFileSync(first, intact.subarray(0, 20))
    expect((await vault.verifyAll()).join()).toContain(first)
    writeFileSync(first, readFileSync(second))
    expect((await vault.verifyAll()).join()).toContain(first)
    await expect(Promise.all(['text:1', 'text:2'].map((ref) => vault.get(ref)))).rejects.toMatchObject({
      code: 'damaged',
    })
    writeFileSync(first, intact)
    expect(await vault.verifyAll()).toEqual([])
  })

  it('never makes a second key for what the first one locked', async () => {
    const vault = open()
    await vault.prepare()
    await vault.put([original('text:1', 'one')])
    renameSync(join(dir.path, 'keys/vault.key'), join(dir.path, 'key-elsewhere'))
    const later = open()
    expect(await later.state()).toMatchObject({ keyStore: 'none', objects: 1 })
    await expect(later.prepare()).rejects.toMatchObject({ code: 'refused' })
    await expect(later.get('text:1')).rejects.toMatchObject({ code: 'refused' })
    expect((await later.verifyAll()).join()).toContain('1 originals cannot be opened')
    expect(existsSync(join(dir.path, 'keys/vault.key'))).toBe(false)
    renameSync(join(dir.path, 'key-elsewhere'), join(dir.path, 'keys/vault.key'))
    expect((await open().get('text:1'))?.content.toString()).toBe('one')
  })
})

describe("the system's key store", () => {
  /** Stands in for the real program: keeps what it is given on standard input in a file of its own. */
  const standIn = (works: boolean): Record<string, string> => {
    const bin = join(dir.path, 'bin')
    mkdirSync(bin)
    const kept = join(bin, 'kept')
    const script = works
      ? `#!/bin/sh\nif [ "$1" = store ]; then cat > '${kept}'; echo "$@" >> '${kept}.args'; else cat '${kept}'; fi\n`
      : '#!/bin/sh\nexit 1\n'
    writeFileSync(join(bin, 'secret-tool'), script)
    chmodSync(join(bin, 'secret-tool'), 0o755)
    return { PATH: `${bin}:${process.env.PATH}`, DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere' }
  }

  it('is used where it answers: then no key lies in a file, and none on a command line', async () => {
    const env = standIn(true)
    const vault = open(env)
    await vault.prepare()
    await vault.put([original('text:1', 'one')])
    expect(await vault.state()).toMatchObject({ keyStore: 'os' })
    expect(existsSync(join(dir.path, 'keys/vault.key'))).toBe(false)
    expect(readFileSync(join(dir.path, 'bin/kept.args'), 'utf8')).not.toContain(
      readFileSync(join(dir.path, 'bin/kept'), 'utf8'),
    )
    expect((await open(env).get('text:1'))?.content.toString()).toBe('one')
    // Without its session the key is out of reach, and nothing else is made of it.
    expect(await open().state()).toMatchObject({ keyStore: 'none', objects: 1 })
    await expect(open().prepare()).rejects.toMatchObject({ code: 'refused' })
  })

  it('that does not answer leaves the key to a file', async () => {
    const vault = open(standIn(false))
    await vault.prepare()
    expect(await vault.state()).toMatchObject({ keyStore: 'file' })
  })
})
