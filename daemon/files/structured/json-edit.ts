import { readJsonTree } from './json-tree.ts'
import { isRefused, type KeyEdit, lineEndOf, type Refused, showKey, splice, type TextSplice } from './key-path.ts'
import { isTable, wrapRest } from './plain-value.ts'
import type { ValueTree } from './value-tree.ts'

type JsonFormat = 'json' | 'jsonc' | 'json5'
type Container = Exclude<ValueTree, { readonly kind: 'scalar' }>

/** One edit as changes of text; comments are never inside a change unless they stand inside the value that is replaced. */
export function editJson(text: string, format: JsonFormat, edit: KeyEdit): string | Refused {
  const root = readJsonTree(text, format)
  let here: ValueTree = root
  for (const [depth, part] of edit.key.entries()) {
    if (here.kind === 'scalar') {
      return { refused: `${showKey(edit.key.slice(0, depth)) || 'the file'} holds a single value, not keys` }
    }
    const found = childrenAt(here, part)
    const last = depth === edit.key.length - 1
    if (found.length === 0) {
      if (edit.value === undefined) return text
      const value = wrapRest(edit.key.slice(depth + 1), edit.value)
      return insert(text, format, here, typeof part === 'string' ? part : null, value)
    }
    if (last && edit.value === undefined) return removeAll(text, here, found)
    // Of a key that stands twice, agents take the last one.
    const index = found.at(-1)
    const child: ValueTree | undefined =
      index === undefined ? undefined : here.kind === 'list' ? here.items[index] : here.members[index]?.value
    if (child === undefined) return { refused: `${showKey(edit.key)} was not found` }
    here = child
  }
  const rendered = render(edit.value, format, indentAt(text, here.start), indentUnit(text), lineEndOf(text))
  if (isRefused(rendered)) return rendered
  return splice(text, [{ start: here.start, end: here.end, text: rendered.text }])
}

function childrenAt(node: Container, part: string | number): readonly number[] {
  if (node.kind === 'list') return typeof part === 'number' && node.items[part] !== undefined ? [part] : []
  return node.members.flatMap((member, at) => (member.key === part ? [at] : []))
}

function insert(
  text: string,
  format: JsonFormat,
  node: Container,
  key: string | null,
  value: unknown,
): string | Refused {
  const end = lineEndOf(text)
  const unit = indentUnit(text)
  const children = spans(node)
  const last = children.at(-1)
  const outer = indentAt(text, node.start)
  const spread = last === undefined ? text.includes('\n') || node.start === 0 : hasLineBreak(text, node.start, last)
  const inner = last !== undefined && spread ? indentAt(text, last.start) : outer + unit
  const rendered = render(value, format, inner, unit, end, spread)
  if (isRefused(rendered)) return rendered
  const entry = key === null ? rendered.text : `${keyText(text, format, node, key)}: ${rendered.text}`
  if (last === undefined) {
    const inside = text.slice(node.start + 1, node.end - 1)
    if (inside.trim() === '') {
      const body = spread ? `${end}${inner}${entry}${end}${outer}` : entry
      return splice(text, [{ start: node.start + 1, end: node.end - 1, text: body }])
    }
    // Only comments inside: they stay, the entry goes behind them.
    const at = endOfBlank(text, node.start + 1, node.end - 1)
    return splice(text, [{ start: at, end: at, text: `${end}${inner}${entry}${spreadEnd(text, at, end, outer)}` }])
  }
  const comma = commaAfter(text, last.end, node.end)
  if (!spread) {
    return comma === null
      ? splice(text, [{ start: last.end, end: last.end, text: `, ${entry}` }])
      : splice(text, [{ start: comma + 1, end: comma + 1, text: ` ${entry},` }])
  }
  // A remark behind the last entry, on its line, stays with it.
  const after = endOfRemark(text, comma === null ? last.end : comma + 1, node.end - 1)
  const changes: TextSplice[] = [
    { start: after, end: after, text: `${end}${inner}${entry}${comma === null ? '' : ','}` },
  ]
  if (comma === null) changes.unshift({ start: last.end, end: last.end, text: ',' })
  if (!text.slice(after, node.end - 1).includes('\n')) {
    changes.push({ start: node.end - 1, end: node.end - 1, text: end + outer })
  }
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

function removeAll(text: string, node: Container, indexes: readonly number[]): string {
  // From the back, so that places before stay what they are; each removal leaves a valid text behind.
  let result = text
  const children = spans(node)
  const left = new Set(children.keys())
  for (const index of [...indexes].reverse()) {
    const child = children[index]
    if (child === undefined) continue
    left.delete(index)
    const shift = result.length - text.length
    const before = [...left].filter((other) => other < index).at(-1)
    result = removeOne(result, child, before === undefined ? null : (children[before] ?? null), node.end + shift)
  }
  return result
}

interface Span {
  readonly start: number
  readonly end: number
}

function removeOne(text: string, child: Span, before: Span | null, end: number): string {
  const comma = commaAfter(text, child.end, end)
  const changes: TextSplice[] = []
  if (comma === null && before !== null) {
    const previous = commaAfter(text, before.end, child.start)
    if (previous !== null) changes.push({ start: previous, end: previous + 1, text: '' })
  }
  const upTo = comma === null ? child.end : comma + 1
  // A remark between value and comma would be lost with it: then value and comma are cut one by one.
  const between = comma === null ? '' : text.slice(child.end, comma)
  if (comma !== null && between.trim() !== '') {
    changes.push({ start: child.start, end: child.end, text: '' }, { start: comma, end: comma + 1, text: '' })
    return splice(text, changes)
  }
  const line = text.lastIndexOf('\n', child.start - 1) + 1
  const alone = text.slice(line, child.start).trim() === ''
  const next = text.indexOf('\n', upTo)
  if (alone && line > 0 && next >= 0 && text.slice(upTo, next).trim() === '') {
    changes.push({ start: line, end: next + 1, text: '' })
  } else if (alone && line > 0) {
    changes.push({ start: child.start, end: upTo + blanksAfter(text, upTo), text: '' })
  } else if (comma === null && before !== null) {
    const blanks = /[ \t]*$/.exec(text.slice(0, child.start))?.[0].length ?? 0
    changes.push({ start: child.start - blanks, end: upTo, text: '' })
  } else {
    changes.push({ start: child.start, end: upTo + blanksAfter(text, upTo), text: '' })
  }
  return splice(text, changes)
}

function blanksAfter(text: string, at: number): number {
  return /^[ \t]*/.exec(text.slice(at, at + 200))?.[0].length ?? 0
}

function spans(node: Container): readonly Span[] {
  return node.kind === 'list'
    ? node.items.map((item) => ({ start: item.start, end: item.end }))
    : node.members.map((member) => ({ start: member.start, end: member.value.end }))
}

/** End of the blanks and remarks from `at` on. */
function skipBlank(text: string, at: number, end: number): number {
  for (;;) {
    while (at < end && /[\s\uFEFF]/.test(text.charAt(at))) at++
    if (text.startsWith('//', at)) {
      const next = text.indexOf('\n', at)
      at = next < 0 ? end : next
    } else if (text.startsWith('/*', at)) {
      const close = text.indexOf('*/', at + 2)
      at = close < 0 ? end : close + 2
    } else return Math.min(at, end)
  }
}

/** End of the last remark from `at` on, without the blanks behind it. */
function endOfBlank(text: string, at: number, end: number): number {
  const stop = skipBlank(text, at, end)
  return at + text.slice(at, stop).trimEnd().length
}

/** As `endOfBlank`, but only for what begins on the same line. */
function endOfRemark(text: string, at: number, end: number): number {
  let here = at
  for (;;) {
    const blanks = blanksAfter(text, here)
    if (text.startsWith('//', here + blanks)) {
      const next = text.indexOf('\n', here)
      const stop = next < 0 || next > end ? end : next
      return text.charAt(stop - 1) === '\r' ? stop - 1 : stop
    }
    if (!text.startsWith('/*', here + blanks)) return here
    const close = text.indexOf('*/', here + blanks + 2)
    here = close < 0 || close > end ? end : close + 2
  }
}

function spreadEnd(text: string, at: number, end: string, outer: string): string {
  const rest = text.slice(at)
  return /^[ \t\r]*\n/.test(rest) ? '' : end + outer
}

function commaAfter(text: string, at: number, end: number): number | null {
  const next = skipBlank(text, at, end)
  return text.charAt(next) === ',' ? next : null
}

function hasLineBreak(text: string, start: number, last: Span): boolean {
  return text.lastIndexOf('\n', last.start) > start
}

function indentAt(text: string, offset: number): string {
  const line = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(line, offset))?.[0] ?? ''
}

/** The first indentation there is; two spaces where there is none. */
function indentUnit(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1]?.replace(/^(\t).*$/s, '$1') ?? '  '
}

/** JSON5 keys may do without quotes: a new one is written as its neighbours are. */
function keyText(text: string, format: JsonFormat, node: Container, key: string): string {
  if (format !== 'json5' || node.kind !== 'table') return JSON.stringify(key)
  const neighbour = node.members.at(-1)
  const first = neighbour === undefined ? '' : text.charAt(neighbour.start)
  if (first === "'" && !/['\\\n]/.test(key)) return `'${key}'`
  return first !== '"' && /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

function render(
  value: unknown,
  format: JsonFormat,
  indent: string,
  unit: string,
  end: string,
  spread = true,
): { readonly text: string } | Refused {
  if (!isJson(value, format)) return { refused: `such a value cannot be written in a ${format} file` }
  const special = typeof value === 'number' && !Number.isFinite(value) ? String(value) : null
  if (special !== null) return { text: special }
  const nested = spread && ((isTable(value) && Object.keys(value).length > 0) || Array.isArray(value))
  const written = nested ? JSON.stringify(value, null, unit) : JSON.stringify(value)
  return { text: written.split('\n').join(end + indent) }
}

function isJson(value: unknown, format: JsonFormat): boolean {
  if (typeof value === 'number') return Number.isFinite(value) || format === 'json5'
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every((item) => isJson(item, 'json'))
  return isTable(value) && Object.values(value).every((item) => isJson(item, 'json'))
}
