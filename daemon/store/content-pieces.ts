/** Bytes of a piece: only the last one of a content may be smaller than `least`; 1.2 MB on average. */
const PIECE_BYTES = { least: 256 * 1024, most: 4 * 1024 * 1024 } as const

/** A cut where these 20 bits of the rolling sum are 0: about one byte in a million after the least size. The upper ones know the most bytes. */
const CUT = 0xfffff000 | 0

/** 256 numbers without a pattern, the same for ever: other ones would cut, and so keep, everything anew. */
const GEAR = ((): Uint32Array => {
  const table = new Uint32Array(256)
  let state = 0x9e3779b9
  for (let index = 0; index < 256; index += 1) {
    // xorshift32
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    table[index] = state >>> 0
  }
  return table
})()

/**
 * Cuts a content where its own bytes say so (gear hash), so that a byte that is changed, put in or taken out changes one or two pieces and
 * all others are found again.
 */
export async function* cutPieces(content: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const { least, most } = PIECE_BYTES
  let waiting = Buffer.alloc(0)
  /** Bytes of `waiting` that were looked at already, and the sum then. */
  let seen = 0
  let sum = 0
  for await (const chunk of content) {
    waiting = waiting.length === 0 ? Buffer.from(chunk) : Buffer.concat([waiting, chunk])
    for (;;) {
      const end = Math.min(waiting.length, most)
      let at = Math.max(seen, Math.min(least, end))
      let cut = -1
      for (; at < end; at += 1) {
        sum = ((sum << 1) + (GEAR[waiting[at] ?? 0] ?? 0)) | 0
        if ((sum & CUT) === 0) {
          cut = at + 1
          break
        }
      }
      if (cut < 0 && end === most) cut = most
      if (cut < 0) {
        seen = at
        break
      }
      yield Buffer.from(waiting.subarray(0, cut))
      waiting = waiting.subarray(cut)
      seen = 0
      sum = 0
    }
  }
  if (waiting.length > 0) yield waiting
}
