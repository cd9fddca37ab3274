import canonicalize from 'canonicalize'
import type { RawLine, RebuiltRequest, RequestBlock, SessionLines, SessionUnit } from '../adapter.ts'
import { asList, asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { callsOf } from './copies.ts'
import { contentOf, inputOf } from './message-rows.ts'
import { toolsOf } from './session-files.ts'

/**
 * The request that led to a reply: the stored system prompt and the rows the model saw when it was made (runtime page 7.3, 9.2). The
 * database keeps messages, not requests, so nothing vouches for the whole; every message is the stored one, in the form it is sent again.
 */
export async function rebuildRequest(
  unit: SessionUnit,
  reply: readonly RawLine[],
  source: SessionLines,
): Promise<RebuiltRequest> {
  const until = Math.min(...reply.map(({ line }) => line))
  const answer = asRow(reply.find(({ line }) => line === until)?.value)
  const seen = new Visible()
  await source.scan((line) => {
    if (line.line >= until) return false
    seen.add(line)
    return true
  })
  const { system, tools, model, messages } = seen
  const named = asName(answer?.model) ?? model ?? asName(unit.meta.model)
  const why = [
    'Hermes stores messages, not requests: this is put together from them',
    ...(system === null ? ['the system prompt is not in the record'] : []),
    ...(tools === null
      ? ['tool definitions and parameters are not in the record']
      : ['parameters are not in the record']),
  ]
  const sent = messages.map(({ row }) => asSent(row))
  const all = system === null ? sent : [{ role: 'system', content: system }, ...sent]
  return {
    body: { ...(named === null ? {} : { model: named }), messages: all, ...(tools === null ? {} : { tools }) },
    model: named,
    parameters: '{}',
    system: system === null ? [] : [block('text', 'System prompt', system, 'markdown')],
    tools: asList(tools).map((tool, at) => ({
      name: toolsOf(tools)[at]?.name ?? 'tool',
      schemaDigest: toolsOf(tools)[at]?.schema_digest ?? '',
      definition: JSON.stringify(tool, null, 2),
    })),
    messages: messages.map(({ row }) => ({ role: asText(row.role) ?? 'unknown', asSent: true, blocks: blocksOf(row) })),
    digest: null,
    exact: false,
    why: why.join('; '),
    before: seen.before(),
  }
}

interface Placed {
  readonly id: string
  readonly line: number
  readonly row: Row
}

/** The rows the model sees as the lines go by. */
class Visible {
  system: string | null = null
  model: string | null = null
  tools: unknown = null
  messages: Placed[] = []
  /** The request before: its reply's line and the ids of its messages. */
  #last: { readonly line: number; readonly ids: readonly string[] } | null = null

  add(line: RawLine): void {
    const row = asRow(line.value)
    if (row === null) return
    const type = asText(row.row)
    if (type === 'prompt') this.system = asText(row.prompt)
    else if (type === 'archived' || type === 'undone') this.#takeOut(row)
    else if (type === 'session' || row.role === 'session_meta') {
      this.model = asName(row.model)
      if (Array.isArray(row.tools)) this.tools = row.tools
    } else if (type === 'message' || type === null) {
      if (row.role === 'assistant' && row.summary !== true && asNumber(row.copy_of) === null)
        this.#last = { line: line.line, ids: this.messages.map(({ id }) => id) }
      if (['user', 'assistant', 'tool', 'system'].includes(asText(row.role) ?? ''))
        this.messages.push({ id: idOf(row, line), line: line.line, row })
    }
  }

  before(): RebuiltRequest['before'] {
    if (this.#last === null) return null
    const { line, ids } = this.#last
    let kept = 0
    while (kept < ids.length && ids[kept] === this.messages[kept]?.id) kept++
    // The prompt is frozen for the session; whether the tools were is not recorded before schema 30.
    return { line, kept, messages: ids.length, shapeChanged: null, parametersChanged: null }
  }

  #takeOut(row: Row): void {
    const ranges = asList(row.ids).map(asList)
    this.messages = this.messages.filter(({ id }) => {
      const number = Number(id)
      return !ranges.some(([first, last]) => number >= Number(first) && number <= Number(last))
    })
  }
}

const idOf = (row: Row, line: RawLine): string => (asNumber(row.id) === null ? `line ${line.line}` : String(row.id))

/** A stored row in the form it is sent again: own ids of the call stay, the rest of the column is the program's own (0.20.0). */
function asSent(row: Row): Record<string, unknown> {
  const content = asText(row.api_content) ?? contentOf(row)
  if (row.role === 'tool') {
    const name = asName(row.tool_name) ?? asName(row.name)
    return { role: 'tool', ...(name === null ? {} : { name }), content, tool_call_id: row.tool_call_id }
  }
  const calls = callsOf(row)
  if (calls.length === 0) return { role: row.role, content }
  return {
    role: row.role,
    content,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: 'function',
      // Arguments go out with sorted keys and without spaces, however the model wrote them (0.20.0).
      function: { name: call.name, arguments: sorted(call.arguments) },
    })),
  }
}

function sorted(text: string): string {
  const input = inputOf(text)
  return input === null ? text : (canonicalize(input) ?? text)
}

function blocksOf(row: Row): readonly RequestBlock[] {
  const text = asText(row.api_content) ?? plainText(contentOf(row))
  if (row.role === 'tool') {
    const name = asName(row.tool_name) ?? asName(row.name) ?? 'a call'
    return [block('result', `Result of ${name}`, text, name === 'terminal' ? 'ansi' : 'text')]
  }
  const calls = callsOf(row).map((call) =>
    block('call', `Call ${call.name}`, JSON.stringify(inputOf(call.arguments) ?? call.arguments, null, 2), 'json'),
  )
  return [...(text === '' && calls.length > 0 ? [] : [block('text', 'Text', text, 'markdown')]), ...calls]
}

const block = (
  kind: RequestBlock['kind'],
  label: string,
  text: string,
  format: RequestBlock['format'],
): RequestBlock => ({ kind, label, text, format, cached: false })
