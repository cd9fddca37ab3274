import { dotted, type Json, type Leaf, mapLeaves, type Tree } from './config-tree.ts'

/** `${NAME}` and its escape `$${NAME}`; lower-case names are no names. */
const REFERENCE = /\$(\$?)\{([A-Z_][A-Z0-9_]*)\}/g

export interface Substituted {
  readonly tree: Tree
  /** Names that were set and put in, everywhere. */
  readonly used: ReadonlySet<string>
  /** One for each place that stays literal: the literal text goes out as it stands. */
  readonly missing: readonly { readonly name: string; readonly at: string }[]
}

/** Puts variables into every string. An unset or empty one stays as it is written. */
export function substitute(tree: Tree, get: (name: string) => string | null): Substituted {
  const used = new Set<string>()
  const missing: { name: string; at: string }[] = []
  const fill = (value: Json, where: string, put: Set<string>): Json => {
    if (typeof value === 'string') {
      if (!value.includes('$')) return value
      return value.replace(REFERENCE, (whole, escaping: string, name: string) => {
        if (escaping !== '') return whole.slice(1)
        const found = get(name)
        if (found === null || found === '') {
          missing.push({ name, at: where })
          return whole
        }
        put.add(name)
        used.add(name)
        return found
      })
    }
    if (Array.isArray(value)) return value.map((inner, index) => fill(inner, `${where}[${index}]`, put))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, fill(inner, `${where}.${key}`, put)]))
  }
  const filled = mapLeaves(tree, (one: Leaf, keys) => {
    const put = new Set<string>()
    const value = fill(one.value, dotted(keys), put)
    return put.size === 0 && value === one.value ? one : { ...one, value, variables: [...put] }
  })
  return { tree: filled, used, missing }
}
