import type { StructuredFormat } from './format.ts'
import { readJsonTree } from './json-tree.ts'
import { isRefused, type KeyPath, lineFinder, type Refused } from './key-path.ts'
import { parsePlain } from './parse-plain.ts'
import { isTable, valueAt } from './plain-value.ts'
import type { ValueTree } from './value-tree.ts'

export interface KeyAt {
  readonly key: KeyPath
  readonly value: unknown
  /** 1-based line of the key, or of the entry of a list; null where the format does not tell it. */
  readonly line: number | null
}

/** Every key of the text, tables and lists before what is in them, in the order of the value; or the first error with its place. */
export function readKeys(text: string, format: StructuredFormat): { readonly keys: readonly KeyAt[] } | Refused {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text
  const parsed = parsePlain(body, format)
  if (isRefused(parsed)) return parsed
  const places = placesOf(body, format)
  const keys: KeyAt[] = []
  const visit = (value: unknown, key: KeyPath): void => {
    if (key.length > 0) keys.push({ key, value, line: places.get(JSON.stringify(key)) ?? null })
    if (Array.isArray(value)) value.forEach((item, at) => void visit(item, [...key, at]))
    else if (isTable(value)) for (const [name, item] of Object.entries(value)) visit(item, [...key, name])
  }
  visit(parsed.value, [])
  return { keys }
}

/** The value of one key, as an agent reads it; null: not there. */
export function readKey(
  text: string,
  format: StructuredFormat,
  key: KeyPath,
): { readonly value: unknown } | null | Refused {
  const parsed = parsePlain(text.startsWith('\uFEFF') ? text.slice(1) : text, format)
  return isRefused(parsed) ? parsed : valueAt(parsed.value, key)
}

function placesOf(text: string, format: StructuredFormat): ReadonlyMap<string, number> {
  const lines = lineFinder(text)
  const places = new Map<string, number>()
  const visit = (tree: ValueTree, key: KeyPath): void => {
    if (tree.kind === 'list') {
      for (const [at, item] of tree.items.entries()) {
        places.set(JSON.stringify([...key, at]), lines(item.start))
        visit(item, [...key, at])
      }
    } else if (tree.kind === 'table') {
      for (const member of tree.members) {
        places.set(JSON.stringify([...key, member.key]), lines(member.start))
        visit(member.value, [...key, member.key])
      }
    }
  }
  if (format === 'json' || format === 'jsonc' || format === 'json5') visit(readJsonTree(text, format), [])
  return places
}
