import type { EventChange, ReadEffect, ReadEvent } from '../adapter.ts'
import { asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { readDenial, soundsRefused } from './denials.ts'
import { effectOf, readEdit } from './edits.ts'
import type { ClaudeReader } from './reader.ts'
import { summaryOf } from './summaries.ts'

/** A call whose result has not come yet. */
export interface OpenCall {
  readonly seq: number
  readonly name: string
  readonly at: string | null
  /** File its input names. */
  readonly target: string | null
  readonly skill: string | null
}

/** Tools that change no file by themselves; of any other tool without a file result the effects are simply not captured (B04). */
const changesNoFile = new Set([
  'Read',
  'Grep',
  'Glob',
  'LS',
  'NotebookRead',
  'WebFetch',
  'WebSearch',
  'TodoWrite',
  'TodoRead',
  'ToolSearch',
  'Skill',
  'Agent',
  'Task',
  'AskUserQuestion',
  'ExitPlanMode',
  'EnterPlanMode',
  'ListAgents',
  'BashOutput',
  'TaskOutput',
  'TaskCreate',
  'TaskUpdate',
  'TaskGet',
  'TaskList',
  'ListMcpResourcesTool',
  'ReadMcpResourceTool',
])
const editsFiles = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit'])

/** A `tool_result` block closes the open call of its id: by id only, never by position (wild fixtures, counting rules). */
export function closeCall(reader: ClaudeReader, row: Row, block: Row): void {
  const id = asName(block.tool_use_id)
  const call = id === null ? undefined : reader.openCalls.get(id)
  const failed = block.is_error === true
  const text = plainText(block.content)
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
  const result = asRow(row.toolUseResult)
  const denied = denialOf(row, failed, text)
  const change: EventChange = {
    ok: !failed,
    durationMs: duration(call, result, reader.place.at),
    ...effectsOf(call, result, denied !== null ? 'denied' : failed ? 'failed' : 'done'),
    ...subagentOf(reader, result),
    addContentKey: reader.key('result', failed ? 'error' : 'ok', block.content),
  }
  reader.joinRow(call.seq, change)
  reader.words(call.seq, 'output', text)
  if (denied !== null) {
    const { line, uuid } = reader.place
    const place = { id: `${uuid ?? `@${line.byte}`}/denied`, parentSeq: call.seq, brokenLink: false, rowIds: [] }
    reader.emit(
      { ...place, kind: 'denied', summary: summaryOf(denied), tool: call.name, toolUseId: id, ok: false },
      'part',
    )
  } else if (!failed) noteUse(reader, call, id, result)
}

function duration(call: OpenCall, result: Row | null, at: string | null): number | null {
  const told = asNumber(result?.totalDurationMs) ?? asNumber(result?.durationMs)
  if (told !== null) return told
  if (call.at === null || at === null) return null
  const between = Date.parse(at) - Date.parse(call.at)
  return between >= 0 ? between : null
}

function effectsOf(
  call: OpenCall,
  result: Row | null,
  outcome: 'done' | 'failed' | 'denied',
): Pick<ReadEvent, 'effects' | 'effectsState'> {
  if (changesNoFile.has(call.name)) return { effects: [], effectsState: 'not_applicable' }
  const edits = editsFiles.has(call.name)
  // What was refused did not run; an edit that failed wrote nothing. A command that failed may have changed anything before it did.
  if (outcome === 'denied' || (outcome === 'failed' && edits)) return { effects: [], effectsState: 'complete' }
  if (!edits || outcome === 'failed') return { effects: [], effectsState: 'none' }
  const edit = result === null ? null : readEdit(result)
  if (edit !== null) return { effects: [effectOf(edit)], effectsState: edit.why === null ? 'complete' : 'partial' }
  return call.target === null
    ? { effects: [], effectsState: 'none' }
    : { effects: [unknownChange(call.target)], effectsState: 'partial' }
}

function unknownChange(path: string): ReadEffect {
  return { path, change: 'unknown', by: 'edit tool', before: null, after: null, addedLines: null, removedLines: null }
}

function subagentOf(reader: ClaudeReader, result: Row | null): { subagentSession?: string } {
  const agent = asName(result?.agentId)
  return agent === null ? {} : { subagentSession: `${reader.unit.session}/${agent}` }
}

/** Why a call was not let through; null when it was. */
function denialOf(row: Row, failed: boolean, text: string): string | null {
  if (!failed) return null
  const denial = readDenial(row)
  if (denial !== null) {
    const by = [denial.kind, denial.reason ?? denial.source].filter((part) => part !== null).join(', ')
    return by === '' ? text : `${by}: ${text}`
  }
  const decided = asRow(row.permissionDecision) !== null
  return !decided && soundsRefused(asText(row.toolUseResult) ?? text) ? text : null
}

/** What the call used beyond itself (R92): a skill, a plugin, a tool schema, memory. */
function noteUse(reader: ClaudeReader, call: OpenCall, id: string, result: Row | null): void {
  if (call.target !== null) reader.lastTouched = call.target
  const { line, uuid } = reader.place
  const use = (kind: 'skill' | 'plugin' | 'tool_schema' | 'memory', summary: string): void => {
    const place = { id: `${uuid ?? `@${line.byte}`}/${kind}`, parentSeq: call.seq, brokenLink: false, rowIds: [] }
    reader.emit({ ...place, kind, summary: summaryOf(summary), tool: call.name, toolUseId: id }, 'part')
  }
  const skill = call.skill ?? asName(result?.commandName)
  if (call.name === 'Skill' && skill !== null) {
    use('skill', skill)
    const plugin = pluginOf(skill)
    if (plugin !== null) use('plugin', plugin)
  }
  if (call.name.startsWith('mcp__plugin_'))
    use('plugin', call.name.slice('mcp__plugin_'.length).split('__')[0] ?? call.name)
  if (call.name === 'ToolSearch') use('tool_schema', namesOf(result?.matches))
  if (call.name === 'Read' && call.target !== null && isMemoryPath(call.target, reader.unit.home))
    use('memory', call.target)
}

/** Skills and agents of plugins are named `plugin:name` (runtime page 2.6). */
function pluginOf(name: string): string | null {
  const colon = name.indexOf(':')
  return colon > 0 ? name.slice(0, colon) : null
}

function namesOf(value: unknown): string {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string').join(', ') : ''
}

/** `<cfg>/projects/<key>/memory/` (runtime page 2.7). */
function isMemoryPath(path: string, home: string): boolean {
  return path.startsWith(`${home}/projects/`) && /^[^/]+\/memory\//.test(path.slice(home.length + '/projects/'.length))
}
