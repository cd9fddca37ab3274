import { textDigest } from '../../manifest/effective-text.ts'
import { asName, asRow, asText, blocksOf, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import type { OpenClawReader } from './reader.ts'
import { summaryOfCall, wordsOfInput, wordsOfPrompt } from './summaries.ts'
import { closeCall } from './tool-calls.ts'
import { readTokens } from './usage.ts'

/** A `message` row, by the role of its message (runtime page 6.2). */
export function readMessage(reader: OpenClawReader, row: Row): void {
  const message = asRow(row.message)
  const role = asText(message?.role) ?? '(no role)'
  if (message === null) {
    reader.unknown(reader.place.line, 'message/(no message)')
    reader.emit({ kind: 'unknown', summary: 'message without content' })
    return
  }
  switch (role) {
    case 'user':
      readWords(reader, message)
      return
    case 'assistant':
      if (isOwnNote(message)) readOwnNote(reader, message)
      else readReply(reader, message)
      return
    case 'toolResult':
      closeCall(reader, message)
      return
    case 'bashExecution': {
      const seq = reader.emit({
        kind: 'note',
        summary: summaryOf(`! ${asText(message.command) ?? ''}`),
        ok: message.exitCode === 0 ? true : typeof message.exitCode === 'number' ? false : null,
      })
      reader.words(seq, 'context', asText(message.output) ?? '')
      return
    }
    case 'custom':
    case 'branchSummary':
    case 'compactionSummary': {
      const text = plainText(message.content) || (asText(message.summary) ?? '')
      const seq = reader.emit({ kind: 'context', summary: summaryOf(text), contentKey: reader.key('said', text) })
      reader.words(seq, 'context', text)
      return
    }
    default:
      reader.unknown(reader.place.line, `message/${role}`)
      reader.emit({ kind: 'unknown', summary: summaryOf(`message of ${role}: ${plainText(message.content)}`) })
  }
}

/** Words of a person; those of another session or of the program itself say where they come from (`provenance`). */
function readWords(reader: OpenClawReader, message: Row): void {
  const text = plainText(message.content)
  const origin = asName(asRow(message.provenance)?.kind)
  const contentKey = reader.key('said', message.content)
  if (origin !== null && origin !== 'external_user') {
    const from = origin === 'inter_session' ? 'another session' : 'the program'
    const seq = reader.emit({ kind: 'context', summary: summaryOf(`from ${from}: ${text}`), contentKey })
    reader.words(seq, 'context', text)
    reader.tally.conversation = true
    reader.stretches.said()
    return
  }
  const { tally } = reader
  const words = wordsOfPrompt(text)
  reader.evidence.set('prompt_digest', textDigest(text))
  reader.stretches.said()
  tally.conversation = true
  tally.failed = false
  tally.firstPrompt ??= summaryOf(words)
  const seq = reader.emit({ kind: 'prompt', summary: summaryOf(words), contentKey })
  reader.words(seq, 'prompt', words)
}

/** Deliveries the program notes in the model's place; they are never sent to a model (2026.9.6, source; wild fixtures). */
const isOwnNote = (message: Row): boolean =>
  (message.provider === 'openclaw' && (message.model === 'delivery-mirror' || message.model === 'gateway-injected')) ||
  asRow(message.openclawDeliveryMirror) !== null

function readOwnNote(reader: OpenClawReader, message: Row): void {
  const text = plainText(message.content)
  const seq = reader.emit({ kind: 'note', summary: summaryOf(`delivered: ${text}`) })
  reader.words(seq, 'context', text)
}

function readReply(reader: OpenClawReader, message: Row): void {
  const { tally, stretches, evidence } = reader
  const blocks = blocksOf(message)
  const model = asName(message.model)
  const stop = asName(message.stopReason)
  const failed = stop === 'error'
  const response = asName(message.responseId)
  const tokens = readTokens(message.usage)
  evidence.set('provider', asName(message.provider))
  evidence.set('model', model)
  evidence.set('api', asName(message.api))
  stretches.said()
  tally.conversation = true
  tally.failed = failed || stop === 'aborted'
  if (model !== null) tally.models.add(model)
  const counted = tally.spend(tokens, response)
  const text = plainText(blocks.filter(({ type }) => type === 'text'))
  const said = blocks.filter(({ type }) => type !== 'toolCall').map(withoutSignature)
  const error = asText(message.errorMessage)
  const calls = blocks.filter(({ type }) => type === 'toolCall')
  const seq = reader.emit({
    // An attempt that failed stays in the record beside the one that went well (runtime page 7.2).
    kind: failed ? 'error' : 'model',
    summary: summaryOf(
      failed ? (error ?? text) : stop === 'aborted' ? `stopped: ${text}` : summarise(blocks, text, calls),
    ),
    ok: failed || stop === 'aborted' ? false : null,
    model,
    tokens: counted ? tokens : null,
    messageId: response,
    contentKey: failed || said.length === 0 ? null : reader.key('reply', said),
  })
  if (failed && error !== null) reader.words(seq, 'context', error)
  for (const block of blocks) {
    if (block.type === 'toolCall') readCall(reader, block, seq, response)
    else
      reader.words(
        seq,
        block.type === 'thinking' ? 'thinking' : 'answer',
        asText(block.text) ?? asText(block.thinking) ?? '',
      )
  }
}

function summarise(blocks: readonly Row[], text: string, calls: readonly Row[]): string {
  if (text.trim() !== '') return text
  if (calls.length > 0) return `calls ${calls.map(({ name }) => asName(name) ?? '(unnamed)').join(', ')}`
  return blocks.some(({ type }) => type === 'thinking') ? 'thinking' : ''
}

function withoutSignature(block: Row): unknown {
  return block.type === 'thinking' ? { type: 'thinking', text: block.thinking } : { type: block.type, text: block.text }
}

function readCall(reader: OpenClawReader, block: Row, reply: number, response: string | null): void {
  const name = asName(block.name) ?? '(unnamed)'
  const id = asName(block.id)
  const input = asRow(block.arguments)
  const seq = reader.emitPart(reply, id ?? name, {
    kind: 'tool',
    summary: summaryOfCall(input),
    tool: name,
    toolUseId: id,
    effectsState: 'none',
    contentKey: reader.key('call', name, block.arguments),
    messageId: response,
  })
  reader.evidence.used(name)
  reader.words(seq, 'input', wordsOfInput(input))
  if (id !== null) reader.openCalls.set(id, { seq, name, at: reader.place.at, input })
}
