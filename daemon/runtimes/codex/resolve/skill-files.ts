import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'

/** Folders below a skills root that are looked into (0.171.0). */
const DEEPEST = 6
/** Beyond this many folders the search stops and says so. */
const MOST_FOLDERS = 5_000

/**
 * Every SKILL.md below a root. Dot folders are left out, linked folders followed, a SKILL.md that is itself a link is not taken
 * (0.171.0).
 */
export function findSkillFiles(disk: Disk, root: string, unknown: { field: string; why: string }[]): readonly string[] {
  const found: string[] = []
  const visited = new Set<string>()
  let level = [root]
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth += 1) {
    const next: string[] = []
    for (const folder of level) {
      const names = disk.names(folder)
      if (names === null) continue
      if ('why' in names) {
        unknown.push({ field: 'capabilities.skills', why: `${folder}: ${names.why}` })
        continue
      }
      const real = disk.realPath(folder) ?? folder
      if (visited.has(real)) continue
      if (visited.size >= MOST_FOLDERS) {
        unknown.push({ field: 'capabilities.skills', why: `${root} holds more than ${MOST_FOLDERS} folders` })
        return found
      }
      visited.add(real)
      for (const entry of names) {
        if (entry.name === 'SKILL.md' && entry.isFile()) found.push(path.join(folder, entry.name))
        if (entry.name.startsWith('.')) continue
        const place = path.join(folder, entry.name)
        if (entry.isDirectory() || (entry.isSymbolicLink() && disk.isDirectory(place))) next.push(place)
      }
    }
    level = next
  }
  return found
}
