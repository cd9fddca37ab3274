import type { Finding } from './redactor.ts'

/** Longest block looked at: a 16,384-bit RSA key in PEM form, with room for line numbers of a listing. */
const LONGEST = 24_000
const EDGE = /-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
/** Key material and what stands between its lines: line ends, their escapes in JSON text, indents, gutters of a listing. */
const BODY = /(?:[A-Za-z0-9+/=\s:,.|]|-(?!-)|\\+[nrt]|\\+u000[ad]|[\u0080-\u00ff\u2192\u2502]){0,24000}/y

/**
 * Private key blocks: whole ones, ones whose end is missing (cut output, the other half in the next chunk) and ends without a
 * beginning. A mention of the header in prose or code, with no key behind it, is none.
 */
export function findPrivateKeys(text: string): Finding[] {
  const findings: Finding[] = []
  if (!text.includes('PRIVATE KEY')) return findings
  let covered = 0
  EDGE.lastIndex = 0
  for (let edge = EDGE.exec(text); edge !== null; edge = EDGE.exec(text)) {
    if (edge.index < covered) continue
    const after = edge.index + edge[0].length
    const found = edge[1] === 'BEGIN' ? fromBegin(text, edge.index, after) : fromEnd(text, covered, edge.index, after)
    if (found === null) continue
    findings.push(found)
    covered = found.end
    EDGE.lastIndex = Math.max(found.end, after)
  }
  return findings
}

function fromBegin(text: string, start: number, after: number): Finding | null {
  const next = text.indexOf('-----', after)
  if (next >= 0 && next - after <= LONGEST) {
    const closing = /^-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/.exec(text.slice(next, next + 120))
    // Where a record begins in between, the end belongs to another one; covering over it would destroy both.
    if (closing !== null && !/\n\s*\{/.test(text.slice(after, next))) {
      return looksLikeKey(text.slice(after, next))
        ? { start, end: next + closing[0].length, family: 'private-key' }
        : null
    }
  }
  BODY.lastIndex = after
  const body = BODY.exec(text)?.[0] ?? ''
  return looksLikeKey(body) ? { start, end: after + body.length, family: 'private-key' } : null
}

/** Goes back word by word while they are lines of a key: long, and only the last may be short. */
function fromEnd(text: string, from: number, at: number, after: number): Finding | null {
  const first = Math.max(from, at - LONGEST)
  const words = text.slice(first, at).split(/(\\+[nrt]|\s+)/)
  let start = at
  let lines = 0
  for (let n = words.length - 1; n >= 0; n -= 2) {
    const word = words[n] ?? ''
    if (!/^[A-Za-z0-9+/=]*$/.test(word) || (word.length < 20 && lines > 0)) {
      // The first line may be glued to what stands before it: a quote, the name of a field.
      const rest = /[A-Za-z0-9+/=]{16,}$/.exec(word)?.[0] ?? ''
      start -= rest.length
      break
    }
    if (word !== '') lines += 1
    start -= word.length + (n > 0 ? (words[n - 1] ?? '').length : 0)
  }
  return looksLikeKey(text.slice(start, at)) ? { start, end: after, family: 'private-key' } : null
}

function looksLikeKey(body: string): boolean {
  if (!/[A-Za-z0-9+/]{16}/.test(body)) return false
  const material = body.replace(/\\+[nrt]|[^A-Za-z0-9+/=]/g, '').length
  return material >= body.length * 0.5
}
