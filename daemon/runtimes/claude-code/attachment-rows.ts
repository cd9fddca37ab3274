import { textDigest } from '../../manifest/effective-text.ts'
import { asList, asName, asNames, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import {
  jsonDigest,
  readGitChanges,
  readInstructions,
  readNamed,
  readNested,
  type SeenInstruction,
} from './evidence.ts'
import type { ClaudeReader } from './reader.ts'
import { summaryOf } from './summaries.ts'
import { readHook } from './system-rows.ts'

type Read = (reader: ClaudeReader, attachment: Row, row: Row) => void

/** Context put in for the model, by `attachment.type` (runtime page 5.2, 2.1.332; the wild fixtures for older ones). */
const readers: Readonly<Record<string, Read>> = {
  instructions: readInstructionFiles,
  nested_memory: readNestedFile,
  environment: readEnvironment,
  model: readModel,
  session_context: readSessionContext,
  skill_listing: readSkills,
  dynamic_skill: (reader, attachment) =>
    context(reader, `skills of ${asText(attachment.skillDir) ?? 'a folder'}: ${names(attachment.skillNames)}`),
  agent_listing_delta: readAgents,
  deferred_tools_delta: readDeferredTools,
  deferred_tools_record: readResolvedTools,
  mcp_instructions_delta: readMcpInstructions,
  prompt_snapshot: (reader, attachment) =>
    context(reader, `system prompt in ${asList(attachment.systemPrompt).length} parts`),
  date: (reader, attachment) => context(reader, asText(attachment.date) ?? ''),
  remote_session_change: (reader) => context(reader, 'attribution of commits and pull requests'),
  silent_turn_reminder: (reader) => context(reader, 'reminder after silent turns'),
  command_permissions: (reader, attachment) =>
    context(reader, `tools allowed by a command: ${names(attachment.allowedTools)}`),
  auto_mode: (reader) => context(reader, 'auto mode'),
  context_sections: (reader) => context(reader, 'context sections'),
  queued_command: readQueued,
  edited_text_file: (reader, attachment) =>
    context(reader, `changed by someone else: ${asText(attachment.filename) ?? ''}`),
}

export function readAttachment(reader: ClaudeReader, row: Row): void {
  const attachment = asRow(row.attachment)
  const type = asText(attachment?.type)
  if (attachment === null || type === null) {
    reader.unknown(reader.place.line, 'attachment')
    reader.emit({ kind: 'unknown', summary: 'attachment' })
  } else if (type.startsWith('hook_') || type === 'async_hook_response') readHook(reader, type, attachment)
  else if (Object.hasOwn(readers, type)) readers[type]?.(reader, attachment, row)
  else {
    reader.unknown(reader.place.line, `attachment/${type}`)
    context(reader, `${type}: ${subjectOf(attachment)}`)
  }
}

/** What an attachment of an unknown type is about, as far as its usual fields say. */
function subjectOf(attachment: Row): string {
  const { filename, displayPath, path, content } = attachment
  return asName(filename) ?? asName(displayPath) ?? asName(path) ?? plainText(content)
}

function context(reader: ClaudeReader, summary: string): void {
  reader.emit({ kind: 'context', summary: summaryOf(summary) })
}

function names(value: unknown): string {
  return asNames(value).join(', ')
}

/** A prompt that was typed while the agent was at work; other queued commands come from the program. */
function readQueued(reader: ClaudeReader, attachment: Row): void {
  const text = plainText(attachment.prompt)
  const mode = asText(attachment.commandMode)
  const typed = (mode === null || mode === 'prompt') && asRow(attachment.origin)?.kind !== 'task-notification'
  const seq = reader.emit({
    kind: typed ? 'prompt' : 'context',
    summary: summaryOf(text),
    contentKey: typed ? reader.key('said', text) : null,
  })
  reader.words(seq, typed ? 'prompt' : 'context', text)
}

/** One event for each file that entered the context at start or after a compaction (R92). */
function readInstructionFiles(reader: ClaudeReader, attachment: Row, row: Row): void {
  const files = readInstructions(attachment, row.rendered, reader.unit.home)
  for (const evidence of reader.evidence) evidence.set('instructions', files)
  files.forEach((file, at) => {
    emitFile(reader, file, at === 0 ? null : `${at}`)
  })
  if (files.length === 0) context(reader, 'no instruction files')
}

function readNestedFile(reader: ClaudeReader, attachment: Row): void {
  const file = readNested(attachment, reader.place.at, reader.lastTouched, reader.unit.home)
  if (file === null) {
    context(reader, 'nested instructions')
    return
  }
  for (const evidence of reader.evidence) evidence.addLazily(file)
  emitFile(reader, file, null)
}

function emitFile(reader: ClaudeReader, file: SeenInstruction, part: string | null): void {
  const { uuid, line } = reader.place
  const kind = file.type === 'AutoMem' ? 'memory' : file.rule ? 'rule' : 'instructions'
  const place = part === null ? {} : { id: `${uuid ?? `@${line.byte}`}/${part}`, rowIds: [] }
  const seq = reader.emit({ ...place, kind, summary: summaryOf(file.path) }, part === null ? 'row' : 'part')
  reader.words(seq, 'context', file.text)
}

function readEnvironment(reader: ClaudeReader, attachment: Row): void {
  const snapshot = asRow(attachment.snapshot)
  if (snapshot !== null) for (const evidence of reader.evidence) evidence.set('environment', snapshot)
  const changes = asList(attachment.changes)
    .map((item) => asText(asRow(item)?.field))
    .filter((field) => field !== null)
  const place = asText(snapshot?.workingDirectory) ?? ''
  context(
    reader,
    changes.length === 0 ? `environment: ${place}` : `environment changed: ${changes.join(', ')}: ${place}`,
  )
}

function readModel(reader: ClaudeReader, attachment: Row): void {
  const model = asName(asRow(attachment.identity)?.modelId)
  if (model !== null) for (const evidence of reader.evidence) evidence.set('model', model)
  context(reader, `model: ${model ?? 'not named'}`)
}

function readSessionContext(reader: ClaudeReader, attachment: Row): void {
  const status = asText(asRow(attachment.context)?.gitStatus)
  for (const evidence of reader.evidence) evidence.set('session_context', true)
  if (status !== null) {
    const changes = readGitChanges(status)
    for (const evidence of reader.evidence) {
      evidence.set('git_status_digest', textDigest(status))
      if (changes !== null) evidence.set('git_changes', changes)
    }
  }
  context(reader, status === null ? 'session context' : 'git status')
}

function readSkills(reader: ClaudeReader, attachment: Row): void {
  const skills = readNamed(attachment.names, attachment.digests)
  if (attachment.isInitial !== false && 'names' in attachment)
    for (const evidence of reader.evidence) evidence.set('skills', skills)
  context(reader, `${skills.length} skills listed: ${skills.map(({ name }) => name).join(', ')}`)
}

function readAgents(reader: ClaudeReader, attachment: Row): void {
  const builtIn = new Set(asNames(attachment.builtInTypes))
  const agents = asNames(attachment.addedTypes).map((name) => ({ name, built_in: builtIn.has(name) }))
  if (attachment.isInitial !== false) for (const evidence of reader.evidence) evidence.set('agents', agents)
  context(reader, `${agents.length} agents listed: ${agents.map(({ name }) => name).join(', ')}`)
}

function readDeferredTools(reader: ClaudeReader, attachment: Row): void {
  const added = asNames(attachment.addedNames)
  const removed = asNames(attachment.removedNames)
  const failed = asList(attachment.failedMcpServers)
    .map((item) => asName(asRow(item)?.name))
    .filter((name) => name !== null)
  for (const evidence of reader.evidence) {
    evidence.set('deferred_tools', added)
    if ('failedMcpServers' in attachment) evidence.set('failed_mcp', failed)
    if ('pendingMcpServers' in attachment) evidence.set('pending_mcp', asNames(attachment.pendingMcpServers))
  }
  const parts = [`${added.length} tools deferred: ${added.join(', ')}`]
  if (removed.length > 0) parts.push(`removed: ${removed.join(', ')}`)
  if (failed.length > 0) parts.push(`MCP servers that failed: ${failed.join(', ')}`)
  context(reader, parts.join('; '))
}

/** Definitions of deferred tools that were asked for (2.1.332): the schema that was really loaded. */
function readResolvedTools(reader: ClaudeReader, attachment: Row): void {
  const tools = asList(attachment.entries).map(asRow)
  const resolved = tools.map((tool) => ({
    name: asText(tool?.name) ?? '(unnamed)',
    schema_digest: jsonDigest(tool),
  }))
  for (const evidence of reader.evidence) evidence.addResolved(resolved)
  reader.emit({ kind: 'tool_schema', summary: summaryOf(resolved.map(({ name }) => name).join(', ')) })
}

function readMcpInstructions(reader: ClaudeReader, attachment: Row): void {
  const blocks = asList(attachment.addedBlocks)
  const servers = asNames(attachment.addedNames).map((name, at) => ({
    name,
    digest: textDigest(asText(blocks[at]) ?? ''),
  }))
  for (const evidence of reader.evidence) evidence.set('mcp_instructions', servers)
  context(reader, `instructions of MCP servers: ${servers.map(({ name }) => name).join(', ')}`)
}
