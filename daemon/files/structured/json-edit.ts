import { addEntry, type CommaStyle, type EntryPlace, indentAt, indentUnit, removeEntries } from './comma-list.ts'
import { readJsonTree } from './json-tree.ts'
import { type KeyEdit, lineEndOf, type Refused, showKey, splice } from './key-path.ts'
import { isTable, wrapRest } from './plain-value.ts'
import type { ValueTree } from './value-tree.ts'

type JsonFormat = 'json' | 'jsonc' | 'json5'
type Container = Exclude<ValueTree, { readonly kind: 'scalar' }>

const style: CommaStyle = { remark: '//', blocks: true, spreads: true }

/** One edit as changes of text; remarks are never inside a change unless they stand inside the value that is replaced. */
export function editJson(text: string, format: JsonFormat, edit: KeyEdit): string | Refused {
  let here: ValueTree = readJsonTree(text, format)
  for (const [depth, part] of edit.key.entries()) {
    if (here.kind === 'scalar') {
      return { refused: `${showKey(edit.key.slice(0, depth)) || 'the file'} holds a single value, not keys` }
    }
    const container: Container = here
    const list = { start: here.start, end: here.end, children: spans(here) }
    const found = childrenAt(container, part)
    if (found.length === 0) {
      if (edit.value === undefined) return text
      const value = wrapRest(edit.key.slice(depth + 1), edit.value)
      const added = addEntry(text, list, style, (place) => {
        const written = render(value, format, place)
        if (written === null) return null
        return typeof part === 'number' ? written : `${keyText(text, format, container, part)}: ${written}`
      })
      return added ?? unwritable(format)
    }
    if (depth === edit.key.length - 1 && edit.value === undefined) return removeEntries(text, list, found, style)
    // Of a key that stands twice, agents take the last one.
    const index = found.at(-1) ?? 0
    const child: ValueTree | undefined =
      container.kind === 'list' ? container.items[index] : container.members[index]?.value
    if (child === undefined) return { refused: `${showKey(edit.key)} was not found` }
    here = child
  }
  const place = { indent: indentAt(text, here.start), unit: indentUnit(text), end: lineEndOf(text), spread: true }
  const written = render(edit.value, format, place)
  return written === null ? unwritable(format) : splice(text, [{ start: here.start, end: here.end, text: written }])
}

function unwritable(format: JsonFormat): Refused {
  return { refused: `such a value cannot be written in a ${format} file` }
}

function childrenAt(node: Container, part: string | number): readonly number[] {
  if (node.kind === 'list') return typeof part === 'number' && node.items[part] !== undefined ? [part] : []
  return node.members.flatMap((member, at) => (member.key === part ? [at] : []))
}

function spans(node: Container): readonly { readonly start: number; readonly end: number }[] {
  return node.kind === 'list' ? node.items : node.members.map(({ start, value }) => ({ start, end: value.end }))
}

/** JSON5 keys may do without quotes: a new one is written as its neighbours are. */
function keyText(text: string, format: JsonFormat, node: Container, key: string): string {
  if (format !== 'json5' || node.kind !== 'table') return JSON.stringify(key)
  const neighbour = node.members.at(-1)
  const first = neighbour === undefined ? '' : text.charAt(neighbour.start)
  if (first === "'" && !/['\\\n\r\u2028\u2029]/.test(key)) return `'${key}'`
  return first !== '"' && /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)
}

function render(value: unknown, format: JsonFormat, place: EntryPlace): string | null {
  if (!isJson(value, format)) return null
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  const nested = place.spread && typeof value === 'object' && value !== null
  const written = nested ? JSON.stringify(value, null, place.unit) : JSON.stringify(value)
  return written.split('\n').join(place.end + place.indent)
}

function isJson(value: unknown, format: JsonFormat): boolean {
  if (typeof value === 'number') return Number.isFinite(value) || format === 'json5'
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (Array.isArray(value)) return value.every((item) => isJson(item, 'json'))
  return isTable(value) && Object.values(value).every((item) => isJson(item, 'json'))
}
