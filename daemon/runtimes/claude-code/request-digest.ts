import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { asList, asRow, asText, type Row } from '../shared/fields.ts'

/**
 * How the program digests what it sends (runtime page 4.4, 2.1.332): keys sorted at every level, no spaces, a message that is one string
 * written as one text block. The two digests below are hexadecimal, without a prefix, as they stand in its rows.
 */
export interface WireMessage {
  readonly role: string
  readonly content: readonly unknown[]
}

/** Hash of an `api-request-blob`: the message without any `cache_control`. */
export const messageHash = (message: WireMessage): string =>
  hash({ ...message, content: withoutCacheMarks(message.content) })

/** `requestDigest` of an `api-request`: parameters, system prompt, tools and messages, with their cache marks. */
export const requestDigest = (body: Row): string => hash(body)

export function asWireMessage(value: unknown): WireMessage | null {
  const message = asRow(value)
  const role = asText(message?.role)
  if (message === null || role === null) return null
  const content = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
  return Array.isArray(content) ? { ...message, role, content } : null
}

const hash = (value: unknown): string =>
  createHash('sha256')
    .update(canonicalize(value) ?? '', 'utf8')
    .digest('hex')

const withoutCacheMarks = (blocks: readonly unknown[]): readonly unknown[] =>
  blocks.map((value) => {
    const block = asRow(value)
    if (block === null || !('cache_control' in block)) return value
    const { cache_control: _, ...rest } = block
    return rest
  })

/** Puts the marks of a row's `cacheControl` where their paths point; a path that leads nowhere is left out, the digest tells. */
export function putCacheMarks(body: Row, marks: unknown): Row {
  // The same message may stand in a request twice and be one object here: a copy that keeps identities would be marked in both places.
  const marked = asRow(JSON.parse(JSON.stringify(body))) ?? {}
  for (const value of asList(marks)) {
    const mark = asRow(value)
    let target: unknown = marked
    for (const key of asList(mark?.path)) {
      if (typeof key === 'number') target = asList(target)[key]
      else target = typeof key === 'string' ? asRow(target)?.[key] : undefined
    }
    const block = asRow(target)
    if (block !== null) Object.assign(block, { cache_control: mark?.value })
  }
  return marked
}
