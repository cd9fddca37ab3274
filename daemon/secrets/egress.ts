import { PLACEHOLDER } from './find-secrets.ts'
import { redactJson } from './redact-json.ts'
import type { Redactor } from './redactor.ts'

declare const cleared: unique symbol
/** A text that went through the gate. Only the gate makes one, so whatever takes one cannot be given anything else. */
export type Cleared = string & { readonly [cleared]: true }

/**
 * The one gate through which every text leaves the daemon: answers and errors of the endpoints, pushed facts, the log, what is written to a
 * terminal, and exported files. What was covered where it was made passes unchanged; what was forgotten there is covered here (B24).
 */
export interface Egress {
  text(text: string): Cleared
  /** A JSON value with every text in it covered, judged by its form and by the name it stands under. */
  value<T>(value: T): T
  /** A passage of its own with its own count, for one file. */
  open(): Passage
}

/** Texts that leave together. */
export interface Passage {
  text(text: string): Cleared
  /** JSON of a value, judged by its names too. */
  json(value: unknown, indent?: number): Cleared
  /** The same on one line, to be put into a text that goes through the gate as a whole. */
  bare(value: unknown): string
  /** A value covered but not counted, to be cut or rearranged before it goes through as a text. */
  value<T>(value: T): T
  /** Covered places in all that went through, those included that were covered before. */
  readonly redactions: number
}

export const createEgress = (redactor: Redactor): Egress => {
  const text = (given: string): Cleared => coverLong(given, redactor) as Cleared
  const value = <T>(given: T): T => redactJson(given, redactor).value
  return {
    text,
    value,
    open() {
      let redactions = 0
      const count = (covered: Cleared): Cleared => {
        redactions += covered.match(PLACEHOLDER)?.length ?? 0
        return covered
      }
      return {
        text: (given) => count(text(given)),
        value,
        bare: (given) => JSON.stringify(value(given)),
        json: (given, indent) => count(text(JSON.stringify(value(given), null, indent))),
        get redactions() {
          return redactions
        },
      }
    },
  }
}

/** Searched at once up to this; a longer text is searched in parts that end where a line ends. */
const AT_ONCE = 4 * 1024 * 1024
/** A key block that is longer than this is none. */
const LONGEST_BLOCK = 24_000

function coverLong(text: string, redactor: Redactor): string {
  if (text.length <= AT_ONCE) return redactor.redact(text).text
  const pieces: string[] = []
  for (let at = 0; at < text.length; ) {
    const end = at + AT_ONCE >= text.length ? text.length : cutBefore(text, at, at + AT_ONCE)
    pieces.push(redactor.redact(text.slice(at, end)).text)
    at = end
  }
  return pieces.join('')
}

/** The last line end before `until` at which no key block is open; `until` itself where a line is longer than a part. */
function cutBefore(text: string, from: number, until: number): number {
  const end = text.lastIndexOf('\n', until - 1) + 1
  if (end <= from) return until
  const begins = text.lastIndexOf('-----BEGIN', end)
  const isOpen = begins > from && end - begins < LONGEST_BLOCK && text.indexOf('-----END', begins) >= end
  if (!isOpen) return end
  const before = text.lastIndexOf('\n', begins) + 1
  return before > from ? before : end
}
