import type { EventContent, EventPlace, RawLine } from '../adapter.ts'
import { asList, asName, asNames, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { toolsOf } from './evidence.ts'
import { type FileChange, hasPatch, readChanges, readPatches, sidesOf } from './file-changes.ts'
import { kindOf, partsOf } from './input-messages.ts'
import { type Finish, readFinish, readOutcome } from './outcomes.ts'
import { inputOfCall, isFromModel, nameOfCall, readRecord, thoughtsOf } from './records.ts'
import { saidByEvent } from './reply-splitter.ts'
import { commandText } from './words.ts'

type Part = EventContent['parts'][number]
type Change = EventContent['changes'][number]

/** What the records of one event say in full. An item of the conversation comes before the event that repeats it. */
export function describeRecords(event: EventPlace, lines: readonly RawLine[]): EventContent {
  const records = lines.map(({ value }) => readRecord(value))
  const items = records.flatMap((record) => record.items)
  const events = records.filter(({ kind }) => kind === 'event').map(({ payload }) => payload)
  const parts = partsOfEvent(event, items, events)
  const changes = event.kind === 'tool' ? changesOf(event, items, events) : []
  if (parts.length > 0) return { parts, changes }
  return { parts: records.map(({ type, payload }) => json('raw', type, payload)), changes }
}

function partsOfEvent(event: EventPlace, items: readonly Row[], events: readonly Row[]): readonly Part[] {
  switch (event.kind) {
    case 'prompt':
      return promptParts(items, events)
    case 'model':
      return replyParts(items, events)
    case 'tool':
      return [...inputParts(event, items, events), ...outputParts(event, items, events)]
    case 'denied':
      return outputParts({ ...event, kind: 'tool' }, items, events).map((part) => ({ ...part, role: 'error' as const }))
    case 'tool_schema':
      return items.flatMap((item) =>
        toolsOf(item).length > 0
          ? [json('context', `${toolsOf(item).length} tools`, item.tools)]
          : inputMessageParts(event, item),
      )
    case 'compact':
      return []
    default:
      return items.flatMap((item) =>
        item.type === 'agent_message'
          ? part('context', `From ${asName(item.author) ?? 'an agent'}`, plainText(item.content))
          : inputMessageParts(event, item),
      )
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

function promptParts(items: readonly Row[], events: readonly Row[]): readonly Part[] {
  for (const item of items) {
    if (item.type === 'agent_message')
      return part('prompt', `Task from ${asName(item.author) ?? 'an agent'}`, plainText(item.content))
    const typed = partsOf(item).filter(({ what }) => kindOf(what) === 'context' && what.startsWith('user.'))
    if (typed.length > 0) return part('prompt', 'Prompt', typed.map(({ text }) => text).join('\n'), 'markdown')
  }
  const [said] = events
  return part('prompt', 'Prompt', asText(said?.message) ?? plainText(asRow(said?.item)?.content), 'markdown')
}

function replyParts(items: readonly Row[], events: readonly Row[]): readonly Part[] {
  const own = items.filter(isFromModel)
  const parts = own.flatMap((item): readonly Part[] => {
    switch (item.type) {
      case 'message':
        return part('text', 'Answer', plainText(item.content), 'markdown')
      case 'reasoning': {
        const thoughts = part('thinking', 'Thinking', thoughtsOf(item).join('\n\n'), 'markdown')
        if (thoughts.length > 0 || asName(item.encrypted_content) === null) return thoughts
        return part('context', 'Thinking', 'The provider keeps it encrypted.')
      }
      default:
        // The call is an event of its own, which shows what it was given and gave.
        return part('text', `Calls ${nameOfCall(item)}`, nameOfCall(item))
    }
  })
  if (own.some(({ type }) => type === 'message' || type === 'reasoning')) return parts
  return [
    ...events
      .flatMap((payload) => saidByEvent(payload) ?? [])
      .flatMap(({ kind, text }) =>
        kind === 'answer' ? part('text', 'Answer', text, 'markdown') : part('thinking', 'Thinking', text, 'markdown'),
      ),
    ...parts,
  ]
}

const isCallOf =
  (event: EventPlace) =>
  (item: Row): boolean =>
    isFromModel(item) &&
    item.type !== 'message' &&
    item.type !== 'reasoning' &&
    (asName(item.call_id) ?? asName(item.id)) === event.toolUseId

function finishOf(events: readonly Row[]): Finish | null {
  return events.map(readFinish).find((finish) => finish !== null) ?? null
}

function inputParts(event: EventPlace, items: readonly Row[], events: readonly Row[]): readonly Part[] {
  const call = items.find(isCallOf(event))
  if (call === undefined) {
    const finish = finishOf(events)
    if (finish === null) return events.map((payload) => json('raw', asName(payload.type) ?? 'event', payload))
    if (finish.changes !== null) return []
    return part('input', finish.tool === 'exec_command' ? 'Command' : 'Input', commandText(finish.input.split('\0')))
  }
  const input = inputOfCall(call)
  if (input === null) return []
  if (typeof input === 'string') return part('input', hasPatch(input) ? 'Patch' : 'Input', input)
  const command =
    asName(input.cmd) ?? (Array.isArray(input.command) ? commandText(asNames(input.command)) : asName(input.command))
  return [...part('input', 'Command', command), json('input', 'Input', input)]
}

function outputParts(event: EventPlace, items: readonly Row[], events: readonly Row[]): readonly Part[] {
  const output = items.find(
    (item) => typeof item.type === 'string' && item.type.endsWith('_output') && item.call_id === event.toolUseId,
  )
  const finish = finishOf(events)
  const found = output === undefined ? null : readOutcome(output)
  const images = asList(output?.output).filter((item) => asRow(item)?.type === 'input_image').length
  const shown =
    found === null
      ? []
      : part(found.ok === false ? 'error' : 'output', found.ok === false ? 'Error' : 'Output', found.text, 'ansi')
  const whole = finish !== null && finish.output !== '' && !(found?.text ?? '').includes(finish.output.trimEnd())
  return [
    ...shown,
    ...(whole
      ? part(
          finish.ok === false ? 'error' : 'output',
          found === null ? 'Output' : 'Whole output of the command',
          finish.output,
          'ansi',
        )
      : []),
    ...(images > 0 ? part('context', 'Images', `${images} in the record`) : []),
  ]
}

/** Events of one message are told apart by the number behind the slash of their id. */
function inputMessageParts(event: EventPlace, item: Row): readonly Part[] {
  if (item.type !== 'message') return [json('raw', asName(item.type) ?? 'item', item)]
  const at = Number(/\/(\d+)(?:@|$)/.exec(event.id)?.[1] ?? Number.NaN)
  const parts = partsOf(item)
  const wanted = Number.isNaN(at) ? parts : parts.slice(at, at + 1)
  return wanted.flatMap(({ text, what }) => part('context', what, text, 'markdown'))
}

function changesOf(event: EventPlace, items: readonly Row[], events: readonly Row[]): readonly Change[] {
  const told = events.map(readFinish).find((finish) => finish !== null && finish.changes !== null)
  if (told != null) return told.ok === true ? readChanges(told.changes).map(show) : []
  const call = items.find(isCallOf(event))
  const output = items.find((item) => item.call_id === event.toolUseId && item !== call)
  if (call === undefined || output === undefined || readOutcome(output).ok !== true) return []
  const input = inputOfCall(call)
  const text = typeof input === 'string' ? input : (asName(input?.cmd) ?? asNames(input?.command).join('\n'))
  return hasPatch(text) ? readPatches(text, asName(asRow(input)?.workdir) ?? null).map(show) : []
}

/** Of a changed file only the changed places are in the record: both sides show those. */
function show({ path, change, before, after, diff, why }: FileChange): Change {
  const sides = diff === null ? { before, after } : sidesOf(diff)
  return { path, change, before: change === 'add' && diff !== null ? null : sides.before, after: sides.after, why }
}
