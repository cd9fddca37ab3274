import type { StructuredFormat } from './format.ts'
import { readJsonTree } from './json-tree.ts'
import { isRefused, type KeyPath, lineFinder, type Refused } from './key-path.ts'
import { parsePlain } from './parse-plain.ts'
import { isTable, valueAt } from './plain-value.ts'
import { readTomlTree, type TomlEntry, type TomlValue } from './toml-tree.ts'
import type { ValueTree } from './value-tree.ts'
import { readYamlTree, type YamlItem, type YamlMember, type YamlValue } from './yaml-tree.ts'

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
  const put = (key: KeyPath, offset: number): void => {
    // A table made by dotted keys or headers begins where it is first named.
    const name = JSON.stringify(key)
    if (!places.has(name)) places.set(name, lines(offset))
  }
  if (format === 'toml') putToml(text, put)
  else if (format === 'yaml') {
    const tree = readYamlTree(text)
    if (tree !== null) putYaml(tree, [], put)
  } else putJson(readJsonTree(text, format), [], put)
  return places
}

type Put = (key: KeyPath, offset: number) => void

function putJson(tree: ValueTree, key: KeyPath, put: Put): void {
  if (tree.kind === 'list') {
    for (const [at, item] of tree.items.entries()) {
      put([...key, at], item.start)
      putJson(item, [...key, at], put)
    }
  } else if (tree.kind === 'table') {
    // Of a key that stands twice, the last one counts.
    for (const member of [...tree.members].reverse()) {
      put([...key, member.key], member.start)
      putJson(member.value, [...key, member.key], put)
    }
  }
}

function putYaml(tree: YamlValue, key: KeyPath, put: Put): void {
  const children: readonly (YamlMember | YamlItem)[] =
    tree.kind === 'table' ? tree.members : tree.kind === 'list' ? tree.items : []
  for (const [at, child] of [...children.entries()].reverse()) {
    const name: KeyPath = [...key, 'key' in child ? child.key : at]
    put(name, child.start)
    putYaml(child.value, name, put)
  }
}

function putToml(text: string, put: Put): void {
  for (const section of readTomlTree(text)) {
    putAll(section.path, 0, section.start, put)
    for (const entry of section.entries) putEntry(section.path, entry, put)
  }
}

function putEntry(base: KeyPath, entry: TomlEntry, put: Put): void {
  const key = [...base, ...entry.parts]
  putAll(key, base.length, entry.start, put)
  putTomlValue(key, entry.value, put)
}

function putTomlValue(key: KeyPath, value: TomlValue, put: Put): void {
  if (value.kind === 'table') for (const member of value.members) putEntry(key, member, put)
  else if (value.kind === 'list') {
    for (const [at, item] of value.items.entries()) {
      put([...key, at], item.start)
      putTomlValue([...key, at], item, put)
    }
  }
}

function putAll(key: KeyPath, from: number, offset: number, put: Put): void {
  for (let length = from + 1; length <= key.length; length++) put(key.slice(0, length), offset)
}
