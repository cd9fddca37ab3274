import type { RawLine, RebuiltRequest, RequestBlock, SessionLines } from '../adapter.ts'
import { asList, asName, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { jsonDigest } from './evidence.ts'
import { hasPatch } from './file-changes.ts'
import { History, type HistoryItem, parametersOf } from './history.ts'
import { partsOf } from './input-messages.ts'
import { inputOfCall, nameOfCall, thoughtsOf } from './records.ts'

/** An item as it is sent, and whether the record itself says that it was. */
interface Sent {
  readonly item: Row
  readonly asSent: boolean
  /** Item of the history it came from; null for the base instructions. */
  readonly from: Row | null
}

/**
 * What the model was given for a reply, from the items of the thread: every request carries the whole history (page 2). Not in any
 * record, so never in the body: tool definitions of models with direct tools, and all parameters but the reasoning effort.
 */
export async function rebuildRequest(reply: readonly RawLine[], source: SessionLines): Promise<RebuiltRequest> {
  const start = Math.min(...reply.map(({ line }) => line))
  const until = Math.max(...reply.map(({ line }) => line))
  const history = new History()
  await source.scan((line) => {
    if (line.line > until) return false
    // Beyond the first record of the reply only its own records count: they say what the model had seen.
    if (line.line <= start || reply.some((own) => own.line === line.line)) history.add(line)
    return true
  })
  const { last, before } = history
  const found = last !== null && last.line === start ? last : null
  const given = found === null ? history.items : found.items.slice(0, found.length)
  const sampled = found?.sampled ?? null
  const seen = given.filter(({ sequence }) => sampled === null || sequence === null || sequence <= sampled)
  const input = inputOf(seen, sampled, history.base)
  const { model, parameters } = parametersOf(history.turn)
  const body: Row = { model, input: input.map(({ item }) => item), ...parameters }
  const earlier =
    found === null || before === null
      ? null
      : inputOf(before.items.slice(0, before.length), before.sampled, history.base)
  return {
    body,
    ...showInput(input, model, parameters),
    digest: null,
    exact: false,
    why: reasons(input, history, sampled, found?.compaction === true).join('; '),
    before:
      earlier === null || before === null
        ? null
        : {
            line: before.line,
            kept: countKept(messagesOf(earlier), messagesOf(input)),
            messages: messagesOf(earlier).length,
            shapeChanged: null,
            parametersChanged:
              JSON.stringify(parametersOf(history.turnBefore)) !== JSON.stringify({ model, parameters }),
          },
  }
}

/** Base instructions are in the history of some models; for others they are put before it, in a form the record does not keep. */
function inputOf(history: readonly HistoryItem[], sampled: number | null, base: string | null): readonly Sent[] {
  const sent = history.map(({ item, sequence }): Sent => {
    const asSent = sampled !== null && sequence !== null && sequence <= sampled
    return { item: wireForm(item), asSent, from: item }
  })
  const hasBase = history.some(
    ({ item }) => item.type === 'message' && partsOf(item).some(({ what }) => what === 'model.base_instructions'),
  )
  if (hasBase || base === null) return sent
  const item = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: base }] }
  return [{ item, asSent: false, from: null }, ...sent]
}

/** Notes of the program for itself do not go to the provider (0.171.0, compared with what was sent). */
function wireForm(item: Row): Row {
  const { internal_chat_message_metadata_passthrough: _, ...sent } = item
  return sent
}

function reasons(
  input: readonly Sent[],
  history: History,
  sampled: number | null,
  compaction: boolean,
): readonly string[] {
  const said = [...history.gaps]
  if (compaction) said.push('the instruction that asks for the summary is not in the record')
  else if (sampled === null)
    said.push('the record does not say what the model had seen: everything that stands before the reply is shown')
  if (input.some(({ from }) => from === null))
    said.push(
      'the base instructions are those of the head; what is sent may leave out lines about tools the model does not have',
    )
  else if (history.base === null) said.push('the base instructions are not in the record')
  if (!input.some(({ item }) => item.type === 'additional_tools'))
    said.push('the tool definitions are not in the record')
  said.push('Codex records neither the other parameters of a request nor a digest of it')
  return said
}

const isSystem = ({ item, from }: Sent): boolean =>
  item.type === 'message' && (from === null || partsOf(from).some(({ what }) => what === 'model.base_instructions'))
const messagesOf = (input: readonly Sent[]): readonly Sent[] =>
  input.filter((sent) => !isSystem(sent) && sent.item.type !== 'additional_tools')

function countKept(earlier: readonly Sent[], now: readonly Sent[]): number {
  let kept = 0
  while (kept < earlier.length && kept < now.length && earlier[kept]?.from === now[kept]?.from) kept++
  return kept
}

function showInput(
  input: readonly Sent[],
  model: string | null,
  parameters: Row,
): Pick<RebuiltRequest, 'model' | 'parameters' | 'system' | 'tools' | 'messages'> {
  const names = new Map<string, string>()
  return {
    model,
    parameters: JSON.stringify(parameters, null, 2),
    system: input.filter(isSystem).flatMap(({ item }) => showItem(item, null, names)),
    tools: input.filter(({ item }) => item.type === 'additional_tools').flatMap(({ item }) => showTools(item)),
    messages: messagesOf(input).map(({ item, asSent, from }) => ({
      role: roleOf(item),
      asSent,
      blocks: showItem(item, from, names),
    })),
  }
}

function showTools(item: Row): RebuiltRequest['tools'] {
  const show = (name: string, tool: unknown) => ({
    name,
    schemaDigest: jsonDigest(tool),
    definition: JSON.stringify(tool, null, 2),
  })
  return asList(item.tools).flatMap((value) => {
    const tool = asRow(value)
    const name = asName(tool?.name) ?? asName(tool?.type) ?? 'tool'
    if (tool?.type !== 'namespace') return [show(name, value)]
    return asList(tool.tools).map((inner) => show(`${name}.${asName(asRow(inner)?.name) ?? 'tool'}`, inner))
  })
}

function roleOf(item: Row): string {
  if (item.type === 'message') return asName(item.role) ?? 'unknown'
  if (item.type === 'agent_message') return 'user'
  return typeof item.type === 'string' && item.type.endsWith('_output') ? 'tool' : 'assistant'
}

function showItem(item: Row, from: Row | null, names: Map<string, string>): readonly RequestBlock[] {
  const made = (
    kind: RequestBlock['kind'],
    label: string,
    text: string,
    format: RequestBlock['format'] = 'text',
  ): RequestBlock => ({
    kind,
    label,
    text,
    format,
    cached: false,
  })
  switch (item.type) {
    case 'message':
      return partsOf(from ?? item).map(({ text, what }, at) => {
        const image = asRow(asList(item.content)[at])?.type === 'input_image'
        if (image) return made('image', 'Image', 'an image')
        return made('text', item.role === 'assistant' || what === 'user.text' ? 'Text' : what, text, 'markdown')
      })
    case 'agent_message':
      return [made('text', `From ${asName(item.author) ?? 'an agent'}`, plainText(item.content))]
    case 'reasoning': {
      const thoughts = thoughtsOf(item).join('\n\n')
      return [made('thinking', 'Thinking', thoughts === '' ? '(encrypted by the provider)' : thoughts, 'markdown')]
    }
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
    case 'image_generation_call':
    case 'tool_search_call': {
      const name = nameOfCall(item)
      const id = asName(item.call_id)
      if (id !== null) names.set(id, name)
      const input = inputOfCall(item)
      const text = typeof input === 'string' ? input : JSON.stringify(input, null, 2)
      return [made('call', `Call ${name}`, text, typeof input === 'string' || hasPatch(text) ? 'text' : 'json')]
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output': {
      const name = names.get(asName(item.call_id) ?? '') ?? 'a call'
      const output = asRow(item.output)
      return [
        made(
          'result',
          `Result of ${name}`,
          output === null ? plainText(item.output) : (asText(output.content) ?? ''),
          'ansi',
        ),
      ]
    }
    default:
      return [made('other', asName(item.type) ?? 'Item', JSON.stringify(item, null, 2), 'json')]
  }
}
