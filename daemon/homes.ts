import fs from 'node:fs'
import type { RuntimeName, Settings } from '../contract/index.ts'
import { homeIdOf } from './capture/run-ids.ts'
import type { HomeRegistry, KnownHome } from './parts.ts'
import type { RuntimeAdapter, Surroundings } from './runtimes/adapter.ts'

interface HomesParts {
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly surroundings: Surroundings
  readonly settings: () => Settings
  readonly watchState: HomeRegistry['watchState']
}

/** How long an answer about running sessions is good for. */
const LIVE_MS = 2_000

export const createHomeRegistry = ({ adapters, surroundings, settings, watchState }: HomesParts): HomeRegistry => {
  let known: readonly KnownHome[] = []
  let live: { readonly at: number; readonly sessions: ReadonlySet<string> } = { at: 0, sessions: new Set() }

  const refresh = (): void => {
    const wanted = settings().homes
    const found = new Map<string, KnownHome>()
    const add = (runtime: RuntimeName, path: string, foundBy: string): void => {
      const real = realPath(path)
      const id = homeIdOf(runtime, real)
      if (!found.has(id)) found.set(id, { id, runtime, path: real, foundBy })
    }
    for (const adapter of adapters.values())
      for (const candidate of adapter.findHomes(surroundings))
        if (candidate.exists) add(adapter.runtime, candidate.path, candidate.foundBy)
    for (const home of wanted)
      if (home.watch && adapters.has(home.runtime)) add(home.runtime, home.path, 'added by you')
    for (const home of wanted) if (!home.watch) found.delete(homeIdOf(home.runtime, realPath(home.path)))
    known = [...found.values()]
  }

  const liveSessions = (): ReadonlySet<string> => {
    const now = surroundings.now().getTime()
    if (now - live.at < LIVE_MS) return live.sessions
    const sessions = new Set<string>()
    for (const home of known)
      for (const { session, pid } of adapters.get(home.runtime)?.describeHome(home.path, surroundings).live ?? [])
        if (isAlive(pid)) sessions.add(`${home.id}\0${session}`)
    live = { at: now, sessions }
    return sessions
  }

  refresh()
  return {
    list: () => known,
    refs: () => known.map(({ runtime, path }) => ({ runtime, path })),
    refresh,
    isLive: (homeId, session) => liveSessions().has(`${homeId}\0${session}`),
    watchState,
  }
}

export const realPath = (path: string): string => {
  try {
    return fs.realpathSync(path)
  } catch {
    return path
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
