import { entropyOf, looksRandom } from './entropy.ts'
import type { Finding } from './redactor.ts'
import { escapeRegExp, type VendorRule, vendorRules } from './vendor-rules.ts'

interface CompiledRule extends VendorRule {
  readonly anchor: string
  readonly pattern: RegExp
}

// Rules by the first three characters of their anchors. Longer anchors come first: `sk-ant-` before `sk-`.
const rulesByStart = new Map<number, CompiledRule[]>()
const starts = new Uint8Array(65536)
const entries = vendorRules.flatMap((rule) => rule.anchors.map((anchor) => ({ rule, anchor })))
for (const { rule, anchor } of entries.sort((a, b) => b.anchor.length - a.anchor.length)) {
  const pair = anchor.charCodeAt(0) | (anchor.charCodeAt(1) << 8)
  const start = pair | (anchor.charCodeAt(2) << 16)
  starts[pair] = 1
  const compiled = { ...rule, anchor, pattern: new RegExp(escapeRegExp(anchor) + rule.rest, 'y') }
  rulesByStart.set(start, [...(rulesByStart.get(start) ?? []), compiled])
}

const isAlphanumeric = (code: number) =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)

/** Whether a key may begin at `at`: not inside a word. The letter of an escape (`\n`, `\u003d`) in JSON text is no part of a word. */
export function isBoundary(text: string, at: number): boolean {
  if (at === 0 || !isAlphanumeric(text.charCodeAt(at - 1))) return true
  if (at >= 2 && text.charCodeAt(at - 2) === 0x5c && 'nrtbf'.includes(text.charAt(at - 1))) return true
  return at >= 6 && text.charCodeAt(at - 6) === 0x5c && /^u[0-9a-fA-F]{4}$/.test(text.slice(at - 5, at))
}

/**
 * One pass with a table of character pairs: three times as fast as one regular expression of all anchors, which matters because every
 * byte of every session goes through here.
 */
export function findVendorKeys(text: string): Finding[] {
  const findings: Finding[] = []
  const last = text.length - 2
  let previous = last > 0 ? text.charCodeAt(0) & 0xff : 0
  for (let at = 0; at < last; at += 1) {
    const next = text.charCodeAt(at + 1) & 0xff
    const pair = previous | (next << 8)
    previous = next
    if (starts[pair] === 0) continue
    const rules = rulesByStart.get(pair | (text.charCodeAt(at + 2) << 16))
    if (rules === undefined) continue
    const finding = matchAt(text, at, rules)
    if (finding === null) continue
    findings.push(finding)
    if (finding.family === 'aws-key-id') findings.push(...secretsBeside(text, finding))
    at = finding.end - 1
    previous = text.charCodeAt(at + 1) & 0xff
  }
  return findings
}

/** Whether a key may begin somewhere in a text, whatever follows. */
export function hasAnchor(text: string): boolean {
  for (let at = 0; at + 2 < text.length; at += 1) {
    const pair = (text.charCodeAt(at) & 0xff) | ((text.charCodeAt(at + 1) & 0xff) << 8)
    if (starts[pair] === 0) continue
    const rules = rulesByStart.get(pair | (text.charCodeAt(at + 2) << 16))
    if (rules?.some(({ anchor, bounded }) => text.startsWith(anchor, at) && (!bounded || isBoundary(text, at))))
      return true
  }
  return false
}

/**
 * Whether `at` lies inside a blob of base64url, where any anchor turns up by chance (measured: once in 1.5 MB). Such blobs are
 * signatures and encrypted content of a session, which a placeholder would make useless. A key glued behind a name is none: names do
 * not mix cases and digits over sixteen characters.
 */
function insideBlob(text: string, at: number): boolean {
  let lower = 0
  let upper = 0
  let digits = 0
  for (let n = 1; n <= 24; n += 1) {
    const code = at - n < 0 ? 0 : text.charCodeAt(at - n)
    if (code >= 97 && code <= 122) lower += 1
    else if (code >= 65 && code <= 90) upper += 1
    else if (code >= 48 && code <= 57) digits += 1
    else if (code !== 45 && code !== 95) return n > 16 && lower >= 3 && upper >= 3 && digits >= 1
  }
  return lower >= 3 && upper >= 3 && digits >= 1
}

function matchAt(text: string, at: number, rules: readonly CompiledRule[]): Finding | null {
  for (const rule of rules) {
    let start = at
    if (rule.before !== undefined) {
      const before = rule.before.exec(text.slice(Math.max(0, at - 32), at))
      if (before === null) continue
      start = at - before[0].length
    }
    if (rule.bounded === true && !isBoundary(text, start)) continue
    rule.pattern.lastIndex = at
    const own = rule.pattern.exec(text)
    const { match, end } = withoutEnding(rule, acrossLines(text, at, rule, own?.[0] ?? null))
    if (match !== null && rule.before === undefined && insideBlob(text, start)) continue
    if (match === null || (rule.check !== undefined && !rule.check(match))) continue
    return {
      start: rule.named === true ? at + rule.anchor.length : start,
      end,
      family: rule.family,
    }
  }
  return null
}

/** The end of a sentence, or of a file's name (`.txt`), that a form with dots takes for its own: the key is the same one without. */
function withoutEnding(rule: CompiledRule, found: Reach): Reach {
  if (found.match === null) return found
  const match = found.match.replace(/(?:\.(?:[a-z]{1,8}|[a-z][a-z0-9]{1,3}))*[.-]*$/, '')
  if (match.length === found.match.length) return found
  rule.pattern.lastIndex = 0
  return rule.pattern.exec(match)?.[0] === match
    ? { match, end: found.end - (found.match.length - match.length) }
    : found
}

/** A key from its anchor on, and where it ends in the text. */
interface Reach {
  readonly match: string | null
  readonly end: number
}

const DOTTED_REST = /[A-Za-z0-9_+/.~%-]{1,800}={0,2}/y
const KEY_REST = /[A-Za-z0-9_+/~%-]{1,400}={0,2}/y
const KEY_WORD = /[A-Za-z0-9_.+/=~%-]{1,400}/y
/** The end of a line, in raw text or escaped in JSON, and what a listing puts before the next. */
const LINE_END = /(?:\r?\n|(?:\\+r)?\\+n)[ \t]{0,12}/y
/** Lines a key may go over: a narrow terminal wraps it, a joined list of chunks cuts it. */
const MOST_LINES = 4

/**
 * A key that a line end cuts: what stands on the next line belongs to it when it looks as random as a key. Without a first part that is a
 * key by itself, both together must be one.
 */
function acrossLines(text: string, at: number, rule: CompiledRule, own: string | null): Reach {
  let match = own
  let end = at + (own?.length ?? 0)
  let joined = own ?? wordAt(text, at + rule.anchor.length, rule.anchor)
  let until = at + joined.length
  const begins = joined.length >= rule.anchor.length + 2 && text.startsWith(rule.anchor, at)
  if (own === null && (rule.named === true || !begins)) return { match, end }
  for (let line = 1; line < MOST_LINES; line += 1) {
    LINE_END.lastIndex = until
    const broken = LINE_END.exec(text)?.[0]
    if (broken === undefined) break
    const next = restAt(text, until + broken.length, rule)
    if (next === null) break
    rule.pattern.lastIndex = 0
    const longer = rule.pattern.exec(joined + next)?.[0] ?? null
    if (longer !== null) {
      if (longer.length <= joined.length) break
      match = longer
      end = until + broken.length + (longer.length - joined.length)
    }
    joined += next
    until += broken.length + next.length
  }
  return { match, end }
}

/** The word at the beginning of a line, when it reads as the rest of a key: no assignment, no path, no key of its own. */
function restAt(text: string, at: number, rule: CompiledRule): string | null {
  const pattern = rule.rest.includes('\\.') ? DOTTED_REST : KEY_REST
  pattern.lastIndex = at
  const word = (pattern.exec(text)?.[0] ?? '').replace(/\.+$/, '')
  if (word.length < 6 || !/\d/.test(word) || !looksRandom(word)) return null
  const after = text.slice(at + word.length, at + word.length + 2)
  if (after !== '' && !/^(?:[\s"'`\\,;)}\]<]|\.(?:[\s"'`\\]|$))/.test(after)) return null
  const rules = rulesByStart.get(text.charCodeAt(at) | (text.charCodeAt(at + 1) << 8) | (text.charCodeAt(at + 2) << 16))
  return rules?.some(({ anchor }) => text.startsWith(anchor, at)) === true ? null : word
}

function wordAt(text: string, at: number, before: string): string {
  KEY_WORD.lastIndex = at
  return before + (KEY_WORD.exec(text)?.[0] ?? '')
}

/** An AWS secret has no form of its own: 40 random characters within a line's reach of its key id. */
function secretsBeside(text: string, id: Finding): Finding[] {
  const from = Math.max(0, id.start - 200)
  const around = text.slice(from, id.end + 300)
  const found: Finding[] = []
  for (const match of around.matchAll(/(?<![A-Za-z0-9+/=_-])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=_-])/g)) {
    if (/^[0-9a-f]+$/.test(match[0]) || entropyOf(match[0]) < 4.2) continue
    found.push({ start: from + match.index, end: from + match.index + 40, family: 'aws-secret' })
  }
  return found
}
