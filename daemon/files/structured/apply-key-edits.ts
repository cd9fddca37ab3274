import { expandEdit } from './expand-edit.ts'
import type { StructuredFormat } from './format.ts'
import { editJson } from './json-edit.ts'
import { isRefused, type KeyEdit, type Refused, showKey } from './key-path.ts'
import { parsePlain } from './parse-plain.ts'
import { isTable, sameValue, valueAt, withEdit } from './plain-value.ts'
import { editToml } from './toml-edit.ts'
import { editYaml } from './yaml-edit.ts'

/**
 * Changes single keys of a structured text: everything outside the edited values keeps its bytes – remarks, order, unknown keys,
 * indentation, line ends, byte-order mark, the end of the file (R19). Each edit is checked by reading the result again; where that is not
 * exactly what was wanted, the whole is refused rather than the file damaged. A removal of what is not there changes nothing.
 */
export function applyKeyEdits(
  text: string,
  format: StructuredFormat,
  edits: readonly KeyEdit[],
): { readonly text: string } | Refused {
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : ''
  let body = text.slice(mark.length)
  if (body.trim() === '' && (format === 'json' || format === 'jsonc' || format === 'json5')) {
    if (edits.every((edit) => edit.value === undefined)) return { text }
    return { refused: 'the file is empty; write it as a whole first' }
  }
  const parsed = parsePlain(body, format)
  if (isRefused(parsed)) return parsed
  let value = emptyIsTable(parsed.value, format)
  for (const asked of edits) {
    if (asked.key.length === 0) return { refused: 'an edit names no key' }
    const wanted = withEdit(value, asked)
    if (isRefused(wanted)) return wanted
    for (const edit of expandEdit(value, asked)) {
      if (edit.value === undefined && valueAt(value, edit.key) === null) continue
      const edited = editBody(body, format, edit)
      if (typeof edited !== 'string') return edited
      const read = parsePlain(edited, format)
      if (isRefused(read)) return cannot(edit)
      body = edited
      value = emptyIsTable(read.value, format)
    }
    if (!acceptable(wanted.value, asked).some((one) => sameValue(value, one))) return cannot(asked)
  }
  return { text: mark + body }
}

function cannot(edit: KeyEdit): Refused {
  return { refused: `${showKey(edit.key)} cannot be changed here without touching other parts of the file` }
}

/** A table that exists only by what is in it goes away with the last of it. */
function acceptable(wanted: unknown, edit: KeyEdit): readonly unknown[] {
  const all = [wanted]
  if (edit.value !== undefined) return all
  let whole = wanted
  for (let length = edit.key.length - 1; length > 0; length--) {
    const key = edit.key.slice(0, length)
    const left = valueAt(whole, key)?.value
    const empty = Array.isArray(left) ? left.length === 0 : isTable(left) && Object.keys(left).length === 0
    const without = empty ? withEdit(whole, { key }) : null
    if (without === null || isRefused(without)) break
    whole = without.value
    all.push(whole)
  }
  return all
}

/** A YAML file of nothing but remarks is an empty table to every agent. */
function emptyIsTable(value: unknown, format: StructuredFormat): unknown {
  return format === 'yaml' && (value === null || value === undefined) ? {} : value
}

function editBody(text: string, format: StructuredFormat, edit: KeyEdit): string | Refused {
  switch (format) {
    case 'json':
    case 'jsonc':
    case 'json5':
      return editJson(text, format, edit)
    case 'toml':
      return editToml(text, edit)
    case 'yaml':
      return editYaml(text, edit)
  }
}
