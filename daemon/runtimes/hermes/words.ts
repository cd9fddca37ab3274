import { asName, plainText, type Row } from '../shared/fields.ts'

/** Longest summary handed on; the caller redacts it and then cuts it to one line. */
const SUMMARY_CHARACTERS = 2000
/** How much of one text goes into the search index. Whole prompts and answers fit; of long outputs the head is kept. */
export const WORDS_SAID = 200_000
export const WORDS_OUTPUT = 8_000

export const summaryOf = (text: string): string =>
  text.length > SUMMARY_CHARACTERS ? text.slice(0, SUMMARY_CHARACTERS) : text

/** Fields of a call's input that say most, of any tool. */
const TELLING = ['command', 'path', 'file_path', 'pattern', 'query', 'url', 'name', 'goal', 'content', 'prompt']

export function summaryOfCall(input: Row | null): string {
  if (input === null) return ''
  for (const field of TELLING) {
    const value = asName(input[field])
    if (value !== null) return summaryOf(value)
  }
  for (const value of Object.values(input)) if (typeof value === 'string' && value !== '') return summaryOf(value)
  return ''
}

/** Texts of a call's input for search, field by field. */
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
