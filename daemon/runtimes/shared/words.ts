/** Longest summary handed on; the caller redacts it and then cuts it to one line. */
export const SUMMARY_CHARACTERS = 2000
/** How much of one text goes into the search index. Whole prompts and answers fit; of long outputs the head is kept (`RowSink.words`). */
export const WORDS_SAID = 200_000
export const WORDS_OUTPUT = 8_000

export function summaryOf(text: string): string {
  return text.length > SUMMARY_CHARACTERS ? text.slice(0, SUMMARY_CHARACTERS) : text
}
