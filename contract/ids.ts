/** Branded ids: two ids of different kinds cannot be swapped by accident. */
declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** `r_` + 12 hex digits, derived from runtime, home and session id; the same on every rebuild. */
export type RunId = Branded<'RunId'>
/** `h_` + 12 hex digits, derived from runtime and the real path of the home. */
export type HomeId = Branded<'HomeId'>
/** `sha256:` + 64 hex digits. */
export type Digest = Branded<'Digest'>
/** ISO 8601, UTC, milliseconds. */
export type Instant = Branded<'Instant'>

export const asRunId = (text: string): RunId => text as RunId
export const asHomeId = (text: string): HomeId => text as HomeId
export const asInstant = (text: string): Instant => text as Instant

const DIGEST = /^sha256:[0-9a-f]{64}$/
export const isDigest = (text: string): text is Digest => DIGEST.test(text)
export const asDigest = (text: string): Digest => {
  if (!isDigest(text)) throw new TypeError(`not a digest: ${text.slice(0, 80)}`)
  return text
}
