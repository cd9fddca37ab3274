import { statSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import type { HomeCandidate, Surroundings, WatchPlace } from '../adapter.ts'

/** Where a home may be: where `CODEX_HOME` points, and `~/.codex` (0.171.0). */
export function findHomes({ userHome, env }: Surroundings): readonly HomeCandidate[] {
  const candidates: HomeCandidate[] = []
  const add = (path: string, foundBy: string): void => {
    const clean = resolve(path)
    if (!candidates.some((known) => known.path === clean))
      candidates.push({ path: clean, foundBy, exists: isDirectory(clean) })
  }
  const named = env.CODEX_HOME
  if (named !== undefined && named !== '') add(isAbsolute(named) ? named : join(userHome, named), 'CODEX_HOME')
  add(join(userHome, '.codex'), 'default')
  return candidates
}

/** Directory of the machine's configuration; Windows from the public sources, not run. */
function systemDirectory({ platform, systemRoot, env }: Surroundings): string {
  if (platform !== 'win32') return `${systemRoot}/etc/codex`
  return join(
    systemRoot === '' ? (env.ProgramData ?? 'C:\\ProgramData') : `${systemRoot}/ProgramData`,
    'OpenAI',
    'Codex',
  )
}

/** What to watch: sessions, live threads, and the places of page 15. Depths count directories below the place. */
export function watchPlaces(home: string, surroundings: Surroundings): readonly WatchPlace[] {
  const configuration = ['agents', 'rules', 'skills', 'prompts', 'memories'].map((name): WatchPlace => {
    return { path: join(home, name), depth: 4, what: 'configuration' }
  })
  return [
    { path: join(home, 'sessions'), depth: 3, what: 'sessions' },
    { path: join(home, 'archived_sessions'), depth: 1, what: 'sessions' },
    { path: join(home, 'thread-writer-locks'), depth: 0, what: 'live' },
    { path: home, depth: 0, what: 'configuration' },
    ...configuration,
    { path: join(home, 'plugins'), depth: 0, what: 'configuration' },
    { path: join(surroundings.userHome, '.agents', 'skills'), depth: 4, what: 'configuration' },
    { path: systemDirectory(surroundings), depth: 3, what: 'configuration' },
  ]
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
