import type { ShownText } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'

/** Texts up to this many characters are shown whole. */
const WHOLE = 256 * 1024
const HEAD = 64 * 1024
const TAIL = 16 * 1024
/** Characters beside a cut that are not shown: a secret cut in half there would not be recognised. */
const EDGE = 4 * 1024

/**
 * A text as a window may have it: secrets covered, very long ones as head and tail. `place` names where the text stands, so that a covered
 * span can be opened again (`sensitive.reveal`) from where it came.
 */
export const showText = (redactor: Redactor, raw: string, place: string, whole: boolean): ShownText => {
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
    if (!long) return covered
    // Covering changes lengths, so the edge is taken off by what it was before.
    return keep >= 0 ? covered.slice(0, Math.max(0, covered.length - EDGE)) : covered.slice(EDGE)
  })
  return { text: shown.join(`\n… ${raw.length - HEAD - TAIL} characters not shown …\n`), total: raw.length, hidden }
}
