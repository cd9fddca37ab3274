import { asName, asRow, asText, type Row } from '../shared/fields.ts'

/** How a call was refused, as its result row says (2.1.332); null when the row names no refusal. */
export interface Denial {
  /** `user-rejected`, `permission-rule`, … as the program names it. */
  readonly kind: string | null
  readonly source: string | null
  readonly reason: string | null
}

export function readDenial(row: Row): Denial | null {
  const decision = asRow(row.permissionDecision)
  const told = asText(decision?.decision)
  const kind = asName(row.toolDenialKind)
  if (kind === null && (told === null || told === 'accept')) return null
  return { kind, source: asName(decision?.source), reason: asName(decision?.reasonCode) }
}

/** The words of a refusal, in versions that write no decision. */
export function soundsRefused(words: string): boolean {
  return /^(Error: )?(User rejected tool use|Permission to use .{1,200} has been denied|Claude requested permissions to )/.test(
    words,
  )
}
