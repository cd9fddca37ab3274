/**
 * A configuration in which every value knows the file it came from and what it won over. Includes are merged as 2026.9.6 does: objects
 * key by key, lists joined, everything else replaced by what comes later.
 */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Leaf {
  readonly type: 'leaf'
  readonly value: Json
  /** Path of a file, `flag:…`, `default`. */
  readonly origin: string
  /** More than one for a list joined from several files. */
  readonly mergedFrom: readonly string[]
  readonly overridden: readonly Lost[]
  /** Names of the environment variables put into it. */
  readonly variables: readonly string[]
}

export interface Branch {
  readonly type: 'branch'
  readonly origin: string
  readonly entries: ReadonlyMap<string, Tree>
  readonly overridden: readonly Lost[]
}

export interface Lost {
  readonly value: Json
  readonly source: string
}

export type Tree = Leaf | Branch

export const leaf = (value: Json, origin: string): Leaf => ({
  type: 'leaf',
  value,
  origin,
  mergedFrom: [origin],
  overridden: [],
  variables: [],
})

export const branch = (entries: ReadonlyMap<string, Tree>, origin: string): Branch => ({
  type: 'branch',
  origin,
  entries,
  overridden: [],
})

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export function plant(value: Json, origin: string): Tree {
  if (!isObject(value)) return leaf(value, origin)
  return branch(new Map(Object.entries(value).map(([key, inner]) => [key, plant(inner as Json, origin)])), origin)
}

/** `over` comes later and wins. */
export function merge(under: Tree, over: Tree): Tree {
  if (under.type === 'branch' && over.type === 'branch') {
    const entries = new Map(under.entries)
    for (const [key, inner] of over.entries) {
      const known = entries.get(key)
      entries.set(key, known === undefined ? inner : merge(known, inner))
    }
    return { ...over, entries, overridden: [...over.overridden, ...under.overridden] }
  }
  if (under.type === 'leaf' && over.type === 'leaf' && Array.isArray(under.value) && Array.isArray(over.value)) {
    return { ...over, value: [...under.value, ...over.value], mergedFrom: [...under.mergedFrom, ...over.mergedFrom] }
  }
  const lost: Lost = { value: toJson(under), source: under.origin }
  return { ...over, overridden: [...over.overridden, lost, ...under.overridden] }
}

export function toJson(tree: Tree): Json {
  if (tree.type === 'leaf') return tree.value
  return Object.fromEntries([...tree.entries].map(([key, inner]) => [key, toJson(inner)]))
}

export function at(tree: Tree, ...keys: readonly string[]): Tree | null {
  let found: Tree | null = tree
  for (const key of keys) found = found?.type === 'branch' ? (found.entries.get(key) ?? null) : null
  return found
}

export function valueAt(tree: Tree, ...keys: readonly string[]): Json | undefined {
  const found = at(tree, ...keys)
  return found === null ? undefined : toJson(found)
}

export function textAt(tree: Tree, ...keys: readonly string[]): string | null {
  const value = valueAt(tree, ...keys)
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

export function namesAt(tree: Tree, ...keys: readonly string[]): readonly string[] | null {
  const value = valueAt(tree, ...keys)
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : null
}

export function branchesAt(tree: Tree, ...keys: readonly string[]): ReadonlyMap<string, Tree> {
  const found = at(tree, ...keys)
  return found?.type === 'branch' ? found.entries : new Map()
}

/** The tree with every leaf passed through `change`; keys are as they stand in the file. */
export function mapLeaves(
  tree: Tree,
  change: (leaf: Leaf, keys: readonly string[]) => Leaf,
  keys: readonly string[] = [],
): Tree {
  if (tree.type === 'leaf') return change(tree, keys)
  return {
    ...tree,
    entries: new Map([...tree.entries].map(([key, inner]) => [key, mapLeaves(inner, change, [...keys, key])])),
  }
}

/** `a.b`, with keys that hold a dot themselves in quotes. */
export const dotted = (keys: readonly string[]): string =>
  keys.map((key) => (key === '' || key.includes('.') ? JSON.stringify(key) : key)).join('.')
