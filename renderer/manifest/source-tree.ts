import type { ManifestSource, SourceKind } from '../../contract/manifest.ts'

export interface SourceRow {
  readonly source: ManifestSource
  /** Depth of the import chain, from 0. */
  readonly depth: number
}

/** Text for the model, or a rule of the program: the two are never mixed (R34). */
export const isContext = (kind: SourceKind) =>
  kind === 'instructions' ||
  kind === 'rule' ||
  kind === 'import' ||
  kind === 'memory' ||
  kind === 'skill' ||
  kind === 'command' ||
  kind === 'agent'

const order = (source: ManifestSource) =>
  source.position ?? { loaded: 1e6, lazy: 2e6, not_loaded: 3e6, unknown: 4e6 }[source.status]

/** Sources by position, imported ones under the source that names them; a cycle of imports is cut where it closes. */
export function toSourceRows(sources: readonly ManifestSource[]): readonly SourceRow[] {
  const sorted = [...sources].sort((a, b) => order(a) - order(b))
  const byPath = new Set(sorted.flatMap((source) => (source.path === null ? [] : [source.path])))
  const childrenOf = new Map<string, ManifestSource[]>()
  const roots: ManifestSource[] = []
  for (const source of sorted) {
    const importer = [...source.imported_by].reverse().find((path) => path !== source.path && byPath.has(path))
    if (importer === undefined) roots.push(source)
    else childrenOf.set(importer, [...(childrenOf.get(importer) ?? []), source])
  }
  const rows: SourceRow[] = []
  const seen = new Set<ManifestSource>()
  const visit = (source: ManifestSource, depth: number) => {
    if (seen.has(source)) return
    seen.add(source)
    rows.push({ source, depth })
    if (source.path !== null) for (const child of childrenOf.get(source.path) ?? []) visit(child, depth + 1)
  }
  for (const root of roots) visit(root, 0)
  // Members of a pure cycle have no root; they are listed all the same.
  for (const source of sorted) visit(source, 0)
  return rows
}

export const sourceKey = (source: ManifestSource) => `${source.uri}|${source.scope}|${source.position ?? ''}`
export const sourceName = (source: ManifestSource) => source.path ?? source.uri
