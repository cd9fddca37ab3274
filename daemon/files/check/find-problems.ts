import path from 'node:path'
import type { FileProblem, ManifestBody, RuntimeName } from '../../../contract/index.ts'
import { findCycles } from '../../manifest/validate.ts'
import type { Resolution } from '../../runtimes/adapter.ts'
import { type FileFormat, isStructured } from '../structured/format.ts'
import { isRefused, type KeyPath, lineFinder, showKey } from '../structured/key-path.ts'
import { isTable } from '../structured/plain-value.ts'
import { type KeyAt, readKeys } from '../structured/read-keys.ts'
import { readTextForm } from '../text-form.ts'
import { keyTables, matching, nearestKey, type ValueRule } from './known-keys.ts'

const problem = (
  code: string,
  severity: FileProblem['severity'],
  message: string,
  line: number | null = null,
  repair: string | null = null,
  column: number | null = null,
): FileProblem => ({ line, column, severity, code, message, repair })

/** What the text itself has wrong: its syntax, mistyped keys, values of another kind than the agent takes. */
export function problemsOfText(
  file: string,
  bytes: Uint8Array,
  format: FileFormat,
  runtime: RuntimeName,
): readonly FileProblem[] {
  const form = readTextForm(bytes)
  if (form === null) return []
  const found: FileProblem[] = []
  const torn = /^(?:<{7} |={7}$|>{7} )/m.exec(form.text)
  if (torn)
    found.push(problem('syntax', 'error', 'a conflict of a merge stands in it', lineFinder(form.text)(torn.index)))
  if (!isStructured(format)) return found
  if (form.raw.trim() === '' && format.startsWith('json'))
    return [...found, problem('syntax', 'error', 'the file is empty; an empty object is `{}`', 1, 'write {}')]
  const read = readKeys(form.raw, format)
  if (isRefused(read)) {
    const words = `no valid ${format.toUpperCase()}: ${wordsOf(read.refused)}`
    return [...found, problem('syntax', 'error', words, read.line ?? null, repairOf(read.refused), read.column ?? null)]
  }
  const table = keyTables.find((one) => one.runtime === runtime && one.files.test(file))
  if (!table) return found
  const tag = `${runtime} ${table.version}`
  for (const { key, value, line } of read.keys) {
    const name = key.at(-1)
    const known = typeof name === 'string' ? matching(table.keys, key.slice(0, -1))?.split(' ') : undefined
    if (typeof name === 'string' && known && !known.includes(name)) {
      const near = nearestKey(name, known)
      if (near !== null)
        found.push(
          problem('unknown_key', 'warning', `${showKey(key)}: ${tag} knows no such key`, line, `did you mean ${near}?`),
        )
    }
    const rule = matching(table.values, key)
    if (rule) found.push(...problemsOfValue(key, value, line, rule, tag, read.keys))
  }
  return found
}

function problemsOfValue(
  key: KeyPath,
  value: unknown,
  line: number | null,
  { type, oneOf, entries }: ValueRule,
  tag: string,
  keys: readonly KeyAt[],
): readonly FileProblem[] {
  const kind = kindOf(value)
  if (kind !== type && !type.split(' or ').includes(kind))
    return [problem('value', 'error', `${showKey(key)} is a ${kind}; ${tag} takes a ${type}`, line, `write a ${type}`)]
  if (oneOf && typeof value === 'string' && !oneOf.includes(value)) {
    const near = nearestKey(value, oneOf)
    const repair = near === null ? `one of ${oneOf.join(', ')}` : `did you mean ${near}?`
    return [problem('value', 'error', `${showKey(key)} is no value that ${tag} takes`, line, repair)]
  }
  if (entries === undefined || !Array.isArray(value)) return []
  return value.flatMap((item: unknown, at) => {
    if (kindOf(item) === entries) return []
    const place = keys.find((one) => showKey(one.key) === showKey([...key, at]))
    return [
      problem('value', 'error', `${showKey([...key, at])} is a ${kindOf(item)}, not a ${entries}`, place?.line ?? line),
    ]
  })
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'bigint') return 'number'
  return value === null ? 'null' : isTable(value) ? 'table' : typeof value
}

const wordsOf = (why: string): string =>
  why.replaceAll(/([a-z])([A-Z])/g, (_, a: string, b: string) => `${a} ${b.toLowerCase()}`)

function repairOf(why: string): string | null {
  if (/Comma/i.test(why)) return 'a comma is missing before it'
  if (/Brace|Bracket/i.test(why)) return 'a closing bracket is missing'
  if (/Comment/i.test(why)) return 'this file takes no comments'
  if (/duplicate|redefin|already/i.test(why)) return 'the same name stands twice; keep one of them'
  return null
}

/** What a start would make of it: imports that lead nowhere or in a circle, a text that is cut, a place that is not trusted. */
export function problemsOfResolution(
  file: string,
  text: string,
  draft: Resolution,
  before: Resolution,
): readonly FileProblem[] {
  const found: FileProblem[] = []
  const { sources } = draft.body.instructions
  const lines = lineFinder(text)
  const lineOf = (words: string): number | null => {
    const at = text.indexOf(words)
    return at < 0 ? null : lines(at)
  }
  for (const source of sources) {
    if (source.path === file && source.truncated !== null)
      found.push(
        problem(
          'size',
          'warning',
          `only the first ${source.truncated.at} ${source.truncated.unit} enter the context`,
          null,
          'make it shorter, or split it',
        ),
      )
    if (source.path === file && source.status === 'not_loaded' && source.reason !== null)
      found.push(
        problem(
          /trust/i.test(source.reason) ? 'provenance' : 'not_loaded',
          'warning',
          `present, not applied: ${source.reason}`,
        ),
      )
    if (source.imported_by.at(-1) === file && source.status === 'not_loaded' && source.path !== null) {
      const name = path.relative(path.dirname(file), source.path)
      const line = lineOf(`@${name}`) ?? lineOf(path.basename(source.path))
      const circle = /circle|cycle|itself|already/i.test(source.reason ?? '')
      found.push(
        circle
          ? problem(
              'import_cycle',
              'warning',
              `${name} and this file import each other`,
              line,
              'take one of the imports out',
            )
          : problem(
              'missing_import',
              'warning',
              `${name} is not loaded: ${source.reason ?? 'not there'}`,
              line,
              'correct the path',
            ),
      )
    }
  }
  for (const cycle of cyclesWith(file, draft.body))
    if (!found.some(({ code }) => code === 'import_cycle'))
      found.push(problem('import_cycle', 'warning', cycle, null, 'take one of the imports out'))
  const known = new Set(before.problems.map(({ message }) => message))
  for (const { path: where, message } of draft.problems)
    if (
      (where === file || where === null) &&
      !(known.has(message) && where === null) &&
      !/valid (?:JSON|TOML|YAML)/.test(message)
    )
      found.push(problem('resolve', 'warning', message, lineOf(/`([^`]+)`/.exec(message)?.[1] ?? '\0')))
  return found
}

function cyclesWith(file: string, body: ManifestBody): readonly string[] {
  const importers = new Map<string, string[]>()
  for (const { uri, path: place, imported_by } of body.instructions.sources)
    importers.set(place ?? uri, [...(importers.get(place ?? uri) ?? []), ...imported_by.slice(-1)])
  return findCycles(importers)
    .filter((cycle) => cycle.includes(file))
    .map((cycle) => cycle.join(' → '))
}
