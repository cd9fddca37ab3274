import { TomlDate } from 'smol-toml'
import { isTable } from './plain-value.ts'

export function tomlKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : basicString(key)
}

/**
 * A value on one line; null when TOML has no such value (nothing, a half of a character pair). `before` is how the old value was written:
 * quotes and a decimal point are kept where they can be.
 */
export function tomlValue(value: unknown, before = ''): string | null {
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) return null
    const literal = before.startsWith("'") && !before.startsWith("'''") && /^[^'\p{Cc}]*$/u.test(value)
    return literal ? `'${value}'` : basicString(value)
  }
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') return numberText(value, before)
  if (value instanceof TomlDate || value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => tomlValue(item))
    return items.includes(null) ? null : `[${items.join(', ')}]`
  }
  if (!isTable(value)) return null
  const entries = Object.entries(value).map(([key, item]) => {
    const written = tomlValue(item)
    return written === null || /\p{Surrogate}/u.test(key) ? null : `${tomlKey(key)} = ${written}`
  })
  if (entries.includes(null)) return null
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}

function numberText(value: number, before: string): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf'
  if (Number.isInteger(value)) {
    const wasFloat = /^[+-]?[\d_]+(\.[\d_]+)?([eE][+-]?[\d_]+)?$/.test(before) && /[.eE]/.test(before)
    if (Object.is(value, -0)) return '-0.0'
    if (Number.isSafeInteger(value)) return wasFloat ? `${value}.0` : String(value)
    const text = String(value)
    return /[.e]/.test(text) ? text : `${text}.0`
  }
  return String(value)
}

function basicString(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', '\\u007f')
}

/** Sections for a table: its single values first, then the tables in it. Null: a value TOML does not have. */
export function tomlSections(
  header: readonly string[],
  array: boolean,
  table: Readonly<Record<string, unknown>>,
  end: string,
): string | null {
  const tables = Object.entries(table).filter(([, item]) => isTable(item))
  const lists = Object.entries(table).filter(([, item]) => isTableList(item))
  const inner = new Set([...tables, ...lists].map(([key]) => key))
  const name = header.map(tomlKey).join('.')
  const lines = [array ? `[[${name}]]` : `[${name}]`]
  for (const [key, item] of Object.entries(table)) {
    if (inner.has(key)) continue
    const written = tomlValue(item)
    if (written === null) return null
    lines.push(`${tomlKey(key)} = ${written}`)
  }
  const needless = !array && lines.length === 1 && inner.size > 0
  const blocks = needless ? [] : [lines.join(end)]
  for (const [key, item] of tables) {
    const block = isTable(item) ? tomlSections([...header, key], false, item, end) : null
    if (block === null) return null
    blocks.push(block)
  }
  for (const [key, item] of lists) {
    for (const one of Array.isArray(item) ? item : []) {
      const block = isTable(one) ? tomlSections([...header, key], true, one, end) : null
      if (block === null) return null
      blocks.push(block)
    }
  }
  return blocks.join(end + end)
}

/** A list that is written as `[[sections]]`. */
export function isTableList(value: unknown): value is readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) && value.length > 0 && value.every(isTable)
}
