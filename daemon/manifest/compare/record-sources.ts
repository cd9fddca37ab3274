import type { ManifestBody } from '../../../contract/index.ts'
import type { FieldSide, Pair, Row } from './fields.ts'
import { isInside } from './inside.ts'

/**
 * A record may show a text without the file it came from (`record:` uris): the head of a prompt, several files in one message. Against
 * sources that were found in files only the text itself can be compared; where that decides nothing, nothing is gone and nothing is new.
 */
const isOfRecord = (row: Row | null | undefined): boolean =>
  typeof row?.uri === 'string' && row.uri.startsWith('record:')
const isEntering = (row: Row): boolean => typeof row.position === 'number'

/** The same text under the name of the record on one side and that of a file on the other is the same source. */
export const pairByText = (pairs: readonly Pair[]): readonly Pair[] => {
  const lonely = pairs.filter(({ a, b }) => a === null || b === null)
  const joined = new Map<Pair, Pair | null>()
  for (const pair of lonely) {
    const row = pair.a ?? pair.b
    if (!isOfRecord(row) || typeof row?.text_digest !== 'string') continue
    const other = lonely.find(
      (one) =>
        !joined.has(one) &&
        (pair.a === null ? one.a !== null : one.b !== null) &&
        !isOfRecord(one.a ?? one.b) &&
        (one.a ?? one.b)?.text_digest === row.text_digest,
    )
    if (!other) continue
    joined.set(other, { key: other.key, a: pair.a ?? other.a, b: pair.b ?? other.b })
    joined.set(pair, null)
  }
  return pairs.flatMap((pair) => {
    const found = joined.get(pair)
    return found === undefined ? [pair] : found === null ? [] : [found]
  })
}

const ofRecord = ({ body }: FieldSide): readonly Row[] =>
  body.instructions.sources.filter((row) => isOfRecord(row) && isEntering(row))
const textsOf = ({ body }: FieldSide): ReadonlySet<string> =>
  new Set(body.instructions.sources.flatMap(({ text_digest }) => (text_digest === null ? [] : [text_digest])))

/** What a side shows under names of the record that the other has in no form. */
const unmatched = (side: FieldSide, other: FieldSide): readonly Row[] => {
  const uris = new Set(other.body.instructions.sources.map(({ uri }) => uri))
  const texts = textsOf(other)
  return ofRecord(side).filter(({ uri, text_digest }) => !uris.has(String(uri)) && !texts.has(String(text_digest)))
}

const otherWays = (a: FieldSide, b: FieldSide): boolean => a.body.origin !== b.body.origin

/** Why a source that one side lists cannot be said to be missing on the other; null when record names play no part. */
export const whyRecordOnly = (row: Row, silent: FieldSide, there: FieldSide): string | null => {
  if (!otherWays(silent, there)) return null
  if (isOfRecord(row)) return 'only a record shows it, without the file it came from'
  if (isEntering(row) && unmatched(silent, there).length > 0)
    return 'the record shows texts without their files, and it may be in one of them'
  return null
}

/** The side that could not have words of the program in its text, when the other has; null when both are made of the same. */
export const knownOnlyInRecord = (a: FieldSide, b: FieldSide): 'a' | 'b' | null => {
  if (!otherWays(a, b)) return null
  const hasWords = (side: FieldSide, other: FieldSide): boolean =>
    unmatched(side, other).some(({ path }) => typeof path !== 'string')
  return hasWords(a, b) ? 'b' : hasWords(b, a) ? 'a' : null
}

/** Names of what enters, whether they are given whole or below the workspace. */
export const sameOrder = (a: FieldSide, b: FieldSide): boolean => {
  const [one, other] = [namesOf(a.body), namesOf(b.body)]
  return one.length === other.length && one.every((name, n) => name === other[n])
}
const namesOf = ({ instructions, execution }: ManifestBody): readonly string[] => {
  const roots = [execution.cwd, execution.repo?.root ?? null].filter((root) => root !== null)
  return instructions.resolved_order.map((name) => {
    const root = roots.find((one) => name !== one && isInside(name, one))
    return root === undefined ? name : name.slice(root.length + 1)
  })
}
