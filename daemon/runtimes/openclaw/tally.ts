import type { Tokens } from '../../../contract/index.ts'
import { IdTable } from '../../capture/id-table.ts'
import { Names } from '../shared/names.ts'

/** What is counted and remembered over all rows of a session, whatever became of each. */
export class Tally {
  readonly types = new Names()
  readonly unknown = new Names()
  readonly workspaces = new Names()
  readonly models = new Names()
  /** Ids that headers carry. */
  readonly sessions = new Names()
  rows = 0
  repeatedRows = 0
  conversation = false
  /** The last thing that happened in the conversation is an error the record names. */
  failed = false
  firstPrompt: string | null = null
  title: string | null = null
  clockStepsBack = 0
  earliest: string | null = null
  latest: string | null = null
  /** A reply of the model without usage: the sum is less than what was used. */
  withoutUsage = false
  #before: string | null = null
  #input = 0
  #output = 0
  #cacheRead = 0
  #cacheWrite = 0
  readonly #responses = new IdTable()

  get tokens(): Tokens {
    return { input: this.#input, output: this.#output, cache_read: this.#cacheRead, cache_write: this.#cacheWrite }
  }

  /** Order is file order; a time that steps back is counted and changes nothing (R30). */
  clock(at: string | null): void {
    if (at === null) return
    if (this.#before !== null && at < this.#before) this.clockStepsBack++
    this.#before = at
    if (this.earliest === null || at < this.earliest) this.earliest = at
    if (this.latest === null || at > this.latest) this.latest = at
  }

  /** Counts the usage of a reply; of a response that stands on two rows only the first. False when it was counted before. */
  spend(tokens: Tokens | null, response: string | null): boolean {
    if (response !== null) {
      if (this.#responses.get(response) !== -1) return false
      this.#responses.set(response, 0)
    }
    if (tokens === null) this.withoutUsage = true
    else {
      this.#input += tokens.input
      this.#output += tokens.output
      this.#cacheRead += tokens.cache_read
      this.#cacheWrite += tokens.cache_write
    }
    return true
  }
}
