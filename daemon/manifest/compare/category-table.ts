import { type CategoryResult, type CompareCategory, compareCategories } from '../../../contract/index.ts'
import { categoryOf } from './categories.ts'
import type { FieldComparison, FieldSide, Tally } from './fields.ts'

const items: Readonly<Record<CompareCategory, string>> = {
  instructions: 'source',
  'memory and context': 'memory file',
  settings: 'key or file',
  'skills, plugins and hooks': 'capability or file',
  'mcp servers and tools': 'server or tool',
  'model and endpoint': 'entry',
  program: 'entry',
  'permissions, trust and sandbox': 'rule',
  environment: 'variable',
  repository: 'entry',
  'flags and start': 'flag',
  'external state': 'outside thing',
}

/** All twelve categories, each with what it rests on (R72, R101): an empty answer is a table with evidence. */
export const tableOf = ({ tallies }: FieldComparison, a: FieldSide, b: FieldSide): CategoryResult[] =>
  compareCategories.map((category) => {
    const tally = tallies.get(category) as Tally
    const notKnown = unknownsOf(category, tally, a, b)
    const isCompared = tally.compared > 0
    return {
      category,
      state:
        tally.different > 0
          ? 'different'
          : !isCompared
            ? 'not_compared'
            : notKnown.length > 0
              ? 'partly_compared'
              : 'equal',
      a: isCompared ? `sha256:${tally.a.digest('hex')}` : null,
      b: isCompared ? `sha256:${tally.b.digest('hex')}` : null,
      how: isCompared ? wordsOf(category, tally) : 'nothing that both sides know',
      not_known: notKnown,
    }
  })

const wordsOf = (category: CompareCategory, { items: count, compared }: Tally): string => {
  const noun = items[category]
  const plural = noun.replace(/^(\w+)( or )?/, (_, first: string, or: string | undefined) =>
    or ? `${many(first)} or ` : noun.includes(' ') ? first : many(first),
  )
  const last = plural.replace(/ (\w+)$/, (_, word: string) => ` ${many(word)}`)
  const parts = count === 0 ? [] : [`${count} ${count === 1 ? noun : last}`]
  return [...parts, `${compared} ${compared === 1 ? 'value' : 'values'}`].join(', ')
}
const many = (word: string): string =>
  word.endsWith('y') && !word.endsWith('ey') ? `${word.slice(0, -1)}ies` : `${word}s`

const unknownsOf = (
  category: CompareCategory,
  tally: Tally,
  a: FieldSide,
  b: FieldSide,
): CategoryResult['not_known'] => {
  const found = new Map<string, CategoryResult['not_known'][number]>()
  const add = (field: string, why: string, side: 'a' | 'b' | 'both'): void => {
    const key = `${field}\0${why}`
    const known = found.get(key)
    found.set(key, { field, why, side: known && known.side !== side ? 'both' : side })
  }
  for (const [letter, side] of [
    ['a', a],
    ['b', b],
  ] as const) {
    for (const { field, why } of side.knowledge.entries)
      if (categoryOf(field, sourceNamed(side, field)) === category) add(field, why, letter)
    // Nothing can be compared of what was not captured on either side.
    if (category === 'external state')
      for (const { kind, name, state, reason } of side.body.external)
        if (state === 'not_captured') add(`external ${kind} ${name}`, reason ?? 'not captured', letter)
  }
  const named = new Set([...found.values()].map(({ field }) => field))
  for (const [field, { why, side }] of tally.notKnown) if (!named.has(field)) add(field, why, side)
  return [...found.values()]
}

const sourceNamed = ({ body }: FieldSide, field: string) => {
  const uri = /^instructions\.sources (.+)$/s.exec(field)?.[1]
  return uri === undefined ? null : (body.instructions.sources.find((source) => source.uri === uri) ?? null)
}
