import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'
import { codeOf, replaceFile } from '../store/durable.ts'
import { readOrMake } from './keys.ts'

/** Where the key of the vault lies. `none`: it is somewhere that cannot be reached now, or there is no vault yet; `why` says which. */
export interface VaultKey {
  readonly keyStore: 'os' | 'file' | 'none'
  readonly key: Buffer | null
  readonly why: string | null
}

export interface VaultKeyPlace {
  /** `keys/` of the data directory. */
  readonly folder: string
  readonly platform: NodeJS.Platform
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * `keys/vault.json`: where the key was put when it was made. It decides for ever: a key store that cannot be reached later must not lead to
 * a second key, or what the first one locked would be lost in silence.
 */
const markSchema = z.object({ v: z.literal(1), key_store: z.enum(['os', 'file']), id: z.string() })

/** How long a system's key store may take to answer; it may be waiting for a person to unlock it. */
const PATIENCE_MS = 5_000

/** The key as it is now; never makes one. */
export async function readVaultKey(place: VaultKeyPlace): Promise<VaultKey> {
  const mark = await readMark(place.folder)
  if (mark === null) return { keyStore: 'none', key: null, why: 'no original is kept yet, so there is no key' }
  if (mark.key_store === 'file') {
    const key = await readFile(join(place.folder, 'vault.key')).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    })
    if (key?.length === 32) return { keyStore: 'file', key, why: null }
    return { keyStore: 'none', key: null, why: `${join(place.folder, 'vault.key')} is gone or is no key any more` }
  }
  const store = keyStoreOf(place)
  const key = store === null ? null : await store.read(mark.id).catch(() => null)
  if (key !== null && key.length === 32) return { keyStore: 'os', key, why: null }
  return {
    keyStore: 'none',
    key: null,
    why: "its key is in the system's key store, which does not give it out now (locked, or not running)",
  }
}

/** The key, made where there is none: in the system's key store where one answers, else in a file only its owner can read. */
export async function makeVaultKey(place: VaultKeyPlace): Promise<VaultKey> {
  const known = await readVaultKey(place)
  if (known.key !== null) return known
  if ((await readMark(place.folder)) !== null)
    throw new RepriseError(
      'refused',
      `the vault cannot be opened: ${known.why}`,
      'unlock the key store, or put the key back; what is in the vault can be read with this key only',
    )
  await mkdir(place.folder, { recursive: true, mode: 0o700 })
  const id = randomBytes(8).toString('hex')
  const store = keyStoreOf(place)
  if (store !== null) {
    const key = randomBytes(32)
    const kept = await store
      .write(id, key)
      .then(() => store.read(id))
      .catch(() => null)
    if (kept?.equals(key)) {
      await writeMark(place.folder, 'os', id)
      return { keyStore: 'os', key, why: null }
    }
  }
  const key = await readOrMake(join(place.folder, 'vault.key'), () => randomBytes(32), [])
  await writeMark(place.folder, 'file', id)
  return { keyStore: 'file', key, why: null }
}

async function readMark(folder: string): Promise<z.infer<typeof markSchema> | null> {
  const path = join(folder, 'vault.json')
  try {
    return markSchema.parse(JSON.parse(await readFile(path, 'utf8')))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new RepriseError(
      'damaged',
      `${path} does not say any more where the key of the vault is.`,
      'Put it back from a backup.',
    )
  }
}

async function writeMark(folder: string, keyStore: 'os' | 'file', id: string): Promise<void> {
  const path = join(folder, 'vault.json')
  await replaceFile(path, `${JSON.stringify({ v: 1, key_store: keyStore, id })}\n`)
  if (process.platform !== 'win32') await chmod(path, 0o600)
}

interface KeyStore {
  read(id: string): Promise<Buffer | null>
  write(id: string, key: Buffer): Promise<void>
}

const SERVICE = 'reprise-vault'

/**
 * The system's own programs, so that nothing native is installed. Only the variant of Linux was ever run, and that against a stand-in; the
 * key never stands on a command line.
 */
function keyStoreOf({ folder, platform, env }: VaultKeyPlace): KeyStore | null {
  const run = (file: string, args: readonly string[], input = '') => runProgram(file, args, input, env)
  switch (platform) {
    case 'linux':
      // Without a session bus nothing answers, and asking would start one.
      if (!env.DBUS_SESSION_BUS_ADDRESS) return null
      return {
        read: async (id) => fromHex(await run('secret-tool', ['lookup', 'service', SERVICE, 'id', id])),
        write: async (id, key) => {
          await run(
            'secret-tool',
            ['store', '--label=Reprise vault', 'service', SERVICE, 'id', id],
            key.toString('hex'),
          )
        },
      }
    case 'darwin':
      return {
        read: async (id) => fromHex(await run('security', ['find-generic-password', '-s', SERVICE, '-a', id, '-w'])),
        write: async (id, key) => {
          await run('security', ['-i'], `add-generic-password -s ${SERVICE} -a ${id} -w ${key.toString('hex')} -U\n`)
        },
      }
    case 'win32': {
      // The data protection interface locks for this account; what it gives back lies in a file of ours.
      const file = join(folder, 'vault.dpapi')
      const powershell = (script: string, input: string) =>
        run('powershell.exe', ['-NoProfile', '-NonInteractive', '-Command', script], input)
      const head =
        'Add-Type -AssemblyName System.Security; $in = [Convert]::FromBase64String([Console]::In.ReadToEnd().Trim());'
      const scope = "$null, 'CurrentUser'"
      const tail = '[Console]::Out.Write([Convert]::ToBase64String($out))'
      return {
        read: async () => {
          const locked = await readFile(file, 'utf8')
          const open = `${head} $out = [Security.Cryptography.ProtectedData]::Unprotect($in, ${scope}); ${tail}`
          return Buffer.from(await powershell(open, locked), 'base64')
        },
        write: async (_, key) => {
          const lock = `${head} $out = [Security.Cryptography.ProtectedData]::Protect($in, ${scope}); ${tail}`
          await replaceFile(file, await powershell(lock, key.toString('base64')))
        },
      }
    }
    default:
      return null
  }
}

const fromHex = (text: string): Buffer | null =>
  /^[0-9a-f]{64}$/.test(text.trim()) ? Buffer.from(text.trim(), 'hex') : null

const runProgram = (
  file: string,
  args: readonly string[],
  input: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = execFile(
      file,
      [...args],
      { timeout: PATIENCE_MS, env: { ...env }, windowsHide: true },
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    )
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
  })
