import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Digest } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Vault } from '../secrets/vault.ts'
import { codeOf, replaceFile } from './durable.ts'
import type { RawFiles } from './states.ts'

/** Files of configuration by digest, one plain file each; those that hold a secret in the vault. */
export const openPlainRawFiles = (
  dir: string,
  { vault, redactor, now }: { readonly vault: Vault; readonly redactor: Redactor; readonly now: () => Date },
): RawFiles => {
  const pathOf = (digest: Digest) => join(dir, 'raw', digest.slice('sha256:'.length))
  const plain = (digest: Digest): Promise<Buffer | null> =>
    readFile(pathOf(digest)).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return null
      throw error
    })
  const get = async (digest: Digest): Promise<Buffer | null> =>
    (await plain(digest)) ?? (await vault.get(`raw:${digest}`))?.content ?? null
  return {
    async put(files) {
      await mkdir(join(dir, 'raw'), { recursive: true, mode: 0o700 })
      for (const { digest, bytes, source } of files) {
        const families = redactor.find(Buffer.from(bytes).toString('latin1')).map(({ family }) => family)
        if (families.length === 0) await replaceFile(pathOf(digest), bytes)
        else {
          const about = { v: 1, ref: `raw:${digest}`, classification: 'secret', source, families } as const
          await vault.put([
            {
              about: { ...about, families: [...new Set(families)], at: now().toISOString() },
              content: Buffer.from(bytes),
            },
          ])
        }
      }
    },
    get,
    has: async (digest) => (await get(digest).catch(() => null)) !== null,
  }
}
