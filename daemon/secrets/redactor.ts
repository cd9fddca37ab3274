/** A secret found in a text. Offsets in UTF-16 units. */
export interface Finding {
  readonly start: number
  readonly end: number
  readonly family: string
  /** The key itself, where more than it is covered; the placeholder is made of it, so that it is the same one everywhere. */
  readonly core?: { readonly start: number; readonly end: number }
}

/**
 * Finds secrets and covers them. Placeholders are stable per secret (a keyed digest), so that equal secrets stay recognisably equal and
 * nothing can be guessed back: `‹secret:<family>:<8 hex>›`. Covering covered text changes nothing.
 */
export interface Redactor {
  find(text: string): readonly Finding[]
  redact(text: string): {
    readonly text: string
    readonly findings: readonly (Finding & { readonly placeholder: string })[]
  }
  /**
   * The same for bytes of any encoding: bytes outside the findings are kept as they are, and without a finding the very array is given
   * back. `open` says that the text goes on elsewhere: a key that begins at its very end is covered too.
   */
  redactBytes(bytes: Uint8Array, open?: boolean): { readonly bytes: Uint8Array; readonly findings: number }
  /** Keyed digest of a value that must never be stored, `hmac:<16 hex>`. */
  keyed(value: string | Uint8Array): string
}
