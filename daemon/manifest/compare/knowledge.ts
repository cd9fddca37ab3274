import type { ManifestBody } from '../../../contract/index.ts'

/** What one side could not know. `unknown` is never read as "there is none". */
export interface Knowledge {
  /** Why the value at a path (without keys of list items) is not known; null when it is. A value that is there is known unless the path itself is named. */
  why(plain: string, present: boolean): string | null
  /** Why a source that is not listed may exist all the same. */
  whySource(uri: string): string | null
  /** Why a thing in a file may be there all the same: a place above that file could not be looked into. */
  whyFile(plain: string, row: Readonly<Record<string, unknown>>): string | null
  readonly entries: readonly { readonly field: string; readonly why: string }[]
}

export const knowledgeOf = ({ unknown }: Pick<ManifestBody, 'unknown'>): Knowledge => {
  const fields = new Map<string, string>()
  const sources = new Map<string, string>()
  for (const { field, why } of unknown) {
    const uri = /^instructions\.sources (.+)$/s.exec(field)?.[1]
    if (uri !== undefined) sources.set(uri, why)
    else if (!fields.has(field)) fields.set(field, why)
  }
  return {
    why(plain, present) {
      const own = fields.get(plain)
      if (own !== undefined || present) return own ?? null
      for (let end = plain.lastIndexOf('.'); end > 0; end = plain.lastIndexOf('.', end - 1)) {
        const above = fields.get(plain.slice(0, end))
        if (above !== undefined) return above
      }
      return null
    },
    whyFile(plain, row) {
      const files = [row.path, row.source].filter((place): place is string => typeof place === 'string')
      const blind = unknown.find(
        ({ field, why }) =>
          field === plain &&
          (why.match(/\/[^\s:,;]+/g) ?? []).some((place) => files.some((file) => file.startsWith(place))),
      )
      return blind?.why ?? null
    },
    whySource: (uri) => sources.get(uri) ?? null,
    entries: unknown,
  }
}

/** Whether a value says anything: null, nothing and emptiness do not. */
export const isPresent = (value: unknown): boolean => {
  if (value === null || value === undefined) return false
  if (Array.isArray(value)) return value.length > 0
  return typeof value !== 'object' || Object.keys(value).length > 0
}
