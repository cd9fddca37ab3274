import { z } from 'zod'
import { asDigest, RepriseError } from '../../contract/index.ts'
import { requireSeal, sealed } from './archive-format.ts'
import type { Kept } from './states.ts'

/**
 * A small blob in the place of a content that is kept elsewhere, or not at all. It carries a keyed seal. A file that looks like one is never
 * stored as a blob (`looksLikePointer`), so what begins with the mark is a pointer of ours or damage.
 */
const MARK = 'reprise pointer 1\n'
/** Longer than any pointer, much shorter than what would be slow to look at. */
const LONGEST = 4096

const pointerSchema = z.discriminatedUnion('as', [
  z.object({ as: z.literal('large'), digest: z.string(), bytes: z.number().int(), mac: z.string() }),
  z.object({ as: z.literal('vault'), ref: z.string(), mark: z.string(), bytes: z.number().int(), mac: z.string() }),
  z.object({ as: z.literal('unkept'), why: z.string(), mark: z.string(), bytes: z.number().int(), mac: z.string() }),
])
type Pointer = Exclude<Kept, { readonly as: 'blob' }>

export const looksLikePointer = (head: Uint8Array): boolean =>
  head.length >= MARK.length && Buffer.from(head.buffer, head.byteOffset, MARK.length).equals(Buffer.from(MARK))

export const writePointer = (pointer: Pointer, hmacKey: Uint8Array): Buffer =>
  Buffer.from(`${MARK}${JSON.stringify(sealed(pointer, ['pointer'], hmacKey))}\n`)

/** How a blob's content is kept. Throws `damaged` for a pointer that is not as it was written. */
export function readPointer(content: Buffer, hmacKey: Uint8Array): Kept {
  if (content.length > LONGEST || !looksLikePointer(content)) return { as: 'blob' }
  let value: unknown
  try {
    value = JSON.parse(content.toString('utf8', MARK.length))
  } catch {
    throw damaged()
  }
  const parsed = pointerSchema.safeParse(value)
  if (!parsed.success) throw damaged()
  requireSeal(parsed.data, ['pointer'], hmacKey, 'A pointer in the store')
  const { mac: _, ...pointer } = parsed.data
  return pointer.as === 'large' ? { ...pointer, digest: asDigest(pointer.digest) } : pointer
}

const damaged = (): RepriseError =>
  new RepriseError('damaged', 'A pointer in the store is not readable.', 'Run `reprise check` to see everything.')
