import { plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'

const telling = ['cmd', 'command', 'path', 'query', 'pattern', 'url', 'message', 'task_name', 'prompt', 'chars', 'text']

/** What a call is about, from the field of its input that says most. */
export function summaryOfInput(input: Row | string | null): string {
  if (input === null) return ''
  if (typeof input === 'string') return summaryOf(input)
  for (const field of telling) {
    const value = textOfValue(input[field])
    if (value !== '') return summaryOf(value)
  }
  for (const value of Object.values(input)) if (typeof value === 'string' && value !== '') return summaryOf(value)
  return ''
}

/** Words of a call's input for search. */
export function wordsOfInput(input: Row | string | null): string {
  if (input === null) return ''
  if (typeof input === 'string') return input
  return Object.values(input)
    .map(textOfValue)
    .filter((text) => text !== '')
    .join('\n')
}

/** A command may be one text or a list of arguments, in which the shell and its flag say nothing. */
function textOfValue(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return commandText(value.filter((item): item is string => typeof item === 'string'))
  return typeof value === 'object' && value !== null ? plainText(value) : ''
}

export function commandText(command: readonly string[]): string {
  const [shell = '', flag = '', script] = command
  if (
    script !== undefined &&
    command.length === 3 &&
    /(^|[\\/])(ba|z|da|k)?sh(\.exe)?$/.test(shell) &&
    /^-\w*c$/.test(flag)
  )
    return script
  if (script !== undefined && /(powershell|pwsh)(\.exe)?$/i.test(shell) && /^-command$/i.test(command.at(-2) ?? ''))
    return command.at(-1) ?? ''
  return command.join(' ')
}

/**
 * What a person asked, without what an editor put before it. Only for a title: the prompt itself is shown whole. The extension's heading
 * is documented by its own sessions, not by this project's runs.
 */
export function requestIn(prompt: string): string {
  const mark = '## My request for Codex:'
  const at = prompt.startsWith('# Context from my IDE setup:') ? prompt.indexOf(mark) : -1
  return at === -1 ? prompt : prompt.slice(at + mark.length).trim()
}
