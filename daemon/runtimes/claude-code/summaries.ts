import { asName, asText, plainText, type Row } from '../shared/fields.ts'
import { summaryOf, WORDS_OUTPUT } from '../shared/words.ts'

export { summaryOf, WORDS_OUTPUT, WORDS_SAID } from '../shared/words.ts'

/** What a call is about, from the field of its input that says most; any tool, also ones not known here. */
const telling = [
  'command',
  'file_path',
  'notebook_path',
  'path',
  'pattern',
  'query',
  'url',
  'skill',
  'description',
  'prompt',
  'subject',
]

export function summaryOfCall(input: Row | null): string {
  if (input === null) return ''
  for (const field of telling) {
    const value = asName(input[field])
    if (value !== null) return summaryOf(value)
  }
  for (const value of Object.values(input)) if (typeof value === 'string' && value !== '') return summaryOf(value)
  return ''
}

/** Words of a call's input for search: its texts, field by field. */
export function wordsOfInput(input: Row | null): string {
  if (input === null) return ''
  const words: string[] = []
  let left = WORDS_OUTPUT
  for (const value of Object.values(input)) {
    if (left <= 0) break
    const text = typeof value === 'string' ? value : typeof value === 'object' && value !== null ? plainText(value) : ''
    if (text === '') continue
    words.push(text.length > left ? text.slice(0, left) : text)
    left -= text.length
  }
  return words.join('\n')
}

/** A slash command, `!` shell line or the output of one, as the prompt box writes them into the record. */
export interface PromptForm {
  readonly form: 'command' | 'shell' | 'output' | 'words'
  readonly text: string
}

export function readPromptForm(text: string): PromptForm {
  const name = tagged(text, 'command-name')
  if (name !== null) {
    const args = tagged(text, 'command-args') ?? ''
    return { form: 'command', text: args === '' ? name : `${name} ${args}` }
  }
  const shell = tagged(text, 'bash-input')
  if (shell !== null) return { form: 'shell', text: `! ${shell}` }
  for (const tag of [
    'local-command-stdout',
    'local-command-stderr',
    'bash-stdout',
    'bash-stderr',
    'local-command-caveat',
  ]) {
    const output = tagged(text, tag)
    if (output !== null) return { form: 'output', text: output }
  }
  return { form: 'words', text }
}

/** The text inside the first `<tag>…</tag>`, when the prompt begins with a tag. */
function tagged(text: string, tag: string): string | null {
  const open = `<${tag}>`
  const start = text.indexOf(open)
  // A person may well write about such a tag; only at the head of the text is it one.
  if (start === -1 || start > 400 || !text.trimStart().startsWith('<')) return null
  const end = text.indexOf(`</${tag}>`, start)
  return text.slice(start + open.length, end === -1 ? undefined : end).trim()
}

/** Words of a hook row, in one line. */
export function summaryOfHook(attachment: Row): string {
  const name = asText(attachment.hookName) ?? asText(attachment.hookEvent) ?? 'hook'
  const command = asText(attachment.command)
  return summaryOf(command === null ? name : `${name}: ${command}`)
}
