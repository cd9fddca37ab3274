import type { LinePlace, RawLine, RebuiltRequest, RequestBlock, SessionLines, SessionUnit } from '../adapter.ts'
import { asList, asName, asRow, asText, blocksOf, plainText, type Row } from '../shared/fields.ts'
import { systemPromptOf } from './trajectory.ts'

/** A row of the conversation, small: where it stands and what it hangs on. */
interface Place extends LinePlace {
  readonly id: string
  readonly parent: string | null
  readonly type: string
  readonly role: string | null
  readonly firstKept: string | null
}

/**
 * The request that led to a reply, from the branch of the transcript that ends in it: what the program builds its context from (2026.9.6).
 * The system prompt is taken from the trajectory as long as that is kept. The definitions of the tools, the parameters, and what is put in
 * at each request (time, Runtime line, internal context) are in no record.
 */
export async function rebuildRequest(
  unit: SessionUnit,
  reply: readonly RawLine[],
  lines: SessionLines,
): Promise<RebuiltRequest> {
  const answer = reply.map(({ value }) => asRow(value)).find((row) => asRow(row?.message)?.role === 'assistant') ?? null
  const own = asName(answer?.id)
  const until = Math.max(0, ...reply.map(({ line }) => line))
  const places = new Map<string, Place>()
  await lines.scan((line) => {
    const row = asRow(line.value)
    const place = row === null ? null : placeOf(row, line)
    if (place !== null && !places.has(place.id)) places.set(place.id, place)
    return line.line < until
  })
  const { path, broken } = branchTo(own === null ? null : (places.get(own)?.parent ?? asName(answer?.parentId)), places)
  const window = windowOf(path)
  const wanted = window.filter(({ type }) => type !== 'reset')
  const rows = await readRows(lines, wanted)
  const message = asRow(answer?.message)
  const api = asName(message?.api)
  const sent = wanted.flatMap((place) => projected(rows.get(place.id) ?? null))
  const form = api === 'anthropic-messages' ? anthropicMessages(sent) : chatMessages(sent)
  const model = asName(message?.model)
  const before = previousRequest(path, window)
  const run = asName(asRow(message?.__openclaw)?.runId)
  const compiled = run === null ? null : systemPromptOf(unit, run)
  const system = compiled !== null && api === 'openai-completions' ? onTheWire(compiled) : compiled
  const wire = form.map((one) => one.wire)
  const body = {
    ...(model === null ? {} : { model }),
    ...(system !== null && api === 'anthropic-messages' ? { system } : {}),
    messages: system !== null && api !== 'anthropic-messages' ? [{ role: 'system', content: system }, ...wire] : wire,
  }
  return {
    body,
    model,
    parameters: '{}',
    system:
      system === null
        ? []
        : [{ kind: 'text', label: 'System prompt', text: system, format: 'markdown', cached: false }],
    tools: [],
    messages: form.map(({ wire, asSent, blocks }) => ({ role: asText(wire.role) ?? 'unknown', asSent, blocks })),
    digest: null,
    exact: false,
    why: whyNotExact(
      api,
      system !== null,
      broken,
      sent.some(({ shortened }) => shortened),
    ),
    before,
  }
}

/**
 * Between trajectory and wire the mark of the cache goes, and the Runtime line moves behind the first prompt (2026.9.6, a provider of the
 * user's own).
 */
const onTheWire = (prompt: string): string =>
  prompt
    .replace('<!-- OPENCLAW_CACHE_BOUNDARY -->\n', '')
    .replace(/\n\n<!-- OPENCLAW-RELOCATABLE-BOUNDARY -->[\s\S]*?<!-- \/OPENCLAW-RELOCATABLE-BOUNDARY -->/, '')

function whyNotExact(api: string | null, hasSystem: boolean, broken: boolean, shortened: boolean): string {
  const known = api === 'openai-completions' || api === 'anthropic-messages'
  return [
    `OpenClaw records no requests: put together from the transcript, without ${hasSystem ? '' : 'system prompt, '}tools and parameters`,
    ...(hasSystem ? ['the system prompt is that of the trajectory, in which the program covers ids and secrets'] : []),
    'the time before each prompt, the Runtime line behind the first one and the internal context at the end are not in the transcript',
    ...(known
      ? []
      : [
          `the wire form of ${api ?? 'an API that is not named'} is not known here; the messages are in the form of chat completions`,
        ]),
    ...(broken ? ['a link of the conversation is broken: what came before it is missing'] : []),
    ...(shortened ? ['some results had been shortened for the model by then; they are shown whole'] : []),
  ].join('; ')
}

function placeOf(row: Row, { line, byte, bytes }: RawLine): Place | null {
  const id = asName(row.id)
  const type = asText(row.type) ?? ''
  if (id === null || type === 'session') return null
  const parent = type === 'leaf' ? (asName(row.targetId) ?? asName(row.parentId)) : asName(row.parentId)
  return {
    line,
    byte,
    bytes,
    id,
    parent,
    type,
    role: asName(asRow(row.message)?.role),
    firstKept: asName(row.firstKeptEntryId),
  }
}

/** From the root to the row the reply hangs on. */
function branchTo(
  leaf: string | null,
  places: ReadonlyMap<string, Place>,
): { readonly path: readonly Place[]; readonly broken: boolean } {
  const path: Place[] = []
  const seen = new Set<string>()
  let at = leaf
  while (at !== null && !seen.has(at)) {
    seen.add(at)
    const place = places.get(at)
    if (place === undefined) return { path: path.reverse(), broken: true }
    path.push(place)
    at = place.parent
  }
  return { path: path.reverse(), broken: at !== null }
}

/**
 * What of the branch is in the context: behind the last compaction or reset, that itself, and what it kept (a reset keeps words of both
 * sides, no calls and results).
 */
function windowOf(path: readonly Place[]): readonly Place[] {
  const boundary = path.findLastIndex(({ type }) => type === 'compaction' || type === 'reset')
  const mark = path[boundary]
  if (mark === undefined) return path
  const first = mark.firstKept === null ? -1 : path.findIndex(({ id }) => id === mark.firstKept)
  const kept = first === -1 || first > boundary ? [] : path.slice(first, boundary)
  const words = mark.type === 'reset' ? kept.filter(({ role }) => role === 'user' || role === 'assistant') : kept
  return [mark, ...words, ...path.slice(boundary + 1)]
}

/** The reply before this one, and how much of its request this one begins with. */
function previousRequest(path: readonly Place[], window: readonly Place[]): RebuiltRequest['before'] {
  const at = path.findLastIndex(({ role }) => role === 'assistant')
  const reply = path[at]
  if (reply === undefined) return null
  const earlier = windowOf(path.slice(0, at)).filter(isMessage)
  const now = window.filter(isMessage)
  let kept = 0
  while (kept < earlier.length && kept < now.length && earlier[kept]?.id === now[kept]?.id) kept++
  return { line: reply.line, kept, messages: earlier.length, shapeChanged: null, parametersChanged: null }
}

const isMessage = ({ type }: Place): boolean =>
  type === 'message' || type === 'custom_message' || type === 'branch_summary' || type === 'compaction'

async function readRows(lines: SessionLines, places: readonly Place[]): Promise<ReadonlyMap<string, Row>> {
  const ordered = [...places].sort((a, b) => a.line - b.line)
  const found = new Map<string, Row>()
  for (const { value } of await lines.read(ordered)) {
    const row = asRow(value)
    const id = asName(row?.id)
    if (row !== null && id !== null) found.set(id, row)
  }
  return found
}

interface Sent {
  readonly role: 'user' | 'assistant' | 'tool'
  readonly message: Row
  /** The record holds these very words. */
  readonly asSent: boolean
  readonly shortened: boolean
}

/** A row as the model is shown it; nothing for what never goes there. */
function projected(row: Row | null): readonly Sent[] {
  if (row === null) return []
  const message = asRow(row.message)
  const text = (words: string): readonly Sent[] =>
    words === '' ? [] : [{ role: 'user', message: { content: words }, asSent: false, shortened: false }]
  if (row.type === 'compaction' || row.type === 'branch_summary') return text(asText(row.summary) ?? '')
  if (row.type === 'custom_message') return text(plainText(row.content))
  // Which results are shortened by now is written before each reply; which text stands for them is not.
  if (row.type === 'custom' && row.customType === 'openclaw.cache-ttl')
    return asList(asRow(row.data)?.prunedToolResults).length > 0
      ? [{ role: 'tool', message: {}, asSent: false, shortened: true }]
      : []
  if (row.type !== 'message' || message === null || message.excludeFromContext === true) return []
  switch (message.role) {
    case 'user':
      return [{ role: 'user', message, asSent: false, shortened: false }]
    case 'assistant':
      // Notes of deliveries and attempts that failed are not shown to the model.
      return message.provider === 'openclaw' || message.stopReason === 'error' || message.stopReason === 'aborted'
        ? []
        : [{ role: 'assistant', message, asSent: true, shortened: false }]
    case 'toolResult':
      return [{ role: 'tool', message, asSent: true, shortened: false }]
    default:
      return text(plainText(message.content) || (asText(message.summary) ?? asText(message.output) ?? ''))
  }
}

interface WireMessage {
  readonly wire: Row
  readonly asSent: boolean
  readonly blocks: readonly RequestBlock[]
}

/** Every character that is no letter or digit is dropped from ids of calls on their way back (runtime page 1, openai-completions). */
const wireId = (id: unknown): string => (asText(id) ?? '').replaceAll(/[^A-Za-z0-9]/g, '')

function chatMessages(sent: readonly Sent[]): readonly WireMessage[] {
  const names = new Map<string, string>()
  return sent
    .filter(({ shortened }) => !shortened)
    .map(({ role, message, asSent }): WireMessage => {
      const blocks = blocksOf(message).flatMap((block) => showBlock(block, names))
      if (role === 'user') return { wire: { role, content: plainText(message.content) }, asSent, blocks }
      if (role === 'tool')
        return {
          wire: { role, content: plainText(message.content), tool_call_id: wireId(message.toolCallId) },
          asSent,
          blocks: [showResult(message, names)],
        }
      const calls = blocksOf(message).filter(({ type }) => type === 'toolCall')
      const words = plainText(blocksOf(message).filter(({ type }) => type === 'text'))
      return {
        wire: {
          role,
          content: words === '' && calls.length > 0 ? null : words,
          ...(calls.length === 0
            ? {}
            : {
                tool_calls: calls.map((call) => ({
                  id: wireId(call.id),
                  type: 'function',
                  function: { name: call.name, arguments: JSON.stringify(call.arguments ?? {}) },
                })),
              }),
        },
        asSent,
        blocks,
      }
    })
}

/** Results go as blocks of user messages, those of parallel calls together; ids stay as they are. */
function anthropicMessages(sent: readonly Sent[]): readonly WireMessage[] {
  const names = new Map<string, string>()
  const made: { role: string; content: unknown[]; asSent: boolean; blocks: RequestBlock[]; results: boolean }[] = []
  for (const { role, message, asSent, shortened } of sent) {
    if (shortened) continue
    if (role === 'tool') {
      const block = {
        type: 'tool_result',
        tool_use_id: message.toolCallId,
        content: plainText(message.content),
        ...(message.isError === true ? { is_error: true } : {}),
      }
      const last = made.at(-1)
      const shown = showResult(message, names)
      if (last?.results === true) {
        last.content.push(block)
        last.blocks.push(shown)
      } else made.push({ role: 'user', content: [block], asSent, blocks: [shown], results: true })
      continue
    }
    made.push({
      role,
      content: blocksOf(message).map((block) =>
        block.type === 'toolCall'
          ? { type: 'tool_use', id: block.id, name: block.name, input: block.arguments ?? {} }
          : block,
      ),
      asSent,
      blocks: blocksOf(message).flatMap((block) => showBlock(block, names)),
      results: false,
    })
  }
  return made.map(({ role, content, asSent, blocks }) => ({ wire: { role, content }, asSent, blocks }))
}

function showBlock(block: Row, names: Map<string, string>): readonly RequestBlock[] {
  const made = (
    kind: RequestBlock['kind'],
    label: string,
    text: string,
    format: RequestBlock['format'],
  ): readonly RequestBlock[] => [{ kind, label, text, format, cached: false }]
  switch (block.type) {
    case 'text':
      return made('text', 'Text', asText(block.text) ?? '', 'markdown')
    case 'thinking':
      return made('thinking', 'Thinking', asText(block.thinking) ?? '', 'markdown')
    case 'toolCall': {
      const name = asName(block.name) ?? 'a tool'
      const id = asName(block.id)
      if (id !== null) names.set(id, name)
      return made('call', `Call ${name}`, JSON.stringify(block.arguments, null, 2) ?? '', 'json')
    }
    case 'image':
      return made('image', 'Image', asText(block.mimeType) ?? 'image', 'text')
    default:
      return made('other', asText(block.type) ?? 'Block', JSON.stringify(block, null, 2), 'json')
  }
}

function showResult(message: Row, names: ReadonlyMap<string, string>): RequestBlock {
  const name = names.get(asText(message.toolCallId) ?? '') ?? asName(message.toolName) ?? 'a call'
  return {
    kind: 'result',
    label: message.isError === true ? `Error of ${name}` : `Result of ${name}`,
    text: plainText(message.content),
    format: name === 'exec' ? 'ansi' : 'text',
    cached: false,
  }
}
