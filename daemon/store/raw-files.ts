import { createHash } from 'node:crypto'
import { asDigest, type Digest, RepriseError } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { Original, Vault } from '../secrets/vault.ts'
import type { BlobCollection } from './blob-collection.ts'
import { looksLikePointer, readPointer, writePointer } from './pointer.ts'
import type { RawFiles } from './states.ts'

export const RAW_FILES = 'refs/reprise/files'

export interface RawFilesParts {
  readonly blobs: BlobCollection
  readonly vault: Pick<Vault, 'get' | 'put'>
  readonly redactor: Redactor
  readonly hmacKey: Uint8Array
  readonly now: () => Date
}

/** Files of configuration by the digest of their bytes; what holds a secret lies in the vault, with a pointer here. */
export class GitRawFiles implements RawFiles {
  private readonly known = new Set<string>()

  constructor(private readonly parts: RawFilesParts) {}

  async put(
    files: readonly { readonly digest: Digest; readonly bytes: Uint8Array; readonly source: string }[],
  ): Promise<void> {
    const { blobs, vault, redactor, hmacKey, now } = this.parts
    const fresh = new Map<string, (typeof files)[number]>()
    for (const file of files) if (!(await this.has(file.digest))) fresh.set(file.digest, file)
    if (fresh.size === 0) return
    const originals: Original[] = []
    const added = [...fresh.values()].map(({ digest, bytes, source }) => {
      const families = redactor.find(Buffer.from(bytes).toString('latin1')).map(({ family }) => family)
      const name = nameOf(digest)
      if (families.length === 0 && !looksLikePointer(bytes)) return { name, content: bytes }
      const ref = `file:${digest}`
      const about = {
        v: 1 as const,
        ref,
        classification: families.length === 0 ? ('private' as const) : ('secret' as const),
        source: redactor.redact(source).text,
        families: [...new Set(families)].sort(),
        at: now().toISOString(),
      }
      originals.push({ about, content: Buffer.from(bytes) })
      const pointer = { as: 'vault' as const, ref, mark: redactor.keyed(bytes), bytes: bytes.length }
      return { name, content: writePointer(pointer, hmacKey) }
    })
    // First what the pointers lead to.
    await vault.put(originals)
    await blobs.add(added)
    for (const { name } of added) this.known.add(name)
  }

  async get(digest: Digest): Promise<Buffer | null> {
    const content = await this.parts.blobs.read(nameOf(digest))
    if (content === null) return null
    const kept = readPointer(content, this.parts.hmacKey)
    if (kept.as !== 'vault') return content
    const original = await this.parts.vault.get(kept.ref)
    if (original === null)
      throw new RepriseError('damaged', `The vault has nothing under ${kept.ref}.`, 'Run `reprise check`.')
    return original.content
  }

  /** What does not read back as what was written. */
  async verifyAll(damaged: (why: string) => void): Promise<readonly string[]> {
    const faults: string[] = []
    for (const name of await this.parts.blobs.names(damaged)) {
      try {
        const bytes = await this.get(asDigest(`sha256:${name}`))
        if (bytes === null || createHash('sha256').update(bytes).digest('hex') !== name)
          faults.push(`the file of configuration ${name.slice(0, 12)} is not what it was`)
      } catch (error) {
        // A vault that cannot be reached now is told by the vault's own check.
        if (!(error instanceof RepriseError)) throw error
        if (error.code !== 'refused') faults.push(error.message)
      }
    }
    return faults
  }

  async has(digest: Digest): Promise<boolean> {
    const name = nameOf(digest)
    if (this.known.has(name)) return true
    if ((await this.parts.blobs.read(name)) === null) return false
    this.known.add(name)
    return true
  }
}

const nameOf = (digest: Digest): string => digest.slice('sha256:'.length)
