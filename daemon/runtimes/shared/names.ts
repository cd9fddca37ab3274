/** Distinct names in order of appearance, with how often each was seen. */
export class Names {
  readonly #counts = new Map<string, number>()

  add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
  }

  has(name: string): boolean {
    return this.#counts.has(name)
  }

  list(): readonly string[] {
    return [...this.#counts.keys()]
  }

  counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts)
  }

  /** The one seen most often, the earlier one of equals. */
  most(): string | null {
    let best: string | null = null
    let most = 0
    for (const [name, count] of this.#counts) {
      if (count > most) {
        best = name
        most = count
      }
    }
    return best
  }
}
