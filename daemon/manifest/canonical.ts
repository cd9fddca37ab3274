import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { asDigest, type Digest } from '../../contract/ids.ts'

/** RFC 8785 bytes of a JSON value. Throws TypeError for what JSON cannot say (NaN, infinities, functions, half surrogate pairs). */
export function canonicalBytes(value: unknown): Buffer {
  const text = isInOrder(value) ? JSON.stringify(value) : canonicalize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  // JSON.stringify escapes a lone surrogate; RFC 8785 §3.2.2.2 wants an error, as the text has no UTF-8 form.
  if (/(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/.test(text)) throw new TypeError('a text holds half of a surrogate pair')
  return Buffer.from(text, 'utf8')
}

/**
 * Plain JSON whose keys already stand in canonical order, as in everything read back from its canonical form: for that the form of RFC 8785 is
 * what JSON.stringify writes, in a tenth of the time. Whatever is not plainly so takes the long way.
 */
function isInOrder(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return true
    case 'number':
      return Number.isFinite(value)
    case 'object': {
      if (value === null) return true
      if (Array.isArray(value)) return value.every(isInOrder)
      if (Object.getPrototypeOf(value) !== Object.prototype) return false
      let before: string | null = null
      for (const [key, inner] of Object.entries(value)) {
        if ((before !== null && !(before < key)) || !isInOrder(inner)) return false
        before = key
      }
      return true
    }
    default:
      return false
  }
}

export const digestOfBytes = (bytes: Uint8Array): Digest =>
  asDigest(`sha256:${createHash('sha256').update(bytes).digest('hex')}`)

/** SHA-256 over the canonical form. */
export const digestOfJson = (value: unknown): Digest => digestOfBytes(canonicalBytes(value))
