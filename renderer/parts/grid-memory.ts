/**
 * Where a list was left: its row and its scroll. Kept for the session, so that going back or reloading returns to the same place.
 */
export interface Place {
  readonly offset: number
  readonly key: string | null
  /** The list was worked in by keyboard or pointer. */
  readonly focused: boolean
}

const KEY = 'reprise.places'
const LIMIT = 60
let places: Map<string, Place> | null = null

function load(): Map<string, Place> {
  if (places !== null) return places
  try {
    places = new Map(JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as [string, Place][])
  } catch {
    places = new Map() // storage switched off or not ours
  }
  return places
}

export const placeOf = (memory: string): Place | undefined => load().get(memory)

let timer: ReturnType<typeof setTimeout> | null = null
export function rememberPlace(memory: string, place: Partial<Place>) {
  const all = load()
  const before = all.get(memory) ?? { offset: 0, key: null, focused: false }
  all.delete(memory)
  all.set(memory, { ...before, ...place })
  for (const oldest of all.keys()) {
    if (all.size <= LIMIT) break
    all.delete(oldest)
  }
  if (timer !== null) return
  timer = setTimeout(() => {
    timer = null
    try {
      sessionStorage.setItem(KEY, JSON.stringify([...all]))
    } catch {
      // Storage switched off: places last as long as the page.
    }
  }, 250)
}
