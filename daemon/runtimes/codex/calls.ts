import { IdTable } from '../../capture/id-table.ts'
import type { EventChange, ReadEvent } from '../adapter.ts'
import { asName, asRow, asText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { effectsOf, hasPatch, readChanges, readPatches } from './file-changes.ts'
import { type Finish, type Outcome, readFinish, readOutcome, soundsSandboxed, steadyOutput } from './outcomes.ts'
import type { CodexReader } from './reader.ts'
import { inputOfCall, isDistinct, nameOfCall, parseObject } from './records.ts'
import { commandText, summaryOfInput, wordsOfInput } from './words.ts'

interface OpenCall {
  readonly seq: number
  readonly name: string
  readonly at: string | null
  readonly turn: string | null
  /** Text of its input: a script, a command, a patch. */
  readonly text: string
  readonly directory: string | null
  /** A script whose commands and patches are calls of their own. */
  readonly isScript: boolean
  /** What an item of the program already told of its end. */
  finish: Finish | null
}

/** Tools that change no file by themselves; of any other tool the effects are not captured unless the record shows them (B04). */
const changesNoFile = new Set([
  'view_image',
  'update_plan',
  'web_search',
  'tool_search',
  'get_goal',
  'create_goal',
  'update_goal',
  'list_mcp_resources',
  'list_mcp_resource_templates',
  'read_mcp_resource',
  'read_file',
  'list_dir',
  'grep_files',
  'wait',
  'send_input',
  'spawn_agent',
  'wait_agent',
  'close_agent',
  'resume_agent',
  'list_agents',
  'send_message',
  'followup_task',
  'interrupt_agent',
  'sleep',
  'image_generation',
])
const isHarmless = (name: string): boolean =>
  changesNoFile.has(name.slice(name.lastIndexOf('.') + 1)) || /(^|\.)request_user_input(_async)?$/.test(name)

/** Calls by their id, and nothing but their id (wild fixtures, counting rules). */
export class Calls {
  readonly #seqs = new IdTable()
  readonly #open = new Map<string, OpenCall>()
  /** Calls that an item of the program showed before, or without, the item of the conversation. */
  readonly #early = new Set<string>()
  /** The script of each turn that was begun last: commands written late belong to it. */
  #lastScript: { readonly turn: string | null; readonly seq: number } | null = null

  get open(): number {
    return this.#open.size
  }

  read(reader: CodexReader, item: Row): void {
    const name = nameOfCall(item)
    const id = asName(item.call_id) ?? asName(item.id)
    if (id !== null && this.#early.delete(id)) {
      reader.join(this.#seqs.get(id))
      return
    }
    const input = inputOfCall(item)
    const fields = asRow(input)
    const isScript = item.type === 'custom_tool_call' && (name === 'exec' || name === 'functions.exec')
    const served = item.type === 'web_search_call' || item.type === 'image_generation_call'
    const seq = reader.emit({
      ...(id === null ? {} : { id }),
      kind: 'tool',
      summary: summaryOfInput(input),
      tool: name,
      toolUseId: id,
      ok: served ? asName(item.status) !== 'failed' : null,
      effectsState: isHarmless(name) ? 'not_applicable' : 'none',
      contentKey: reader.key('call', name, item.arguments ?? item.input ?? item.action),
      rowIds: id !== null && isDistinct(id) ? [id] : [],
    })
    reader.evidence.usedTool(name)
    reader.words(seq, 'input', wordsOfInput(input))
    if (isScript) this.#lastScript = { turn: reader.place.turn, seq }
    if (id === null) return
    this.#seqs.set(id, seq)
    if (served) return
    this.#open.set(id, {
      seq,
      name,
      at: reader.place.record.at,
      turn: reader.place.turn,
      text: typeof input === 'string' ? input : wordsOfInput(input),
      directory: asName(fields?.workdir) ?? asName(fields?.working_directory) ?? reader.cwd,
      isScript,
      finish: null,
    })
  }

  /** An output of the conversation closes its call. */
  close(reader: CodexReader, item: Row): void {
    const id = asName(item.call_id)
    const call = id === null ? undefined : this.#open.get(id)
    const outcome = readOutcome(item)
    if (id === null || call === undefined) {
      this.#closeUnknown(reader, id, outcome)
      return
    }
    this.#open.delete(id)
    const { finish } = call
    const failed = outcome.exitCode !== null && outcome.exitCode !== 0
    const heldBack = isHeldBack(reader, call.name, finish !== null, failed, outcome.text)
    const refused = outcome.refused ?? (heldBack ? outcome.text : null)
    const change: EventChange = {
      ok: finish?.ok ?? outcome.ok,
      ...(finish?.durationMs == null ? durationSince(call, reader.place.record.at) : {}),
      ...(finish?.changes == null ? effectsAfter(reader, call, outcome, refused !== null && outcome.notRun) : {}),
      addContentKey: reader.key('result', steadyOutput(outcome.text)),
      ...subagentIn(call, outcome.text),
    }
    reader.join(call.seq, change)
    reader.words(call.seq, 'output', outcome.text)
    if (refused !== null) this.#deny(reader, call, id, refused)
  }

  /** What the program itself wrote of the end of a command, a patch or a call of a server. True when the record was one of these. */
  finish(reader: CodexReader, payload: Row): boolean {
    const finish = readFinish(payload)
    if (finish === null) return false
    const { id } = finish
    const call = id === null ? undefined : this.#open.get(id)
    const known = id === null ? -1 : this.#seqs.get(id)
    if (call !== undefined) call.finish = finish
    if (known === -1) this.#emitNested(reader, finish)
    else {
      reader.join(known, this.#changeOf(finish))
      if (finish.declined) this.#deny(reader, call ?? { seq: known, name: finish.tool }, id ?? '', finish.output)
    }
    return true
  }

  /** Something else that names a call, such as the agent it started. False when the call is not known. */
  amendCall(reader: CodexReader, id: string | null, change: EventChange): boolean {
    const seq = id === null ? -1 : this.#seqs.get(id)
    if (seq === -1) return false
    reader.join(seq, change)
    return true
  }

  /** A search of the provider, or an image that was looked at: an item with the id of its call, before or after it. */
  note(reader: CodexReader, id: string | null, tool: string, summary: string): void {
    if (this.amendCall(reader, id, {})) return
    const seq = reader.emit({
      ...(id === null ? {} : { id }),
      kind: 'tool',
      summary: summaryOf(summary),
      tool,
      toolUseId: id,
      ok: true,
    })
    reader.evidence.usedTool(tool)
    if (id === null) return
    this.#seqs.set(id, seq)
    this.#early.add(id)
  }

  /** Files that a patch is about to change: older versions name them before its end only. */
  announce(reader: CodexReader, id: string | null, changes: unknown): void {
    const effects = effectsOf(readChanges(changes))
    if (effects.length > 0) this.amendCall(reader, id, { effects, effectsState: 'complete' })
  }

  #changeOf(finish: Finish): EventChange {
    return {
      ok: finish.ok,
      ...(finish.durationMs === null ? {} : { durationMs: finish.durationMs }),
      ...effectsOfFinish(finish),
    }
  }

  /** A command, patch or call that no item of the conversation asked for by this id: one inside a script (0.171). */
  #emitNested(reader: CodexReader, finish: Finish): void {
    const command = commandText(finish.input.split('\0'))
    const seq = reader.emit({
      ...(finish.id === null ? {} : { id: finish.id }),
      parentSeq: this.#scriptOf(reader, command) ?? reader.replies.lastOf(reader.place.turn) ?? reader.spine,
      kind: 'tool',
      summary: summaryOf(command),
      tool: finish.tool,
      toolUseId: finish.id,
      ok: finish.ok,
      durationMs: finish.durationMs,
      effects: [],
      effectsState: 'none',
      ...effectsOfFinish(finish),
      contentKey: reader.key('call', finish.tool, finish.input),
    })
    if (finish.id !== null) this.#seqs.set(finish.id, seq)
    reader.evidence.usedTool(finish.tool)
    reader.words(seq, 'input', command)
    reader.words(seq, 'output', finish.output)
    if (finish.declined || isHeldBack(reader, finish.tool, true, finish.ok === false, finish.output))
      this.#deny(reader, { seq, name: finish.tool }, finish.id ?? `@${seq}`, finish.output)
  }

  /** Ids inside a script have nothing to do with the id of its call: the turn and the words tell which it was. */
  #scriptOf(reader: CodexReader, command: string): number | null {
    const { turn } = reader.place
    const scripts = [...this.#open.values()].filter((call) => call.isScript && call.turn === turn)
    const naming = scripts.filter(
      ({ text }) => text.includes(command) || text.includes(JSON.stringify(command).slice(1, -1)),
    )
    const only = naming.length === 1 ? naming[0] : scripts.length === 1 ? scripts[0] : undefined
    if (only !== undefined) return only.seq
    return scripts.length === 0 && this.#lastScript?.turn === turn ? this.#lastScript.seq : null
  }

  #closeUnknown(reader: CodexReader, id: string | null, outcome: Outcome): void {
    if (this.amendCall(reader, id, {})) return
    const seq = reader.emit({
      kind: 'tool',
      summary: 'Result of a call that is not in the record',
      toolUseId: id,
      ok: outcome.ok,
      effectsState: 'none',
    })
    reader.words(seq, 'output', outcome.text)
  }

  #deny(reader: CodexReader, call: Pick<OpenCall, 'seq' | 'name'>, id: string, why: string): void {
    reader.emit({
      id: `${id}/denied`,
      parentSeq: call.seq,
      kind: 'denied',
      summary: summaryOf(withoutHead(why)),
      tool: call.name,
      toolUseId: id,
      ok: false,
    })
  }
}

/**
 * Whether the sandbox held a command back. No record says so: it fails like any other. Two signs count, under a sandbox only: the answer of
 * a read-only file system, which is how the sandbox refuses to write; and words of refusal from a command that has no record of its
 * execution, as those have that are stopped at once (0.171.0). A command that merely met such words is not counted.
 */
function isHeldBack(reader: CodexReader, tool: string, finished: boolean, failed: boolean, text: string): boolean {
  const sandbox = reader.settings?.sandbox
  if (tool !== 'exec_command' || !failed || sandbox === 'danger-full-access' || sandbox == null) return false
  return /read-only file system/i.test(text) || (reader.paginated && !finished && soundsSandboxed(text))
}

function effectsAfter(
  reader: CodexReader,
  call: OpenCall,
  outcome: Outcome,
  refused: boolean,
): Pick<ReadEvent, 'effects' | 'effectsState'> | Record<string, never> {
  if (isHarmless(call.name)) return {}
  // Its commands and patches are events of their own, with their own effects; the older record keeps none of them.
  if (call.isScript) return { effects: [], effectsState: reader.paginated ? 'not_applicable' : 'none' }
  if (refused || outcome.notRun) return { effects: [], effectsState: 'complete' }
  if (outcome.ok === true && hasPatch(call.text)) {
    const changes = readPatches(call.text, call.directory)
    if (changes.length > 0)
      return { effects: effectsOf(changes), effectsState: call.name === 'apply_patch' ? 'complete' : 'partial' }
  }
  return {}
}

function effectsOfFinish(finish: Finish): Pick<ReadEvent, 'effects' | 'effectsState'> | Record<string, never> {
  if (finish.declined) return { effects: [], effectsState: 'complete' }
  if (finish.changes === null) return {}
  // A patch of several files that failed may have written some of them.
  return finish.ok === true
    ? { effects: effectsOf(readChanges(finish.changes)), effectsState: 'complete' }
    : { effects: [], effectsState: 'none' }
}

function durationSince(call: OpenCall, at: string | null): { durationMs?: number } {
  if (call.at === null || at === null) return {}
  const between = Date.parse(at) - Date.parse(call.at)
  return between >= 0 ? { durationMs: between } : {}
}

/** Older collaboration tools answer with the id of the thread they started. */
function subagentIn(call: OpenCall, output: string): { subagentSession?: string } {
  if (!call.name.endsWith('spawn_agent')) return {}
  const agent = asText(parseObject(output)?.agent_id)
  return agent !== null && /^[0-9a-f-]{36}$/.test(agent) ? { subagentSession: agent } : {}
}

/** A refusal without what every output of a command begins with. */
function withoutHead(output: string): string {
  const at = output.startsWith('Chunk ID: ') ? output.indexOf('\nOutput:\n') : -1
  const words = (at === -1 ? output : output.slice(at + '\nOutput:\n'.length)).trim()
  return words === '' ? 'declined' : words
}
