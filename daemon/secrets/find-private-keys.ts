import type { Finding } from './redactor.ts'

/** Longest block looked at: a 16,384-bit RSA key in PEM form, with room for line numbers of a listing. */
const LONGEST = 24_000
const EDGE = /-----(BEGIN|END) (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g
/** Key material and what stands between its lines: line ends, their escapes in JSON text, indents, gutters of a listing. */
const BODY = /(?:[A-Za-z0-9+/=\s:,.|-]|\\+[nrt]|\\+u000[ad]|[\u0080-\u00ff\u2192\u2502])*/y

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
  const closing = /-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/.exec(
    text.slice(after, after + LONGEST),
  )
  const begins = text.slice(after, after + LONGEST).indexOf('-----BEGIN ')
  if (closing !== null && (begins < 0 || begins > closing.index)) {
    const body = text.slice(after, after + closing.index)
    if (looksLikeKey(body)) return { start, end: after + closing.index + closing[0].length, family: 'private-key' }
    return null
  }
  BODY.lastIndex = after
  const body = BODY.exec(text)?.[0] ?? ''
  return looksLikeKey(body) ? { start, end: after + body.length, family: 'private-key' } : null
}

function fromEnd(text: string, from: number, at: number, after: number): Finding | null {
  const before = text.slice(Math.max(from, at - LONGEST), at)
  const body = /(?:[A-Za-z0-9+/=]{20,}|\\+[nr]|\s)+[A-Za-z0-9+/=]*(?:\\+[nr]|\s)*$/.exec(before)
  if (body === null || !looksLikeKey(body[0])) return null
  return { start: at - body[0].length, end: after, family: 'private-key' }
}

function looksLikeKey(body: string): boolean {
  if (!/[A-Za-z0-9+/]{16}/.test(body)) return false
  const material = body.replace(/\\+[nrt]|[^A-Za-z0-9+/=]/g, '').length
  return material >= body.length * 0.5
}
