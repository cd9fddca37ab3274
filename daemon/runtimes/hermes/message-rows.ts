import path from 'node:path'
import { textDigest } from '../../manifest/effective-text.ts'
import { asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { callsOf } from './copies.ts'
import type { HermesReader } from './reader.ts'
import { instantOf } from './state-database.ts'
import { denialOf, readToolResult, succeeded, type ToolResult } from './tool-results.ts'
import { summaryOf, summaryOfCall, wordsOfInput } from './words.ts'

/** Place of a message and where it was copied from. */
interface Place {
  readonly id: string
  readonly at: string | null
  readonly rowIds: readonly string[]
  readonly originSession: string | null
}

/** A message of any of the three forms. */
export function readMessage(reader: HermesReader, row: Row): void {
  const id = asNumber(row.id) === null ? `line ${reader.line.line}` : String(row.id)
  const original = asNumber(row.copy_of)
  const from = asName(row.copy_session)
  // Inserted again by a compaction: the row it repeats is in this session and was read.
  if (original !== null && from === null) {
    reader.repeatedRows++
    if (row.summary === true && reader.compactSeq !== null) reader.joinRow(reader.compactSeq)
    return
  }
  const at = instantOf(row.timestamp)
  if (original === null) reader.clock(at)
  if (typeof row.timestamp === 'string' && at === null) reader.evidence.set('local_start', row.timestamp)
  const place: Place = {
    id,
    at,
    rowIds: [reader.rowId(id), ...(original === null || from === null ? [] : [reader.rowId(original, from)])],
    originSession: original === null ? null : from,
  }
  if (row.summary === true) readSummary(reader, row, place)
  else if (row.role === 'user' && isTyped(row)) readPrompt(reader, row, place)
  else if (row.role === 'assistant') readReply(reader, row, place)
  else if (row.role === 'tool') readResult(reader, row, place)
  else readContext(reader, row, place)
}

function readPrompt(reader: HermesReader, row: Row, place: Place): void {
  const text = plainText(contentOf(row))
  const seq = reader.emit({
    ...place,
    kind: 'prompt',
    summary: summaryOf(text),
    contentKey: reader.key('prompt', text),
  })
  reader.lastSeq = seq
  reader.words(seq, 'prompt', text)
  const sent = asText(row.api_content)
  // Recalled memory and the like, added to what was typed (runtime page 7.2).
  if (sent !== null && sent !== text) reader.words(seq, 'context', sent)
  reader.compactSeq = null
  reader.failed = false
  reader.conversation = true
  reader.firstPrompt ??= text
  reader.evidence.set('prompt_digest', textDigest(text))
}

function readReply(reader: HermesReader, row: Row, place: Place): void {
  const text = plainText(contentOf(row))
  const thinking = thinkingOf(row)
  const calls = callsOf(row)
  const finish = asName(row.finish_reason)
  const summary =
    text.trim() !== ''
      ? summaryOf(text)
      : calls.length > 0
        ? `calls ${calls.map(({ name }) => name).join(', ')}`
        : thinking !== ''
          ? 'thinking'
          : ''
  const model = asName(row.model) ?? asName(reader.meta.model)
  const seq = reader.emit({
    ...place,
    kind: 'model',
    summary,
    model,
    // With calls only, two replies of one task are as alike as their calls, which have keys of their own.
    contentKey: text.trim() !== '' || thinking !== '' ? reader.key('reply', text, thinking) : null,
  })
  if (place.originSession === null) reader.reply()
  reader.noteModel(asName(row.model))
  reader.lastSeq = seq
  reader.failed = finish === 'error'
  reader.conversation = true
  reader.words(seq, 'answer', text)
  reader.words(seq, 'thinking', thinking)
  calls.forEach((call, at) => {
    const input = inputOf(call.arguments)
    const callSeq = reader.emit({
      ...place,
      id: `${place.id}/${at}/${call.id}`,
      parentSeq: seq,
      rowIds: place.rowIds.map((id) => `${id}/${at}`),
      kind: 'tool',
      tool: call.name,
      toolUseId: call.id,
      summary: summaryOfCall(input),
      effectsState: 'none',
      contentKey: reader.key('call', call.name, call.arguments),
    })
    reader.words(callSeq, 'input', wordsOfInput(input))
    reader.evidence.used(call.name, input)
    reader.openCalls.set(call.id, { seq: callSeq, name: call.name, at: place.at, input })
    if (call.name === 'delegate_task') {
      reader.delegations.push({ seq: callSeq, at: place.at })
      reader.linkSubagents(reader.sink)
    }
  })
}

/** Closes the call of its id: by id only, never by position. */
function readResult(reader: HermesReader, row: Row, place: Place): void {
  const id = asName(row.tool_call_id)
  const content = plainText(contentOf(row))
  const result = readToolResult(content)
  const ok = succeeded(result)
  const call = id === null ? undefined : reader.openCalls.get(id)
  if (call === undefined || id === null) {
    const seq = reader.emit({
      ...place,
      kind: 'tool',
      summary: 'Result of a call that is not in the record',
      toolUseId: id,
      ok,
      effectsState: 'none',
    })
    reader.words(seq, 'output', content)
    return
  }
  reader.openCalls.delete(id)
  // A copy is the result as a later request carries it: shortened. What the call did was done, and told, in the session it was made in.
  const made =
    place.originSession === null
      ? reader.effects.of(call.name, call.input, result.value, ok, reader.cwd)
      : { effects: [], effectsState: 'not_applicable' as const }
  const between = call.at === null || place.at === null ? -1 : Date.parse(place.at) - Date.parse(call.at)
  reader.joinRow(call.seq, {
    ok,
    durationMs: between < 0 || place.originSession !== null ? null : between,
    ...made,
    addContentKey: reader.key('result', ok ? 'ok' : 'error', content),
    addRowIds: place.rowIds,
  })
  reader.words(call.seq, 'output', result.text)
  if (place.originSession !== null) return
  const part = { at: place.at, parentSeq: call.seq, tool: call.name, toolUseId: id }
  const denial = denialOf(result)
  if (denial !== null)
    reader.emit({ ...part, id: `${place.id}/denied`, kind: 'denied', summary: summaryOf(denial), ok: false })
  else if (ok) noteUse(reader, place, call, part)
  noteHints(reader, place, result, call, part)
  for (const effect of made.effects) noteMemory(reader, place, effect.path, part)
}

type Part = {
  readonly at: string | null
  readonly parentSeq: number
  readonly tool: string
  readonly toolUseId: string
}

/** A skill whose text was asked for (R92). */
function noteUse(reader: HermesReader, place: Place, call: { name: string; input: Row | null }, part: Part): void {
  const skill = call.name === 'skill_view' ? asName(call.input?.name) : null
  if (skill !== null) reader.emit({ ...part, id: `${place.id}/skill`, kind: 'skill', summary: summaryOf(skill) })
}

/** Context files of the directories a call touched (R51); a file kept out by the scan is an event all the same (R52). */
function noteHints(
  reader: HermesReader,
  place: Place,
  { hints }: ToolResult,
  call: { name: string; input: Row | null },
  part: Part,
): void {
  const trigger = summaryOfCall(call.input)
  hints.forEach((hint, at) => {
    const seq = reader.emit({
      ...part,
      id: `${place.id}/hint/${at}`,
      kind: 'instructions',
      ok: hint.blocked === null ? null : false,
      summary: summaryOf(
        hint.blocked === null
          ? `${hint.path}${hint.truncated ? ' (cut)' : ''}, because of ${trigger}`
          : `${hint.path} was kept out by the security scan (${hint.blocked.join(', ')})`,
      ),
    })
    reader.evidence.lazy(hint, place.at, trigger === '' ? null : trigger)
    reader.words(seq, 'context', hint.text)
  })
}

/** A change of a memory file, this home's or another profile's (B21). */
function noteMemory(reader: HermesReader, place: Place, file: string, part: Part): void {
  const found = /^(.*)[\\/]memories[\\/](MEMORY|USER)\.md$/.exec(file)
  if (found?.[1] === undefined) return
  const own = path.resolve(found[1]) === path.resolve(reader.unit.home)
  reader.emit({
    ...part,
    id: `${place.id}/memory`,
    kind: 'memory',
    summary: own
      ? `wrote ${file}`
      : `wrote ${file}, the memory of another home than the session's own (${reader.unit.home})`,
  })
}

/** The summary that stands for what a compaction took out. */
function readSummary(reader: HermesReader, row: Row, place: Place): void {
  const text = plainText(contentOf(row))
  if (reader.compactSeq !== null) reader.joinRow(reader.compactSeq)
  else
    reader.compactSeq = reader.emit({
      ...place,
      originSession: null,
      rowIds: [reader.rowId(place.id)],
      kind: 'compact',
      summary: 'Compaction',
    })
  reader.words(reader.compactSeq, 'context', text)
}

/** Words of a group that were only overheard, and turns the program makes itself, are no prompts (source). */
const isTyped = (row: Row): boolean => row.observed !== 1 && asName(row.display_kind) === null

/** `system` and other roles inside a conversation, and what stands in the place of a prompt without being one. */
function readContext(reader: HermesReader, row: Row, place: Place): void {
  const text = plainText(contentOf(row))
  const what = row.observed === 1 ? 'Overheard: ' : asName(row.display_kind) === null ? '' : `${row.display_kind}: `
  const seq = reader.emit({
    ...place,
    kind: 'context',
    summary: summaryOf(`${what}${text}`),
    contentKey: row.role === 'user' ? reader.key('context', text) : null,
  })
  reader.words(seq, 'context', text)
}

/** A list of parts is stored as JSON behind a mark that no text begins with (source). */
const LIST = '\u0000json:'

export function contentOf(row: Row): unknown {
  const { content } = row
  if (typeof content !== 'string' || !content.startsWith(LIST)) return content ?? ''
  try {
    return JSON.parse(content.slice(LIST.length))
  } catch {
    return content.slice(LIST.length)
  }
}

export const thinkingOf = (row: Row): string => asText(row.reasoning_content) ?? asText(row.reasoning) ?? ''

export function inputOf(text: string): Row | null {
  try {
    return asRow(JSON.parse(text))
  } catch {
    return null
  }
}
