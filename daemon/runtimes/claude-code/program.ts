import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import type { Program, Surroundings } from '../adapter.ts'
import { asName, asRow } from '../shared/fields.ts'

const PACKAGE = '@anthropic-ai/claude-code'
const VERSION = /^\d+\.\d+\.\d+/

/**
 * Version of the installed program, without running it: from the package an entry of `PATH` leads into, from the version folder of a
 * native installation (`~/.local/share/claude/versions/<version>`), or from the local installation in the home. Null when none is found.
 */
export const findProgramVersion = (home: string, surroundings: Surroundings): string | null =>
  findProgram(home, surroundings)?.version ?? null

export function findProgram(home: string, { env, platform }: Surroundings): Program | null {
  const names = platform === 'win32' ? ['claude.exe', 'claude.cmd', 'claude'] : ['claude']
  for (const directory of (env.PATH ?? env.Path ?? '').split(platform === 'win32' ? ';' : delimiter)) {
    if (directory === '') continue
    for (const name of names) {
      const found = programBehind(join(directory, name))
      if (found !== null) return found
    }
  }
  const local = join(home, 'local', 'node_modules', PACKAGE)
  const version = versionOfPackage(local)
  return version === null ? null : { version, path: null, installedBy: `npm ${PACKAGE}` }
}

function programBehind(entry: string): Program | null {
  let real: string
  try {
    real = realpathSync(entry)
  } catch {
    return null
  }
  const name = basename(real)
  if (VERSION.test(name)) return { version: VERSION.exec(name)?.[0] ?? null, path: real, installedBy: 'native' }
  for (let at = dirname(real); ; at = dirname(at)) {
    const version = versionOfPackage(at) ?? versionOfPackage(join(at, 'node_modules', PACKAGE))
    if (version !== null) return { version, path: real, installedBy: `npm ${PACKAGE}` }
    if (dirname(at) === at || basename(at) === 'node_modules') return null
  }
}

/** The package itself, or the platform package beside it that holds the executable. */
function versionOfPackage(directory: string): string | null {
  try {
    const about = asRow(JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')))
    const name = asName(about?.name)
    return name === PACKAGE || name?.startsWith(`${PACKAGE}-`) === true ? asName(about?.version) : null
  } catch {
    return null
  }
}

/** Names in a directory, sorted; empty when it cannot be read. */
export function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}
