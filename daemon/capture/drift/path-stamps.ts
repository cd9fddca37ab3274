import fs from 'node:fs'
import path from 'node:path'
import type { ManifestBody } from '../../../contract/index.ts'

/**
 * Whether anything a configuration was read from looks different from the outside: its files, and the folders in which one could appear.
 * Costs one `stat` each, so that a workspace nobody touches costs next to nothing.
 */
export interface PathStamps {
  /** `seen` holds what was looked at before in the same round: most files of a home stand in the closure of every workspace. */
  readonly changed: (seen: Map<string, string>) => boolean
}

export function stampPaths(body: ManifestBody): PathStamps {
  const places = new Set<string>()
  if (body.execution.cwd !== null) places.add(body.execution.cwd)
  for (const { path: file } of [
    ...body.instructions.sources,
    ...body.context.memory,
    ...(body.capabilities.files ?? []),
  ]) {
    if (file === null) continue
    places.add(file)
    places.add(path.dirname(file))
  }
  const before = new Map([...places].map((place) => [place, stampOf(place)]))
  return {
    changed(seen) {
      for (const [place, stamp] of before) {
        let now = seen.get(place)
        if (now === undefined) {
          now = stampOf(place)
          seen.set(place, now)
        }
        if (now !== stamp) return true
      }
      return false
    },
  }
}

function stampOf(place: string): string {
  try {
    const stat = fs.statSync(place, { throwIfNoEntry: false })
    return stat === undefined ? 'none' : `${stat.mtimeMs} ${stat.size} ${stat.ino}`
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unknown'
  }
}

/** The latest time of change among files, ISO; null when none of them is there. */
export function latestChange(files: readonly string[]): string | null {
  let latest = 0
  for (const file of files) {
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    if (stat) latest = Math.max(latest, stat.mtimeMs)
  }
  return latest === 0 ? null : new Date(latest).toISOString()
}
