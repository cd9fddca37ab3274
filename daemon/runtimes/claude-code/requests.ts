import type { LinePlace, RawLine, RebuiltRequest, SessionLines } from '../adapter.ts'
import { asRow, asText, type Row } from '../shared/fields.ts'
import { readConversation } from './conversation-before.ts'
import { asWireMessage, putCacheMarks, requestDigest, type WireMessage } from './request-digest.ts'
import { RequestIndex, type RequestRow } from './request-index.ts'
import { groupRows, guessMessages, matchDrafts } from './request-messages.ts'
import { showRequest } from './request-view.ts'

/** A message and whether it is the one that was sent, by its recorded hash. */
export interface RebuiltMessage {
  readonly message: WireMessage
  readonly asSent: boolean
}

/**
 * The request that led to a reply, as it was sent (runtime page 4.1, 4.4, 5.2). `reply` are the rows of the reply. Not in it, because no
 * record holds them: the attribution line, `metadata`, `stream` and headers other than the betas.
 */
export async function rebuildRequest(reply: readonly RawLine[], source: SessionLines): Promise<RebuiltRequest> {
  const rows = reply.map(({ value }) => asRow(value)).filter((row) => row !== null)
  const answer = rows.find(({ type }) => type === 'assistant') ?? null
  const until = Math.max(...reply.map(({ line }) => line))
  const index = new RequestIndex()
  await source.scan((line) => {
    if (line.line > until) return false
    index.add(line)
    return true
  })
  const wanted = asText(answer?.requestRef) ?? asText(rows.find(({ type }) => type === 'api-request')?.id)
  const request = index.requests.get(wanted ?? '')
  return request === undefined
    ? fromConversation(answer, index, source, until, wanted)
    : fromRequest(request, index, source, answer, until)
}

async function fromRequest(
  request: RequestRow,
  index: RequestIndex,
  source: SessionLines,
  answer: Row | null,
  until: number,
): Promise<RebuiltRequest> {
  const { hashes, missing } = index.messagesOf(request)
  const before = index.answeredBefore(request)
  const shapePlace = index.shapes.get(request.shape ?? '')
  const introduced = missing > 0 ? [] : introducedBy(hashes, index)
  const rows = await readRows(source, [
    request.place,
    ...(before === null ? [] : [before.place]),
    ...(shapePlace === undefined ? [] : [shapePlace]),
    ...(missing > 0 ? [] : hashes.flatMap((hash) => index.blobs.get(hash) ?? [])),
    ...introduced.flatMap((other) => index.conversationOf(other)),
  ])
  const row = rows.at(request.place, (found) => found.id === request.id) ?? {}
  const shape = asRow(shapePlace && rows.at(shapePlace, (found) => found.shapeHash === request.shape)?.shape)
  const reasons: string[] = []
  if (shape === null) reasons.push('its system prompt and tools are not in the record')
  let messages: readonly RebuiltMessage[]
  if (missing > 0) {
    reasons.push('a request it builds on is not in the record: its messages are put together from the conversation')
    const conversation = await readConversation(answer, source, until)
    messages = conversation.messages.map((message) => ({ message, asSent: false }))
  } else {
    messages = findMessages(hashes, introduced, index, rows)
    const wrong = hashes.length - messages.filter(({ asSent }) => asSent).length
    if (wrong > 0)
      reasons.push(
        `${wrong} of its ${hashes.length} messages could not be rebuilt and ${wrong === 1 ? 'is' : 'are'} shown as the conversation has ${wrong === 1 ? 'it' : 'them'}`,
      )
  }
  const body = putCacheMarks(
    { ...asRow(row.params), ...shape, messages: messages.map(({ message }) => message) },
    row.cacheControl,
  )
  const exact = requestDigest(body) === request.digest
  if (reasons.length === 0)
    reasons.push(
      request.digest === null
        ? 'its record has no digest to compare with'
        : 'the digest of what was rebuilt is not the recorded one',
    )
  return {
    body,
    ...showRequest(body, messages),
    digest: request.digest,
    exact,
    why: exact ? null : reasons.join('; '),
    before: before && compareWithBefore({ request, row, hashes, missing }, before, index, rows),
  }
}

/** What this request had that the one before did not: what was new to the model at this point. */
function compareWithBefore(
  now: {
    readonly request: RequestRow
    readonly row: Row
    readonly hashes: readonly string[]
    readonly missing: number
  },
  before: RequestRow,
  index: RequestIndex,
  rows: FoundRows,
): RebuiltRequest['before'] {
  const earlier = index.messagesOf(before)
  if (before.answeredAt === null || earlier.missing > 0 || now.missing > 0) return null
  let kept = 0
  while (kept < now.hashes.length && now.hashes[kept] === earlier.hashes[kept]) kept++
  const params = rows.at(before.place, (found) => found.id === before.id)?.params
  return {
    line: before.answeredAt,
    kept,
    messages: earlier.hashes.length,
    shapeChanged: before.shape !== now.request.shape,
    parametersChanged: JSON.stringify(params) !== JSON.stringify(now.row.params),
  }
}

async function fromConversation(
  answer: Row | null,
  index: RequestIndex,
  source: SessionLines,
  until: number,
  wanted: string | null,
): Promise<RebuiltRequest> {
  const { messages, before, broken } = await readConversation(answer, source, until)
  const body = { model: asText(asRow(answer?.message)?.model), messages }
  const why =
    wanted !== null
      ? 'its request is not in the record'
      : index.requests.size === 0
        ? 'this version does not record requests'
        : 'the record of this reply names no request'
  return {
    body,
    ...showRequest(
      body,
      messages.map((message) => ({ message, asSent: false })),
    ),
    digest: null,
    exact: false,
    why: `${why}: put together from the conversation, without system prompt, tools and parameters${broken ? '; a link of the conversation is broken, from there on its rows are taken in file order' : ''}`,
    before,
  }
}

/** Requests in whose tail a message that has no blob first stood: it was written between that request and the one it builds on. */
function introducedBy(hashes: readonly string[], index: RequestIndex): readonly RequestRow[] {
  const open = new Set(hashes.filter((hash) => !index.blobs.has(hash)))
  const found: RequestRow[] = []
  for (const request of index.requests.values()) {
    if (open.size === 0) break
    if (!request.tail.some((hash) => open.has(hash))) continue
    found.push(request)
    for (const hash of request.tail) open.delete(hash)
  }
  return found
}

/** Each message from its blob, else from the rows of the conversation whose hash is the recorded one, else the best that is there. */
function findMessages(
  hashes: readonly string[],
  introduced: readonly RequestRow[],
  index: RequestIndex,
  rows: FoundRows,
): readonly RebuiltMessage[] {
  const found = new Map<string, WireMessage>()
  for (const hash of hashes) {
    const place = index.blobs.get(hash)
    const message = place && asWireMessage(rows.at(place, (row) => row.hash === hash)?.message)
    if (message) found.set(hash, message)
  }
  const guesses = new Map<string, readonly WireMessage[]>()
  for (const request of introduced) {
    const drafts = groupRows(index.conversationOf(request).flatMap((place) => rows.all(place)))
    const matches = matchDrafts(drafts, new Set(request.tail))
    for (const [hash, { message }] of matches) found.set(hash, message)
    const isKnown = (hash: string) => found.has(hash) || index.blobs.has(hash)
    for (const [hash, guess] of guessMessages(request.tail, drafts, matches, isKnown))
      if (!guesses.has(hash)) guesses.set(hash, guess)
  }
  return hashes.flatMap((hash): readonly RebuiltMessage[] => {
    const message = found.get(hash)
    if (message !== undefined) return [{ message, asSent: true }]
    return (guesses.get(hash) ?? []).map((guess) => ({ message: guess, asSent: false }))
  })
}

interface FoundRows {
  all(place: LinePlace): readonly RawLine[]
  at(place: LinePlace, isWanted: (row: Row) => boolean): Row | null
}

/** All that one request needs is read at once: a kept copy can only be read from its beginning. */
async function readRows(source: SessionLines, places: readonly LinePlace[]): Promise<FoundRows> {
  const byLine = new Map<number, RawLine[]>()
  const wanted = [...new Map(places.map((place) => [`${place.line}:${place.byte}`, place])).values()]
  for (const line of await source.read(wanted.sort((a, b) => a.line - b.line || a.byte - b.byte))) {
    const lines = byLine.get(line.line)
    if (lines === undefined) byLine.set(line.line, [line])
    else lines.push(line)
  }
  // Several records may stand on one line (B10); a place names one of them where their places are known.
  const all = (place: LinePlace): readonly RawLine[] =>
    (byLine.get(place.line) ?? []).filter(({ byte }) => byte === place.byte)
  return {
    all,
    at: (place, isWanted) => {
      for (const { value } of all(place)) {
        const row = asRow(value)
        if (row !== null && isWanted(row)) return row
      }
      return null
    },
  }
}
