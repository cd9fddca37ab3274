import fs from 'node:fs'
import path from 'node:path'
import type { HomeCandidate, Surroundings, WatchPlace } from '../adapter.ts'

/**
 * Where a home may be: where `HERMES_HOME` points, the default, and every profile of them. A profile is a complete home of its own
 * (runtime page 3.1): its sessions, memory and configuration are its own, so that what belongs to which cannot be mixed up (B21).
 */
export function findHomes(surroundings: Surroundings): readonly HomeCandidate[] {
  const { userHome, env } = surroundings
  const candidates: HomeCandidate[] = []
  const add = (home: string, foundBy: string): void => {
    const clean = path.resolve(home)
    if (!candidates.some((known) => known.path === clean))
      candidates.push({ path: clean, foundBy, exists: isDirectory(clean) })
  }
  const named = env.HERMES_HOME?.trim()
  const roots: string[] = []
  if (named !== undefined && named !== '') {
    const home = path.resolve(userHome, named)
    add(home, 'HERMES_HOME')
    roots.push(rootOf(home))
  }
  roots.push(defaultHome(surroundings))
  for (const root of roots) {
    add(root, root === defaultHome(surroundings) ? 'default' : 'HERMES_HOME')
    const active = activeProfile(root)
    for (const name of profilesOf(root))
      add(path.join(root, 'profiles', name), `profile ${name}${name === active ? ', the active one' : ''}`)
  }
  return candidates
}

/** `~/.hermes`; on Windows below the local application data (source). */
export function defaultHome({ platform, userHome, env }: Surroundings): string {
  if (platform !== 'win32') return path.join(userHome, '.hermes')
  return path.join(env.LOCALAPPDATA?.trim() || path.join(userHome, 'AppData', 'Local'), 'hermes')
}

/** The home that holds the profiles: the parent's parent of a profile, else the home itself. */
export const rootOf = (home: string): string =>
  path.basename(path.dirname(home)) === 'profiles' ? path.dirname(path.dirname(home)) : home

function profilesOf(root: string): readonly string[] {
  try {
    return fs
      .readdirSync(path.join(root, 'profiles'))
      .filter((name) => !name.startsWith('.') && isDirectory(path.join(root, 'profiles', name)))
      .sort()
  } catch {
    return []
  }
}

/** The sticky profile, as its text file names it. */
function activeProfile(root: string): string | null {
  try {
    return fs.readFileSync(path.join(root, 'active_profile'), 'utf8').trim() || null
  } catch {
    return null
  }
}

/** Managed scope: the folder of `HERMES_MANAGED_DIR`, which replaces `/etc/hermes` (runtime page 3.2, 9.1). */
export const managedDirectory = ({ env }: Surroundings): string =>
  env.HERMES_MANAGED_DIR ? path.resolve(env.HERMES_MANAGED_DIR) : '/etc/hermes'

/** What to watch. Profiles are homes of their own and have their own places. */
export function watchPlaces(home: string, surroundings: Surroundings): readonly WatchPlace[] {
  const deep = ['skills', 'plugins', 'hooks'].map(
    (name): WatchPlace => ({ path: path.join(home, name), depth: 4, what: 'configuration' }),
  )
  const managed = managedDirectory(surroundings)
  return [
    // `state.db` and its log lie in the home itself.
    { path: home, depth: 0, what: 'sessions' },
    { path: path.join(home, 'sessions'), depth: 0, what: 'sessions' },
    { path: path.join(home, 'memories'), depth: 0, what: 'configuration' },
    ...['config.yaml', '.env', 'SOUL.md', 'auth.json', 'shell-hooks-allowlist.json'].map(
      (name): WatchPlace => ({ path: path.join(home, name), depth: 0, what: 'configuration' }),
    ),
    { path: path.join(rootOf(home), 'active_profile'), depth: 0, what: 'configuration' },
    ...deep,
    {
      path: surroundings.env.HERMES_MANAGED_DIR ? managed : `${surroundings.systemRoot}${managed}`,
      depth: 0,
      what: 'configuration',
    },
  ]
}

function isDirectory(file: string): boolean {
  try {
    return fs.statSync(file).isDirectory()
  } catch {
    return false
  }
}
