import { type ManifestBody, manifestBodySchema } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'

/** A manifest body with every secret in any of its texts covered (R73). Names of keys are texts too. */
export const redactBody = (body: ManifestBody, redactor: Redactor): ManifestBody => {
  const cover = (value: unknown): unknown => {
    if (typeof value === 'string') return redactor.redact(value).text
    if (Array.isArray(value)) return value.map(cover)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [redactor.redact(key).text, cover(inner)]))
    return value
  }
  return manifestBodySchema.parse(cover(body))
}
