import { asList, asName, asRow, asText, type Row } from '../shared/fields.ts'
import { asWireMessage, messageHash, type WireMessage } from './request-digest.ts'

/** A message of a request as the rows of the conversation have it: one row per block of a reply, one row per result of a call. */
export interface Draft {
  readonly role: string
  readonly parts: { readonly content: readonly unknown[]; readonly injected: boolean }[]
  /** Reply the blocks belong to. */
  readonly reply: string | null
  readonly line: number
}

/** Up to so many rows, every unbroken run of them is tried as the message that was sent; of more, only all of them. */
const TRIED_ROWS = 32

/** Conversation rows in file order as messages: rows of one reply merged, results of parallel calls merged (runtime page 5.2). */
export function groupRows(rows: Iterable<{ readonly line: number; readonly value: unknown }>): readonly Draft[] {
  const drafts: Draft[] = []
  let reply: Draft | null = null
  let user: Draft | null = null
  let system: Draft | null = null
  const begin = (role: string, line: number, replyId: string | null = null): Draft => {
    const draft: Draft = { role, parts: [], reply: replyId, line }
    drafts.push(draft)
    return draft
  }
  for (const { line, value } of rows) {
    const row = asRow(value)
    if (row === null) continue
    if (row.type === 'attachment') {
      const content = renderedBlocks(row)
      if (content.length === 0) continue
      if (row.renderedRole === 'system') {
        system ??= begin('system', line)
        system.parts.push({ content, injected: true })
      } else {
        user ??= begin('user', line)
        user.parts.push({ content, injected: true })
      }
      continue
    }
    const message = asWireMessage(row.message)
    if (message === null || isNotSent(row)) continue
    if (row.type === 'assistant') {
      const key = replyKey(row)
      // Results of the first calls of a reply may be written before its last calls.
      if (reply === null || reply.reply !== key) {
        reply = begin('assistant', line, key)
        user = null
        system = null
      }
      reply.parts.push({ content: message.content, injected: false })
    } else {
      user ??= begin('user', line)
      user.parts.push({ content: message.content, injected: false })
    }
  }
  return drafts
}

export const replyKey = (row: Row): string =>
  `${asName(asRow(row.message)?.id) ?? asName(row.uuid) ?? ''}\n${asName(row.requestRef) ?? ''}`

/** Words of the program itself, and what is only written for people to read. */
const isNotSent = (row: Row): boolean =>
  row.isApiErrorMessage === true ||
  row.isVisibleInTranscriptOnly === true ||
  asRow(row.message)?.model === '<synthetic>'

const renderedBlocks = (row: Row): readonly unknown[] =>
  asList(row.rendered).flatMap((item) => {
    const content = asRow(item)?.content
    const text = asText(content)
    return text === null ? asList(content) : [{ type: 'text', text }]
  })

export const messageOf = (draft: Draft): WireMessage => ({
  role: draft.role,
  content: draft.parts.flatMap(({ content }) => content),
})

export interface Match {
  readonly message: WireMessage
  /** Place of its draft among the drafts. */
  readonly at: number
}

/**
 * Gives the wanted messages that these drafts hold, by hash. A draft can be more than what was sent (a reply that was cut off, a prompt
 * that waited), so parts of it are tried; only a message whose hash is the recorded one counts.
 */
export function matchDrafts(drafts: readonly Draft[], wanted: ReadonlySet<string>): ReadonlyMap<string, Match> {
  const found = new Map<string, Match>()
  drafts.forEach((draft, at) => {
    for (const message of formsOf(draft)) {
      const hash = messageHash(message)
      if (wanted.has(hash)) found.set(hash, { message, at })
    }
  })
  return found
}

/**
 * The best guess for messages of a tail that neither a blob nor a draft holds: what the conversation has between the messages around
 * them that were found.
 */
export function guessMessages(
  tail: readonly string[],
  drafts: readonly Draft[],
  matches: ReadonlyMap<string, Match>,
  isKnown: (hash: string) => boolean,
): ReadonlyMap<string, readonly WireMessage[]> {
  const guesses = new Map<string, readonly WireMessage[]>()
  let gap: string[] = []
  let from = 0
  const close = (until: number) => {
    const between = drafts.slice(from, until).map(messageOf)
    const unknown = gap.filter((hash) => !isKnown(hash))
    // Where the counts agree each has its own, else all stand where the first is missing.
    const places = gap.length === between.length ? gap : unknown
    const fits = places.length === between.length
    for (const [n, hash] of unknown.entries()) {
      const one = between[places.indexOf(hash)]
      guesses.set(hash, fits && one !== undefined ? [one] : n === 0 ? between : [])
    }
    gap = []
    from = Math.max(from, until + 1)
  }
  for (const hash of tail) {
    const match = matches.get(hash)
    if (match === undefined) gap.push(hash)
    else close(match.at)
  }
  close(drafts.length)
  return guesses
}

function* formsOf(draft: Draft): Iterable<WireMessage> {
  const plain = draft.parts.filter(({ injected }) => !injected)
  for (const parts of plain.length === draft.parts.length ? [plain] : [draft.parts, plain]) {
    if (parts.length === 0) continue
    if (parts.length > TRIED_ROWS) {
      yield { role: draft.role, content: parts.flatMap(({ content }) => content) }
      continue
    }
    for (let from = 0; from < parts.length; from++) {
      for (let to = from + 1; to <= parts.length; to++)
        yield { role: draft.role, content: parts.slice(from, to).flatMap(({ content }) => content) }
    }
  }
}
