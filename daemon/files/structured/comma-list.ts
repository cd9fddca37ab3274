import { lineEndOf, splice, type TextSplice } from './key-path.ts'

/** Entries between brackets, separated by commas: the objects and lists of JSON, the inline tables and arrays of TOML, the flow style of YAML. */
export interface Span {
  readonly start: number
  readonly end: number
}
export interface CommaList extends Span {
  readonly children: readonly Span[]
}
export interface CommaStyle {
  /** What begins a remark up to the end of the line. */
  readonly remark: '//' | '#'
  /** `/* … *\/` is a remark too. */
  readonly blocks: boolean
  /** An empty list may be opened over several lines. */
  readonly spreads: boolean
}

/** Indentation of an entry and what line ends to write; `spread`: the list is written one entry a line. */
export interface EntryPlace {
  readonly indent: string
  readonly unit: string
  readonly end: string
  readonly spread: boolean
}

/** Adds an entry at the end; remarks stay where they are. `write` gives null when the entry cannot be written. */
export function addEntry(
  text: string,
  list: CommaList,
  style: CommaStyle,
  write: (place: EntryPlace) => string | null,
): string | null {
  const end = lineEndOf(text)
  const unit = indentUnit(text)
  const last = list.children.at(-1)
  const outer = indentAt(text, list.start)
  const spread =
    last === undefined
      ? style.spreads && (text.includes('\n') || list.start === 0)
      : text.lastIndexOf('\n', last.start) > list.start
  const inner = last !== undefined && spread ? indentAt(text, last.start) : outer + unit
  const entry = write({ indent: inner, unit, end, spread })
  if (entry === null) return null
  const close = list.end - 1
  if (last === undefined) {
    if (text.slice(list.start + 1, close).trim() === '') {
      const body = spread ? `${end}${inner}${entry}${end}${outer}` : entry
      return splice(text, [{ start: list.start + 1, end: close, text: body }])
    }
    // Only remarks inside: they stay, the entry goes behind them.
    const stop = skipBlank(text, list.start + 1, close, style)
    const at = list.start + 1 + text.slice(list.start + 1, stop).trimEnd().length
    const closing = /^[ \t\r]*\n/.test(text.slice(at, at + 300)) ? '' : end + outer
    return splice(text, [{ start: at, end: at, text: `${end}${inner}${entry}${closing}` }])
  }
  const comma = commaAfter(text, last.end, close, style)
  if (!spread) {
    return comma === null
      ? splice(text, [{ start: last.end, end: last.end, text: `, ${entry}` }])
      : splice(text, [{ start: comma + 1, end: comma + 1, text: ` ${entry},` }])
  }
  // A remark behind the last entry, on its line, stays with it.
  const after = endOfRemark(text, comma === null ? last.end : comma + 1, close, style)
  const changes: TextSplice[] = []
  if (comma === null) changes.push({ start: last.end, end: last.end, text: ',' })
  changes.push({ start: after, end: after, text: `${end}${inner}${entry}${comma === null ? '' : ','}` })
  return spliceInOrder(text, changes)
}

/** Changes at one and the same place keep the order they are given in. */
function spliceInOrder(text: string, changes: readonly TextSplice[]): string {
  let result = ''
  let from = 0
  for (const change of changes) {
    result += text.slice(from, change.start) + change.text
    from = change.end
  }
  return result + text.slice(from)
}

/** Takes entries away with their commas; remarks stay. */
export function removeEntries(text: string, list: CommaList, indexes: readonly number[], style: CommaStyle): string {
  // From the back, so that places before stay what they are; each removal leaves a valid text behind.
  let result = text
  const left = new Set(list.children.keys())
  for (const index of [...indexes].sort((a, b) => b - a)) {
    const child = list.children[index]
    if (child === undefined) continue
    left.delete(index)
    const before = [...left].filter((other) => other < index).at(-1)
    const close = list.end - 1 + result.length - text.length
    result = removeOne(result, child, before === undefined ? null : (list.children[before] ?? null), close, style)
  }
  return result
}

function removeOne(text: string, child: Span, before: Span | null, close: number, style: CommaStyle): string {
  const comma = commaAfter(text, child.end, close, style)
  const changes: TextSplice[] = []
  if (comma === null && before !== null) {
    const previous = commaAfter(text, before.end, child.start, style)
    if (previous !== null) changes.push({ start: previous, end: previous + 1, text: '' })
  }
  // A remark between value and comma would be lost with it: then value and comma are cut one by one.
  if (comma !== null && text.slice(child.end, comma).trim() !== '') {
    changes.push({ start: child.start, end: child.end, text: '' }, { start: comma, end: comma + 1, text: '' })
    return splice(text, changes)
  }
  const upTo = comma === null ? child.end : comma + 1
  const line = text.lastIndexOf('\n', child.start - 1) + 1
  const alone = line > 0 && text.slice(line, child.start).trim() === ''
  const next = text.indexOf('\n', upTo)
  if (alone && next >= 0 && text.slice(upTo, next).trim() === '') {
    changes.push({ start: line, end: next + 1, text: '' })
  } else if (comma === null && before !== null && /^\s*,\s*$/.test(text.slice(before.end, child.start))) {
    // What closes the list stands on the same line: it moves up behind the entry before.
    return splice(text, [{ start: before.end, end: upTo, text: '' }])
  } else if (!alone && comma === null && before !== null) {
    const blanks = /[ \t]*$/.exec(text.slice(0, child.start))?.[0].length ?? 0
    changes.push({ start: child.start - blanks, end: upTo, text: '' })
  } else {
    changes.push({ start: child.start, end: upTo + blanksAfter(text, upTo), text: '' })
  }
  return splice(text, changes)
}

function blanksAfter(text: string, at: number): number {
  let end = at
  while (text.charAt(end) === ' ' || text.charAt(end) === '\t') end++
  return end - at
}

/** End of the blanks and remarks from `at` on. */
function skipBlank(text: string, at: number, end: number, style: CommaStyle): number {
  for (;;) {
    while (at < end && /[\s\uFEFF]/.test(text.charAt(at))) at++
    if (at >= end) return end
    if (text.startsWith(style.remark, at)) {
      const next = text.indexOf('\n', at)
      at = next < 0 ? end : next
    } else if (style.blocks && text.startsWith('/*', at)) {
      const shut = text.indexOf('*/', at + 2)
      at = shut < 0 ? end : shut + 2
    } else return at
  }
}

/** End of the remarks that begin on the line of `at`; `at` where there is none. */
function endOfRemark(text: string, at: number, end: number, style: CommaStyle): number {
  let here = at
  for (;;) {
    const from = here + blanksAfter(text, here)
    if (text.startsWith(style.remark, from)) {
      const next = text.indexOf('\n', from)
      const stop = next < 0 || next > end ? end : next
      return text.charAt(stop - 1) === '\r' ? stop - 1 : stop
    }
    if (!style.blocks || !text.startsWith('/*', from)) return here
    const shut = text.indexOf('*/', from + 2)
    here = shut < 0 || shut > end ? end : shut + 2
  }
}

function commaAfter(text: string, at: number, end: number, style: CommaStyle): number | null {
  const next = skipBlank(text, at, end, style)
  return next < end && text.charAt(next) === ',' ? next : null
}

export function indentAt(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(line, offset))?.[0] ?? ''
}

/** The first indentation there is; two spaces where there is none. */
export function indentUnit(text: string): string {
  const first = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
  return first.startsWith('\t') ? '\t' : first
}
