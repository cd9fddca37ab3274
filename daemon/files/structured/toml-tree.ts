import { parse } from 'smol-toml'

/**
 * Where everything of a TOML text stands, line by line. The text was parsed before and is valid, so this only has to find borders.
 * Offsets are `[start, end)` in UTF-16 units.
 */
export type TomlValue =
  | { readonly kind: 'scalar'; readonly start: number; readonly end: number }
  | { readonly kind: 'list'; readonly start: number; readonly end: number; readonly items: readonly TomlValue[] }
  | { readonly kind: 'table'; readonly start: number; readonly end: number; readonly members: readonly TomlEntry[] }

export interface TomlEntry {
  /** Dotted keys have several parts. */
  readonly parts: readonly string[]
  readonly start: number
  readonly value: TomlValue
}

export interface TomlSection {
  /** With the index of each table of an array on the way, so that it is the key of the section's table. */
  readonly path: readonly (string | number)[]
  readonly kind: 'root' | 'table' | 'array'
  /** Of the header's line; 0 for the root. */
  readonly start: number
  /** Behind the header, before blanks and remark. */
  readonly headEnd: number
  readonly entries: readonly TomlEntry[]
}

export function readTomlTree(text: string): readonly TomlSection[] {
  const sections: { section: Omit<TomlSection, 'entries'>; entries: TomlEntry[] }[] = [
    { section: { path: [], kind: 'root', start: 0, headEnd: 0 }, entries: [] },
  ]
  const counts = new Map<string, number>()
  let at = 0
  for (;;) {
    at = skipBlank(text, at)
    if (at >= text.length) break
    if (text.charAt(at) === '[') {
      const array = text.startsWith('[[', at)
      const key = scanKey(text, at + (array ? 2 : 1))
      const headEnd = skipSpaces(text, key.end) + (array ? 2 : 1)
      const path = absolutePath(key.parts, array, counts)
      sections.push({ section: { path, kind: array ? 'array' : 'table', start: at, headEnd }, entries: [] })
      at = headEnd
    } else {
      const entry = scanEntry(text, at)
      sections.at(-1)?.entries.push(entry)
      at = entry.value.end
    }
  }
  return sections.map(({ section, entries }) => ({ ...section, entries }))
}

function absolutePath(parts: readonly string[], array: boolean, counts: Map<string, number>): (string | number)[] {
  const path: (string | number)[] = []
  for (const [depth, part] of parts.entries()) {
    path.push(part)
    const name = JSON.stringify(path)
    const last = depth === parts.length - 1
    const count = counts.get(name)
    if (last && array) {
      counts.set(name, (count ?? 0) + 1)
      path.push(count ?? 0)
    } else if (count !== undefined) path.push(count - 1)
  }
  return path
}

function scanEntry(text: string, start: number): TomlEntry {
  const key = scanKey(text, start)
  const equals = skipSpaces(text, key.end)
  return { parts: key.parts, start, value: scanValue(text, skipSpaces(text, equals + 1)) }
}

function scanKey(text: string, from: number): { readonly parts: readonly string[]; readonly end: number } {
  const parts: string[] = []
  let at = skipSpaces(text, from)
  for (;;) {
    const quote = text.charAt(at)
    const start = at
    if (quote === '"' || quote === "'") {
      at = endOfString(text, at)
      parts.push(unquote(text.slice(start, at)))
    } else {
      while (/[A-Za-z0-9_-]/.test(text.charAt(at))) at++
      parts.push(text.slice(start, at))
      if (at === start) return { parts, end: at }
    }
    const next = skipSpaces(text, at)
    if (text.charAt(next) !== '.') return { parts, end: at }
    at = skipSpaces(text, next + 1)
  }
}

function unquote(raw: string): string {
  const value: unknown = parse(`x = ${raw}`).x
  return typeof value === 'string' ? value : raw
}

function scanValue(text: string, start: number): TomlValue {
  const first = text.charAt(start)
  if (first === '"' || first === "'") return { kind: 'scalar', start, end: endOfString(text, start) }
  if (first === '[') {
    const items: TomlValue[] = []
    const end = scanBetween(text, start, ']', (at) => {
      const item = scanValue(text, at)
      items.push(item)
      return item.end
    })
    return { kind: 'list', start, end, items }
  }
  if (first === '{') {
    const members: TomlEntry[] = []
    const end = scanBetween(text, start, '}', (at) => {
      const member = scanEntry(text, at)
      members.push(member)
      return member.value.end
    })
    return { kind: 'table', start, end, members }
  }
  let end = start
  while (end < text.length && !/[,\]}#\r\n]/.test(text.charAt(end))) end++
  return { kind: 'scalar', start, end: start + text.slice(start, end).trimEnd().length }
}

function scanBetween(text: string, start: number, close: string, scan: (at: number) => number): number {
  let at = start + 1
  while (at < text.length) {
    at = skipBlank(text, at)
    const here = text.charAt(at)
    if (here === close) return at + 1
    const next = here === ',' ? at + 1 : scan(at)
    at = next > at ? next : at + 1
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  const quote = text.charAt(start)
  const triple = quote.repeat(3)
  if (text.startsWith(triple, start)) {
    let at = start + 3
    while (at < text.length) {
      if (quote === '"' && text.charAt(at) === '\\') at += 2
      else if (text.startsWith(triple, at)) {
        at += 3
        // Up to two quotes may stand directly before the closing ones.
        for (let more = 0; more < 2 && text.charAt(at) === quote; more++) at++
        return at
      } else at++
    }
    return text.length
  }
  let at = start + 1
  while (at < text.length && text.charAt(at) !== quote) at += quote === '"' && text.charAt(at) === '\\' ? 2 : 1
  return at + 1
}

function skipSpaces(text: string, at: number): number {
  while (text.charAt(at) === ' ' || text.charAt(at) === '\t') at++
  return at
}

function skipBlank(text: string, at: number): number {
  for (;;) {
    while (at < text.length && /\s/.test(text.charAt(at))) at++
    if (text.charAt(at) !== '#') return at
    const next = text.indexOf('\n', at)
    at = next < 0 ? text.length : next
  }
}
