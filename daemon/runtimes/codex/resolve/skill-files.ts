import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'

const NAME = 'SKILL.md'
/** Folders below a skills root that are looked into (0.171.0). */
const DEEPEST = 6
/** Beyond this many folders the search stops and says so. */
const MOST_FOLDERS = 5_000

export interface SkillFiles {
  readonly files: readonly string[]
  /** What looks like a skill and is none. */
  readonly leftOut: readonly { readonly file: string; readonly why: string }[]
}

/**
 * Every SKILL.md below a root. Dot folders are left out, linked folders followed, a SKILL.md that is itself a link is not taken
 * (0.171.0).
 */
export function findSkillFiles(disk: Disk, root: string, unknown: { field: string; why: string }[]): SkillFiles {
  const files: string[] = []
  const leftOut: { file: string; why: string }[] = []
  const visited = new Set<string>()
  const probe = (folder: string, why: string): void => {
    const file = path.join(folder, NAME)
    if (disk.exists(file)) leftOut.push({ file, why })
  }
  let level = [root]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > DEEPEST) {
      for (const folder of level) probe(folder, `more than ${DEEPEST} folders below ${root}`)
      break
    }
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
        return { files, leftOut }
      }
      visited.add(real)
      for (const entry of names) {
        const place = path.join(folder, entry.name)
        const isLink = entry.isSymbolicLink()
        if (entry.name === NAME && entry.isFile()) files.push(place)
        else if (entry.name === NAME && isLink)
          leftOut.push({ file: place, why: `a ${NAME} that is a link is not taken` })
        else if (entry.name.toLowerCase() === NAME.toLowerCase() && entry.isFile())
          leftOut.push({ file: place, why: `wrong case: the program looks for ${NAME}` })
        else if (entry.name.startsWith('.')) {
          // The bundled skills lie in a dot folder of the user's, which is a root of its own.
          if (entry.name !== '.system') probe(place, 'in a folder whose name begins with a dot')
        } else if (entry.isDirectory() || (isLink && disk.isDirectory(place))) next.push(place)
      }
    }
    level = next
  }
  return { files, leftOut }
}
