import type { Tokens } from '../../../contract/index.ts'
import { asNumber, asRow } from '../shared/fields.ts'

/**
 * Usage of a reply; `input` is what was not read from the cache (2026.9.6). All zeros say that the provider reported none: unknown, not
 * free (wild fixtures).
 */
export function readTokens(usage: unknown): Tokens | null {
  const row = asRow(usage)
  if (row === null) return null
  const tokens = {
    input: count(row.input),
    output: count(row.output),
    cache_read: count(row.cacheRead),
    cache_write: count(row.cacheWrite),
  }
  return Object.values(tokens).every((value) => value === 0) ? null : tokens
}

function count(value: unknown): number {
  const number = asNumber(value)
  return number === null || number < 0 ? 0 : Math.floor(number)
}
