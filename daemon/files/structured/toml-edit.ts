import { addEntry, type CommaStyle, removeEntries } from './comma-list.ts'
import { type KeyEdit, type KeyPath, lineEndOf, type Refused, showKey, splice } from './key-path.ts'
import { isTable, wrapRest } from './plain-value.ts'
import { type Cut, lineSpan, lineStart } from './text-lines.ts'
import { isTableList, tomlKey, tomlSections, tomlValue } from './toml-text.ts'
import { readTomlTree, type TomlEntry, type TomlSection, type TomlValue } from './toml-tree.ts'

const style: CommaStyle = { remark: '#', blocks: false, spreads: false }
const unwritable: Refused = { refused: 'TOML has no such value' }

/** One edit as changes of text; sections, dotted keys and inline tables are left in the form they have. */
export function editToml(text: string, edit: KeyEdit): string | Refused {
  const sections = readTomlTree(text)
  for (const section of sections) {
    for (const entry of section.entries) {
      const path = [...section.path, ...entry.parts]
      if (!startsWith(edit.key, path)) continue
      const rest = edit.key.slice(path.length)
      if (rest.length > 0) return editInline(text, entry.value, rest, edit)
      if (edit.value === undefined) return cut(text, [lineSpan(text, entry.start, entry.value.end)])
      return replace(text, entry.value, edit.value)
    }
  }
  const inside = sections.filter((section) => section.kind !== 'root' && startsWith(section.path, edit.key))
  const dotted = sections.flatMap((section) =>
    inside.includes(section)
      ? []
      : section.entries.filter((entry) => startsWith([...section.path, ...entry.parts], edit.key)),
  )
  if (edit.value === undefined) {
    return cut(text, [
      ...inside.map((section) => sectionSpan(text, section)),
      ...dotted.map((entry) => lineSpan(text, entry.start, entry.value.end)),
    ])
  }
  if (inside.length > 0 || dotted.length > 0) {
    return { refused: `${showKey(edit.key)} is a table of its own; change its keys one by one` }
  }
  return add(text, sections, edit.key, edit.value)
}

function startsWith(key: KeyPath, prefix: KeyPath): boolean {
  return prefix.length <= key.length && prefix.every((part, at) => part === key[at])
}

function replace(text: string, value: TomlValue, wanted: unknown): string | Refused {
  const written = tomlValue(wanted, text.slice(value.start, value.end))
  return written === null ? unwritable : splice(text, [{ start: value.start, end: value.end, text: written }])
}

function editInline(text: string, value: TomlValue, rest: KeyPath, edit: KeyEdit): string | Refused {
  if (value.kind === 'scalar') {
    return { refused: `${showKey(edit.key.slice(0, -rest.length))} holds a single value, not keys` }
  }
  const spans =
    value.kind === 'list' ? value.items : value.members.map((one) => ({ start: one.start, end: one.value.end }))
  const list = { start: value.start, end: value.end, children: spans }
  const [part] = rest
  if (part === undefined) return replace(text, value, edit.value)
  const write = (written: string | null, key: string | null): string | null =>
    written === null ? null : key === null ? written : `${tomlKey(key)} = ${written}`
  if (value.kind === 'list') {
    const item = typeof part === 'number' ? value.items[part] : undefined
    if (item === undefined) {
      if (edit.value === undefined) return text
      const written = tomlValue(wrapRest(rest.slice(1), edit.value))
      return addEntry(text, list, style, () => write(written, null)) ?? unwritable
    }
    if (rest.length > 1) return editInline(text, item, rest.slice(1), edit)
    if (edit.value === undefined) return removeEntries(text, list, [Number(part)], style)
    return replace(text, item, edit.value)
  }
  const within = value.members.findIndex((one) => startsWith(rest, one.parts))
  const member = value.members[within]
  if (member !== undefined) {
    const deeper = rest.slice(member.parts.length)
    if (deeper.length > 0) return editInline(text, member.value, deeper, edit)
    if (edit.value === undefined) return removeEntries(text, list, [within], style)
    return replace(text, member.value, edit.value)
  }
  const below = value.members.flatMap((one, at) => (startsWith(one.parts, rest) ? [at] : []))
  if (edit.value === undefined) return removeEntries(text, list, below, style)
  if (below.length > 0) return { refused: `${showKey(edit.key)} is written with dotted keys; change them one by one` }
  const named = rest.findIndex((one, at) => at > 0 && typeof one === 'number')
  const keys = rest.slice(0, named < 0 ? rest.length : named)
  const written = tomlValue(wrapRest(rest.slice(keys.length), edit.value))
  const dottedKey = keys.map((one) => tomlKey(String(one))).join('.')
  const entry = written === null ? null : `${dottedKey} = ${written}`
  return addEntry(text, list, style, () => entry) ?? unwritable
}

/** A key that is not there: in the section of its table, or as a section of its own behind those of the deepest table there is. */
function add(text: string, sections: readonly TomlSection[], key: KeyPath, value: unknown): string | Refused {
  const end = lineEndOf(text)
  // The part of the key that is there already.
  let known = 0
  for (const section of sections) {
    for (const path of [section.path, ...section.entries.map((entry) => [...section.path, ...entry.parts])]) {
      let same = 0
      while (same < path.length && same < key.length && path[same] === key[same]) same++
      known = Math.max(known, same)
    }
  }
  const rest = key.slice(known)
  const container = key.slice(0, known)
  const home = sections.find((section) => section.path.length === known && startsWith(section.path, container))
  const wanted = wrapRest(rest.slice(1), value)
  const [name] = rest
  if (name === undefined) return unwritable
  const names = key.filter((part) => typeof part === 'string')
  if (typeof name === 'number') {
    // One more table of an array of tables.
    return isTable(wanted)
      ? addBlock(
          text,
          sections,
          container,
          tomlSections(names.slice(0, container.filter(isName).length), true, wanted, end),
        )
      : { refused: `${showKey(container)} is a list of tables` }
  }
  if (!isTable(wanted) && !isTableList(wanted)) {
    const written = tomlValue(wanted)
    if (written === null) return unwritable
    const line = `${tomlKey(name)} = ${written}`
    if (home !== undefined) return addLine(text, sections, home, line, end)
    const beside = dottedHome(sections, container)
    if (beside !== null) {
      const prefix = container.slice(beside.section.path.length).map((part) => tomlKey(String(part)))
      return insertBehind(text, beside.entry.value.end, `${[...prefix, line].join('.')}`, beside.entry.start, end)
    }
    const header = container.filter(isName)
    return addBlock(text, sections, container, `[${header.map(tomlKey).join('.')}]${end}${line}`)
  }
  const header = [...container.filter(isName), name]
  if (isTableList(wanted)) {
    const blocks = wanted.map((one) => tomlSections(header, true, one, end))
    return addBlock(text, sections, container, blocks.includes(null) ? null : blocks.join(end + end))
  }
  return addBlock(text, sections, container, tomlSections(header, false, wanted, end))
}

function isName(part: string | number): part is string {
  return typeof part === 'string'
}

/** The last of the dotted keys that make a table without a section of its own. */
function dottedHome(
  sections: readonly TomlSection[],
  container: KeyPath,
): { readonly section: TomlSection; readonly entry: TomlEntry } | null {
  for (const section of sections) {
    const entry = section.entries.filter((one) => startsWith([...section.path, ...one.parts], container)).at(-1)
    if (entry !== undefined && section.path.length < container.length) return { section, entry }
  }
  return null
}

function addLine(
  text: string,
  sections: readonly TomlSection[],
  section: TomlSection,
  line: string,
  end: string,
): string {
  const last = section.entries.at(-1)
  if (last !== undefined) return insertBehind(text, last.value.end, line, last.start, end)
  if (section.kind !== 'root') return insertBehind(text, section.headEnd, line, section.start, end)
  const first = sections.find((one) => one.kind !== 'root')
  if (first === undefined) return appendText(text, line, end)
  const at = startOfRemarks(text, lineStart(text, first.start))
  return splice(text, [{ start: at, end: at, text: line + end + end }])
}

/** A new line behind the line that `at` is on, with the indentation of the line of `like`. */
function insertBehind(text: string, at: number, line: string, like: number, end: string): string {
  const indent = text.slice(lineStart(text, like), like)
  const next = text.indexOf('\n', at)
  if (next < 0) return splice(text, [{ start: text.length, end: text.length, text: end + indent + line }])
  return splice(text, [{ start: next + 1, end: next + 1, text: indent + line + end }])
}

/** Behind the last section below `container`, so that tables of an array get what is theirs; else at the end. */
function addBlock(
  text: string,
  sections: readonly TomlSection[],
  container: KeyPath,
  block: string | null,
): string | Refused {
  if (block === null) return unwritable
  const end = lineEndOf(text)
  const last = sections.filter((one) => one.kind !== 'root' && startsWith(one.path, container)).at(-1)
  const after = last === undefined ? undefined : sections[sections.indexOf(last) + 1]
  if (container.length === 0 || last === undefined || after === undefined) return appendText(text, block, end, true)
  const content = contentEnd(text, last)
  const next = text.indexOf('\n', content)
  return splice(text, [{ start: next + 1, end: next + 1, text: `${end}${block}${end}` }])
}

function contentEnd(text: string, section: TomlSection): number {
  const at = section.entries.at(-1)?.value.end ?? section.headEnd
  const next = text.indexOf('\n', at)
  return next < 0 ? text.length : next
}

/** At the end of the file, which keeps its last line end or its absence. */
function appendText(text: string, added: string, end: string, apart = false): string {
  if (text === '') return added + end
  const closed = text.endsWith('\n')
  const gap = apart && text.trim() !== '' && !/\n\r?\n$/.test(text) ? end : ''
  return closed ? text + gap + added + end : text + end + gap + added
}

/** Remarks directly above a line belong to it. */
function startOfRemarks(text: string, at: number): number {
  let start = at
  while (start > 0) {
    const above = lineStart(text, start - 1)
    if (!/^[ \t]*#/.test(text.slice(above, start))) break
    start = above
  }
  return start
}

/** From the header to the last entry; remarks between entries go with them, those behind stay for what follows. */
function sectionSpan(text: string, section: TomlSection): Cut {
  const last = section.entries.at(-1)
  const span = lineSpan(text, section.start, last?.value.end ?? section.headEnd)
  const above = lineStart(text, span.start)
  // One of the two empty lines around it goes too.
  const blank = /^[ \t]*\r?\n/.exec(text.slice(span.end))
  const before = above === 0 || /\n[ \t]*\r?\n$/.test(text.slice(Math.max(0, above - 200), above))
  return blank !== null && before && span.start === above
    ? { start: span.start, end: span.end + blank[0].length }
    : span
}

function cut(text: string, spans: readonly Cut[]): string {
  return splice(
    text,
    spans.map((span) => ({ ...span, text: '' })),
  )
}
