import { sep } from 'node:path'
import type { RuntimeName } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import type { RuntimeAdapter, Surroundings } from '../runtimes/adapter.ts'
import { type HomeWatch, watchHomes } from './watch-homes.ts'

interface WatchedHome {
  readonly id: string
  readonly runtime: RuntimeName
  readonly path: string
}

export interface HomeWatchesOptions {
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly surroundings: Surroundings
  readonly pollSeconds: number
  readonly log: Log
  /** Paths that may have changed; the receiver looks for itself. */
  readonly onHints: (paths: readonly string[]) => void
  /** Something that may change a manifest is not as it was. */
  readonly onConfiguration: (home: WatchedHome) => void
  readonly onState: () => void
}

export interface HomeWatches {
  update(homes: readonly WatchedHome[]): Promise<void>
  state(homeId: string): {
    readonly watched: number
    readonly wanted: number
    readonly polling: boolean
    readonly why: string | null
  } | null
  close(): Promise<void>
}

/** Watches of all homes together; idle, the daemon stays below 1,000. */
const BUDGET = 900

export const createHomeWatches = (options: HomeWatchesOptions): HomeWatches => {
  const { adapters, surroundings, pollSeconds, log } = options
  const open = new Map<string, HomeWatch>()
  return {
    async update(homes) {
      // The budget is shared: with another number of homes each gets another part of it.
      const same = homes.length === open.size && homes.every((home) => open.has(home.id))
      if (same) return
      for (const [id, watch] of open) {
        open.delete(id)
        await watch.close()
      }
      for (const home of homes) {
        const adapter = adapters.get(home.runtime)
        if (!adapter) continue
        const places = adapter.watchPlaces(home.path, surroundings)
        // A folder may hold sessions and configuration side by side; whichever watch speaks first speaks for both.
        const configured = places.flatMap(({ path, what }) => (what === 'configuration' ? [path] : []))
        const isConfiguration = (path: string): boolean =>
          configured.some((place) => path === place || path.startsWith(place + sep))
        open.set(
          home.id,
          watchHomes({
            places,
            budget: Math.floor(BUDGET / Math.max(1, homes.length)),
            pollSeconds,
            onHint: ({ path, what }) => {
              if (what === 'sessions') options.onHints([path])
              else {
                options.onState()
              }
              if (what === 'configuration' || isConfiguration(path)) options.onConfiguration(home)
            },
            onState: options.onState,
            onFault: (error) => log('error', 'watching failed', { home: home.path, message: (error as Error).message }),
          }),
        )
      }
    },
    state(homeId) {
      const state = open.get(homeId)?.state()
      return state ? { watched: state.watched, wanted: state.wanted, polling: state.polling, why: state.why } : null
    },
    async close() {
      for (const watch of open.values()) await watch.close()
      open.clear()
    },
  }
}
