import { asName, plainText, type Row } from '../shared/fields.ts'
import { summaryOf, WORDS_OUTPUT } from '../shared/words.ts'

/** What a call is about, from the field of its arguments that says most; any tool, also ones not known here. */
const telling = [
  'command',
  'path',
  'file_path',
  'filePath',
  'query',
  'pattern',
  'url',
  'task',
  'message',
  'action',
  'name',
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

/** Words of a call's arguments for search: its texts, field by field. */
export function wordsOfInput(input: Row | null): string {
  const words: string[] = []
  let left = WORDS_OUTPUT
  for (const value of Object.values(input ?? {})) {
    if (left <= 0) break
    const text = typeof value === 'string' ? value : typeof value === 'object' && value !== null ? plainText(value) : ''
    if (text === '') continue
    words.push(text.length > left ? text.slice(0, left) : text)
    left -= text.length
  }
  return words.join('\n')
}

/** `[Mon 2026-01-05 12:34 UTC] `, which older versions stored with the text (2026.1 wild, 2026.7.1-2 sends it only). */
const TIME_MARK = /^\[[A-Z][a-z]{2} \d{4}-\d\d-\d\d \d\d:\d\d [^\]]{1,12}\] /
/** Blocks of message metadata that channels put before the words, each a label and a JSON fence (seen in the wild). */
const METADATA = /^[^\n`]{1,120}:\n```json\n[\s\S]*?\n```\n+/

/** The words of a person, without what channels and the program put before them. */
export function wordsOfPrompt(text: string): string {
  let words = text.replace(TIME_MARK, '')
  for (let shorter = words.replace(METADATA, ''); shorter !== words; shorter = words.replace(METADATA, ''))
    words = shorter
  words = words.replace(TIME_MARK, '')
  return words.trim() === '' ? text : words
}
