import type { Tokens } from '../../../contract/index.ts'
import { asList, asName, asNumber, asRow, type Row } from '../shared/fields.ts'

/** What the session used in all; the database keeps no counts of single replies (0.20.0). */
export interface Totals {
  /** Null when the record has no counters: unknown, not free. */
  readonly tokens: Tokens | null
  /** One line for the event that carries them. */
  readonly text: string
}

/** From the unit's `meta`: counters of the conversation, and those of calls for compaction or titles. */
export function totalsOf(meta: Row): Totals {
  const usage = asRow(meta.usage)
  const source = asName(meta.source)
  const where = source === null ? 'Session' : `Session on ${source}`
  if (usage === null) return { tokens: null, text: where }
  const parts = [usage, ...asList(usage.other).map((item) => asRow(item) ?? {})]
  const sum = (name: string): number => parts.reduce((total, part) => total + Math.max(0, asNumber(part[name]) ?? 0), 0)
  const calls = sum('calls')
  const tokens = {
    input: sum('input'),
    output: sum('output'),
    cache_read: sum('cache_read'),
    cache_write: sum('cache_write'),
  }
  const known = calls > 0 || Object.values(tokens).some((count) => count > 0)
  return {
    tokens: known ? tokens : null,
    text: `${where}${known ? `: ${calls} model ${calls === 1 ? 'call' : 'calls'} in all, ${costOf(asRow(usage.cost))}` : ''}`,
  }
}

/** A status of `unknown` beside a cost of 0 means that no price is known (0.20.0). */
function costOf(cost: Row | null): string {
  const actual = asNumber(cost?.actual_usd)
  const estimated = asNumber(cost?.estimated_usd)
  const status = asName(cost?.status)
  if (status === null || status === 'unknown') return 'cost unknown'
  if (actual !== null && actual > 0) return `cost ${actual} USD (${status})`
  if (estimated !== null) return `cost ${estimated} USD (${status})`
  return `cost ${status}`
}
