import type { HomeRef } from './importer.ts'

/**
 * Homes to be looked at because something in them changed. Where sessions lie in a database every row that is added is such a change, so
 * looks come in such distances that they cost a fixed share of a core at most, however large the home is.
 */
export interface HomeLooks {
  ask(home: HomeRef): void
  /** A home whose look is due; it is asked for no more. */
  next(): HomeRef | null
  /** What looking at a home, and reading what was found, took. */
  spent(home: string, ms: number): void
  dueIn(): number | null
}

/** Rest after work, as a multiple of it. */
const REST = 10
const LONGEST_MS = 15_000

export const createHomeLooks = (now: () => Date): HomeLooks => {
  const asked = new Map<string, HomeRef>()
  const rests = new Map<string, { began: number; spent: number }>()

  const due = (home: string): number => {
    const rest = rests.get(home)
    return rest ? rest.began + Math.min(LONGEST_MS, rest.spent * REST) : 0
  }

  return {
    ask(home) {
      asked.set(home.path, home)
    },
    next() {
      const at = now().getTime()
      for (const [place, home] of asked) {
        if (due(place) > at) continue
        asked.delete(place)
        rests.set(place, { began: at, spent: 0 })
        return home
      }
      return null
    },
    spent(home, ms) {
      const rest = rests.get(home)
      if (rest) rest.spent += ms
    },
    dueIn() {
      if (asked.size === 0) return null
      return Math.max(0, Math.min(...[...asked.keys()].map(due)) - now().getTime())
    },
  }
}
