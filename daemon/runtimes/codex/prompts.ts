import { textDigest } from '../../manifest/effective-text.ts'
import { summaryOf } from '../shared/words.ts'
import type { CodexReader } from './reader.ts'
import { isDistinct } from './records.ts'
import { requestIn } from './words.ts'

interface Waiting {
  readonly seq: number
  readonly text: string
  readonly source: 'item' | 'event'
}

/** Prompts that may still be said a second time. */
const WAITING = 8

/** What a person typed. It stands twice in every version since 0.41: as an item and as an event. */
export class Prompts {
  #waiting: Waiting[] = []

  read(reader: CodexReader, source: Waiting['source'], text: string, id: string | null): void {
    const twin = this.#waiting.findLast((other) => other.source !== source && isSame(other.text, text))
    if (twin !== undefined) {
      this.#waiting = this.#waiting.filter((other) => other !== twin)
      reader.join(twin.seq)
      return
    }
    const { tally } = reader
    tally.conversation = true
    tally.failed = false
    reader.evidence.set('prompt_digest', textDigest(text))
    const asked = summaryOf(requestIn(text))
    if (/^\/\S+$/.test(asked)) tally.firstCommand ??= asked
    else if (asked.trim() !== '') tally.firstPrompt ??= asked
    const seq = reader.emit({
      ...(id === null ? {} : { id }),
      kind: 'prompt',
      summary: asked,
      contentKey: reader.key('said', text),
      rowIds: id !== null && isDistinct(id) ? [id] : [],
    })
    reader.spine = seq
    reader.words(seq, 'prompt', text)
    this.#waiting = [...this.#waiting, { seq, text, source }].slice(-WAITING)
  }
}

/** The item also holds what stands for an image; the event holds the words only. */
function isSame(a: string, b: string): boolean {
  return a === b || withoutImages(a) === withoutImages(b)
}

const withoutImages = (text: string): string => text.replace(/<\/?image[^>\n]*>|\[(input_image|image)\]/g, '').trim()
