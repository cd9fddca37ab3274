import { createHmac } from 'node:crypto'
import { createCleanTexts } from './clean-texts.ts'
import { findSecrets, NAMED_FAMILIES } from './find-secrets.ts'
import type { Finding, Redactor } from './redactor.ts'

/** A redactor whose placeholders are made with `hmacKey`. Remembers only short texts without a secret; may be made in any thread. */
export function createRedactor(hmacKey: Uint8Array): Redactor {
  const hmac = (value: string | Uint8Array) => createHmac('sha256', hmacKey).update(value).digest('hex')
  /** Over what makes the secret itself: a key is the same one whether its line ends are escaped or not, and whether it has any. */
  const placeholderOf = (family: string, secret: string, encoding: 'utf8' | 'latin1') => {
    const value = NAMED_FAMILIES.has(family) ? secret : secret.replace(/\\+[nrt]|\s/g, '')
    return `‹secret:${family}:${hmac(Buffer.from(value, encoding)).slice(0, 8)}›`
  }
  /** A secret over several lines becomes a placeholder on each, so that no line is lost and none is joined. */
  const cover = (secret: string, placeholder: string) =>
    secret.includes('\n') ? secret.replace(/[^\r\n]+/g, placeholder) : placeholder

  const clean = createCleanTexts()

  return {
    find: (text) => findSecrets(text),

    redact(text) {
      if (clean.has(text)) return { text, findings: [] }
      const found = findSecrets(text)
      if (found.length === 0) {
        clean.add(text)
        return { text, findings: [] }
      }
      const findings: (Finding & { readonly placeholder: string })[] = []
      let out = ''
      let at = 0
      for (const finding of found) {
        const secret = text.slice(finding.start, finding.end)
        const placeholder = placeholderOf(finding.family, coreOf(text, finding), 'utf8')
        findings.push({ ...finding, placeholder })
        out += text.slice(at, finding.start) + cover(secret, placeholder)
        at = finding.end
      }
      return { text: out + text.slice(at), findings }
    },

    redactBytes(bytes, open = false) {
      // latin1 maps each byte to one character: offsets are byte offsets, and every key is ASCII.
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
      const text = buffer.toString('latin1')
      const found = findSecrets(text, open)
      if (found.length === 0) return { bytes, findings: 0 }
      const pieces: Uint8Array[] = []
      let at = 0
      for (const finding of found) {
        const { start, end, family } = finding
        const secret = text.slice(start, end)
        pieces.push(
          buffer.subarray(at, start),
          Buffer.from(cover(secret, placeholderOf(family, coreOf(text, finding), 'latin1')), 'utf8'),
        )
        at = end
      }
      pieces.push(buffer.subarray(at))
      return { bytes: Buffer.concat(pieces), findings: found.length }
    },

    keyed: (value) => `hmac:${hmac(value).slice(0, 16)}`,
  }
}

const coreOf = (text: string, { start, end, core }: Finding): string =>
  text.slice(core?.start ?? start, core?.end ?? end)
