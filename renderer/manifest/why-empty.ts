import type { Manifest } from '../../contract/manifest.ts'

/** Why a category holds nothing: it is empty for a reason, or it could not be learned. */
export function whyEmpty(manifest: Manifest, category: string): string {
  const named = (field: string) => field === category || field.startsWith(`${category}.`)
  return (
    (manifest.empty.find((entry) => named(entry.category)) ?? manifest.unknown.find((entry) => named(entry.field)))
      ?.why ?? ''
  )
}
