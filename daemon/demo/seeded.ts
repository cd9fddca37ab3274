/** Repeatable randomness: the same seed gives the same sample, byte for byte. */
export interface Seeded {
  /** 0 ≤ n < below. */
  int(below: number): number
  hex(digits: number): string
  uuid(): string
  pick<T>(from: readonly T[]): T
}

export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }
  const int = (below: number): number => Math.floor((next() / 2 ** 32) * below)
  const hex = (digits: number): string => {
    let text = ''
    while (text.length < digits) text += next().toString(16).padStart(8, '0')
    return text.slice(0, digits)
  }
  return {
    int,
    hex,
    uuid: () => `${hex(8)}-${hex(4)}-4${hex(3)}-${'89ab'[int(4)]}${hex(3)}-${hex(12)}`,
    pick: (from) => {
      const item = from[int(from.length)]
      if (item === undefined) throw new RangeError('nothing to pick from')
      return item
    },
  }
}
