import type { EventContent, EventPlace, RawLine, ReadSideFile, SessionUnit } from '../adapter.ts'
import { asList, asName, asNumber, asRow, asText, blocksOf, plainText, type Row } from '../shared/fields.ts'
import { filesOfPatch } from './edits.ts'
import { denialOf } from './tool-calls.ts'

type Part = EventContent['parts'][number]
type Change = EventContent['changes'][number]

/** One event in full, from its rows. Nothing is left out: what has no form of its own is shown as it stands. */
export async function describeEvent(
  _unit: SessionUnit,
  event: EventPlace,
  lines: readonly RawLine[],
  _readSideFile: ReadSideFile,
): Promise<EventContent> {
  const rows = lines.map(({ value }) => asRow(value)).filter((row) => row !== null)
  const parts = rows.flatMap((row) => partsOf(event, row))
  const changes = event.kind === 'tool' ? changesOf(event, rows) : []
  return { parts: parts.length > 0 ? parts : rows.map((row) => json('raw', asText(row.type) ?? 'Row', row)), changes }
}

function partsOf(event: EventPlace, row: Row): readonly Part[] {
  const message = asRow(row.message)
  switch (event.kind) {
    case 'prompt':
      return part('prompt', 'Prompt', plainText(message?.content), 'markdown')
    case 'model':
    case 'error':
      return message === null ? otherParts('error', row) : replyParts(message)
    case 'tool':
      return message?.role === 'toolResult' ? outputParts(event, message) : inputParts(event, message)
    case 'denied':
      return [
        ...part('error', 'Answer', plainText(message?.content)),
        json('context', 'Decision', message?.details ?? null),
      ]
    case 'memory':
      return recallParts(message)
    case 'skill':
    case 'tool_schema':
      return part('context', event.kind === 'skill' ? 'Skill' : 'Answer', plainText(message?.content), 'markdown')
    default:
      return otherParts('context', row)
  }
}

function part(
  role: Part['role'],
  label: string,
  text: string | null,
  format: Part['format'] = 'text',
): readonly Part[] {
  return text === null || text === '' ? [] : [{ role, label, text, format }]
}

const json = (role: Part['role'], label: string, value: unknown): Part => ({
  role,
  label,
  text: JSON.stringify(value, null, 2) ?? '',
  format: 'json',
})

function replyParts(message: Row): readonly Part[] {
  const blocks = blocksOf(message).flatMap((block): readonly Part[] => {
    if (block.type === 'thinking') return part('thinking', 'Thinking', asText(block.thinking), 'markdown')
    // The call is an event of its own, which shows what it was given and gave.
    if (block.type === 'toolCall')
      return part('text', `Calls ${asText(block.name) ?? 'a tool'}`, asText(block.name) ?? 'a tool')
    const text = asText(block.text)
    return text === null
      ? [json('raw', asText(block.type) ?? 'block', block)]
      : part('text', 'Answer', text, 'markdown')
  })
  const { content: _, ...about } = message
  return [...part('error', 'Error', asText(message.errorMessage)), ...blocks, json('context', 'About the reply', about)]
}

function inputParts({ toolUseId, tool }: EventPlace, message: Row | null): readonly Part[] {
  const call = blocksOf(message).find(
    ({ type, id, name }) => type === 'toolCall' && (toolUseId === null ? name === tool : id === toolUseId),
  )
  if (call === undefined) return []
  const command = asName(asRow(call.arguments)?.command)
  return [...part('input', 'Command', command), json('input', 'Input', call.arguments ?? null)]
}

function outputParts({ tool, toolUseId }: EventPlace, message: Row): readonly Part[] {
  if (toolUseId !== null && message.toolCallId !== toolUseId) return []
  const details = asRow(message.details)
  const failed = message.isError === true || denialOf(details) !== null
  const shown = part(
    failed ? 'error' : 'output',
    failed ? 'Error' : 'Output',
    plainText(message.content),
    tool === 'exec' ? 'ansi' : 'text',
  )
  const images = asList(message.content).filter((item) => asRow(item)?.type === 'image').length
  const cut = details?.persistedDetailsTruncated === true
  return [
    ...shown,
    ...(images > 0 ? part('context', 'Images', `${images} in the record`) : []),
    ...(details === null
      ? []
      : [json('context', cut ? 'Details, cut by the program above 8 KiB' : 'Details', details)]),
  ]
}

/** The bounded view the agent was given (R47): the text of the result; the conversations or notes behind it are not opened. */
function recallParts(message: Row | null): readonly Part[] {
  const text = plainText(message?.content)
  const size = asNumber(text.length) ?? 0
  return [
    ...part('context', 'Recalled, as the agent was given it', text, 'markdown'),
    ...part('context', 'Size', `${size} characters`),
  ]
}

function otherParts(role: 'context' | 'error', row: Row): readonly Part[] {
  const message = asRow(row.message)
  const words = plainText(message?.content) || asText(row.summary) || plainText(row.content)
  const data = asRow(row.data)
  return [
    ...part(role, row.type === 'compaction' ? 'Summary' : 'Text', words, 'markdown'),
    json('raw', asText(row.customType) ?? asText(row.type) ?? 'Record', data ?? row),
  ]
}

function changesOf(event: EventPlace, rows: readonly Row[]): readonly Change[] {
  const messages = rows.map((row) => asRow(row.message)).filter((message) => message !== null)
  const result = messages.find(({ role, toolCallId }) => role === 'toolResult' && toolCallId === event.toolUseId)
  const call = messages
    .flatMap((message) => blocksOf(message))
    .find(({ type, id }) => type === 'toolCall' && id === event.toolUseId)
  const input = asRow(call?.arguments)
  const details = asRow(result?.details)
  if (result === undefined || result.isError === true || denialOf(details) !== null || input === null) return []
  const why = 'the record does not hold the content before'
  const path = asName(input.path) ?? asName(input.file_path)
  if (event.tool === 'write' && path !== null) {
    const created = details?.created === true
    return [
      {
        path,
        change: created ? 'add' : details === null ? 'unknown' : 'change',
        before: null,
        after: asText(input.content),
        why: created ? null : why,
      },
    ]
  }
  if (event.tool === 'edit' && path !== null) {
    // Of the file only the replaced places are known: both sides of them are shown, as the patch has them.
    const sides = sidesOfPatch(asText(details?.patch))
    return [{ path, change: 'change', ...sides, why: 'the record holds the changed places only' }]
  }
  if (event.tool === 'apply_patch')
    return filesOfPatch(asText(input.input) ?? asText(input.patch) ?? '').map(({ path: file, change }) => ({
      path: file,
      change,
      before: null,
      after: null,
      why: 'the patch itself is in the input',
    }))
  return []
}

function sidesOfPatch(patch: string | null): { before: string | null; after: string | null } {
  if (patch === null) return { before: null, after: null }
  const [before, after]: [string[], string[]] = [[], []]
  let inHunk = false
  for (const line of patch.split('\n')) {
    if (line.startsWith('@@')) {
      inHunk = true
      continue
    }
    if (!inHunk || line === '' || line.startsWith('\\')) continue
    if (!line.startsWith('+')) before.push(line.slice(1))
    if (!line.startsWith('-')) after.push(line.slice(1))
  }
  const whole = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  return { before: whole(before), after: whole(after) }
}
