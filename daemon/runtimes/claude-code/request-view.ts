import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import type { RebuiltRequest, RequestBlock } from '../adapter.ts'
import { asList, asName, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import type { RebuiltMessage } from './requests.ts'

/** A request as people read it: who said what, block by block, in the order it was sent. Texts are whole and not redacted. */
export function showRequest(
  body: Row,
  messages: readonly RebuiltMessage[],
): Pick<RebuiltRequest, 'model' | 'parameters' | 'system' | 'tools' | 'messages'> {
  const { model, system, tools, messages: sent, ...parameters } = body
  const names = new Map<string, string>()
  return {
    model: asName(model),
    parameters: JSON.stringify(parameters, null, 2),
    system: asList(typeof system === 'string' ? [{ type: 'text', text: system }] : system).map((block) =>
      showBlock(block, names),
    ),
    tools: asList(tools).map((tool) => ({
      name: asText(asRow(tool)?.name) ?? asText(asRow(tool)?.type) ?? 'tool',
      schemaDigest: `sha256:${createHash('sha256')
        .update(canonicalize(tool) ?? '')
        .digest('hex')}`,
      definition: JSON.stringify(tool, null, 2),
    })),
    // The marked messages of the body, one for one with what is known of each.
    messages: asList(sent).map((message, n) => ({
      role: asText(asRow(message)?.role) ?? 'unknown',
      asSent: messages[n]?.asSent ?? false,
      blocks: asList(asRow(message)?.content).map((block) => showBlock(block, names)),
    })),
  }
}

function showBlock(value: unknown, names: Map<string, string>): RequestBlock {
  const block = asRow(value)
  const cached = block !== null && 'cache_control' in block
  const made = (
    kind: RequestBlock['kind'],
    label: string,
    text: string,
    format: RequestBlock['format'] = 'text',
  ): RequestBlock => ({ kind, label, text, format, cached })
  switch (block?.type) {
    case 'text': {
      const text = asText(block.text) ?? ''
      return text.trimStart().startsWith('<system-reminder>')
        ? made('text', 'Reminder', text)
        : made('text', 'Text', text, 'markdown')
    }
    case 'thinking':
      return made('thinking', 'Thinking', asText(block.thinking) ?? '', 'markdown')
    case 'tool_use':
    case 'server_tool_use': {
      const name = asName(block.name) ?? 'a tool'
      const id = asName(block.id)
      if (id !== null) names.set(id, name)
      return made('call', `Call ${name}`, JSON.stringify(block.input, null, 2) ?? '', 'json')
    }
    case 'tool_result': {
      const name = names.get(asName(block.tool_use_id) ?? '') ?? 'a call'
      return made(
        'result',
        block.is_error === true ? `Error of ${name}` : `Result of ${name}`,
        plainText(block.content),
        name === 'Bash' ? 'ansi' : 'text',
      )
    }
    case 'image': {
      const source = asRow(block.source)
      const data = asText(source?.data)
      return made(
        'image',
        'Image',
        `${asText(source?.media_type) ?? 'image'}${data === null ? '' : `, ${data.length} characters of base64`}`,
      )
    }
    default: {
      const { cache_control: _, ...rest } = block ?? {}
      return made(
        'other',
        asText(block?.type) ?? 'Block',
        JSON.stringify(block === null ? value : rest, null, 2) ?? '',
        'json',
      )
    }
  }
}
