import fs from 'node:fs'
import path from 'node:path'
import type { ManifestBody } from '../../../contract/index.ts'

/**
 * Whether anything a configuration was read from looks different from the outside: its files, and the folders in which one could appear.
 * Costs one `stat` each, so that a workspace nobody touches costs next to nothing.
 */
export interface PathStamps {
  readonly changed: () => boolean
}

export function stampPaths(body: ManifestBody): PathStamps {
  const places = new Set<string>()
  if (body.execution.cwd !== null) places.add(body.execution.cwd)
  for (const { path: file } of [...body.instructions.sources, ...body.context.memory]) {
    if (file === null) continue
    places.add(file)
    places.add(path.dirname(file))
  }
  const before = new Map([...places].map((place) => [place, stampOf(place)]))
  return { changed: () => [...before].some(([place, stamp]) => stampOf(place) !== stamp) }
}

function stampOf(place: string): string {
  try {
    const { mtimeMs, size, ino } = fs.statSync(place)
    return `${mtimeMs} ${size} ${ino}`
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
