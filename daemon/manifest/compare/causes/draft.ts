import type { Cause, CauseClass, CompareCategory, Evidence, ManifestSource } from '../../../../contract/index.ts'
import type { Change, FieldSide, Row } from '../fields.ts'
import { type Placement, shortPath } from '../places.ts'
import type { Use } from '../use.ts'

/** How far a difference reached into the runs; the first that holds. */
export type Influence =
  /** Called, invoked or matched in a run. */
  | 'used'
  /** Stood in the context from the start, or came in later. */
  | 'entered'
  /** Applied to everything the run did, without a trace of its own. */
  | 'in force'
  | 'cannot be told'
  /** Never reached a run. */
  | 'not used'

/** One side of a comparison, with what its run shows. */
export interface CauseSide extends FieldSide {
  readonly letter: 'a' | 'b'
  /** Digest of its manifest. */
  readonly manifest: string
  readonly run: string | null
  readonly placement: Placement
  /** Null when the side is no run. */
  readonly use: Use | null
  /** First event whose texts mention a word, null when none does; null where texts are not kept or there is no run. */
  readonly mentions: ((word: string) => number | null) | null
}

export interface CauseContext {
  readonly a: CauseSide
  readonly b: CauseSide
  /** The last known change of a file between the two starts, by a run. */
  readonly writer: (file: string) => { readonly run: string; readonly seq: number; readonly at: string | null } | null
}

export interface Draft {
  readonly kind: string
  readonly class: CauseClass
  readonly category: CompareCategory
  readonly title: string
  readonly before: unknown
  readonly after: unknown
  readonly influence: Influence
  /** Why its influence is what it is, as a sentence without a full stop. */
  readonly because: string
  readonly first: Cause['first_seq']
  readonly evidence: readonly Evidence[]
  readonly changes: readonly Change[]
  readonly text?: { readonly a: string | null; readonly b: string | null }
}

/** Differences that no cause has taken yet. Each is taken once; what follows from several is shared out at the end. */
export class Pool {
  #changes: readonly Change[]
  constructor(changes: readonly Change[]) {
    this.#changes = changes
  }
  take(wanted: (change: Change) => boolean): readonly Change[] {
    const taken = this.#changes.filter(wanted)
    if (taken.length > 0) {
      const gone = new Set(taken)
      this.#changes = this.#changes.filter((change) => !gone.has(change))
    }
    return taken
  }
  peek(wanted: (change: Change) => boolean): readonly Change[] {
    return this.#changes.filter(wanted)
  }
}

/** Changes in the same item belong together. */
export const byItem = (changes: readonly Change[]): readonly (readonly Change[])[] => {
  const groups = new Map<unknown, Change[]>()
  for (const change of changes) {
    const group = groups.get(change.item ?? change)
    if (group) group.push(change)
    else groups.set(change.item ?? change, [change])
  }
  return [...groups.values()]
}

export const changed = (changes: readonly Change[], field: string): Change | undefined =>
  changes.find((change) => change.field === field || change.field.startsWith(`${field}.`))

export const isOneSided = ({ item, field }: Change): boolean =>
  item !== null && field === '' && (item.a === null || item.b === null)

export const textField = (row: Row | null, name: string): string | null => {
  const value = row?.[name]
  return typeof value === 'string' ? value : null
}

/** A value in a sentence. */
export const say = (value: unknown): string => {
  if (value === null || value === undefined) return 'nothing'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > 80 ? `${text.slice(0, 77)}…` : text
}

export const shortDigest = (digest: string | null): string =>
  digest === null ? 'no digest' : digest.replace(/^sha256:/, '').slice(0, 8)

const size = (bytes: number): string => (bytes < 1000 ? `${bytes} bytes` : `${(bytes / 1000).toFixed(1)} kB`)

/** How a source stood on one side, in words. */
export const sourceEvidence = (side: CauseSide, row: Row | null): Evidence => {
  if (row === null) return { side: side.letter, text: 'not there', ref: null }
  const source = row as Partial<ManifestSource>
  const parts = [
    source.status === 'loaded'
      ? 'loaded at start'
      : source.status === 'lazy'
        ? `loads ${source.trigger ? `when ${source.trigger}` : 'later'}`
        : source.status === 'not_loaded'
          ? `not loaded: ${source.reason ?? 'no reason is known'}`
          : `unknown: ${source.reason ?? ''}`,
    ...(source.truncated ? [`cut at ${source.truncated.at} ${source.truncated.unit}`] : []),
    ...(typeof source.bytes === 'number' ? [size(source.bytes)] : []),
    ...(source.digest || source.text_digest ? [shortDigest(source.digest ?? source.text_digest ?? null)] : []),
  ]
  return {
    side: side.letter,
    text: parts.join(', '),
    ref: typeof source.uri === 'string' ? { type: 'source', manifest: side.manifest, uri: source.uri } : null,
  }
}

export const fieldEvidence = (side: CauseSide, path: string, text: string): Evidence => ({
  side: side.letter,
  text,
  ref: { type: 'field', manifest: side.manifest, path },
})

export const eventEvidence = (side: CauseSide, seq: number | null, text: string): readonly Evidence[] =>
  seq === null || side.run === null
    ? []
    : [{ side: side.letter, text: `@${seq} ${text}`, ref: { type: 'event', run: side.run, seq } }]

/** Both sides of plain values. */
export const valueEvidence = (context: CauseContext, change: Change): readonly Evidence[] => [
  fieldEvidence(context.a, change.path, say(change.before)),
  fieldEvidence(context.b, change.path, say(change.after)),
]

export const short = (side: CauseSide, file: string): string => shortPath(file, side.placement)
/** The name of a file in a title: as the later side shows it. */
export const shortName = ({ a, b }: CauseContext, item: { readonly a: Row | null; readonly b: Row | null }): string => {
  const side = item.b === null ? a : b
  const row = item.b ?? item.a
  const file = textField(row, 'path')
  return file === null ? (textField(row, 'uri') ?? textField(row, 'name') ?? '') : short(side, file)
}
export const baseName = (file: string): string => file.replace(/^.*[\\/]/, '')

export const runs = ({ a, b }: CauseContext): boolean => a.use !== null || b.use !== null
export const eachSide = <T>({ a, b }: CauseContext, of: (side: CauseSide) => T): { a: T; b: T } => ({
  a: of(a),
  b: of(b),
})
