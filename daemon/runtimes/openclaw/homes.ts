import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import json5 from 'json5'
import type { HomeCandidate, Surroundings, WatchPlace } from '../adapter.ts'
import { asList, asName, asRow } from '../shared/fields.ts'
import { agentsOf, isDirectory } from './places.ts'

/**
 * State directories: where `OPENCLAW_STATE_DIR` points, the one of `OPENCLAW_PROFILE`, `~/.openclaw`, every `~/.openclaw-<profile>` that is
 * there, and names of earlier releases. `OPENCLAW_HOME` stands for the home in all of them (runtime page 3.1).
 */
export function findHomes({ userHome, env }: Surroundings): readonly HomeCandidate[] {
  const candidates: HomeCandidate[] = []
  const add = (path: string, foundBy: string): void => {
    const clean = resolve(path)
    if (!candidates.some((known) => known.path === clean))
      candidates.push({ path: clean, foundBy, exists: isDirectory(clean) })
  }
  const named = env.OPENCLAW_HOME?.trim()
  const base = named ? expand(named, userHome) : userHome
  const state = env.OPENCLAW_STATE_DIR?.trim()
  if (state) add(expand(state, base), 'OPENCLAW_STATE_DIR')
  const profile = env.OPENCLAW_PROFILE?.trim()
  if (profile && profile.toLowerCase() !== 'default') add(join(base, `.openclaw-${profile}`), 'OPENCLAW_PROFILE')
  for (const folder of base === userHome ? [base] : [base, userHome]) {
    add(join(folder, '.openclaw'), folder === userHome ? 'default' : 'OPENCLAW_HOME')
    for (const name of hiddenFolders(folder)) {
      if (name.startsWith('.openclaw-')) add(join(folder, name), 'profile')
      else if (name === '.clawdbot' || name === '.moltbot') add(join(folder, name), 'name of an earlier release')
    }
  }
  return candidates
}

const expand = (given: string, home: string): string => resolve(given.replace(/^~(?=$|[\\/])/, home))

function hiddenFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.startsWith('.') && isDirectory(join(folder, name)))
      .sort()
  } catch {
    return []
  }
}

/** The configuration file of a home: the variable speaks of the home of the environment only. */
export function configFileOf(home: string, surroundings: Surroundings): string {
  const given = surroundings.env.OPENCLAW_CONFIG_PATH?.trim()
  const own = findHomes(surroundings)[0]?.path === home
  return given && own ? expand(given, surroundings.userHome) : join(home, 'openclaw.json')
}

/**
 * What to watch: the folders of the agents with their databases and logs, the configuration with the folders of its includes, and the locks
 * that tell of a running owner. Workspaces are named by the resolution.
 */
export function watchPlaces(home: string, surroundings: Surroundings): readonly WatchPlace[] {
  const config = configFileOf(home, surroundings)
  const configuration = (path: string, depth: number): WatchPlace => ({ path, depth, what: 'configuration' })
  const included = [...new Set(includesOf(config).map(dirname))].filter(
    (folder) => folder !== home && folder !== dirname(config),
  )
  return [
    { path: join(home, 'agents'), depth: 2, what: 'sessions' },
    { path: join(home, 'tmp'), depth: 1, what: 'live' },
    configuration(home, 0),
    ...(dirname(config) === home ? [] : [configuration(config, 0)]),
    ...included.map((folder) => configuration(folder, 0)),
    configuration(join(home, 'skills'), 6),
    configuration(join(home, 'hooks'), 2),
    configuration(join(home, 'extensions'), 2),
    ...agentsOf(home, () => {}).map(({ folder }) => configuration(join(folder, 'agent', 'workshop-skills'), 3)),
  ]
}

/** Files that a configuration includes, however deep; one that cannot be read is the resolution's to tell. */
function includesOf(config: string, seen = new Set<string>()): readonly string[] {
  if (seen.has(config) || seen.size > 64) return []
  seen.add(config)
  let tree: unknown
  try {
    tree = json5.parse(readFileSync(config, 'utf8').replace(/^\uFEFF/, ''))
  } catch {
    return []
  }
  const found = includesIn(tree).map((name) => resolve(dirname(config), name))
  return found.flatMap((file) => [file, ...includesOf(file, seen)])
}

function includesIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(includesIn)
  return Object.entries(asRow(value) ?? {}).flatMap(([key, item]) => {
    if (key !== '$include') return includesIn(item)
    const one = asName(item)
    return one === null ? asList(item).filter((name): name is string => typeof name === 'string') : [one]
  })
}
