import type { StructuredFormat } from './format.ts'
import { editJson } from './json-edit.ts'
import { isRefused, type KeyEdit, type Refused, showKey } from './key-path.ts'
import { parsePlain } from './parse-plain.ts'
import { sameValue, valueAt, withEdit } from './plain-value.ts'
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
  for (const edit of edits) {
    if (edit.key.length === 0) return { refused: 'an edit names no key' }
    const wanted = withEdit(value, edit)
    if (isRefused(wanted)) return wanted
    const there = valueAt(value, edit.key)
    if (edit.value === undefined ? there === null : there !== null && sameValue(there.value, edit.value)) continue
    const edited = editBody(body, format, edit)
    if (typeof edited !== 'string') return edited
    const read = parsePlain(edited, format)
    if (isRefused(read) || !sameValue(emptyIsTable(read.value, format), wanted.value)) {
      return { refused: `${showKey(edit.key)} cannot be changed here without touching other parts of the file` }
    }
    body = edited
    value = emptyIsTable(read.value, format)
  }
  return { text: mark + body }
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
