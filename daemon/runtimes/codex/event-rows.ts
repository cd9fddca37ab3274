import { asList, asName, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import type { CodexReader } from './reader.ts'

type Read = (reader: CodexReader, payload: Row) => void
const nothing: Read = () => {}

/** Events of the program beside the conversation. What an item of the conversation tells as well is not told twice. */
const readers: Readonly<Record<string, Read>> = {
  user_message: (reader, payload) => reader.prompts.read(reader, 'event', asText(payload.message) ?? '', null),
  token_count: (reader, payload) => reader.replies.countTokens(reader, payload),
  task_started: readTurnStart,
  turn_started: readTurnStart,
  task_complete: readTurnEnd,
  turn_complete: readTurnEnd,
  turn_aborted: readAbort,
  thread_settings_applied: (reader) => reader.stretches.settings(),
  item_completed: readCompletedItem,
  exec_command_end: finishCall,
  patch_apply_end: finishCall,
  mcp_tool_call_end: finishCall,
  patch_apply_begin: (reader, payload) => reader.calls.announce(reader, asName(payload.call_id), payload.changes),
  web_search_end: (reader, payload) =>
    reader.calls.note(reader, asName(payload.call_id), 'web_search', asText(payload.query) ?? ''),
  view_image_tool_call: (reader, payload) =>
    reader.calls.note(reader, asName(payload.call_id), 'view_image', asText(payload.path) ?? ''),
  collab_agent_spawn_end: (reader, payload) =>
    noteAgent(reader, asName(payload.call_id), asName(payload.new_thread_id)),
  context_compacted: (reader) => reader.joinCompaction(),
  thread_rolled_back: readRollBack,
  thread_name_updated: (reader, payload) => {
    reader.tally.title = asName(payload.thread_name) ?? reader.tally.title
  },
  error: readError,
  stream_error: (reader, payload) => note(reader, 'error', payload),
  warning: (reader, payload) => note(reader, 'note', payload),
  deprecation_notice: (reader, payload) => note(reader, 'note', payload),
  model_reroute: (reader, payload) => note(reader, 'note', payload),
  entered_review_mode: (reader, payload) => note(reader, 'note', payload, 'review began'),
  exited_review_mode: (reader, payload) => note(reader, 'note', payload, 'review ended'),
  // State of the screen, beginnings whose end is written, and what stands in other records.
  ...Object.fromEntries(
    [
      'agent_message',
      'agent_reasoning',
      'agent_reasoning_raw_content',
      'agent_reasoning_section_break',
      'background_event',
      'exec_command_begin',
      'exec_command_output_delta',
      'item_started',
      'mcp_tool_call_begin',
      'plan_update',
      'session_configured',
      'shutdown_complete',
      'thread_goal_updated',
      'turn_diff',
      'web_search_begin',
    ].map((type) => [type, nothing]),
  ),
}

/** `inReply`: the record was taken up as part of a reply. */
export function readEventMessage(reader: CodexReader, payload: Row, inReply: boolean): void {
  const type = asName(payload.type) ?? ''
  const read = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (read !== undefined) read(reader, payload)
  else if (!inReply) reader.unknown(reader.place.record.type)
}

function readTurnStart(reader: CodexReader, payload: Row): void {
  const turn = asName(payload.turn_id)
  const attribution = asRow(payload.turn_attribution)
  const ownProcess =
    reader.source === 'exec' && attribution?.turn_trigger === 'exec' && attribution.initiating_agent_path === null
  reader.turn = turn
  reader.stretches.turnStarted(turn, ownProcess, reader.place.record.at, reader.nextSeq, reader.sink)
}

function readTurnEnd(reader: CodexReader, payload: Row): void {
  reader.stretches.turnEnded()
  const error = asRow(payload.error)
  if (error === null && asName(payload.error) === null) return
  reader.tally.failed = true
  const message = asText(error?.message) ?? asText(payload.error) ?? 'the turn failed'
  reader.emit({ kind: 'error', summary: summaryOf(message), ok: false })
}

/** An interrupted turn also leaves a notice for the model, which is an item. */
function readAbort(reader: CodexReader, payload: Row): void {
  reader.stretches.turnEnded()
  const summary = `turn ended early: ${asName(payload.reason) ?? 'for a reason that is not written down'}`
  const { notice } = reader
  if (notice !== null && notice.turn === reader.place.turn) reader.join(notice.seq, { summary })
  else reader.emit({ kind: 'note', summary, ok: false })
  reader.notice = null
}

function readRollBack(reader: CodexReader, payload: Row): void {
  const turns = typeof payload.num_turns === 'number' ? payload.num_turns : 0
  reader.emit({
    kind: 'note',
    summary: `went back by ${turns} ${turns === 1 ? 'turn' : 'turns'}: they are no longer part of the conversation`,
  })
}

function readError(reader: CodexReader, payload: Row): void {
  note(reader, 'error', payload)
  reader.tally.failed = true
}

function note(reader: CodexReader, kind: 'note' | 'error', payload: Row, words?: string): void {
  const message = asName(payload.message) ?? asName(payload.summary) ?? asName(payload.review_output) ?? words
  reader.emit({
    kind,
    summary: summaryOf(message ?? asName(payload.type) ?? kind),
    ...(kind === 'error' ? { ok: false } : {}),
  })
}

function finishCall(reader: CodexReader, payload: Row): void {
  reader.calls.finish(reader, payload)
}

function noteAgent(reader: CodexReader, call: string | null, thread: string | null): void {
  reader.calls.amendCall(reader, call, thread === null ? {} : { subagentSession: thread })
}

function readCompletedItem(reader: CodexReader, payload: Row): void {
  const item = asRow(payload.item)
  if (item === null) {
    reader.unknown(reader.place.record.type)
    return
  }
  if (reader.calls.finish(reader, payload)) return
  const id = asName(item.id)
  switch (item.type) {
    case 'UserMessage':
      reader.prompts.read(reader, 'event', plainText(item.content), null)
      return
    // Taken up as parts of a reply.
    case 'AgentMessage':
    case 'Reasoning':
      return
    case 'WebSearch':
      reader.calls.note(reader, id, 'web_search', asText(item.query) ?? '')
      return
    case 'ImageView':
      reader.calls.note(reader, id, 'view_image', asText(item.path) ?? '')
      return
    case 'ImageGeneration':
      reader.calls.note(reader, id, 'image_generation', asText(item.revised_prompt) ?? '')
      return
    case 'ContextCompaction':
      reader.joinCompaction()
      return
    case 'SubAgentActivity':
      readActivity(reader, item)
      return
    case 'CollabAgentToolCall': {
      const threads = asList(item.receiver_thread_ids).filter((thread) => typeof thread === 'string')
      noteAgent(reader, id, /spawn/i.test(asName(item.tool) ?? '') && threads.length === 1 ? asName(threads[0]) : null)
      return
    }
    case 'Plan':
    case 'HookPrompt':
    case 'EnteredReviewMode':
    case 'ExitedReviewMode':
      note(reader, 'note', item, asText(item.text) ?? asText(item.review) ?? asName(item.type) ?? '')
      return
    default:
      reader.unknown(`${reader.place.record.type}/${asName(item.type) ?? '(no type)'}`)
  }
}

function readActivity(reader: CodexReader, item: Row): void {
  const thread = asName(item.agent_thread_id)
  if (item.kind === 'started') {
    noteAgent(reader, asName(item.id), thread)
    return
  }
  const agent = asName(item.agent_path) ?? thread ?? 'a subagent'
  reader.emit({ kind: 'note', summary: `${agent}: ${asName(item.kind) ?? 'activity'}`, subagentSession: thread })
}
