import type { Parts } from '../parts.ts'
import type { EventContent } from '../runtimes/adapter.ts'
import { type CutSecret, SecretStream } from '../secrets/secret-stream.ts'
import type { RunRow } from '../store/index/run-row.ts'
import { readEventContent } from './event-content.ts'

/** How many events back a secret may have begun; a chunk of a stream is small, and so is the number of chunks of a key. */
const BACK = 6

/**
 * What the parts of an event hold of secrets that began in a part before, or in an event before: a key whose halves stand in two records.
 * Gives the cuts of each part. Earlier events are read only when a part begins as the rest of a key may.
 */
export const cutsOfEvent = async (
  parts: Parts,
  row: RunRow,
  seq: number,
  content: EventContent,
): Promise<readonly (readonly CutSecret<number>[])[]> => {
  const streams = new Map<string, SecretStream<number>>()
  const cuts = content.parts.map((): CutSecret<number>[] => [])
  if (content.parts.some(({ text }) => mayBeRest(text)))
    for (const before of await eventsBefore(parts, row, seq))
      for (const { role, text } of before.parts) streamOf(role).add(-1, text)
  for (const [n, { role, text }] of content.parts.entries())
    for (const cut of streamOf(role).add(n, text)) cuts[cut.key]?.push(cut)
  return cuts

  function streamOf(role: string): SecretStream<number> {
    const known = streams.get(role) ?? new SecretStream<number>(parts.redactor)
    streams.set(role, known)
    return known
  }
}

/** Begins with a word that is no word, or with lines of a key. */
const mayBeRest = (text: string): boolean => {
  const word = /^[A-Za-z0-9_.+/=~%:@-]+/.exec(text)?.[0] ?? ''
  return (
    (word.length >= 3 && (word.length === text.length || /\d/.test(word) || /[a-z][A-Z]|[A-Z]{2}[a-z]/.test(word))) ||
    word.length >= 20 ||
    /^[=:]/.test(text)
  )
}

const eventsBefore = async (parts: Parts, row: RunRow, seq: number): Promise<readonly EventContent[]> => {
  const index = parts.index()
  const near = index
    .sql(
      'select seq from events where run = ? and seq < ? and kind = (select kind from events where run = ? and seq = ?) order by seq desc limit ?',
    )
    .all(row.key, seq, row.key, seq, BACK) as { seq: number }[]
  const found: EventContent[] = []
  for (const one of near.reverse()) {
    const { content, lines } = await readEventContent(parts, row, one.seq)
    if (lines.from !== 'none') found.push(content)
  }
  return found
}
