import path from 'node:path'
import type { Surroundings } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'

/** The installed package that `openclaw` on the search path belongs to; null when none is found. Nothing is run. */
export function findPackage(disk: Disk, { env, platform }: Surroundings): string | null {
  const names = platform === 'win32' ? ['openclaw.cmd', 'openclaw'] : ['openclaw']
  for (const folder of (env.PATH ?? '').split(platform === 'win32' ? ';' : ':')) {
    if (!path.isAbsolute(folder)) continue
    for (const name of names) {
      const found = disk.realPath(path.join(folder, name))
      if (found === null) continue
      for (let at = path.dirname(found); path.dirname(at) !== at; at = path.dirname(at)) {
        if (path.basename(at) === 'openclaw' && disk.exists(path.join(at, 'package.json'))) return at
        const beside = path.join(at, 'node_modules', 'openclaw')
        if (disk.exists(path.join(beside, 'package.json'))) return beside
      }
    }
  }
  return null
}
