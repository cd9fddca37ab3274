import type { LinePlace, RebuiltRequest, SessionLines } from '../adapter.ts'
import { asName, asRow, blocksOf, type Row } from '../shared/fields.ts'
import type { WireMessage } from './request-digest.ts'
import { groupRows, messageOf, replyKey } from './request-messages.ts'

export interface ConversationBefore {
  readonly messages: readonly WireMessage[]
  readonly before: RebuiltRequest['before']
  /** A row names a parent that is not in the file (B11). */
  readonly broken: boolean
}

interface Link {
  readonly parent: string | null
  /** The row before it in the file, of the same lane: where to go on when the parent is not there. */
  readonly previous: string | null
  /** The reply a row belongs to, or whose call it answers. */
  readonly reply: string | null
  readonly place: LinePlace
}

/**
 * What the conversation had said when a reply began: the rows above it, with what the parent chain alone would miss, the other rows of
 * each reply and the results of parallel calls (runtime page 5.2: the chain is a tree).
 */
export async function readConversation(
  answer: Row | null,
  source: SessionLines,
  until: number,
): Promise<ConversationBefore> {
  const own = answer === null ? '' : replyKey(answer)
  const { links, byReply } = await readLinks(source, until)
  const taken = new Map<string, LinePlace>()
  const seen = new Set<string>()
  let broken = false
  const open = [asName(answer?.uuid)]
  while (open.length > 0) {
    const uuid = open.pop() ?? null
    const link = links.get(uuid ?? '')
    if (uuid === null || link === undefined || seen.has(uuid)) continue
    seen.add(uuid)
    if (link.parent === null || links.has(link.parent)) open.push(link.parent)
    else {
      broken = true
      open.push(link.previous)
    }
    // Rows of the reply itself hang on one another.
    if (link.reply === own) continue
    taken.set(uuid, link.place)
    for (const sibling of link.reply === null ? [] : (byReply.get(link.reply) ?? [])) open.push(sibling)
  }
  const places = [...taken.values()].sort((a, b) => a.line - b.line || a.byte - b.byte)
  const drafts = groupRows(await source.read(places))
  const last = drafts.findLastIndex(({ role }) => role === 'assistant')
  const line = drafts[last]?.line
  return {
    messages: drafts.map(messageOf),
    before:
      line === undefined ? null : { line, kept: last, messages: last, shapeChanged: null, parametersChanged: null },
    broken,
  }
}

async function readLinks(
  source: SessionLines,
  until: number,
): Promise<{ readonly links: ReadonlyMap<string, Link>; readonly byReply: ReadonlyMap<string, readonly string[]> }> {
  const links = new Map<string, Link>()
  const byReply = new Map<string, string[]>()
  const last = new Map<boolean, string>()
  await source.scan((line) => {
    if (line.line > until) return false
    const row = asRow(line.value)
    const uuid = asName(row?.uuid)
    if (row === null || uuid === null || links.has(uuid)) return true
    const parent = asName(row.parentUuid)
    const isResult = row.type === 'user' && blocksOf(asRow(row.message)).some(({ type }) => type === 'tool_result')
    const caller = isResult ? (asName(row.sourceToolAssistantUUID) ?? parent) : null
    const reply = row.type === 'assistant' ? replyKey(row) : (links.get(caller ?? '')?.reply ?? null)
    const sidechain = row.isSidechain === true
    links.set(uuid, {
      parent,
      previous: last.get(sidechain) ?? null,
      reply,
      place: { line: line.line, byte: line.byte, bytes: line.bytes },
    })
    last.set(sidechain, uuid)
    if (reply !== null) {
      const rows = byReply.get(reply)
      if (rows === undefined) byReply.set(reply, [uuid])
      else rows.push(uuid)
    }
    return true
  })
  return { links, byReply }
}
