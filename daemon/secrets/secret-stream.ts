import { looksRandom } from './entropy.ts'
import { PLACEHOLDER } from './find-secrets.ts'
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
  /** Where the part that is remembered begins in the text. */
  readonly from: number
  readonly text: string
}

/** Longer than any key with a form of its own; a key block is remembered as far as one may be long. */
const WINDOW = 1200
const BLOCK_WINDOW = 24_500
/** Joined words shorter than this hold no secret. */
const SHORTEST = 10

/**
 * Secrets that no single text shows: a stream of small texts (the deltas of an answer, the chunks of an output, lines of a wrapped blob)
 * is searched across its borders. Each text is also searched by itself, by others; here only what touches a border is found.
 */
export class SecretStream<K> {
  private pieces: readonly Piece<K>[] = []

  constructor(private readonly redactor: Pick<Redactor, 'redact'>) {}

  /** Goes on with a text. Gives what it, and earlier texts, hold of secrets across their borders. */
  add(key: K, text: string): readonly CutSecret<K>[] {
    const found = this.look(key, text)
    this.remember(key, text)
    return found
  }

  /** The same without going on. */
  look(key: K, text: string): readonly CutSecret<K>[] {
    const before = this.pieces.map((piece) => piece.text).join('')
    if (before === '' || text === '') return []
    const inBlock = before.includes('PRIVATE KEY')
    if (!inBlock && !mayGoOn(before, text)) return []
    const head = text.slice(0, inBlock ? BLOCK_WINDOW : WINDOW)
    const held = HELD.exec(before)
    if (held !== null) {
      const length = restOf(held[1] ?? '', head)
      return length === 0 ? [] : [{ key, start: 0, end: length, placeholder: held[0], text: head.slice(0, length) }]
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
    for (const { key, from, text } of this.pieces) {
      const end = at + text.length
      const first = Math.max(0, start - at)
      if (end > start)
        parts.push({ key, start: from + first, end: from + text.length, placeholder, text: text.slice(first) })
      at = end
    }
    return parts
  }

  private remember(key: K, text: string): void {
    const all = [...this.pieces, { key, from: 0, text }]
    const length = all.reduce((sum, piece) => sum + piece.text.length, 0)
    const window = all.some((piece) => piece.text.includes('PRIVATE KEY')) ? BLOCK_WINDOW : WINDOW
    let excess = length - window
    const kept: Piece<K>[] = []
    for (const piece of all) {
      const drop = Math.max(0, Math.min(excess, piece.text.length))
      excess -= drop
      if (drop < piece.text.length)
        kept.push(drop === 0 ? piece : { key: piece.key, from: piece.from + drop, text: piece.text.slice(drop) })
    }
    this.pieces = kept
  }
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

/** Cheap, and said to nearly every border: no secret goes over it. */
function mayGoOn(before: string, text: string): boolean {
  const last = lastWord(before)
  const first = /^[^\s"'`]{0,400}/.exec(text)?.[0] ?? ''
  if (last === '' || first === '' || last.length + first.length < SHORTEST) return false
  // Ids of one kind follow each other (`msg_…`, `req_…`); the second half of a key does not begin like the first.
  if (last.length > 8 && last.length === before.length && first.slice(0, 4) === last.slice(0, 4)) return false
  if (/[^A-Za-z]/.test(last)) return true
  return (
    beginnings.has(last) ||
    LETTER_ANCHOR.test(last) ||
    /^[=:]/.test(first) ||
    (last.length >= 6 && /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(last))
  )
}

function lastWord(text: string): string {
  let start = text.length
  while (start > 0 && text.length - start < 400 && !/[\s"'`]/.test(text.charAt(start - 1))) start -= 1
  return text.slice(start)
}

/** Every beginning of an anchor that is letters only. */
const beginnings = new Set(
  vendorRules.flatMap(({ anchors }) =>
    anchors.flatMap((anchor) =>
      Array.from({ length: anchor.length }, (_, n) => anchor.slice(0, n + 1)).filter((part) =>
        /^[A-Za-z]+$/.test(part),
      ),
    ),
  ),
)

const LETTER_ANCHOR = new RegExp(
  vendorRules
    .flatMap(({ anchors }) => anchors)
    .filter((anchor) => anchor.length > 2 && /^[A-Za-z]+$/.test(anchor))
    .join('|'),
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
