import { createHash } from 'node:crypto'
import { asRow, asText } from './fields.ts'

/**
 * A digest of what was said or done, without ids, times, session and working directory: a copied row has the key of its original even
 * when a fork rewrote every id and time (B16), and work done again in another directory has the same keys.
 */
export function contentKey(kind: string, parts: readonly unknown[], cwd: string | null): string {
  const hash = createHash('sha256')
  const here = cwd !== null && cwd.length > 1 ? { plain: cwd, json: JSON.stringify(cwd).slice(1, -1) } : null
  hash.update(kind)
  for (const part of parts) {
    hash.update('\0')
    for (const piece of piecesOf(part)) {
      const path = piece.json ? here?.json : here?.plain
      const text =
        path !== undefined && piece.text.includes(path) ? piece.text.replaceAll(path, '\u0002cwd') : piece.text
      hash.update(text, 'utf8')
    }
  }
  return hash.digest('hex').slice(0, 32)
}

/** Texts go in as they are, so that no copy of a big output is built only to be digested. */
function* piecesOf(part: unknown): Iterable<{ readonly text: string; readonly json: boolean }> {
  if (typeof part === 'string') yield { text: part, json: false }
  else if (Array.isArray(part)) {
    for (const item of part) {
      const block = asRow(item)
      const text = asText(block?.text) ?? asText(asRow(block?.source)?.data)
      yield { text: '\u0001', json: false }
      yield text === null ? { text: JSON.stringify(item) ?? '', json: true } : { text, json: false }
    }
  } else if (part !== undefined) yield { text: JSON.stringify(part), json: true }
}
