import { readFileSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import type { Program, Surroundings } from '../adapter.ts'
import { asName, asRow } from '../shared/fields.ts'

const PACKAGE = 'openclaw'

/** The installed program, without running it: the package an entry of `PATH` leads into, or a checkout. */
export function findProgram(_home: string, { env, platform }: Surroundings): Program | null {
  const names = platform === 'win32' ? ['openclaw.exe', 'openclaw.cmd', 'openclaw'] : ['openclaw']
  for (const directory of (env.PATH ?? env.Path ?? '').split(platform === 'win32' ? ';' : delimiter)) {
    if (directory === '') continue
    for (const name of names) {
      const found = programBehind(join(directory, name))
      if (found !== null) return found
    }
  }
  return null
}

function programBehind(entry: string): Program | null {
  let real: string
  try {
    real = realpathSync(entry)
  } catch {
    return null
  }
  for (let at = dirname(real); ; at = dirname(at)) {
    // Windows has a script beside `node_modules` instead of a link into it.
    for (const folder of [at, join(at, 'node_modules', PACKAGE)]) {
      const version = versionOfPackage(folder)
      if (version !== null)
        return {
          version,
          path: real,
          installedBy: basename(dirname(folder)) === 'node_modules' ? `npm ${PACKAGE}` : 'checkout',
        }
    }
    if (dirname(at) === at || basename(at) === 'node_modules') return null
  }
}

function versionOfPackage(directory: string): string | null {
  try {
    const about = asRow(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')))
    return about?.name === PACKAGE ? asName(about.version) : null
  } catch {
    return null
  }
}
