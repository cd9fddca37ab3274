import { createHash } from 'node:crypto'
import { asDigest, type Digest } from '../../contract/index.ts'

/** One piece of instruction text as it enters the context: after normalisation and truncation, in the order of the context. */
export interface EffectivePiece {
  /** Path under which the runtime shows the text, unresolved. */
  readonly path: string
  /** Label beside the path; null when the runtime shows none. */
  readonly label: string | null
  readonly text: string
}

/**
 * The one definition of `instructions.effective_digest`: SHA-256 over the pieces in order, each as UTF-8 `path NUL label NUL text NUL`
 * with an empty label where there is none. Null when nothing enters the context. A resolver and a reader of session records must
 * both call this, or the same configuration would get two digests.
 */
export function effectiveDigest(pieces: readonly EffectivePiece[]): Digest | null {
  if (pieces.length === 0) return null
  const hash = createHash('sha256')
  for (const { path, label, text } of pieces) hash.update(`${path}\0${label ?? ''}\0${text}\0`, 'utf8')
  return asDigest(`sha256:${hash.digest('hex')}`)
}

/** SHA-256 of one text as UTF-8; the `text_digest` of a source. */
export function textDigest(text: string): Digest {
  return asDigest(`sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`)
}
