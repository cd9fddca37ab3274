/** Places of values in a text, `[start, end)` in UTF-16 units. */
export type ValueTree =
  | { readonly kind: 'scalar'; readonly start: number; readonly end: number }
  | {
      readonly kind: 'table'
      readonly start: number
      readonly end: number
      readonly members: readonly TreeMember[]
    }
  | { readonly kind: 'list'; readonly start: number; readonly end: number; readonly items: readonly ValueTree[] }

export interface TreeMember {
  readonly key: string
  /** Of the key. */
  readonly start: number
  readonly value: ValueTree
}
