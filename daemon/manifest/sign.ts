import { type KeyObject, sign, verify } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import { type Digest, isDigest } from '../../contract/ids.ts'
import { MANIFEST_VERSION, type Manifest, type ManifestBody, manifestSchema } from '../../contract/manifest.ts'
import { canonicalBytes, digestOfBytes } from './canonical.ts'

export interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
  /** `ed25519:` + 16 hex digits of the SHA-256 of the public key. */
  readonly keyId: string
}

export interface SignedManifest {
  readonly manifest: Manifest
  readonly digest: Digest
  /** What is stored: the canonical form of the manifest with its integrity part. */
  readonly bytes: Buffer
}

/** Canonical form, digest and signature of a body. The signature (base64) covers the canonical bytes of the body. */
export function signManifest(body: ManifestBody, key: SigningKey): SignedManifest {
  const canonical = canonicalBytes(body)
  const digest = digestOfBytes(canonical)
  const signature = sign(null, canonical, key.privateKey).toString('base64')
  const manifest: Manifest = { ...body, integrity: { manifest_digest: digest, signature, key_id: key.keyId } }
  return { manifest, digest, bytes: canonicalBytes(manifest) }
}

/**
 * Reads stored manifest bytes and proves them: canonical to the byte, of the digest asked for, signed with the named key.
 * Throws `damaged` naming the digest and what is wrong; `newer_version` for a manifest of a later format.
 */
export function verifyManifest(
  bytes: Uint8Array,
  digest: Digest,
  publicKeyOf: (keyId: string) => KeyObject | null,
): Manifest {
  const damaged = (why: string) =>
    new RepriseError(
      'damaged',
      `Manifest ${digest} is damaged: ${why}.`,
      'Run `reprise check` to see everything that is damaged.',
    )
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw damaged('it is not JSON any more')
  }
  if (typeof value !== 'object' || value === null || !('integrity' in value))
    throw damaged('its integrity part is missing')
  const { integrity, ...body } = value
  if (!Buffer.from(bytes).equals(canonicalOf(value, damaged))) throw damaged('its bytes are not in canonical form')
  const canonical = canonicalBytes(body)
  const found = digestOfBytes(canonical)
  if (found !== digest) throw damaged(`its content has the digest ${found}`)
  const parsed = integrityOf(integrity)
  if (parsed === null) throw damaged('its integrity part is unreadable')
  if (parsed.manifest_digest !== digest) throw damaged(`it names itself ${parsed.manifest_digest}`)
  const key = publicKeyOf(parsed.key_id)
  if (key === null) throw damaged(`it is signed with the unknown key ${parsed.key_id}`)
  const signature = Buffer.from(parsed.signature, 'base64')
  if (signature.toString('base64') !== parsed.signature || !verify(null, canonical, key, signature))
    throw damaged('its signature is wrong')
  const version = 'manifest_version' in body ? body.manifest_version : undefined
  if (typeof version === 'number' && version > MANIFEST_VERSION) {
    throw new RepriseError(
      'newer_version',
      `Manifest ${digest} has format ${version}; it was made by a newer version.`,
      'Update Reprise to read it.',
    )
  }
  const manifest = manifestSchema.safeParse(value)
  if (!manifest.success) throw damaged(`its shape is wrong at ${manifest.error.issues[0]?.path.join('.') ?? '?'}`)
  return manifest.data
}

function canonicalOf(value: unknown, damaged: (why: string) => Error): Buffer {
  try {
    return canonicalBytes(value)
  } catch {
    throw damaged('it holds text that has no canonical form')
  }
}

function integrityOf(value: unknown): Manifest['integrity'] | null {
  const parsed = manifestSchema.shape.integrity.safeParse(value)
  return parsed.success && isDigest(parsed.data.manifest_digest) ? parsed.data : null
}
