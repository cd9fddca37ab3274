import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import { chmod, link, mkdir, open, readdir, readFile, stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import type { SigningKey } from '../manifest/sign.ts'
import { codeOf, syncFolder } from '../store/durable.ts'

/** Secrets of one data directory. Kept in 0600 files; a key store of the system comes with a later version (`NOTES.md`). */
export interface Keys extends SigningKey {
  readonly keyStore: 'file'
  /** 32 bytes, for placeholders and keyed digests. */
  readonly hmacKey: Buffer
  /** Public key by its id, also of keys that were used before (`keys/*.pub`); null when it is not known here. */
  publicKeyOf(keyId: string): KeyObject | null
  /** What was put right while opening, for the health page: `keys/signing.pem was readable by others (0644), now 0600`. */
  readonly repaired: readonly string[]
}

export const keyIdOf = (publicKey: KeyObject): string =>
  `ed25519:${createHash('sha256').update(rawKey(publicKey)).digest('hex').slice(0, 16)}`

const rawKey = (publicKey: KeyObject) => publicKey.export({ type: 'spki', format: 'der' }).subarray(-32)

/**
 * Opens the keys in `folder`, making those that are missing. Two programs that start at once get the same ones. Throws `damaged` for a
 * key file that is no key: it is never replaced by itself, as everything signed with it would lose its proof.
 */
export async function openKeys(folder: string): Promise<Keys> {
  const repaired: string[] = []
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await tighten(folder, 0o700, repaired)

  const signingPath = join(folder, 'signing.pem')
  const pem = await readOrMake(
    signingPath,
    () => Buffer.from(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })),
    repaired,
  )
  const privateKey = parseKey(signingPath, () => createPrivateKey(pem))
  if (privateKey.asymmetricKeyType !== 'ed25519') throw damagedKey(signingPath)
  const publicKey = createPublicKey(privateKey)

  const hmacPath = join(folder, 'hmac.key')
  const hmacKey = await readOrMake(hmacPath, () => randomBytes(32), repaired)
  if (hmacKey.length !== 32) throw damagedKey(hmacPath)

  const keyId = keyIdOf(publicKey)
  const known = new Map([[keyId, publicKey]])
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.pub')) continue
    const path = join(folder, name)
    const content = await readFile(path)
    const older = parseKey(path, () => createPublicKey(content))
    known.set(keyIdOf(older), older)
  }
  return {
    keyStore: 'file',
    privateKey,
    publicKey,
    keyId,
    hmacKey,
    repaired,
    publicKeyOf: (id) => known.get(id) ?? null,
  }
}

/** Content of a key file, made if it is missing. Written under another name first: nobody ever reads half a key. */
export async function readOrMake(path: string, make: () => Buffer, repaired: string[]): Promise<Buffer> {
  for (;;) {
    try {
      const content = await readFile(path)
      await tighten(path, 0o600, repaired)
      return content
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
    const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}.tmp`
    const handle = await open(temporary, 'wx', 0o600)
    try {
      await handle.writeFile(make())
      await handle.sync()
    } finally {
      await handle.close()
    }
    try {
      await link(temporary, path) // fails when somebody else was first; then theirs is read
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error
    } finally {
      await unlink(temporary)
    }
    await syncFolder(join(path, '..'))
  }
}

/** Takes away what others may do with a file or folder. Windows has no such bits. */
export async function tighten(path: string, mode: number, repaired: string[]): Promise<void> {
  if (process.platform === 'win32') return
  const found = (await stat(path)).mode & 0o777
  if ((found & 0o077) === 0) return
  await chmod(path, mode)
  repaired.push(
    `${path} was open to others (${found.toString(8).padStart(4, '0')}), now ${mode.toString(8).padStart(4, '0')}`,
  )
}

function parseKey(path: string, parse: () => KeyObject): KeyObject {
  try {
    return parse()
  } catch {
    throw damagedKey(path)
  }
}

const damagedKey = (path: string) =>
  new RepriseError(
    'damaged',
    `${path} is not a key any more.`,
    'Put it back from a backup. Without it earlier manifests cannot be verified.',
  )
