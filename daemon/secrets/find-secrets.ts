import { findAssignments } from './find-assignments.ts'
import { findInBase64 } from './find-base64.ts'
import { findOptions } from './find-options.ts'
import { findPrivateKeys } from './find-private-keys.ts'
import { findUrlKeys } from './find-url-keys.ts'
import { findVendorKeys } from './find-vendor-keys.ts'
import type { Finding } from './redactor.ts'
import { escapeRegExp, vendorRules } from './vendor-rules.ts'

/** A placeholder in a text, or in UTF-8 bytes read as latin1. */
export const PLACEHOLDER =
  /(?:\u2039|\u00e2\u0080\u00b9)secret:[a-z0-9-]{1,40}:[0-9a-f]{8}(?:\u203a|\u00e2\u0080\u00ba)/g

/** A key whose beginning stands at the very end of a text that goes on elsewhere. */
const CUT_KEY = new RegExp(
  `(?<![A-Za-z0-9])(?:${[...new Set(vendorRules.flatMap((rule) => rule.anchors))]
    .filter((anchor) => anchor.length > 3)
    .map(escapeRegExp)
    .join('|')})[A-Za-z0-9_.+/=-]*$`,
)

/** Filler for what was found already: belongs to no key, and ends a word. */
const FILLER = '\u00a0'

/**
 * All secrets of a text, in order, without overlaps, none of them inside a placeholder. Covering one may bare another (a word end where
 * there was none), so the search goes on until it finds nothing more; that makes covering idempotent.
 */
export function findSecrets(text: string, open = false): readonly Finding[] {
  let found = search(text, open)
  if (found.length === 0) return found
  const placeholders = [...text.matchAll(PLACEHOLDER)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }))
  const free = (finding: Finding) => !touches(placeholders, finding)
  found = merge(found.filter(free))
  for (let round = 0; round < 4 && found.length > 0; round += 1) {
    const more = search(fill(text, found), open).filter((finding) => free(finding) && !within(found, finding))
    if (more.length === 0) break
    found = merge([...found, ...more])
  }
  return found
}

interface Span {
  readonly start: number
  readonly end: number
}

/** Index of the last of the ordered, separate spans that begins before `at`; -1 when there is none. */
function lastBefore(spans: readonly Span[], at: number): number {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spans[middle]?.start ?? 0) < at) low = middle + 1
    else high = middle
  }
  return low - 1
}

const touches = (spans: readonly Span[], { start, end }: Span) => (spans[lastBefore(spans, end)]?.end ?? 0) > start

const within = (spans: readonly Span[], { start, end }: Span) => (spans[lastBefore(spans, start + 1)]?.end ?? 0) >= end

function search(text: string, open: boolean): Finding[] {
  const findings = direct(text, open)
  findings.push(...findInBase64(text, (decoded) => direct(decoded, false)))
  if (open) {
    const cut = CUT_KEY.exec(text)
    if (cut !== null) findings.push({ start: cut.index, end: text.length, family: 'cut-key' })
  }
  return findings
}

function direct(text: string, open: boolean): Finding[] {
  const findings = findVendorKeys(text)
  findings.push(...findPrivateKeys(text), ...findAssignments(text, open), ...findOptions(text), ...findUrlKeys(text))
  return findings
}

/** Joins overlapping findings; the family of the one found by its own form wins over the one known by its name only. */
function merge(findings: readonly Finding[]): Finding[] {
  const rank = ({ family }: Finding) => (family.startsWith('base64-') ? 2 : NAMED_FAMILIES.has(family) ? 1 : 0)
  const sorted = [...findings].sort((a, b) => a.start - b.start || b.end - a.end)
  const merged: Finding[] = []
  for (const finding of sorted) {
    const last = merged[merged.length - 1]
    if (last === undefined || finding.start >= last.end) {
      merged.push(finding)
      continue
    }
    const best = rank(finding) < rank(last) ? finding : last
    const end = Math.max(last.end, finding.end)
    const core = best.core ?? { start: best.start, end: best.end }
    const own = rank(best) === 0 && (core.start !== last.start || core.end !== end)
    merged[merged.length - 1] = { start: last.start, end, family: best.family, ...(own ? { core } : {}) }
  }
  return merged
}

/** Known by a name beside them, not by a form of their own. */
export const NAMED_FAMILIES = new Set([
  'password',
  'aws-secret',
  'secret',
  'token',
  'api-key',
  'authorization',
  'cookie',
  'url-credentials',
  'url-key',
  'cut-key',
])

function fill(text: string, findings: readonly Finding[]): string {
  let out = ''
  let at = 0
  for (const { start, end } of findings) {
    out += text.slice(at, start) + FILLER.repeat(end - start)
    at = end
  }
  return out + text.slice(at)
}
