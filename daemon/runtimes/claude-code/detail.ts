import type { EventKind } from '../../../contract/index.ts'
import { isCredentialFile } from '../../secrets/credential-files.ts'
import { asList, asName, asNames, asRow, asText, blocksOf, plainText, type Row } from '../shared/fields.ts'
import { backupsOf } from './checkpoints.ts'
import { readDenial } from './denials.ts'
import { readEdit } from './edits.ts'
import { readPromptForm } from './summaries.ts'

/** One piece of an event as it is shown. Texts are whole and not redacted: the caller covers secrets, then cuts. */
export interface DetailPart {
  readonly role: 'prompt' | 'text' | 'thinking' | 'input' | 'output' | 'error' | 'context' | 'raw'
  readonly label: string
  readonly text: string
  readonly format: 'markdown' | 'text' | 'json' | 'ansi'
}

export interface DetailChange {
  readonly path: string
  readonly change: 'add' | 'change' | 'delete' | 'unknown'
  readonly before: string | null
  readonly after: string | null
  /** Why a side is missing although it existed. */
  readonly why: string | null
}

export interface DetailRequest {
  readonly kind: EventKind
  /** `id` of the event as the reader gave it. */
  readonly id: string
  readonly toolUseId: string | null
  readonly tool: string | null
  /** Rows of the lines of the event: its own first, then those added by amendments, in that order. */
  readonly rows: readonly unknown[]
  /**
   * Content of a side file by the absolute path the record names, or of a backup by the name in a checkpoint; null when it is nowhere.
   * Called only for what the record names.
   */
  readonly readSideFile: (named: string) => string | null
  /** Why `readSideFile` gave null for it, as far as that is known. */
  readonly whyMissing?: (named: string) => string | null
}

export interface EventParts {
  readonly parts: readonly DetailPart[]
  readonly changes: readonly DetailChange[]
}

/** Puts an event together again from its rows. Nothing is left out: what has no form of its own is shown as it stands in the file. */
export function readDetail(request: DetailRequest): EventParts {
  const rows = request.rows.map(asRow).filter((row) => row !== null)
  const parts = partsOf(request, rows)
  const changes = request.kind === 'tool' ? changesOf(request, rows) : []
  if (parts.length > 0) return { parts, changes }
  return { parts: rows.map((row) => json('raw', asText(row.type) ?? 'row', row)), changes }
}

function partsOf(request: DetailRequest, rows: readonly Row[]): readonly DetailPart[] {
  switch (request.kind) {
    case 'prompt':
      return rows.flatMap((row) => said('prompt', 'Prompt', row))
    case 'model':
      return rows.flatMap(replyParts)
    case 'tool':
      return [...inputParts(request, rows), ...outputParts(request, rows)]
    case 'denied':
      return rows.flatMap((row) => deniedParts(request, row))
    case 'instructions':
    case 'rule':
    case 'memory':
      return rows.flatMap((row) => instructionParts(request, row))
    case 'hook':
      return rows.flatMap(hookParts)
    case 'checkpoint':
      return rows.flatMap((row) => checkpointParts(request, row))
    case 'context':
    case 'note':
    case 'error':
    case 'skill':
    case 'tool_schema':
    case 'plugin':
    case 'compact':
    case 'resume':
    case 'unknown':
      return rows.flatMap((row) => otherParts(request.kind === 'error' ? 'error' : 'context', row))
  }
}

function part(
  role: DetailPart['role'],
  label: string,
  text: string | null,
  format: DetailPart['format'] = 'text',
): readonly DetailPart[] {
  return text === null || text === '' ? [] : [{ role, label, text, format }]
}

function json(role: DetailPart['role'], label: string, value: unknown): DetailPart {
  return { role, label, text: JSON.stringify(value, null, 2) ?? '', format: 'json' }
}

function said(role: 'prompt' | 'context' | 'error', label: string, row: Row): readonly DetailPart[] {
  const blocks = blocksOf(asRow(row.message)).filter((block) => block.type !== 'tool_result')
  return part(role, label, readPromptForm(plainText(blocks)).text, 'markdown')
}

function replyParts(row: Row): readonly DetailPart[] {
  if (row.type === 'api-request') return [json('context', 'Request', row.params ?? row)]
  return blocksOf(asRow(row.message)).flatMap((block): readonly DetailPart[] => {
    if (block.type === 'thinking') return part('thinking', 'Thinking', asText(block.thinking), 'markdown')
    // The call is an event of its own, which shows what it was given and gave.
    if (block.type === 'tool_use' || block.type === 'server_tool_use')
      return part('text', `Calls ${asText(block.name) ?? 'a tool'}`, asText(block.name) ?? 'a tool')
    const text = asText(block.text)
    return text === null
      ? [json('raw', asText(block.type) ?? 'block', block)]
      : part('text', 'Answer', text, 'markdown')
  })
}

function findCall(request: DetailRequest, rows: readonly Row[]): Row | null {
  for (const row of rows) {
    for (const block of blocksOf(asRow(row.message))) {
      if (
        (block.type === 'tool_use' || block.type === 'server_tool_use') &&
        (block.id === request.toolUseId || request.toolUseId === null)
      )
        return block
    }
  }
  return null
}

function inputParts(request: DetailRequest, rows: readonly Row[]): readonly DetailPart[] {
  const input = findCall(request, rows)?.input
  if (input === undefined) return []
  const command = asName(asRow(input)?.command)
  return command === null
    ? [json('input', 'Input', input)]
    : [...part('input', 'Command', command), json('input', 'Input', input)]
}

function findResult(request: DetailRequest, rows: readonly Row[]): { readonly row: Row; readonly block: Row } | null {
  for (const row of rows) {
    for (const block of blocksOf(asRow(row.message))) {
      if (block.type === 'tool_result' && block.tool_use_id === request.toolUseId) return { row, block }
    }
  }
  return null
}

function outputParts(request: DetailRequest, rows: readonly Row[]): readonly DetailPart[] {
  const found = findResult(request, rows)
  if (found === null) return []
  const { row, block } = found
  const result = asRow(row.toolUseResult)
  const format = request.tool === 'Bash' ? 'ansi' : 'text'
  if (block.is_error === true) return part('error', 'Error', plainText(block.content), format)
  const spilled = asName(result?.persistedOutputPath)
  if (spilled !== null) {
    const text = request.readSideFile(spilled)
    if (text !== null) return part('output', 'Output', text, format)
    return [
      ...part('output', 'Head of the output', plainText(block.content), format),
      ...part(
        'context',
        'Missing',
        `The whole output was written to ${spilled}; ${request.whyMissing?.(spilled) ?? 'it is not there any more'}.`,
      ),
    ]
  }
  const streams = [
    ...part('output', 'Output', asText(result?.stdout), 'ansi'),
    ...part('output', 'Error output', asText(result?.stderr), 'ansi'),
  ]
  const shown = streams.length > 0 ? streams : part('output', 'Output', plainText(block.content), format)
  const images = asList(block.content).filter((item) => asRow(item)?.type === 'image').length
  return [...shown, ...(images > 0 ? part('context', 'Images', `${images} in the record`) : [])]
}

function deniedParts(request: DetailRequest, row: Row): readonly DetailPart[] {
  const found = findResult(request, [row])
  const text = found === null ? null : plainText(found.block.content)
  return [
    ...part('error', 'Answer', text),
    json('context', 'Decision', readDenial(row) ?? row.permissionDecision ?? null),
  ]
}

/** Every tracked file as it was, in the order of the record; what is not known of it is said with the reason. */
function checkpointParts(request: DetailRequest, row: Row): readonly DetailPart[] {
  const shown = backupsOf(row).flatMap(({ tracked, path, version, name, existed }): readonly DetailPart[] => {
    const label = version === null ? tracked : `${tracked}, version ${version}`
    if (!existed) return part('context', `${label}: was not there`, 'The file did not exist at this point.')
    if (name === null) return part('error', `${label}: not known`, 'The record does not name a copy of it.')
    if (isCredentialFile(path)) return part('error', `${label}: not shown`, 'It is a credential as a whole.')
    const text = request.readSideFile(name)
    if (text === '') return part('context', label, '(empty file)')
    return text === null
      ? part(
          'error',
          `${label}: not known`,
          `Copy ${name}: ${request.whyMissing?.(name) ?? 'it is not there any more'}.`,
        )
      : part('context', label, text)
  })
  return [...shown, ...otherParts('context', row)]
}

/** Events of one row are told apart by the number behind the slash of their id. */
function instructionParts(request: DetailRequest, row: Row): readonly DetailPart[] {
  const attachment = asRow(row.attachment)
  if (attachment === null) return otherParts('context', row)
  if (attachment.type === 'instructions') {
    const at = Number(/\/(\d+)$/.exec(request.id)?.[1] ?? 0)
    const file = asRow(asList(attachment.files)[at])
    return part('context', asText(file?.path) ?? 'Instructions', asText(file?.content), 'markdown')
  }
  const content = asRow(attachment.content)
  return part(
    'context',
    asText(attachment.path) ?? 'Instructions',
    asText(content?.content) ?? asText(attachment.content),
    'markdown',
  )
}

function hookParts(row: Row): readonly DetailPart[] {
  const about = asRow(row.attachment) ?? asRow(row.data) ?? row
  const parts = [
    ...part('input', 'Command', asText(about.command)),
    ...part('output', 'Output', asText(about.stdout), 'ansi'),
    ...part('error', 'Error output', asText(about.stderr), 'ansi'),
    ...part('context', 'For the model', plainText(about.content) || asNames(about.content).join('\n'), 'markdown'),
  ]
  return parts.length > 0 ? parts : [json('raw', 'Hook', about)]
}

function otherParts(role: 'context' | 'error', row: Row): readonly DetailPart[] {
  const shown = asList(row.rendered)
    .map((item) => asText(asRow(item)?.content) ?? '')
    .join('\n')
  const words = shown !== '' ? part('context', 'As the model saw it', shown, 'markdown') : said(role, 'Text', row)
  const own = asRow(row.attachment) ?? asRow(row.error) ?? asRow(row.snapshot) ?? asRow(row.compactMetadata)
  if (words.length > 0 && own === null) return words
  return [...words, json('raw', asText(own?.type) ?? asText(row.type) ?? 'Record', own ?? row)]
}

function changesOf(request: DetailRequest, rows: readonly Row[]): readonly DetailChange[] {
  const found = findResult(request, rows)
  const result = asRow(found?.row.toolUseResult)
  if (found === null || result === null || found.block.is_error === true) return []
  const edit = readEdit(result)
  return edit === null
    ? []
    : [{ path: edit.path, change: edit.change, before: edit.before, after: edit.after, why: edit.why }]
}
