import { textDigest } from '../../manifest/effective-text.ts'
import { asName, asRow, blocksOf, plainText, type Row } from '../shared/fields.ts'
import type { ClaudeReader } from './reader.ts'
import { readPromptForm, summaryOf } from './summaries.ts'
import { closeCall } from './tool-calls.ts'

/** A `user` row: results of calls, a person's words, or something put in for the model. */
export function readUserRow(reader: ClaudeReader, row: Row): void {
  const blocks = blocksOf(asRow(row.message))
  const results = blocks.filter((block) => block.type === 'tool_result')
  for (const block of results) closeCall(reader, row, block)
  const said = results.length === 0 ? blocks : blocks.filter((block) => block.type !== 'tool_result')
  if (results.length === 0 || said.length > 0) readWords(reader, row, said, results.length > 0)
}

function readWords(reader: ClaudeReader, row: Row, blocks: readonly Row[], besideResult: boolean): void {
  const text = plainText(blocks)
  const originSession = asName(asRow(row.forkedFrom)?.sessionId)
  const contentKey = reader.key('said', blocks)
  if (row.isCompactSummary === true) {
    const seq = reader.emit({ kind: 'context', summary: summaryOf(text), contentKey, originSession })
    reader.words(seq, 'context', text)
    return
  }
  const form = readPromptForm(text)
  if (form.form === 'output' || isInjected(row, besideResult)) {
    const seq = reader.emit({ kind: form.form === 'output' ? 'note' : 'context', summary: summaryOf(form.text) })
    reader.words(seq, 'context', form.text)
    return
  }
  if (text.startsWith('[Request interrupted by user')) {
    reader.emit({ kind: 'note', summary: summaryOf(text), ok: false })
    return
  }
  if (reader.place.lane === 'main') notePrompt(reader, row, text, form.form === 'command', summaryOf(form.text))
  const seq = reader.emit({ kind: 'prompt', summary: summaryOf(form.text), contentKey, originSession })
  reader.words(seq, 'prompt', form.text)
}

/** Put in by the program or by another agent, not by the person (runtime page 5.2). */
function isInjected(row: Row, besideResult: boolean): boolean {
  const origin = asRow(row.origin)
  return (
    row.isMeta === true || besideResult || (origin !== null && origin.kind !== 'human') || row.promptSource === 'system'
  )
}

function notePrompt(reader: ClaudeReader, row: Row, text: string, command: boolean, summary: string): void {
  const { tally } = reader
  reader.stretches.prompt(reader.place.at, reader.nextSeq)
  tally.conversation = true
  tally.failed = false
  const mode = asName(row.permissionMode)
  for (const evidence of reader.evidence) {
    if (mode !== null) evidence.set('permission_mode', mode)
    evidence.set('prompt_digest', textDigest(text))
  }
  if (command) tally.firstCommand ??= summary
  else tally.firstPrompt ??= summary
}
