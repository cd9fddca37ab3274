import type { Tokens } from '../../../contract/index.ts'
import { IdTable, NumberList } from '../../capture/id-table.ts'
import { asNumber, asRow } from '../shared/fields.ts'

/**
 * Usage of replies, once per message with the values of its last row in the file: every row of a message repeats the usage, in older
 * versions with growing numbers (wild fixtures, counting rules).
 */
export class Usage {
  readonly #replies = new IdTable()
  /** Sequence number and four counts a reply. */
  readonly #values = new NumberList()
  #input = 0
  #output = 0
  #cacheRead = 0
  #cacheWrite = 0

  get total(): Tokens {
    return { input: this.#input, output: this.#output, cache_read: this.#cacheRead, cache_write: this.#cacheWrite }
  }

  /** Event of the reply; null for one not met yet. */
  seqOf(reply: string): number | null {
    const at = this.#replies.get(reply)
    return at === -1 ? null : this.#values.get(at)
  }

  /** True when the reply's usage is another than before. */
  set(reply: string, seq: number, tokens: Tokens): boolean {
    let at = this.#replies.get(reply)
    if (at === -1) {
      at = this.#values.push(seq)
      for (let n = 0; n < 4; n++) this.#values.push(0)
      this.#replies.set(reply, at)
    }
    const before = [1, 2, 3, 4].map((n) => this.#values.get(at + n)) as [number, number, number, number]
    this.#input += tokens.input - before[0]
    this.#output += tokens.output - before[1]
    this.#cacheRead += tokens.cache_read - before[2]
    this.#cacheWrite += tokens.cache_write - before[3]
    this.#values.set(at + 1, tokens.input)
    this.#values.set(at + 2, tokens.output)
    this.#values.set(at + 3, tokens.cache_read)
    this.#values.set(at + 4, tokens.cache_write)
    return (
      before[0] !== tokens.input ||
      before[1] !== tokens.output ||
      before[2] !== tokens.cache_read ||
      before[3] !== tokens.cache_write
    )
  }
}

/** Null when a row carries no usage: unknown, not free. */
export function readTokens(usage: unknown): Tokens | null {
  const row = asRow(usage)
  if (row === null) return null
  return {
    input: count(row.input_tokens),
    output: count(row.output_tokens),
    cache_read: count(row.cache_read_input_tokens),
    cache_write: count(row.cache_creation_input_tokens),
  }
}

function count(value: unknown): number {
  const number = asNumber(value)
  return number === null || number < 0 ? 0 : Math.floor(number)
}

/** Versions that write the output count of the start of the stream on every row (wild fixtures: 2.1.11 to 2.1.29). */
export function writesStartOfStream(version: string | null): boolean {
  const match = version === null ? null : /^2\.1\.(\d+)/.exec(version)
  if (match === null) return false
  const patch = Number(match[1])
  return patch >= 11 && patch <= 29
}

/**
 * Whether an output count can only be that of the start of the stream: the row was written before the reply had stopped, and there are
 * more than eight visible characters to each counted token (seen in 1.0 and 2.0 files: 1 to 5 tokens for pages of text).
 */
export function looksLikeStartOfStream(output: number, characters: number, stopReason: unknown): boolean {
  return (stopReason === null || stopReason === undefined) && characters > output * 8 && characters > 16
}
