import type { Comparison, ManifestBody, ManifestSource } from '../../../contract/index.ts'
import { longestRising } from './fields.ts'
import { itemKeys } from './list-items.ts'
import type { Cover } from './places.ts'
import type { Use } from './use.ts'

type Piece = Comparison['text']['pieces'][number]

/** A kept text with its secrets covered; null with the reason when there is none. */
export type ReadText = (digest: string | null) => Promise<{ readonly text: string | null; readonly why: string | null }>

interface TextSide {
  readonly body: ManifestBody
  readonly cover: Cover
  readonly use: Use | null
}

/** Texts that entered the context: at start in their order, then what came in later in the order it came. */
const entering = ({ body, use }: TextSide): readonly ManifestSource[] => {
  const { sources } = body.instructions
  const atStart = sources
    .filter(({ position }) => position !== null)
    .sort((x, y) => (x.position ?? 0) - (y.position ?? 0))
  const later = sources
    .filter(({ position }) => position === null)
    .flatMap((source) => {
      const seen = use?.find(['instructions', 'rule', 'memory'], (name) => name === source.path)
      return seen ? [{ source, seq: seen.first }] : []
    })
    .sort((x, y) => x.seq - y.seq)
  return [...atStart, ...later.map(({ source }) => source)]
}

/** Instruction text of both sides, piece by piece in the order of B, with what only A had where it stood. */
export const compareText = async (a: TextSide, b: TextSide, read: ReadText): Promise<Comparison['text']> => {
  const [inA, inB] = [entering(a), entering(b)]
  const keys = itemKeys('instructions.sources', inA, inB, a.cover, b.cover)
  const atA = new Map(keys.a.map(({ id }, n) => [id, n]))
  const shared = keys.b.flatMap(({ id }) => (atA.has(id) ? [atA.get(id) as number] : []))
  const still = new Set(longestRising(shared).map((n) => shared[n]))
  const idsB = new Set(keys.b.map(({ id }) => id))
  const pieces: Piece[] = []
  let nextA = 0
  const passA = async (until: number): Promise<void> => {
    for (; nextA < until; nextA += 1)
      if (!idsB.has(keys.a[nextA]?.id ?? ''))
        pieces.push(await pieceOf(inA[nextA] as ManifestSource, null, 'only_a', read))
  }
  for (const [n, { id }] of keys.b.entries()) {
    const source = inB[n] as ManifestSource
    const other = atA.get(id)
    if (other === undefined) pieces.push(await pieceOf(null, source, 'only_b', read))
    else {
      if (still.has(other)) await passA(other)
      const mine = inA[other] as ManifestSource
      const same = mine.text_digest === source.text_digest
      pieces.push(await pieceOf(mine, source, !same ? 'changed' : still.has(other) ? 'equal' : 'moved', read))
    }
  }
  await passA(inA.length)
  const [digestA, digestB] = [a.body.instructions.effective_digest, b.body.instructions.effective_digest]
  const unknown = [a, b].some(
    ({ body }) =>
      body.instructions.effective_digest === null &&
      body.unknown.some(({ field }) => field === 'instructions.effective_digest' || field === 'instructions'),
  )
  const places = a.cover !== b.cover
  return {
    a_digest: digestA,
    b_digest: digestB,
    // Paths stand beside the texts; from two checkouts they differ though the texts do not.
    equal: unknown ? null : digestA === digestB || (places && pieces.every(({ state }) => state === 'equal')),
    pieces,
  }
}

const pieceOf = async (
  a: ManifestSource | null,
  b: ManifestSource | null,
  state: Piece['state'],
  read: ReadText,
): Promise<Piece> => {
  const one = a === null ? null : await read(a.text_digest)
  const other = b === null ? null : a !== null && a.text_digest === b.text_digest ? one : await read(b.text_digest)
  const source = (b ?? a) as ManifestSource
  return {
    state,
    path: source.path,
    uri: source.uri,
    a: one?.text ?? null,
    b: other?.text ?? null,
    why: one?.why ?? other?.why ?? null,
  }
}
