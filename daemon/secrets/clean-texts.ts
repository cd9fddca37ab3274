/** Longer texts seldom come twice, and would keep memory for it. */
const LONGEST = 200
/** Two generations of this many texts are at most remembered: about 1 MB. */
const GENERATION = 4_000

/**
 * Short texts in which nothing was found, the latest ones. The paths, names and rules of a configuration pass the search for secrets several
 * times on their way (the body, its validation, the store, the answer); what a text holds does not change between.
 */
export interface CleanTexts {
  has(text: string): boolean
  add(text: string): void
}

export function createCleanTexts(): CleanTexts {
  let young = new Set<string>()
  let old = new Set<string>()
  const add = (text: string): void => {
    if (text.length > LONGEST) return
    if (young.size >= GENERATION) {
      old = young
      young = new Set()
    }
    young.add(text)
  }
  return {
    has(text) {
      if (text.length > LONGEST) return false
      if (young.has(text)) return true
      if (!old.has(text)) return false
      add(text)
      return true
    },
    add,
  }
}
