import path from 'node:path'
import type { EventContent, EventPlace, RawLine, SessionUnit } from '../adapter.ts'
import { asName, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { callsOf } from './copies.ts'
import { Effects } from './effects.ts'
import { contentOf, inputOf, thinkingOf } from './message-rows.ts'
import { readPromptParts } from './prompt-parts.ts'
import { readToolResult, succeeded } from './tool-results.ts'

type Part = EventContent['parts'][number]

/** One event in full, from its rows. What has no form of its own is shown as it stands in the record. */
export async function describeEvent(
  unit: SessionUnit,
  event: EventPlace,
  lines: readonly RawLine[],
): Promise<EventContent> {
  const rows = lines.map(({ value }) => asRow(value)).filter((row) => row !== null)
  const parts = [...partsOf(event, rows), ...localTimes(rows)]
  return {
    parts: parts.length > 0 ? parts : rows.map((row) => json('raw', asText(row.row) ?? 'Record', row)),
    changes: event.kind === 'tool' ? changesOf(unit, event, rows) : [],
  }
}

function partsOf(event: EventPlace, rows: readonly Row[]): readonly Part[] {
  switch (event.kind) {
    case 'prompt':
      return rows.flatMap((row) => [
        ...part('prompt', 'Prompt', plainText(contentOf(row)), 'markdown'),
        ...part('context', 'As it was sent', asText(row.api_content), 'markdown'),
      ])
    case 'model':
      return rows.flatMap((row) => [
        ...part('thinking', 'Thinking', thinkingOf(row), 'markdown'),
        ...part('text', 'Answer', plainText(contentOf(row)), 'markdown'),
        // The call is an event of its own, which shows what it was given and gave.
        ...callsOf(row).flatMap(({ name }) => part('text', `Calls ${name}`, name)),
      ])
    case 'tool':
      return [...inputParts(event, rows), ...outputParts(event, rows)]
    case 'instructions':
      return event.id.startsWith('prompt/') ? projectParts(event, rows) : hintParts(event, rows)
    case 'memory':
      return event.id.startsWith('prompt/') ? memoryParts(event, rows) : []
    case 'context':
      return rows.flatMap((row) =>
        row.row === 'prompt'
          ? part('context', 'System prompt', asText(row.prompt), 'markdown')
          : part('context', 'Text', plainText(contentOf(row)), 'markdown'),
      )
    case 'compact':
      return rows.flatMap((row) =>
        row.row === 'message'
          ? part('context', 'Summary', plainText(contentOf(row)), 'markdown')
          : [json('raw', 'Messages taken out', row.ids ?? row)],
      )
    case 'denied':
      return rows.flatMap((row) => part('error', 'Answer', plainText(contentOf(row))))
    default:
      return []
  }
}

function inputParts({ toolUseId, tool }: EventPlace, rows: readonly Row[]): readonly Part[] {
  const call = rows.flatMap(callsOf).find(({ id, name }) => id === toolUseId && (tool === null || name === tool))
  if (call === undefined) return []
  const input = inputOf(call.arguments)
  if (input === null) return part('input', 'Input, not valid JSON', call.arguments)
  return [...part('input', 'Command', asName(input.command)), json('input', 'Input', input)]
}

function resultOf({ toolUseId }: EventPlace, rows: readonly Row[]): Row | null {
  return rows.find((row) => row.role === 'tool' && row.tool_call_id === toolUseId) ?? null
}

function outputParts(event: EventPlace, rows: readonly Row[]): readonly Part[] {
  const row = resultOf(event, rows)
  if (row === null) return []
  const result = readToolResult(plainText(contentOf(row)))
  const hints = result.hints.flatMap(({ path: file, text }) =>
    part('context', `Came in with it: ${file}`, text, 'markdown'),
  )
  if (result.value === null)
    return [...part(succeeded(result) ? 'output' : 'error', 'Result', result.text, 'ansi'), ...hints]
  const { output, error, ...rest } = result.value
  const left = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null))
  return [
    ...part('output', 'Output', asText(output), 'ansi'),
    ...part('error', 'Error', asText(error)),
    ...(Object.keys(left).length > 0 ? [json('output', 'Result', left)] : []),
    ...hints,
  ]
}

function projectParts({ id }: EventPlace, rows: readonly Row[]): readonly Part[] {
  const at = Number(id.slice(id.lastIndexOf('/') + 1))
  return rows.flatMap((row) => {
    const section = readPromptParts(asText(row.prompt) ?? '').project[at]
    return section === undefined ? [] : part('context', section.label, section.text, 'markdown')
  })
}

function memoryParts({ id }: EventPlace, rows: readonly Row[]): readonly Part[] {
  return rows.flatMap((row) => {
    const { memory, user } = readPromptParts(asText(row.prompt) ?? '')
    return part('context', id.slice('prompt/'.length), id.endsWith('USER.md') ? user : memory, 'markdown')
  })
}

function hintParts({ id }: EventPlace, rows: readonly Row[]): readonly Part[] {
  const at = Number(id.slice(id.lastIndexOf('/') + 1))
  return rows.flatMap((row) => {
    const hint = readToolResult(plainText(contentOf(row))).hints[at]
    return hint === undefined ? [] : part('context', hint.path, hint.text, 'markdown')
  })
}

/** Times of a gateway log name no zone: they are shown as they stand and are no instants (wild fixtures). */
function localTimes(rows: readonly Row[]): readonly Part[] {
  const times = [...new Set(rows.map(({ timestamp }) => asText(timestamp)).filter((time) => time !== null))]
  return times.flatMap((time) =>
    /(Z|[+-]\d\d:?\d\d)$/.test(time)
      ? []
      : part('context', 'Time', `${time}, local time of the machine that wrote it; the zone is not recorded`),
  )
}

function changesOf(unit: SessionUnit, event: EventPlace, rows: readonly Row[]): EventContent['changes'] {
  const row = resultOf(event, rows)
  const call = rows.flatMap(callsOf).find(({ id }) => id === event.toolUseId)
  if (row === null || call === undefined || !['write_file', 'patch', 'memory'].includes(call.name)) return []
  const result = readToolResult(plainText(contentOf(row)))
  if (!succeeded(result)) return []
  const cwd = asName(unit.meta.cwd)
  return new Effects(unit.home)
    .changes(call.name, inputOf(call.arguments), result.value, cwd)
    .map(({ path: file, change, before, after, why }) => ({ path: path.normalize(file), change, before, after, why }))
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
