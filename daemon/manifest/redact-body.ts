import { type ManifestBody, manifestBodySchema } from '../../contract/index.ts'
import { redactJson } from '../secrets/redact-json.ts'
import type { Redactor } from '../secrets/redactor.ts'

/** A manifest body with every secret covered, those too that only the name of their field gives away (R73). */
export const redactBody = (body: ManifestBody, redactor: Redactor): ManifestBody =>
  manifestBodySchema.parse(redactJson(body, redactor).value)
