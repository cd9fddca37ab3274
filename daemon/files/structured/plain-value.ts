import { isRefused, type KeyEdit, type KeyPath, type Refused, showKey } from './key-path.ts'

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)
}

/** Equal as a configuration: the order of keys and how a number is written do not count; dates count by what they say. */
export function sameValue(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a === 'bigint' || typeof b === 'bigint') {
    return asBig(a) !== null && asBig(a) === asBig(b)
  }
  if (typeof a === 'number' && typeof b === 'number') return a === b
  if (a instanceof Date || b instanceof Date) {
    return a instanceof Date && b instanceof Date && shownDate(a) === shownDate(b)
  }
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, at) => sameValue(item, b[at]))
  }
  if (!isTable(a) || !isTable(b)) return false
  const keys = Object.keys(a)
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && sameValue(a[key], b[key]))
  )
}

function asBig(value: unknown): bigint | null {
  if (typeof value === 'bigint') return value
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : null
}

/** A TOML date says itself how it was written (with an offset, local, date or time only). */
export function shownDate(date: Date): string {
  return Number.isNaN(date.getTime()) ? 'invalid' : date.toISOString()
}

export function valueAt(value: unknown, key: KeyPath): { readonly value: unknown } | null {
  let here = value
  for (const part of key) {
    if (Array.isArray(here)) {
      if (typeof part !== 'number' || part < 0 || part >= here.length) return null
      here = here[part]
    } else if (isTable(here)) {
      if (typeof part !== 'string' || !Object.hasOwn(here, part)) return null
      here = here[part]
    } else return null
  }
  return { value: here }
}

/** What the whole must be after an edit; missing tables on the way are made, a list grows only at its end. */
export function withEdit(value: unknown, edit: KeyEdit): { readonly value: unknown } | Refused {
  return change(value, edit, 0)
}

function change(before: unknown, edit: KeyEdit, depth: number): { readonly value: unknown } | Refused {
  const part = edit.key[depth]
  if (part === undefined) return { value: edit.value }
  // `key:` without a value is where a table may begin.
  const value = before === null ? emptyFor(part) : before
  const removes = edit.value === undefined
  const last = depth === edit.key.length - 1
  const where = showKey(edit.key.slice(0, depth)) || 'the file'
  if (typeof part === 'number') {
    if (!Array.isArray(value)) return { refused: `${where} is not a list` }
    const there = part >= 0 && part < value.length
    if (!there && removes) return { value }
    if (!there && part !== value.length) {
      return { refused: `${where} has ${value.length} entries; an entry can be added only at its end` }
    }
    const list = [...value]
    if (last && removes) list.splice(part, 1)
    else {
      const inner = change(there ? value[part] : emptyFor(edit.key[depth + 1]), edit, depth + 1)
      if (isRefused(inner)) return inner
      list[part] = inner.value
    }
    return { value: list }
  }
  if (!isTable(value)) return { refused: `${where} is not a table of keys` }
  const there = Object.hasOwn(value, part)
  if (!there && removes) return { value }
  const entries = new Map(Object.entries(value))
  if (last && removes) entries.delete(part)
  else {
    const inner = change(there ? value[part] : emptyFor(edit.key[depth + 1]), edit, depth + 1)
    if (isRefused(inner)) return inner
    entries.set(part, inner.value)
  }
  return { value: Object.fromEntries(entries) }
}

function emptyFor(next: string | number | undefined): unknown {
  return typeof next === 'number' ? [] : {}
}

/** The value that must be written where `key` stops being there: the rest of the key becomes tables and lists. */
export function wrapRest(rest: KeyPath, value: unknown): unknown {
  return rest.reduceRight<unknown>(
    (inner, part) => (typeof part === 'number' ? [inner] : Object.fromEntries([[part, inner]])),
    value,
  )
}
