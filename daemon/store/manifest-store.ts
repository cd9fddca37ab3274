import type { KeyObject } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import { asDigest, type Digest } from '../../contract/ids.ts'
import type { Manifest, ManifestBody } from '../../contract/manifest.ts'
import { type SigningKey, signManifest, verifyManifest } from '../manifest/sign.ts'
import { redactJson } from '../secrets/redact-json.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { BlobCollection } from './blob-collection.ts'
import type { ManifestStore } from './store.ts'

export interface ManifestStoreParts {
  readonly blobs: BlobCollection
  readonly key: SigningKey
  readonly publicKeyOf: (keyId: string) => KeyObject | null
  readonly redactor: Redactor
  /** Digests stored already, hex. */
  readonly known: readonly string[]
  /** False: a part of the list could not be read, so a digest that is not in it may exist all the same. */
  readonly complete: boolean
}

/** Manifests under one ref, one object each, named by the digest of the body. */
export class GitManifestStore implements ManifestStore {
  private readonly known: Set<string>
  private readonly storing = new Map<string, Promise<void>>()

  constructor(private readonly parts: ManifestStoreParts) {
    this.known = new Set(parts.known)
  }

  /** A body that still holds a secret is covered before it is digested; freezing refuses such a body earlier (`validate.ts`). */
  async put(body: ManifestBody): Promise<Manifest> {
    const { blobs, key, redactor } = this.parts
    const signed = signManifest(redactJson(body, redactor).value, key)
    const name = hexOf(signed.digest)
    if (this.known.has(name)) {
      const stored = await this.get(signed.digest)
      if (stored !== null) return stored
    }
    let work = this.storing.get(name)
    if (work === undefined) {
      work = blobs.add([{ name, content: signed.bytes }]).then(() => {
        this.known.add(name)
      })
      this.storing.set(name, work)
    }
    try {
      await work
    } finally {
      this.storing.delete(name)
    }
    return signed.manifest
  }

  async get(digest: Digest): Promise<Manifest | null> {
    if (!this.known.has(hexOf(digest))) {
      if (this.parts.complete) return null
      throw damagedManifest(digest, 'it is not among those still readable, and a part of the list is lost')
    }
    let bytes: Buffer | null
    try {
      bytes = await this.parts.blobs.read(hexOf(digest))
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'damaged') throw damagedManifest(digest, error.message)
      throw error
    }
    if (bytes === null) throw damagedManifest(digest, 'its object is gone')
    return verifyManifest(bytes, digest, this.parts.publicKeyOf)
  }

  async find(prefix: string): Promise<readonly Digest[]> {
    const hex = prefix.replace(/^sha256:/, '').toLowerCase()
    return [...this.known]
      .filter((name) => name.startsWith(hex))
      .sort()
      .map((name) => asDigest(`sha256:${name}`))
  }

  count(): number {
    return this.known.size
  }

  /** Proves every manifest. Gives the faults, each naming its digest. */
  async verifyAll(): Promise<readonly string[]> {
    const faults: string[] = []
    for (const name of [...this.known].sort()) {
      try {
        await this.get(asDigest(`sha256:${name}`))
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error
        faults.push(error.message)
      }
    }
    return faults
  }
}

const hexOf = (digest: Digest) => digest.slice('sha256:'.length)
const damagedManifest = (digest: Digest, why: string) =>
  new RepriseError(
    'damaged',
    `Manifest ${digest} is damaged: ${why}`,
    'Run `reprise check` to see everything that is damaged.',
  )
