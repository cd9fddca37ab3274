/**
 * What can still be got out of a line that is not one JSON object (B10): complete objects written one after the other without a line
 * break, objects behind a run of NULs or behind a torn record. Only called for damaged lines; never more than linear work but for a
 * bounded number of tries, and it says when it gave up.
 */
export interface Recovery {
  readonly records: readonly { readonly start: number; readonly end: number; readonly value: object }[]
  readonly nulBytes: boolean
  /** Text that belongs to no recovered record. */
  readonly rest: boolean
  /** Places were left untried because the line is too long and too damaged. */
  readonly gaveUp: boolean
}

const MAX_TRIES = 2000
const NUL = 0
const QUOTE = 34
const BACKSLASH = 92
const OPEN = 123
const CLOSE = 125

export function recoverRecords(text: string): Recovery {
  const records: { start: number; end: number; value: object }[] = []
  let nulBytes = false
  let rest = false
  let gaveUp = false
  let tries = 0
  let scanned = 0
  const budget = text.length * 8 + 1_000_000
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === NUL) {
      nulBytes = true
      at++
    } else if (isBlank(code)) {
      at++
    } else if (code === OPEN) {
      if (tries >= MAX_TRIES || scanned > budget) {
        gaveUp = true
        rest = true
        break
      }
      tries++
      const end = endOfObject(text, at)
      scanned += (end === -1 ? text.length : end) - at
      const value = end !== -1 && standsAlone(text, end) ? parseObject(text.slice(at, end)) : null
      if (value !== null && end !== -1) {
        records.push({ start: at, end, value })
        at = end
      } else {
        rest = true
        at = nextStart(text, at + 1)
      }
    } else {
      rest = true
      at = nextStart(text, at)
    }
  }
  return { records, nulBytes, rest, gaveUp }
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9 || code === 13 || code === 10 || code === 0xfeff
}

/** Next place where an object with a first key, or a NUL, begins. */
function nextStart(text: string, from: number): number {
  const object = text.indexOf('{"', from)
  const nul = text.indexOf('\0', from)
  if (object === -1) return nul === -1 ? text.length : nul
  return nul === -1 ? object : Math.min(object, nul)
}

/** Index after the object that opens at `start`, minding strings; -1 when it never closes. */
function endOfObject(text: string, start: number): number {
  let depth = 0
  let inString = false
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (inString) {
      if (code === BACKSLASH) at++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === OPEN) depth++
    else if (code === CLOSE && --depth === 0) return at + 1
  }
  return -1
}

/** A record ends where the line ends or another begins; anything else means that this was a part nested in a torn one. */
function standsAlone(text: string, end: number): boolean {
  for (let at = end; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN || code === NUL) return true
    if (!isBlank(code)) return false
  }
  return true
}

function parseObject(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
