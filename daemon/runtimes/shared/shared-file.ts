type KeyPath = readonly (string | number)[]

/**
 * A file that holds configuration among other things: the agent's own state, credentials, counters, what belongs to other projects. Going
 * back changes the configuration in it and nothing else (B02, B17).
 */
export interface SharedFile {
  readonly path: string
  /**
   * `configuration`: only these keys go back. `state`: these keep their present values and all others go back. A part `*` stands for any
   * name at its place; what is below a key belongs to it.
   */
  readonly rule: { readonly configuration: readonly KeyPath[] } | { readonly state: readonly KeyPath[] }
  /** Why what stays stays, for people. */
  readonly why: string
}

/** Whether a key is one of those named, or below one. */
export function belongsTo(key: KeyPath, named: readonly KeyPath[]): boolean {
  return named.some((one) => one.length <= key.length && one.every((part, at) => part === '*' || part === key[at]))
}

/** Whether something below a key is named, so that it must be looked into. */
export function leadsTo(key: KeyPath, named: readonly KeyPath[]): boolean {
  return named.some((one) => one.length > key.length && key.every((part, at) => one[at] === '*' || one[at] === part))
}
