import type { ConfigurationWatch } from './drift/look-at-configuration.ts'
import type { HomeRef } from './importer.ts'

/**
 * When the configuration of homes is looked at: when something hints at a change, when somebody asks, and from time to time, because
 * workspaces are not watched.
 */
export interface ConfigurationLooks {
  /** The homes that are looked at from time to time. */
  setHomes(homes: readonly HomeRef[]): void
  ask(homes: readonly HomeRef[]): void
  /** Resolves when nothing about what was asked for is open any more. */
  finished(): Promise<void>
  /** One small step; false when nothing is due. */
  step(watching: boolean): Promise<boolean>
  dueIn(watching: boolean): number | null
}

/** Distance between two looks at everything. */
const EVERY_MS = 30_000
/** These looks together may take this part of the time at most: one in so many milliseconds. */
const SHARE = 400

export const createConfigurationLooks = (configuration: ConfigurationWatch): ConfigurationLooks => {
  const asked = new Map<string, HomeRef>()
  const waiting: (() => void)[] = []
  let homes: readonly HomeRef[] = []
  let lookedAt = 0
  let every = EVERY_MS
  let cost = 0

  const ask = (wanted: readonly HomeRef[]): void => {
    for (const home of wanted) asked.set(home.path, home)
  }

  return {
    setHomes(known) {
      homes = known
    },
    ask,
    finished: () => new Promise((resolve) => waiting.push(resolve)),
    async step(watching) {
      if (watching && performance.now() - lookedAt >= every) {
        every = Math.max(EVERY_MS, cost * SHARE)
        cost = 0
        lookedAt = performance.now()
        ask(homes)
      }
      for (const home of asked.values()) configuration.ask(home)
      asked.clear()
      const began = performance.now()
      const worked = await configuration.step()
      // What changed is looked into whatever that costs; it must not keep the next look waiting.
      if (!configuration.resolved) cost += performance.now() - began
      if (configuration.idle) for (const done of waiting.splice(0)) done()
      return worked
    },
    dueIn(watching) {
      const next = watching ? Math.max(0, every - (performance.now() - lookedAt)) : null
      const dues = [configuration.dueIn(), next].filter((ms) => ms !== null)
      return dues.length === 0 ? null : Math.min(...dues)
    },
  }
}
