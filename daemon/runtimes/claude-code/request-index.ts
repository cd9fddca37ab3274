import type { LinePlace, RawLine } from '../adapter.ts'
import { asList, asName, asNames, asNumber, asRow, type Row } from '../shared/fields.ts'

/** An `api-request` row without what is read again when it is needed. */
export interface RequestRow {
  readonly id: string
  readonly place: LinePlace
  /** Its messages are the first `keep` of this request, then `tail`. */
  readonly base: string | null
  readonly keep: number
  readonly tail: readonly string[]
  readonly shape: string | null
  readonly digest: string | null
  /** Line of the first row of its reply. */
  answeredAt: number | null
}

/** Where everything stands that requests are made of. Holds places and hashes, never a text, so that any file fits (B15). */
export class RequestIndex {
  /** In file order. */
  readonly requests = new Map<string, RequestRow>()
  readonly blobs = new Map<string, LinePlace>()
  readonly shapes = new Map<string, LinePlace>()
  readonly conversation: LinePlace[] = []
  /** Lines of compactions: what was sent after one is made of what was written after it. */
  readonly compactions: number[] = []

  add(line: RawLine): void {
    const row = asRow(line.value)
    if (row === null) return
    const place = { line: line.line, byte: line.byte, bytes: line.bytes }
    switch (row.type) {
      case 'api-request':
        this.#addRequest(row, place)
        break
      case 'api-request-blob':
        addFirst(this.blobs, asName(row.hash), place)
        break
      case 'api-request-shape':
        addFirst(this.shapes, asName(row.shapeHash), place)
        break
      case 'system':
        if (row.subtype === 'compact_boundary') this.compactions.push(place.line)
        break
      case 'assistant': {
        const request = this.requests.get(asName(row.requestRef) ?? '')
        if (request !== undefined) request.answeredAt ??= place.line
        this.conversation.push(place)
        break
      }
      case 'user':
      case 'attachment':
        this.conversation.push(place)
        break
    }
  }

  /**
   * Hashes of the messages of a request, in order, and how many at their beginning are unknown because a request it builds on is not in
   * the record.
   */
  messagesOf(request: RequestRow): { readonly hashes: readonly string[]; readonly missing: number } {
    const pieces: (readonly string[])[] = [request.tail]
    const seen = new Set([request.id])
    let { base, keep } = request
    while (keep > 0) {
      const from = base === null || seen.has(base) ? undefined : this.requests.get(base)
      if (from === undefined) return { hashes: pieces.reverse().flat(), missing: keep }
      seen.add(from.id)
      if (keep > from.keep) pieces.push(from.tail.slice(0, keep - from.keep))
      keep = Math.min(keep, from.keep)
      base = from.base
    }
    return { hashes: pieces.reverse().flat(), missing: 0 }
  }

  /** The conversation's last request before one that got an answer; attempts that failed are passed over. */
  answeredBefore(request: RequestRow): RequestRow | null {
    let found: RequestRow | null = null
    for (const other of this.requests.values()) {
      if (other.id === request.id) break
      if (other.answeredAt !== null) found = other
    }
    return found
  }

  /** First line after which the new messages of a request were written. */
  #startOf(request: RequestRow): number {
    const base = request.base === null ? undefined : this.requests.get(request.base)
    if (base !== undefined) return base.place.line
    return this.compactions.findLast((line) => line < request.place.line) ?? 0
  }

  /** Rows of the conversation written since the request that one builds on. */
  conversationOf(request: RequestRow): readonly LinePlace[] {
    const from = this.#startOf(request)
    return this.conversation.slice(this.#after(from), this.#after(request.place.line - 1))
  }

  /** How many rows of the conversation stand up to this line; they are in file order. */
  #after(line: number): number {
    let low = 0
    let high = this.conversation.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.conversation[middle]?.line ?? 0) <= line) low = middle + 1
      else high = middle
    }
    return low
  }

  #addRequest(row: Row, place: LinePlace): void {
    const id = asName(row.id)
    if (id === null || this.requests.has(id)) return
    const tail = asNames(row.tail)
    this.requests.set(id, {
      id,
      place,
      base: asName(row.base),
      // A tail that is not all hashes is a form we do not know: nothing of it may pass for a whole request.
      keep: tail.length === asList(row.tail).length ? (asNumber(row.keep) ?? 0) : Number.POSITIVE_INFINITY,
      tail,
      shape: asName(row.shapeHash),
      digest: asName(row.requestDigest),
      answeredAt: null,
    })
  }
}

function addFirst(map: Map<string, LinePlace>, key: string | null, place: LinePlace): void {
  if (key !== null && !map.has(key)) map.set(key, place)
}
