import type { ShownText } from '../../contract/index.ts'
import { PLACEHOLDER } from '../secrets/find-secrets.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { CutSecret } from '../secrets/secret-stream.ts'

/** Texts up to this many characters are shown whole. */
const WHOLE = 256 * 1024
const HEAD = 64 * 1024
const TAIL = 16 * 1024
/** Characters beside a cut that are not shown: a secret cut in half there would not be recognised. */
const EDGE = 4 * 1024

export interface ShowOptions {
  /** Very long ones are not cut. */
  readonly whole: boolean
  /** The text comes from the archive, where its secrets are covered already; the originals may be in the vault. */
  readonly archived?: boolean
  /** What it holds of secrets that go over its borders: covered, and not to be opened by themselves. */
  readonly cut?: readonly CutSecret<unknown>[]
}

/**
 * A text as a window may have it: secrets covered, very long ones as head and tail. `place` names where the text stands, so that a covered
 * span can be opened again (`sensitive.reveal`) from where it came.
 */
export const showText = (redactor: Redactor, given: string, place: string, options: ShowOptions): ShownText => {
  const { whole, archived = false, cut = [] } = options
  // Places stay what they are in the text as it is given: a covered one is opened by its place.
  const raw = maskCut(given, cut)
  const long = !whole && raw.length > WHOLE
  const pieces = long
    ? [
        { from: 0, text: raw.slice(0, HEAD + EDGE), keep: HEAD },
        { from: raw.length - TAIL - EDGE, text: raw.slice(raw.length - TAIL - EDGE), keep: -TAIL },
      ]
    : [{ from: 0, text: raw, keep: raw.length }]
  const hidden: ShownText['hidden'] = []
  const shown = pieces.map(({ from, text, keep }) => {
    const found = redactor.redact(text)
    const { findings } = found
    const covered = unmaskCut(found.text, cut)
    for (const { start, end, family, placeholder } of findings) {
      const inside = keep >= 0 ? end <= keep : start >= text.length + keep
      if (inside)
        hidden.push({ ref: `${place}:${from + start}-${from + end}`, family, characters: end - start, placeholder })
    }
    if (archived) hidden.push(...coveredBefore(text, from, keep, place))
    if (!long) return covered
    // Covering changes lengths, so the edge is taken off by what it was before.
    return keep >= 0 ? covered.slice(0, Math.max(0, covered.length - EDGE)) : covered.slice(EDGE)
  })
  const text = shown.join(`\n… ${raw.length - HEAD - TAIL} characters not shown …\n`)
  // What is only covered is shown whole, though a placeholder may be shorter than what it stands for.
  return { text, total: long ? raw.length : text.length, hidden }
}

const coveredBefore = (text: string, from: number, keep: number, place: string): ShownText['hidden'] =>
  [...text.matchAll(PLACEHOLDER)]
    .map((match) => ({ start: match.index, end: match.index + match[0].length, placeholder: match[0] }))
    .filter(({ start, end }) => (keep >= 0 ? end <= keep : start >= text.length + keep))
    .map(({ start, end, placeholder }) => ({
      ref: `${place}:~${from + start}-${from + end}`,
      family: placeholder.split(':')[1] ?? '',
      characters: 0,
      placeholder,
    }))

/** Stands for one character of a cut secret; in no alphabet, so that nothing is found in it and it ends a word. */
const MASK = '\ue00f'

const maskCut = (text: string, cut: readonly CutSecret<unknown>[]): string =>
  cut.reduce((masked, { start, end }) => masked.slice(0, start) + MASK.repeat(end - start) + masked.slice(end), text)

/** A secret that touches both borders of a text has one placeholder; so has each, as they are parts of different ones in order. */
const unmaskCut = (text: string, cut: readonly CutSecret<unknown>[]): string => {
  const inOrder = [...cut].sort((a, b) => a.start - b.start)
  return inOrder.reduce((shown, { placeholder }) => shown.replace(/\ue00f+/, placeholder), text)
}
