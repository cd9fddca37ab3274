import type { ShownText } from '../../contract/index.ts'
import { PLACEHOLDER } from '../secrets/find-secrets.ts'
import type { Redactor } from '../secrets/redactor.ts'

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
}

/**
 * A text as a window may have it: secrets covered, very long ones as head and tail. `place` names where the text stands, so that a covered
 * span can be opened again (`sensitive.reveal`) from where it came.
 */
export const showText = (redactor: Redactor, raw: string, place: string, options: ShowOptions): ShownText => {
  const { whole, archived = false } = options
  const long = !whole && raw.length > WHOLE
  const pieces = long
    ? [
        { from: 0, text: raw.slice(0, HEAD + EDGE), keep: HEAD },
        { from: raw.length - TAIL - EDGE, text: raw.slice(raw.length - TAIL - EDGE), keep: -TAIL },
      ]
    : [{ from: 0, text: raw, keep: raw.length }]
  const hidden: ShownText['hidden'] = []
  const shown = pieces.map(({ from, text, keep }) => {
    const { text: covered, findings } = redactor.redact(text)
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
  return { text: shown.join(`\n… ${raw.length - HEAD - TAIL} characters not shown …\n`), total: raw.length, hidden }
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
