import { addEntry, type CommaStyle, indentUnit, removeEntries } from './comma-list.ts'
import { type KeyEdit, lineEndOf, type Refused, showKey, splice } from './key-path.ts'
import { wrapRest } from './plain-value.ts'
import { lineAfter, lineSpan, lineStart } from './text-lines.ts'
import { isFilled, yamlBlock, yamlInline, yamlKey, yamlText } from './yaml-text.ts'
import { readYamlTree, type YamlItem, type YamlMember, type YamlValue } from './yaml-tree.ts'

type Container = Extract<YamlValue, { readonly kind: 'table' | 'list' }>
type Child = YamlMember | YamlItem

const style: CommaStyle = { remark: '#', blocks: false, spreads: false }
const unwritable: Refused = { refused: 'YAML has no such value' }
const tooTangled: Refused = { refused: 'its place in the file is written in a way that cannot be changed by key' }

/** One edit as changes of text; block and flow style, quotes, anchors and remarks are left as they are. */
export function editYaml(text: string, edit: KeyEdit): string | Refused {
  const end = lineEndOf(text)
  const unit = yamlUnit(text)
  const root = readYamlTree(text)
  if (root === null) {
    if (edit.value === undefined) return text
    const block = yamlBlock(wrapRest(edit.key, edit.value), '', unit, end)
    if (block === null) return unwritable
    return text === '' || text.endsWith('\n') ? text + block + end : text + end + block
  }
  let here: YamlValue = root
  let parent: { readonly node: Container; readonly child: Child } | null = null
  for (const [depth, part] of edit.key.entries()) {
    const where = showKey(edit.key.slice(0, depth)) || 'the file'
    if (here.kind === 'alias') return { refused: `${where} is taken from an anchor; change it where it is written` }
    if (here.kind === 'scalar') {
      // `key:` without a value is where a table may begin.
      if (!here.empty || parent === null || edit.value === undefined) {
        return { refused: `${where} holds a single value, not keys` }
      }
      return replaceValue(text, parent.node, parent.child, wrapRest(edit.key.slice(depth), edit.value), unit, end)
    }
    const node: Container = here
    const children: readonly Child[] = node.kind === 'table' ? node.members : node.items
    const found = children.flatMap((child, at) => {
      const matches = 'key' in child ? child.key === part : at === part
      return matches ? [at] : []
    })
    const last = found.at(-1)
    const child = last === undefined ? undefined : children[last]
    if (last === undefined || child === undefined) {
      if (edit.value === undefined) return text
      return addChild(text, node, part, wrapRest(edit.key.slice(depth + 1), edit.value), unit, end)
    }
    if (depth === edit.key.length - 1) {
      if (edit.value !== undefined) return replaceValue(text, node, child, edit.value, unit, end)
      return removeChildren(text, node, found, parent, unit, end)
    }
    parent = { node, child }
    here = child.value
  }
  return tooTangled
}

function columnOf(text: string, at: number): string {
  return ' '.repeat(at - lineStart(text, at))
}

function addChild(
  text: string,
  node: Container,
  part: string | number,
  value: unknown,
  unit: string,
  end: string,
): string | Refused {
  if (node.flow) {
    const children =
      node.kind === 'table'
        ? node.members.map((one) => ({ start: one.start, end: Math.max(one.value.end, one.start) }))
        : node.items.map((one) => ({ start: one.start, end: one.value.end }))
    const written = yamlInline(value, 'PLAIN', true)
    if (written === null) return unwritable
    const entry = typeof part === 'number' ? written : `${yamlKey(part, true)}: ${written}`
    return addEntry(text, { start: node.start, end: node.end, children }, style, () => entry) ?? unwritable
  }
  const first = node.kind === 'table' ? node.members[0] : node.items[0]
  if (first === undefined) return tooTangled
  const indent = columnOf(text, first.start)
  const wrapped = typeof part === 'number' ? [value] : Object.fromEntries([[part, value]])
  const block = yamlBlock(wrapped, indent, unit, end)
  if (block === null) return unwritable
  const at = lineAfter(text, node.end)
  const open = at > 0 && text.charAt(at - 1) !== '\n'
  return splice(text, [{ start: at, end: at, text: open ? end + indent + block : indent + block + end }])
}

function removeChildren(
  text: string,
  node: Container,
  indexes: readonly number[],
  parent: { readonly node: Container; readonly child: Child } | null,
  unit: string,
  end: string,
): string | Refused {
  const children: readonly Child[] = node.kind === 'table' ? node.members : node.items
  if (node.flow) {
    const spans = children.map((one) => ({ start: one.start, end: one.value.end }))
    return removeEntries(text, { start: node.start, end: node.end, children: spans }, indexes, style)
  }
  if (indexes.length === children.length && parent !== null) {
    return replaceValue(text, parent.node, parent.child, node.kind === 'table' ? {} : [], unit, end)
  }
  let result = text
  for (const index of [...indexes].sort((a, b) => b - a)) {
    const child = children[index]
    if (child === undefined) continue
    const line = lineStart(text, child.start)
    if (text.slice(line, child.start).trim() === '') {
      const span = lineSpan(result, child.start, child.value.end)
      result = splice(result, [{ ...span, text: '' }])
      continue
    }
    // The first entry stands behind a dash: the next one moves up to its place.
    const next = children[index + 1]
    if (next === undefined || text.slice(child.value.end, next.start).includes('#')) return tooTangled
    result = splice(result, [{ start: child.start, end: next.start, text: '' }])
  }
  return result
}

function replaceValue(
  text: string,
  node: Container,
  child: Child,
  value: unknown,
  unit: string,
  end: string,
): string | Refused {
  const old = child.value
  if (node.flow || ((old.kind === 'table' || old.kind === 'list') && old.flow)) {
    const written = yamlInline(value, old.kind === 'scalar' ? old.type : 'PLAIN', true)
    if (written === null) return unwritable
    const gap = old.kind === 'scalar' && old.empty ? (child.mark === null ? ': ' : ' ') : ''
    return splice(text, [{ start: old.start, end: old.end, text: gap + written }])
  }
  if (child.mark === null) return tooTangled
  const indent = columnOf(text, child.start)
  const inner = indent + ('key' in child ? unit : '  ')
  const closing = old.end > old.start && text.charAt(old.end - 1) === '\n' ? end : ''
  const between = text.slice(child.mark, old.start)
  const below = between.indexOf('\n')
  const head = below < 0 ? between : between.slice(0, below)
  if (/^\s*[&!]/.test(head) && below >= 0) return tooTangled
  if (isFilled(value)) {
    const block = yamlBlock(value, inner, unit, end)
    if (block === null) return unwritable
    if (!('key' in child)) {
      const start = child.mark
      return below >= 0 || /\S/.test(between)
        ? tooTangled
        : splice(text, [{ start, end: old.end, text: ` ${block}${closing}` }])
    }
    if (below >= 0) {
      const start = child.mark + head.trimEnd().length
      return splice(text, [{ start, end: old.end, text: `${end}${inner}${block}${closing}` }])
    }
    if (closing !== '') return splice(text, [{ start: child.mark, end: old.end, text: `${end}${inner}${block}${end}` }])
    // A remark on the line stays on it; the block goes below.
    const stop = lineAfter(text, old.end)
    const open = text.charAt(stop - 1) !== '\n'
    return splice(text, [
      { start: child.mark, end: old.end, text: '' },
      { start: stop, end: stop, text: open ? end + inner + block : inner + block + end },
    ])
  }
  const written = yamlText(value, old.kind === 'scalar' ? old.type : 'PLAIN', indent, unit, end)
  if (written === null) return unwritable
  if (below >= 0) {
    const remark = head.trim() === '' ? '' : ` ${head.trim()}`
    return splice(text, [{ start: child.mark, end: old.end, text: ` ${written}${remark}${closing}` }])
  }
  if (old.kind === 'scalar' && old.empty) {
    return splice(text, [{ start: child.mark, end: child.mark, text: ` ${written}` }])
  }
  return splice(text, [{ start: old.start, end: old.end, text: written + closing }])
}

function yamlUnit(text: string): string {
  const unit = indentUnit(text)
  return unit.startsWith(' ') && unit.length <= 8 ? unit : '  '
}
