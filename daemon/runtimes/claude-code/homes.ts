import { statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { HomeCandidate, Surroundings, WatchPlace } from '../adapter.ts'

/**
 * Where a home may be: where `CLAUDE_CONFIG_DIR` points, `~/.claude`, and `~/.config/claude`, which versions of 1.0 used for a while and
 * other tools still look into (documented, not exercised).
 */
export function findHomes(surroundings: Surroundings): readonly HomeCandidate[] {
  const { userHome, env } = surroundings
  const candidates: HomeCandidate[] = []
  const add = (path: string, foundBy: string): void => {
    const clean = resolve(path)
    if (!candidates.some((known) => known.path === clean))
      candidates.push({ path: clean, foundBy, exists: isDirectory(clean) })
  }
  const named = env.CLAUDE_CONFIG_DIR
  if (named !== undefined && named !== '') add(isAbsolute(named) ? named : join(userHome, named), 'CLAUDE_CONFIG_DIR')
  add(join(userHome, '.claude'), 'default')
  const config = env.XDG_CONFIG_HOME
  add(join(config !== undefined && isAbsolute(config) ? config : join(userHome, '.config'), 'claude'), 'older default')
  return candidates
}

/** Global state file of a home: beside `~/.claude`, inside any other (runtime page 2.1, 2.1.332). */
export function stateFileOf(home: string, surroundings: Surroundings): string {
  return home === join(surroundings.userHome, '.claude')
    ? join(surroundings.userHome, '.claude.json')
    : join(home, '.claude.json')
}

/** Directory of managed settings; Linux verified on 2.1.332, the others documented. */
export function managedDirectory({ platform, systemRoot }: Surroundings): string {
  if (platform === 'darwin') return `${systemRoot}/Library/Application Support/ClaudeCode`
  if (platform === 'win32')
    return systemRoot === '' ? 'C:\\Program Files\\ClaudeCode' : `${systemRoot}/Program Files/ClaudeCode`
  return `${systemRoot}/etc/claude-code`
}

/**
 * What to watch. The state file is named as a file: its directory is the user's home, which is never watched (B23). Depths count
 * directories below the place.
 */
export function watchPlaces(home: string, surroundings: Surroundings): readonly WatchPlace[] {
  const configuration = ['rules', 'skills', 'agents', 'commands', 'output-styles', 'workflows'].map(
    (name): WatchPlace => {
      return { path: join(home, name), depth: 4, what: 'configuration' }
    },
  )
  return [
    { path: join(home, 'projects'), depth: 4, what: 'sessions' },
    { path: join(home, 'sessions'), depth: 0, what: 'live' },
    { path: home, depth: 0, what: 'configuration' },
    ...configuration,
    { path: join(home, 'plugins'), depth: 0, what: 'configuration' },
    { path: stateFileOf(home, surroundings), depth: 0, what: 'configuration' },
    { path: managedDirectory(surroundings), depth: 3, what: 'configuration' },
  ]
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
