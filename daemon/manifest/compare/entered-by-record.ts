import type { CauseSide } from './causes/draft.ts'
import { entryOf, TEXTS } from './causes/sources.ts'
import type { Change, Row } from './fields.ts'
import { whyRecordOnly } from './record-sources.ts'

/**
 * What was found and not loaded leaves no trace in a record, so a manifest made from one does not know it. But a record that tells what
 * entered the context tells as well that a text did not: a text that entered one run and not the other is a difference that is certain
 * (R94), whatever is unknown of the file.
 */
export const settleByRecord = (changes: readonly Change[], a: CauseSide, b: CauseSide): readonly Change[] =>
  changes.map((change) => {
    const { item, field, unknown_on } = change
    if (unknown_on === null || field !== '' || item?.list !== 'instructions.sources') return change
    const [there, silent] = unknown_on === 'a' ? [b, a] : [a, b]
    const row = item[there.letter]
    if (row === null || item[silent.letter] !== null || !TEXTS.has(String(row.kind))) return change
    if (whyRecordOnly(row, silent, there) !== null) return change
    if (entryOf(there, row).entered !== true || !tellsWhatEntered(silent)) return change
    const absent: Row = { path: row.path, kind: row.kind, status: 'not_loaded', reason: SILENT }
    if (entryOf(silent, absent).entered !== false) return change
    return { ...change, unknown_on: null, item: { ...item, [silent.letter]: absent } }
  })

const SILENT = 'the record of the run shows no sign of it'

const tellsWhatEntered = ({ use }: CauseSide): boolean =>
  use?.find(['instructions', 'rule', 'memory'], () => true) != null
