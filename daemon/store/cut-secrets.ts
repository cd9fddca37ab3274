import type { Redactor } from '../secrets/redactor.ts'
import { type CutSecret, SecretStream } from '../secrets/secret-stream.ts'

/** Streams of one session file, by the field their texts stand under: `text`, `delta`, `output`, whatever the agent calls it. */
export interface LineStreams {
  readonly streams: Map<string, { readonly stream: SecretStream<number>; last: string }>
}

export const newLineStreams = (): LineStreams => ({ streams: new Map() })

/** Fields followed at a time; ids as field names must not fill the memory. */
const MOST_FIELDS = 512
/** A literal longer than this is followed by its ends only. */
const ENDS = 26_000

/**
 * Secrets cut by the border of two records: the texts of a field in one line, and in the lines after it, are taken as one stream. `text`:
 * whole lines of JSON, as latin1; they are not parsed, so that places are byte offsets. Offsets below 0 are in an earlier call and are
 * left out: they are less than what makes a key.
 */
export function findCutSecrets(
  text: string,
  { streams }: LineStreams,
  redactor: Redactor,
): readonly CutSecret<number>[] {
  const found = new Map<number, CutSecret<number>>()
  for (const [field, start, end] of literals(text)) {
    const length = end - start
    if (length === 0 || length === 36 || length === 24) {
      const value = text.slice(start, end)
      if (length === 0 || UUID.test(value) || TIME.test(value)) continue
    }
    let known = streams.get(field)
    if (known === undefined) {
      if (streams.size >= MOST_FIELDS) continue
      known = { stream: new SecretStream<number>(redactor), last: '' }
      streams.set(field, known)
    }
    const value = text.slice(start, end)
    // The same again is a fact about the session, no next chunk.
    if (value === known.last) continue
    known.last = value.length > 200 ? '' : value
    const [head, tail] = length > ENDS * 2 ? [value.slice(0, ENDS), value.slice(-ENDS)] : [value, null]
    for (const part of known.stream.add(start, head)) note(part)
    if (tail !== null) known.stream.add(end - ENDS, tail)
  }
  // Places of a later call begin anew: what is remembered lies before it.
  for (const { stream } of streams.values()) stream.rename(-1)
  return [...found.values()].sort((a, b) => a.start - b.start)

  function note({ key, start, end, ...rest }: CutSecret<number>): void {
    if (key < 0) return
    found.set(key + start, { key, start: key + start, end: key + end, ...rest })
  }
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

/** String values of JSON text with the name they stand under; the items of a list have the name of the list. */
function* literals(text: string): Generator<readonly [field: string, start: number, end: number]> {
  let field = ''
  for (let open = text.indexOf('"'); open >= 0; open = text.indexOf('"', open)) {
    let close = open + 1
    for (;;) {
      close = text.indexOf('"', close)
      if (close < 0) return
      let slashes = 0
      while (text.charCodeAt(close - 1 - slashes) === 0x5c) slashes += 1
      if (slashes % 2 === 0) break
      close += 1
    }
    let after = close + 1
    while (text.charCodeAt(after) === 0x20) after += 1
    if (text.charCodeAt(after) === 0x3a) field = close - open < 80 ? text.slice(open + 1, close) : ''
    else yield [field, open + 1, close]
    open = close + 1
  }
}
