import type { ManifestBody, ManifestSource } from '../../contract/index.ts'
import type { SourceText } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'

/**
 * Notes for every source whose text is at hand that it was scanned for secrets, and what was found (R8). A source without a text stays
 * `not_scanned`: nobody looked, which is not the same as clean.
 */
export const scanSources = (
  body: ManifestBody,
  textOf: (source: ManifestSource) => Partial<SourceText> | undefined,
  redactor: Redactor,
): ManifestBody => ({
  ...body,
  instructions: {
    ...body.instructions,
    sources: body.instructions.sources.map((source) => {
      if (source.scan !== null) return source
      const found = textOf(source)
      const text = found?.text ?? (found?.raw ? Buffer.from(found.raw).toString() : null)
      if (text === null) return { ...source, scan: { result: 'not_scanned' as const, rules: [] } }
      const rules = [...new Set(redactor.find(text).map(({ family }) => family))].sort()
      if (rules.length === 0) return { ...source, scan: { result: 'clean' as const, rules } }
      // What holds a secret is one, whatever its kind is otherwise (R77).
      return { ...source, classification: 'secret' as const, scan: { result: 'flagged' as const, rules } }
    }),
  },
})
