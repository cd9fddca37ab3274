import type { Tokens } from '../../../contract/index.ts'
import { asNumber, asRow, type Row } from '../shared/fields.ts'

const none: Tokens = { input: 0, output: 0, cache_read: 0, cache_write: 0 }

/**
 * Usage in the form all runtimes share. The counts of this provider contain one another: `input_tokens` includes what came from the
 * cache, `output_tokens` includes reasoning.
 */
export function readUsage(value: unknown): Tokens | null {
  const row = asRow(value)
  if (row === null || asNumber(row.input_tokens) === null) return null
  const cached = count(row.cached_input_tokens)
  const written = count(row.cache_write_input_tokens)
  return {
    input: Math.max(0, count(row.input_tokens) - cached - written),
    output: count(row.output_tokens),
    cache_read: cached,
    cache_write: written,
  }
}

/**
 * Usage of a thread. Where each response has a record of its own (0.171), their sum; else the last total, plus, whenever the total falls,
 * the last one before the fall (wild fixtures, counting rules). Rows that repeat the total add nothing. A fork goes on counting from the
 * total of its parent: that part is its parent's.
 */
export class ThreadUsage {
  #recorded: Tokens | null = null
  #finished: Tokens = none
  #last: { readonly row: Row; readonly sum: number } | null = null
  #inherited: Tokens = none
  /** Totals go on from another thread's. */
  inherits = false

  get total(): Tokens {
    if (this.#recorded !== null) return this.#recorded
    return subtract(add(this.#finished, readUsage(this.#last?.row) ?? none), this.#inherited)
  }

  get isKnown(): boolean {
    return this.#recorded !== null || this.#last !== null
  }

  /** One response with its own usage. */
  record(tokens: Tokens): void {
    this.#recorded = add(this.#recorded ?? none, tokens)
  }

  /** A running total. Gives what the last response used when the total is another than before. */
  count(info: Row): Tokens | null {
    const total = asRow(info.total_token_usage)
    if (total === null) return null
    const last = readUsage(info.last_token_usage)
    const sum = count(total.total_tokens) || count(total.input_tokens) + count(total.output_tokens)
    const before = this.#last
    if (before === null && this.inherits) this.#inherited = subtract(readUsage(total) ?? none, last ?? none)
    if (before !== null && sum === before.sum) return null
    if (before !== null && sum < before.sum) this.#finished = add(this.#finished, readUsage(before.row) ?? none)
    this.#last = { row: total, sum }
    return last
  }
}

export const add = (a: Tokens, b: Tokens): Tokens => ({
  input: a.input + b.input,
  output: a.output + b.output,
  cache_read: a.cache_read + b.cache_read,
  cache_write: a.cache_write + b.cache_write,
})

const subtract = (a: Tokens, b: Tokens): Tokens => ({
  input: Math.max(0, a.input - b.input),
  output: Math.max(0, a.output - b.output),
  cache_read: Math.max(0, a.cache_read - b.cache_read),
  cache_write: Math.max(0, a.cache_write - b.cache_write),
})

function count(value: unknown): number {
  const number = asNumber(value)
  return number === null || number < 0 ? 0 : Math.floor(number)
}
