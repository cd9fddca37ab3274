import { asList, asName, asRow, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { toolsOf } from './evidence.ts'
import { readInput } from './input-messages.ts'
import type { CodexReader } from './reader.ts'

/** One item of the conversation. What the model said was taken up as its reply before. */
export function readItem(reader: CodexReader, item: Row): void {
  switch (item.type) {
    case 'message':
      if (item.role !== 'assistant') readInput(reader, item)
      return
    case 'reasoning':
      return
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
    case 'web_search_call':
    case 'image_generation_call':
    case 'tool_search_call':
      reader.calls.read(reader, item)
      return
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
      reader.calls.close(reader, item)
      return
    case 'tool_search_output':
      reader.calls.close(reader, { ...item, output: item.output ?? namesOf(item) })
      readTools(reader, item)
      return
    case 'additional_tools':
      reader.evidence.addTools(toolsOf(item))
      readTools(reader, item)
      return
    case 'agent_message':
      readAgentMessage(reader, item)
      return
    case 'ghost_snapshot': {
      const commit = asName(asRow(item.ghost_commit)?.id)
      reader.tally.checkpoints++
      reader.emit({ kind: 'checkpoint', summary: commit === null ? 'a commit of the work tree' : `commit ${commit}` })
      return
    }
    default:
      // A summary of the conversation that only the provider can read.
      reader.emit({ kind: 'context', summary: 'the provider holds a summary of what was said before' })
  }
}

const namesOf = (item: Row): string =>
  toolsOf(item)
    .map(({ name }) => name)
    .join(', ')

/** Tools with their schemas, as the model was given them (R92). */
function readTools(reader: CodexReader, item: Row): void {
  const tools = toolsOf(item)
  if (tools.length === 0 && asList(item.tools).length === 0) return
  reader.emit({
    ...idOf(item, 'tools'),
    kind: 'tool_schema',
    summary: summaryOf(`${tools.length} tools: ${tools.map(({ name }) => name).join(', ')}`),
  })
}

/** Agents of one tree write to each other; for a subagent, a new task is what a prompt is for its parent. */
function readAgentMessage(reader: CodexReader, item: Row): void {
  const text = plainText(asList(item.content).filter((part) => asRow(part)?.type !== 'encrypted_content'))
  const id = asName(item.id)
  if (reader.unit.relation === 'subagent' && /^Message Type: NEW_TASK$/m.test(text)) {
    reader.prompts.read(reader, 'item', text, id)
    return
  }
  const seq = reader.emit({
    ...(id === null ? {} : { id }),
    kind: 'context',
    summary: summaryOf(`from ${asName(item.author) ?? 'an agent'}: ${text}`),
    contentKey: reader.key('agent', text),
  })
  reader.words(seq, 'context', text)
}

const idOf = (item: Row, part: string): { id?: string } => {
  const id = asName(item.id) ?? asName(item.call_id)
  return id === null ? {} : { id: `${id}/${part}` }
}
