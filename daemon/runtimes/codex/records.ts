import { asInstantText, asList, asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'

/**
 * One line of a session in the form that all formats share. Four formats were seen: one document of chat messages (written as lines by
 * `writeLines`), bare items (2025), `{timestamp, type, payload}` (from 0.41), and the same with `ordinal` and `metadata` (0.171).
 */
export interface CodexRecord {
  /** Name under which it is counted: `response_item/message`, `turn_context`, `record_type=state`. */
  readonly type: string
  readonly kind: RecordKind
  readonly at: string | null
  /** Counts on over resume, fork and revert (0.171 in paginated mode). */
  readonly ordinal: number | null
  readonly payload: Row
  /** Items of the conversation as the Responses API has them; one line of the first format can be several. */
  readonly items: readonly Row[]
  /** What the program notes of an item beside it: its place in the history, what the model had seen (0.171). */
  readonly metadata: Row | null
}
export type RecordKind = 'meta' | 'turn' | 'state' | 'item' | 'event' | 'compacted' | 'usage' | 'noise' | 'unknown'

const envelopes: Readonly<Record<string, RecordKind>> = {
  session_meta: 'meta',
  turn_context: 'turn',
  world_state: 'state',
  response_item: 'item',
  event_msg: 'event',
  compacted: 'compacted',
  token_usage_record: 'usage',
  inter_agent_communication_metadata: 'noise',
}

/** Items of the conversation by the names of the Responses API, with those that the program adds. */
const itemTypes = new Set([
  'message',
  'agent_message',
  'reasoning',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'local_shell_call',
  'local_shell_call_output',
  'web_search_call',
  'image_generation_call',
  'tool_search_call',
  'tool_search_output',
  'additional_tools',
  'compaction',
  'compaction_summary',
  'context_compaction',
  'ghost_snapshot',
])
export const isItemType = (type: unknown): boolean => typeof type === 'string' && itemTypes.has(type)

const nothing: Row = {}

export function readRecord(value: unknown): CodexRecord {
  const row = asRow(value)
  if (row === null) return made('(no object)', 'unknown', nothing)
  const type = asName(row.type)
  const payload = asRow(row.payload)
  if (type !== null && payload !== null) return readEnvelope(type, row, payload)
  if (type !== null) {
    if (itemTypes.has(type)) return { ...made(type, 'item', row), items: [row] }
    return made(type, 'unknown', row)
  }
  const noise = asName(row.record_type)
  if (noise !== null) return made(`record_type=${noise}`, noise === 'state' ? 'noise' : 'unknown', row)
  const role = asName(row.role)
  if (role !== null) return { ...made('(item without type)', 'item', row), items: itemsOfChat(row, role) }
  // The head of the first two formats has no type.
  if (asName(row.id) !== null && asName(row.timestamp) !== null)
    return { ...made('(meta line without type)', 'meta', row), at: asInstantText(row.timestamp) }
  return made('(no type)', 'unknown', row)
}

function readEnvelope(type: string, row: Row, payload: Row): CodexRecord {
  const kind = envelopes[type] ?? 'unknown'
  const detail = asName(payload.type)
  const name = detail !== null && (kind === 'item' || kind === 'event') ? `${type}/${detail}` : type
  const known = kind === 'item' && !isItemType(detail) ? 'unknown' : kind
  return {
    type: name,
    kind: known,
    at: asInstantText(row.timestamp),
    ordinal: asNumber(row.ordinal),
    payload,
    items: known === 'item' ? [payload] : [],
    metadata: asRow(row.metadata),
  }
}

const made = (type: string, kind: RecordKind, payload: Row): CodexRecord => ({
  type,
  kind,
  at: null,
  ordinal: null,
  payload,
  items: [],
  metadata: null,
})

/** A message of the chat-completions form (first format) as items: what was thought, what was said, each call. */
function itemsOfChat(row: Row, role: string): readonly Row[] {
  if (role === 'tool')
    return [{ type: 'function_call_output', call_id: row.tool_call_id ?? row.call_id, output: row.content }]
  const items: Row[] = []
  const thought = asName(row.reasoning)
  if (thought !== null) items.push({ type: 'reasoning', summary: [{ type: 'summary_text', text: thought }] })
  const said = asText(row.content)
  if (said === null ? asList(row.content).length > 0 : said !== '' || role !== 'assistant')
    items.push({ type: 'message', role, content: said === null ? row.content : [{ type: 'text', text: said }] })
  for (const value of asList(row.tool_calls)) {
    const call = asRow(value)
    const about = asRow(call?.function)
    if (call !== null)
      items.push({
        type: 'function_call',
        call_id: call.id,
        name: about?.name ?? call.name,
        arguments: about?.arguments ?? call.arguments,
      })
  }
  return items
}

/** Turn that an item or event says it belongs to: records of one turn can be written inside another (0.171). */
export const turnOf = (payload: Row): string | null =>
  asName(payload.turn_id) ?? asName(asRow(payload.internal_chat_message_metadata_passthrough)?.turn_id)

/** Ids that are long enough never to be given twice. Some servers behind a provider count: `call_1`, `msg_2`. */
export const isDistinct = (id: string): boolean => id.length - (id.indexOf('_') + 1) >= 16

/** Identity of a record over all files that tell of the same thread (0.171): a fork names the last one it shares with its parent. */
export const recordId = (thread: string, ordinal: number): string => `${thread}#${ordinal}`

/** Whether an item came from the model; all others were put in for it. */
export function isFromModel(item: Row): boolean {
  switch (item.type) {
    case 'message':
      return item.role === 'assistant'
    case 'reasoning':
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
    case 'image_generation_call':
    case 'tool_search_call':
      return true
    default:
      return false
  }
}

/** Name of a call: tools of a namespace carry it, those of a server as `mcp__server__tool` (0.171). */
export function nameOfCall(item: Row): string {
  switch (item.type) {
    case 'local_shell_call':
      return 'local_shell'
    case 'web_search_call':
      return 'web_search'
    case 'image_generation_call':
      return 'image_generation'
    case 'tool_search_call':
      return 'tool_search'
    default: {
      const name = asName(item.name) ?? '(unnamed)'
      const namespace = asName(item.namespace)
      if (namespace === null) return name
      return namespace.startsWith('mcp__') ? `${namespace}__${name}` : `${namespace}.${name}`
    }
  }
}

/** What a call was given: an object where its arguments are one, else the text as it is (a patch, a script, broken JSON). */
export function inputOfCall(item: Row): Row | string | null {
  switch (item.type) {
    case 'custom_tool_call':
      return asText(item.input)
    case 'local_shell_call':
    case 'web_search_call':
      return asRow(item.action)
    default: {
      const text = asText(item.arguments)
      return text === null ? asRow(item.arguments) : (parseObject(text) ?? text)
    }
  }
}

export function parseObject(text: string): Row | null {
  if (!text.trimStart().startsWith('{')) return null
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}

/** Texts of a reasoning item: the summary, and the thoughts themselves where a provider shows them. */
export const thoughtsOf = (item: Row): readonly string[] =>
  [...asList(item.summary), ...asList(item.content)]
    .map((part) => asName(asRow(part)?.text))
    .filter((text) => text !== null)
