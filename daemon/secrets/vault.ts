import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'
import { codeOf, replaceFile } from '../store/durable.ts'
import { makeVaultKey, readVaultKey, type VaultKey, type VaultKeyPlace } from './vault-key.ts'

/** What an original is and where it came from (R77). Locked together with it. */
export const originalSchema = z.object({
  v: z.literal(1),
  /** `text:<digest>` of a source, `line:<run>:<file>:<generation>:<line>` of a session. */
  ref: z.string(),
  classification: z.enum(['private', 'secret']),
  source: z.string(),
  families: z.array(z.string()),
  at: z.string(),
})
export type OriginalAbout = Readonly<z.infer<typeof originalSchema>>

export interface Original {
  readonly about: OriginalAbout
  readonly content: Buffer
}

export interface Vault {
  /** Where the key is; never makes one. */
  state(): Promise<{ readonly keyStore: VaultKey['keyStore']; readonly why: string | null; readonly objects: number }>
  /** Makes the key where there is none; `put` does too. Throws `refused` when there is one that cannot be reached. */
  prepare(): Promise<void>
  /** Durable when it resolves. The same reference again replaces what was kept under it. */
  put(originals: readonly Original[]): Promise<void>
  /** Null when there is none, or no vault. Throws `damaged`, or `refused` when the key cannot be reached. */
  get(ref: string): Promise<Original | null>
  /** Opens every object. Gives the faults, each naming its file. */
  verifyAll(): Promise<readonly string[]>
}

export const textRef = (digest: string): string => `text:${digest}`
export const lineRef = (run: string, file: string, generation: number, line: number): string =>
  `line:${run}:${file}:${generation}:${line}`

/** `RPV1`, 12 bytes of nonce, 16 of tag, and the rest locked with AES-256-GCM. */
const MAGIC = Buffer.from('RPV1')
const HEAD = MAGIC.length + 12 + 16
/** A key store that does not answer holds up whoever asks. */
const ASK_AGAIN_MS = 10_000
/** Files written at a time. */
const TOGETHER = 16

/**
 * `vault/objects/<2 hex>/<62 hex>`, one file per original. The name is a keyed digest of the reference and is locked into the content: an
 * object put in the place of another does not open. Nothing of it is in the index, in a search, in a log or in an export.
 */
export const openVault = (dir: string, place: Omit<VaultKeyPlace, 'folder'>, now: () => Date): Vault => {
  const keyPlace: VaultKeyPlace = { ...place, folder: join(dir, 'keys') }
  const folder = join(dir, 'vault', 'objects')
  /** A key that was found stays; one that could not be reached is asked for again after a while. */
  let known: VaultKey | null = null
  let askedAt = Number.NEGATIVE_INFINITY
  const reach = async (): Promise<VaultKey> => {
    if (known !== null && (known.key !== null || now().getTime() - askedAt < ASK_AGAIN_MS)) return known
    askedAt = now().getTime()
    known = await readVaultKey(keyPlace)
    return known
  }
  const nameOf = (key: Buffer, ref: string) => createHmac('sha256', key).update(`vault\0${ref}`).digest('hex')
  const pathOf = (name: string) => join(folder, name.slice(0, 2), name.slice(2))

  const names = async (): Promise<string[]> => {
    const found: string[] = []
    for (const part of await readdir(folder).catch(absent))
      for (const rest of await readdir(join(folder, part)).catch(absent))
        if (/^[0-9a-f]{62}$/.test(rest)) found.push(part + rest)
    return found
  }

  return {
    async state() {
      const { keyStore, why } = await reach()
      return { keyStore, why, objects: (await names()).length }
    },

    async prepare() {
      known = await makeVaultKey(keyPlace)
    },

    async put(originals) {
      if (originals.length === 0) return
      // The first original makes the key; one that is there and cannot be reached is refused by `makeVaultKey`.
      if ((await reach()).key === null) known = await makeVaultKey(keyPlace)
      const { key, why } = await reach()
      if (key === null) throw new RepriseError('refused', `the vault cannot be opened: ${why}`)
      for (let at = 0; at < originals.length; at += TOGETHER)
        await Promise.all(
          originals.slice(at, at + TOGETHER).map(async (original) => {
            const name = nameOf(key, original.about.ref)
            await mkdir(dirname(pathOf(name)), { recursive: true, mode: 0o700 })
            await replaceFile(pathOf(name), lock(key, name, original))
          }),
        )
    },

    async get(ref) {
      const { key, why, keyStore } = await reach()
      if (key === null) {
        if (keyStore === 'none' && (await names()).length === 0) return null
        throw new RepriseError('refused', `the vault cannot be opened: ${why}`)
      }
      const name = nameOf(key, ref)
      const sealed = await readFile(pathOf(name)).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return null
        throw error
      })
      return sealed === null ? null : unlock(key, name, pathOf(name), sealed)
    },

    async verifyAll() {
      const all = await names()
      if (all.length === 0) return []
      const { key, why } = await reach()
      if (key === null) return [`vault: ${all.length} originals cannot be opened: ${why}`]
      const faults: string[] = []
      for (const name of all) {
        try {
          const { about } = unlock(key, name, pathOf(name), await readFile(pathOf(name)))
          if (nameOf(key, about.ref) !== name)
            faults.push(`vault: ${pathOf(name)} holds another original than its name says`)
        } catch (error) {
          if (!(error instanceof RepriseError)) throw error
          faults.push(error.message)
        }
      }
      return faults
    },
  }

  function lock(key: Buffer, name: string, { about, content }: Original): Buffer {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(name))
    const head = Buffer.from(`${JSON.stringify({ ...about, at: about.at || now().toISOString() })}\n`)
    const locked = Buffer.concat([cipher.update(head), cipher.update(content), cipher.final()])
    return Buffer.concat([MAGIC, nonce, cipher.getAuthTag(), locked])
  }
}

function unlock(key: Buffer, name: string, path: string, sealed: Buffer): Original {
  const damaged = (why: string) =>
    new RepriseError(
      'damaged',
      `The vault object ${path} is damaged: ${why}.`,
      'Run `reprise check` to see everything.',
    )
  if (sealed.length <= HEAD || !sealed.subarray(0, MAGIC.length).equals(MAGIC)) throw damaged('it has no head any more')
  const nonce = sealed.subarray(MAGIC.length, MAGIC.length + 12)
  let open: Buffer
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, nonce)
    decipher.setAAD(Buffer.from(name)).setAuthTag(sealed.subarray(MAGIC.length + 12, HEAD))
    open = Buffer.concat([decipher.update(sealed.subarray(HEAD)), decipher.final()])
  } catch {
    throw damaged('it was altered, or locked with another key')
  }
  const end = open.indexOf(0x0a)
  const about = originalSchema.parse(JSON.parse(open.subarray(0, end).toString('utf8')))
  return { about, content: open.subarray(end + 1) }
}

const absent = (error: unknown): string[] => {
  if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return []
  throw error
}
