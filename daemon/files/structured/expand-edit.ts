import type { KeyEdit, KeyPath } from './key-path.ts'
import { isTable, sameValue, valueAt } from './plain-value.ts'

/**
 * Takes an edit apart into the smallest ones: a table that stays a table changes key by key, a list that stays a list entry by entry, so
 * that remarks and order inside survive too. `whole` is the value of the file before.
 */
export function expandEdit(whole: unknown, edit: KeyEdit): readonly KeyEdit[] {
  if (edit.value === undefined) return [edit]
  const there = valueAt(whole, edit.key)
  return there === null ? [edit] : differences(edit.key, there.value, edit.value)
}

function differences(key: KeyPath, before: unknown, after: unknown): readonly KeyEdit[] {
  if (sameValue(before, after)) return []
  if (isTable(before) && isTable(after)) {
    const edits: KeyEdit[] = []
    for (const [name, value] of Object.entries(after)) {
      if (Object.hasOwn(before, name)) edits.push(...differences([...key, name], before[name], value))
      else edits.push({ key: [...key, name], value })
    }
    // Removed last: a table whose keys all change never stands empty in between.
    for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) edits.push({ key: [...key, name] })
    return edits
  }
  if (Array.isArray(before) && Array.isArray(after)) return listDifferences(key, before, after)
  return [{ key, value: after }]
}

function listDifferences(key: KeyPath, before: readonly unknown[], after: readonly unknown[]): readonly KeyEdit[] {
  if (before.length === after.length) {
    return before.flatMap((item, at) => differences([...key, at], item, after[at]))
  }
  // What only goes away goes away by itself; what only comes at the end is added there.
  let kept = 0
  const gone: number[] = []
  for (const [at, item] of before.entries()) {
    if (kept < after.length && sameValue(item, after[kept])) kept++
    else gone.push(at)
  }
  const removals = gone.reverse().map((at) => ({ key: [...key, at] }))
  const additions = after.slice(kept).map((value, at) => ({ key: [...key, kept + at], value }))
  return [...removals, ...additions]
}
