import { looksRandom } from './entropy.ts'
import { kindOfName } from './find-assignments.ts'
import { readsAsBase64 } from './find-base64.ts'
import { PLACEHOLDER } from './find-secrets.ts'
import { hasAnchor, isBoundary } from './find-vendor-keys.ts'
import type { Redactor } from './redactor.ts'
import { vendorRules } from './vendor-rules.ts'

/** A part of a secret that goes over a border, in one of the texts it touches. Offsets in UTF-16 units of that text. */
export interface CutSecret<K> {
  readonly key: K
  readonly start: number
  readonly end: number
  readonly placeholder: string
  /** What is to be covered. */
  readonly text: string
}

type Findings = ReturnType<Redactor['redact']>['findings']

interface Piece<K> {
  readonly key: K
  /** Where the part that is remembered begins in the text, and how long it is. */
  from: number
  length: number
}

/** Longer than any key with a form of its own; a key block is remembered as far as one may be long. */
const WINDOW = 1200
const BLOCK_WINDOW = 24_500
/** As much as tells whether a key begins at the end. */
const LAST_WORD = 400

/**
 * Secrets that no single text shows: a stream of small texts (the deltas of an answer, the chunks of an output, lines of a wrapped blob)
 * is searched across its borders. Each text is also searched by itself, by others; here only what touches a border is found. Nearly no
 * text ends where a key may have begun: only then anything is searched.
 */
export class SecretStream<K> {
  private pieces: Piece<K>[] = []
  private tail = ''
  private open: Open = 'no'
  /** The last word has an anchor in it. */
  private anchored = false

  constructor(private readonly redactor: Pick<Redactor, 'redact'>) {}

  /** Goes on with a text. Gives what it, and earlier texts, hold of secrets across their borders. */
  add(key: K, text: string): readonly CutSecret<K>[] {
    const found = this.look(key, text)
    this.remember(key, text)
    return found
  }

  /** The same without going on. */
  look(key: K, text: string): readonly CutSecret<K>[] {
    const { tail: before, open } = this
    if (before === '' || text === '') return []
    if (open === 'no' && !(ASSIGNS.test(text) && isSecretName(before, before.length))) return []
    const head = text.slice(0, open === 'block' ? BLOCK_WINDOW : WINDOW)
    if (open === 'held') {
      const held = HELD.exec(before.slice(-80))
      const length = held === null ? 0 : restOf(held[1] ?? '', head)
      return held === null || length === 0
        ? []
        : [{ key, start: 0, end: length, placeholder: held[0], text: head.slice(0, length) }]
    }
    const seam = before.length
    const { redact } = this.redactor
    let alone: Findings | null = null
    let own: Findings | null = null
    const across = redact(before + head).findings.find(({ start, end, family }) => {
      if (end <= seam) return false
      if (start < seam) {
        // What is whole already may be followed by an ordinary word.
        alone ??= redact(before).findings
        return !alone.some((one) => one.start === start && one.end === seam) || restOf(family, head) > 0
      }
      // It is known by a name that stands before the border.
      own ??= redact(head).findings
      return !own.some((one) => one.start < end - seam && one.end > start - seam)
    })
    if (across === undefined) return []
    const { start, end, placeholder } = across
    const from = Math.max(0, start - seam)
    const to = Math.min(end - seam, head.length)
    return [...this.parts(start, placeholder), { key, start: from, end: to, placeholder, text: head.slice(from, to) }]
  }

  /** Everything remembered is known by this from now on. */
  rename(key: K): void {
    this.pieces = this.pieces.map((piece) => ({ ...piece, key }))
  }

  /** The parts of what is remembered from `start` on. */
  private parts(start: number, placeholder: string): CutSecret<K>[] {
    const parts: CutSecret<K>[] = []
    let at = 0
    for (const { key, from, length } of this.pieces) {
      const end = at + length
      const first = Math.max(0, start - at)
      if (end > start)
        parts.push({
          key,
          start: from + first,
          end: from + length,
          placeholder,
          text: this.tail.slice(at + first, end),
        })
      at = end
    }
    return parts
  }

  private remember(key: K, text: string): void {
    if (this.open === 'no' && isPlainWord(text)) {
      this.tail = ''
      this.pieces = []
      this.anchored = false
      return
    }
    const kept = text.length > BLOCK_WINDOW ? text.slice(-BLOCK_WINDOW) : text
    this.tail += kept
    this.pieces.push({ key, from: text.length - kept.length, length: kept.length })
    const word = lastWord(this.tail)
    // An anchor in the word is found when it comes; only what is new has to be looked through.
    const fresh = Math.max(0, word.length - kept.length - LONGEST_ANCHOR)
    this.anchored = (this.anchored && word.length > kept.length) || hasAnchor(fresh === 0 ? word : word.slice(fresh))
    this.open = openAt(this.tail, word, this.anchored)
    const window = this.open === 'block' ? BLOCK_WINDOW : this.open === 'no' ? LAST_WORD : WINDOW
    let excess = this.tail.length - window
    if (excess <= 0) return
    this.tail = this.tail.slice(excess)
    let drop = 0
    for (const piece of this.pieces) {
      if (excess < piece.length) {
        piece.from += excess
        piece.length -= excess
        break
      }
      excess -= piece.length
      drop += 1
    }
    this.pieces.splice(0, drop)
  }
}

/** What may have begun at the end of a text: a key with a form of its own or a name, a block, or one that is covered already. */
type Open = 'no' | 'key' | 'block' | 'held'

const ASSIGNS = /^["'`]{0,2}[ \t]{0,4}[=:]/

function openAt(tail: string, word: string, anchored: boolean): Open {
  const last = tail.charCodeAt(tail.length - 1)
  if (last === 0x203a || last === 0xba) return HELD.test(tail.slice(-80)) ? 'held' : 'no'
  const begin = tail.lastIndexOf('-----BEGIN')
  if (begin >= 0 && tail.indexOf('-----END', begin) < 0 && tail.includes('PRIVATE KEY', begin)) return 'block'
  if (last === 0x2d && tail.endsWith('-----') && tail.includes('PRIVATE KEY')) return 'block'
  if (anchored || isNamed(tail, word)) return 'key'
  if (word === '') return 'no'
  const host = word.lastIndexOf('://')
  if (host >= 0 && !word.includes('/', host + 3) && !word.includes('@', host)) return 'key'
  return endsAsAnchor(word) || endsAsText(word) ? 'key' : 'no'
}

/** A word of a language or of a format (`assistant`, `tool_result`) with which no secret begins. Most texts of records are one. */
function isPlainWord(text: string): boolean {
  if (text.length > 40) return false
  const known = plainWords.get(text)
  if (known !== undefined) return known
  const plain =
    /^[a-z_]+$/.test(text) &&
    !hasAnchor(text) &&
    !endsAsAnchor(text) &&
    !/(?:bearer|basic)$/.test(text) &&
    kindOfName(text) === null
  if (plainWords.size < 4096) plainWords.set(text, plain)
  return plain
}
const plainWords = new Map<string, boolean>()

/** The last word is, or is about to be, a value beside a name that promises a secret. */
function isNamed(tail: string, word: string): boolean {
  for (let at = 0; at < word.length; at += 1) {
    const code = word.charCodeAt(at)
    if ((code === 0x3d || code === 0x3a) && isSecretName(word, at)) return true
  }
  let end = tail.length - word.length
  while (end > 0 && isSpace(tail.charCodeAt(end - 1)) && tail.length - word.length - end < 8) end -= 1
  const before = tail.charCodeAt(end - 1)
  if (before === 0x3d || before === 0x3a || before === 0x3e) return isSecretName(tail, end - 1)
  if (end === tail.length - word.length) return false
  const scheme = tail.slice(Math.max(0, end - 6), end).toLowerCase()
  return scheme.endsWith('bearer') || scheme.endsWith('basic')
}

/** Whether the identifier that ends before `end`, quotes aside, promises a secret. */
function isSecretName(text: string, end: number): boolean {
  let to = end
  while (to > 0 && end - to < 6 && isBetween(text.charCodeAt(to - 1))) to -= 1
  let from = to
  while (from > 0 && to - from < 60 && isWordCode(text.charCodeAt(from - 1))) from -= 1
  return to - from >= 3 && kindOfName(text.slice(from, to)) !== null
}

/** What ends a word: spaces, line ends and quotes. */
const isSpace = (code: number) =>
  code === 0x20 || code === 0x22 || code === 0x0a || code === 0x27 || code === 0x60 || code === 0x09 || code === 0x0d
/** Between a name and what is assigned to it. */
const isBetween = (code: number) => isSpace(code) || code === 0x5c || code === 0x3d || code === 0x3a
const isWordCode = (code: number) =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || code === 95 || code === 45

/** Ends with base64 of something that begins as text. */
function endsAsText(word: string): boolean {
  let to = word.length
  while (to > 0 && word.charCodeAt(to - 1) === 0x3d) to -= 1
  let from = to
  for (; from > 0; from -= 1) {
    const code = word.charCodeAt(from - 1)
    if (!isWordCode(code) && code !== 0x2b && code !== 0x2f) break
  }
  return to - from >= 28 && readsAsBase64(word.slice(from, to))
}

/** The ending of a file's name (`.ts`), as which no key begins. */
const isEnding = (word: string, at: number) => at > 0 && word.length - at < 4 && './'.includes(word.charAt(at - 1))

/** Ends with the beginning of an anchor, where a word may begin. */
function endsAsAnchor(word: string): boolean {
  const first = Math.max(0, word.length - LONGEST_ANCHOR)
  for (let at = word.length - 1; at >= first; at -= 1)
    if (isBoundary(word, at) && !isEnding(word, at) && beginnings.has(word.slice(at))) return true
  return false
}

/** Ends with a covered key that the border may have cut. A password or an assignment ends where its word ends. */
const HELD = /(?:\u2039|\u00e2\u0080\u00b9)secret:([a-z0-9-]{1,40}):[0-9a-f]{8}(?:\u203a|\u00e2\u0080\u00ba)$/

/** How much of the beginning of a text is the rest of a key of this family; 0 when it reads as something else. */
function restOf(family: string, text: string): number {
  if (family === 'private-key') return restOfBlock(text)
  const word = (/^[A-Za-z0-9_.+/=~%-]*/.exec(text)?.[0] ?? '').replace(/\.+$/, '')
  // A piece that is nothing but such characters and is glued to a key is a part of it: a word would come with its space.
  return word.length === text.length || looksRandom(word) ? word.length : 0
}

const KEY_LINES = /^(?:\s|\\+[nrt])*(?:[A-Za-z0-9+/]{40,}={0,2}(?:\s|\\+[nrt])*)*/
const KEY_END =
  /^(?:\s|\\+[nrt])*[A-Za-z0-9+/=]{0,76}(?:\s|\\+[nrt])*-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----/

/** Lines of a key and its end; prose after a block that was cut off is none. */
function restOfBlock(text: string): number {
  const lines = KEY_LINES.exec(text)?.[0] ?? ''
  const body = lines.trimEnd().length
  const end = KEY_END.exec(text.slice(body))?.[0].length ?? 0
  return body + end
}

function lastWord(text: string): string {
  let start = text.length
  while (start > 0 && text.length - start < LAST_WORD && !isSpace(text.charCodeAt(start - 1))) start -= 1
  return text.slice(start)
}

const anchors = vendorRules.flatMap((rule) => rule.anchors)
const LONGEST_ANCHOR = Math.max(...anchors.map((anchor) => anchor.length))
/** Every beginning of an anchor, the whole ones left out. */
const beginnings = new Set(
  anchors.flatMap((anchor) => Array.from({ length: anchor.length - 1 }, (_, n) => anchor.slice(0, n + 1))),
)

/** A text with the cut secrets in it covered; the parts must belong to it. */
export function coverCut(
  text: string,
  parts: readonly Pick<CutSecret<unknown>, 'start' | 'end' | 'placeholder'>[],
): string {
  let out = ''
  let at = 0
  for (const { start, end, placeholder } of [...parts].sort((a, b) => a.start - b.start)) {
    if (start < at) continue
    // What is covered already stays as it is.
    const covered = text.slice(start, end)
    out += text.slice(at, start) + (isPlaceholder(covered) ? covered : placeholder)
    at = end
  }
  return out + text.slice(at)
}

const isPlaceholder = (text: string): boolean => text.match(PLACEHOLDER)?.[0] === text
