import type { EventChange } from '../adapter.ts'
import { asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { effectsOf, pathIn } from './edits.ts'
import type { OpenClawReader } from './reader.ts'

/** A call whose result has not come yet. */
export interface OpenCall {
  readonly seq: number
  readonly name: string
  readonly at: string | null
  readonly input: Row | null
}

/** What brings older conversations or notes into the context: recorded as the bounded view the agent was given (R47). */
const recalls = new Set(['memory_search', 'memory_get', 'sessions_history', 'sessions_search'])

/** A `toolResult` closes the open call of its id: by id only, never by position. */
export function closeCall(reader: OpenClawReader, message: Row): void {
  const id = asName(message.toolCallId)
  const call = id === null ? undefined : reader.openCalls.get(id)
  const details = asRow(message.details)
  const exit = asNumber(details?.exitCode)
  const denied = denialOf(details)
  const failed = message.isError === true || denied !== null || (exit !== null && exit !== 0)
  const text = plainText(message.content)
  if (call === undefined || id === null) {
    const seq = reader.emit({
      kind: 'tool',
      summary: 'Result of a call that is not in the record',
      toolUseId: id,
      ok: !failed,
      effectsState: 'none',
    })
    reader.words(seq, 'output', text)
    return
  }
  reader.openCalls.delete(id)
  const outcome = denied !== null ? 'denied' : failed ? 'failed' : 'done'
  const change: EventChange = {
    ok: !failed,
    durationMs: duration(call, details, reader.place.at),
    ...effectsOf(call, details, outcome, reader.cwd),
    ...subagentOf(reader, call, details, text),
    addContentKey: reader.key('result', failed ? 'error' : 'ok', message.content),
  }
  reader.joinRow(call.seq, change)
  reader.words(call.seq, 'output', text)
  if (denied !== null) {
    reader.emitPart(call.seq, 'denied', {
      kind: 'denied',
      summary: summaryOf(`${denied}: ${text}`),
      tool: call.name,
      toolUseId: id,
      ok: false,
    })
  } else if (!failed) noteUse(reader, call, id, details)
}

function duration(call: OpenCall, details: Row | null, at: string | null): number | null {
  const told = asNumber(details?.durationMs)
  if (told !== null) return told
  if (call.at === null || at === null) return null
  const between = Date.parse(at) - Date.parse(call.at)
  return between >= 0 ? between : null
}

/** Why a call was not let through; null when it was (`details.status`, `deniedReason`: hooks fixture, 2026.9.6). */
export function denialOf(details: Row | null): string | null {
  const reason = asName(details?.deniedReason)
  if (reason !== null) return reason
  return details?.status === 'blocked' || details?.status === 'denied' ? details.status : null
}

/** `sessions_spawn` answers with the key of the child's session; which session that is, the database knows. */
function subagentOf(
  reader: OpenClawReader,
  call: OpenCall,
  details: Row | null,
  text: string,
): { subagentSession?: string } {
  if (call.name !== 'sessions_spawn') return {}
  const key = asName(details?.childSessionKey) ?? /"childSessionKey":\s*"([^"]+)"/.exec(text)?.[1] ?? null
  if (key === null) return {}
  const session = reader.beside.sessionOf(key)
  if (session === null) reader.spawned.set(key, call.seq)
  return session === null ? {} : { subagentSession: session }
}

/** What the call used beyond itself (R92): a skill is used by reading its file, memory by asking for it. */
function noteUse(reader: OpenClawReader, call: OpenCall, id: string, details: Row | null): void {
  const use = (kind: 'skill' | 'memory' | 'tool_schema', summary: string): void => {
    reader.emitPart(call.seq, kind, { kind, summary: summaryOf(summary), tool: call.name, toolUseId: id })
  }
  const path = asName(call.input?.path) ?? asName(call.input?.file_path)
  if (call.name === 'read' && path !== null) {
    const skill = skillOf(path)
    if (skill !== null) {
      reader.evidence.usedSkill(skill)
      use('skill', skill)
    } else if (isMemoryPath(path)) use('memory', pathIn(reader.cwd, path))
  } else if (recalls.has(call.name)) {
    const asked = asText(call.input?.query) ?? path ?? asText(call.input?.sessionKey) ?? call.name
    const count = Array.isArray(details?.results) ? `, ${details.results.length} results` : ''
    use('memory', `${asked}${count}`)
  } else if (call.name === 'tool_describe' || call.name === 'tool_search') {
    use('tool_schema', asText(call.input?.name) ?? asText(call.input?.query) ?? call.name)
  }
}

/** Folder of a `SKILL.md`; skills are read when a task fits (runtime page 5.5). */
const skillOf = (path: string): string | null => /([^/\\]+)[/\\]SKILL\.md$/.exec(path)?.[1] ?? null

/** Long-term memory and daily notes of the workspace; only `MEMORY.md` enters the context by itself (runtime page 5.2). */
const isMemoryPath = (path: string): boolean => /(^|[/\\])(MEMORY\.md|memory[/\\][^/\\]+\.md)$/.test(path)
