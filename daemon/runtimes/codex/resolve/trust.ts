import type { Disk } from '../../shared/disk.ts'
import type { Repository } from '../../shared/repo.ts'
import type { ConfigLayer } from './layers.ts'
import { at, isTable, textOf } from './values.ts'

/** What `[projects]` says of a directory. */
export interface Trust {
  /** Null: nothing says anything. */
  readonly level: 'trusted' | 'untrusted' | null
  /** The entry that decided; null without one. */
  readonly entry: { readonly directory: string; readonly origin: string } | null
}

export interface TrustTable {
  of(directory: string): Trust
}

/**
 * Looks for an entry of the directory itself, then of the project root, then of the main checkout of the repository the run starts in,
 * each by its canonical path before the path as reached (0.171.0). Other parents pass nothing on.
 *
 * @param layers those that may grant trust, highest first: flags, profile, user, system; never a project's own.
 */
export function readTrust(
  layers: readonly ConfigLayer[],
  disk: Disk,
  projectRoot: string,
  repository: Repository | null,
): TrustTable {
  const entries = new Map<string, { readonly level: string; readonly origin: string }>()
  for (const layer of layers) {
    const projects = at(layer.value, 'projects')
    if (!isTable(projects)) continue
    for (const [directory, entry] of Object.entries(projects)) {
      const level = isTable(entry) ? textOf(entry.trust_level) : null
      if (level !== null && !entries.has(directory)) entries.set(directory, { level, origin: layer.origin })
    }
  }
  const known = new Map<string, Trust>()
  const look = (directory: string): Trust => {
    if (entries.size === 0) return { level: null, entry: null }
    for (const place of [directory, projectRoot, ...(repository === null ? [] : [repository.main])]) {
      for (const name of new Set([disk.realPath(place) ?? place, place])) {
        const entry = entries.get(name)
        if (entry?.level === 'trusted' || entry?.level === 'untrusted')
          return { level: entry.level, entry: { directory: name, origin: entry.origin } }
      }
    }
    return { level: null, entry: null }
  }
  return {
    of(directory) {
      const found = known.get(directory) ?? look(directory)
      known.set(directory, found)
      return found
    },
  }
}

/** R17: what the reader of a manifest sees of something that is there and not applied. */
export function whyNotTrusted(trust: Trust): string | null {
  if (trust.level === 'trusted') return null
  if (trust.entry === null) return 'present, not applied: no entry marks the project as trusted'
  return `present, not applied: untrusted (${trust.entry.directory} in ${trust.entry.origin})`
}
