import type { Cover } from './places.ts'

type Row = Readonly<Record<string, unknown>>

export interface ItemKey {
  /** Equal on both sides for the same thing. */
  readonly id: string
  /** As it stands in a path of the answer. */
  readonly shown: string
}

/** What names an item of a list, best first. Lists of later versions are found by the same names. */
const NAMES = ['uri', 'name', 'path', 'rule', 'field', 'category', 'kind', 'id', 'source'] as const

const nameOf = (list: string, row: Row, cover: Cover): ItemKey => {
  if (list === 'external') return both(`${row.kind} ${row.name}`)
  for (const name of NAMES) {
    const value = row[name]
    if (typeof value !== 'string' || value === '') continue
    if (name !== 'uri') return { id: cover(value), shown: value }
    return {
      id: cover(value),
      shown: typeof row.path === 'string' && value.startsWith('file:') && !value.includes('#') ? row.path : value,
    }
  }
  return both(JSON.stringify(row))
}
const both = (text: string): ItemKey => ({ id: text, shown: text })

/**
 * Names for the items of both lists. A name that stands several times in one of them is told apart by where each comes from, then by
 * order. What is named by a place outside of all covered ones keeps its own.
 */
export const itemKeys = (
  list: string,
  a: readonly Row[],
  b: readonly Row[],
  coverA: Cover,
  coverB: Cover,
): { readonly a: readonly ItemKey[]; readonly b: readonly ItemKey[] } => {
  const first = { a: a.map((row) => nameOf(list, row, coverA)), b: b.map((row) => nameOf(list, row, coverB)) }
  const repeated = new Set([...repeats(first.a), ...repeats(first.b)])
  const apart = (keys: readonly ItemKey[], rows: readonly Row[], cover: Cover): ItemKey[] => {
    const seen = new Map<string, number>()
    return keys.map((key, n) => {
      if (!repeated.has(key.id)) return key
      const row = rows[n] as Row
      const from = [row.source, row.scope, row.path].find((one) => typeof one === 'string' && one !== key.shown)
      const place = from === undefined ? '' : ` @ ${String(from)}`
      const id = `${key.id}${cover(place)}`
      const count = (seen.get(id) ?? 0) + 1
      seen.set(id, count)
      const turn = count === 1 ? '' : ` #${count}`
      return { id: `${id}${turn}`, shown: `${key.shown}${place}${turn}` }
    })
  }
  const keys = { a: apart(first.a, a, coverA), b: apart(first.b, b, coverB) }
  if (coverA === coverB) return keys
  // The same file seen from two checkouts: a main work tree that is the workspace of one side only.
  const idsA = new Set(keys.a.map(({ id }) => id))
  const idsB = new Set(keys.b.map(({ id }) => id))
  const lonely = new Map(keys.a.filter(({ id }) => !idsB.has(id)).map((key) => [key.shown, key.id]))
  return {
    a: keys.a,
    b: keys.b.map((key) => {
      const other = idsA.has(key.id) ? undefined : lonely.get(key.shown)
      return other === undefined ? key : { id: other, shown: key.shown }
    }),
  }
}

const repeats = (keys: readonly ItemKey[]): string[] => {
  const seen = new Set<string>()
  const again: string[] = []
  for (const { id } of keys) {
    if (seen.has(id)) again.push(id)
    seen.add(id)
  }
  return again
}
