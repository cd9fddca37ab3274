import { createHash } from 'node:crypto'
import { TomlDate } from 'smol-toml'
import { asDigest, type Digest } from '../../../../contract/index.ts'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }
/** A configuration table as JSON. */
export type Table = Readonly<Record<string, Json>>

/** Keyed digest of a value, or the word `hidden`. */
export type Hide = (value: string) => string

export const isTable = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof TomlDate)

/** A parsed TOML value as JSON. Integers come in as bigint, so that `1` and `1.0` stay apart until here. */
export function toJson(value: unknown): Json {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (value instanceof TomlDate) return value.toISOString()
  if (Array.isArray(value)) return value.map(toJson)
  if (isTable(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))
  return null
}

export const toTable = (value: Readonly<Record<string, unknown>>): Table =>
  Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, toJson(inner)]))

/**
 * The `version` the program gives a layer: SHA-256 of its table as compact JSON with sorted keys (0.171.0: recomputed, equal). `raw` as
 * parsed, integers as bigint.
 */
export function layerVersion(raw: Readonly<Record<string, unknown>>): Digest {
  return asDigest(`sha256:${createHash('sha256').update(compact(raw)).digest('hex')}`)
}

function compact(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return Number.isInteger(value) ? value.toFixed(1) : String(value)
  if (value instanceof TomlDate) return `{"$__toml_private_datetime":${JSON.stringify(value.toISOString())}}`
  if (Array.isArray(value)) return `[${value.map(compact).join(',')}]`
  if (!isTable(value)) return JSON.stringify(value)
  const keys = Object.keys(value).sort(byBytes)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${compact(value[key])}`).join(',')}}`
}

/** The order of the program's own sorted maps: by UTF-8 bytes, not by UTF-16 units. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a, 'utf8'), Buffer.from(b, 'utf8'))

/** The value at a path of keys; undefined when there is none. */
export function at(table: Readonly<Record<string, unknown>>, ...keys: readonly string[]): unknown {
  let value: unknown = table
  for (const key of keys) {
    if (!isTable(value)) return undefined
    value = Object.hasOwn(value, key) ? value[key] : undefined
  }
  return value
}

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []

/** What Unicode calls white space, as the program trims it: a byte order mark stays (0.171.0). */
const SPACE = '[\\t-\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]+'
const EDGES = new RegExp(`^${SPACE}|${SPACE}$`, 'g')

export const trimmed = (text: string): string => text.replace(EDGES, '')

/** An address without user name, password and query. */
export function withoutCredentials(url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.username === '' && parsed.password === '' && parsed.search === '') return url
    parsed.username = ''
    parsed.password = ''
    return parsed.search === '' ? parsed.href : `${parsed.href.slice(0, parsed.href.indexOf('?'))}?…`
  } catch {
    return url.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '?…')
  }
}
