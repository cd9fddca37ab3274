import { judgeAssignment, kindOfName } from './find-assignments.ts'
import { judgeOption } from './find-options.ts'
import { findUrlKeys } from './find-url-keys.ts'
import type { Redactor } from './redactor.ts'

export interface JsonFinding {
  /** Path of the text, with any secret in a key covered: `settings.env.TOKEN.value`. */
  readonly where: string
  readonly family: string
}

/** Secrets in the texts of a JSON value. A text is also judged by the name it stands under, as `{"DB_PASSWORD": "…"}` has no other sign. */
export function findInJson(value: unknown, redactor: Redactor): readonly JsonFinding[] {
  return redactJson(value, redactor).findings
}

/** A copy with every secret covered, keys included. What holds no finding is given back as it is, the whole or any part of it. */
export function redactJson<T>(
  value: T,
  redactor: Redactor,
): { readonly value: T; readonly findings: readonly JsonFinding[] } {
  const walk: Walk = { redactor, findings: [], path: [], program: '' }
  // The copy differs only in texts, so it has the shape of the original.
  return { value: cover(value, walk, '') as T, findings: walk.findings }
}

interface Walk {
  readonly redactor: Redactor
  readonly findings: JsonFinding[]
  /** Keys as they are shown, and indexes, from the top. */
  readonly path: (string | number)[]
  /** The program whose arguments a list may be. */
  program: string
}

/** Names that only say "here is the value"; the name above them tells what it is. */
const NEUTRAL = new Set(['value', 'values', 'text', 'content', 'overridden', 'data'])

function cover(value: unknown, walk: Walk, name: string): unknown {
  if (typeof value === 'string') return coverText(value, walk, name)
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? coverList(value, walk, name) : coverObject(value, walk, name)
}

function coverList(list: readonly unknown[], walk: Walk, name: string): readonly unknown[] {
  let copy: unknown[] | null = null
  const given = coverArguments(list, walk)
  for (const [index, item] of list.entries()) {
    if (typeof item === 'number') continue
    walk.path.push(index)
    const covered = given?.get(index) ?? cover(item, walk, name)
    walk.path.pop()
    if (covered === item) continue
    copy ??= [...list]
    copy[index] = covered
  }
  return copy ?? list
}

/**
 * Items of a list of arguments that are secrets because of the items before them: `["--token", "X"]`, and `["-p", "X"]` of a program that is
 * known. By their index; null where there is none.
 */
function coverArguments(list: readonly unknown[], walk: Walk): ReadonlyMap<number, string> | null {
  if (!list.some((item) => typeof item === 'string' && item.startsWith('-'))) return null
  const found = new Map<number, string>()
  const add = (index: number, family: string, text: string, secret: string): void => {
    walk.findings.push({ where: placeOf([...walk.path, index]), family })
    const placeholder = `‹secret:${family}:${walk.redactor.keyed(secret).slice(5, 13)}›`
    found.set(
      index,
      text.replace(secret, () => placeholder),
    )
  }
  let line = walk.program
  for (const [index, item] of list.entries()) {
    if (typeof item !== 'string') continue
    const before = list[index - 1]
    // What has a form of its own is covered by it.
    if (item.length <= 4096 && walk.redactor.find(item).length === 0) {
      const family = typeof before === 'string' ? judgeOption(before, item, true) : null
      if (family !== null) add(index, family, item, item.trim())
      else if (line !== '' && !/\s/.test(item)) {
        const start = line.length + 1
        const own = walk.redactor.find(`${line} ${item}`).find((one) => one.start >= start)
        if (own !== undefined) add(index, own.family, item, item.slice(own.start - start, own.end - start))
      }
    }
    // As much of the command as is looked at before a flag.
    line = `${line} ${/\s/.test(item) || found.has(index) ? '_' : item}`.slice(-200)
  }
  return found.size === 0 ? null : found
}

function coverObject(value: object, walk: Walk, name: string): object {
  const entries: [string, unknown][] = []
  let same = true
  for (const [key, item] of Object.entries(value)) {
    walk.path.push('(key)')
    const shown = coverText(key, walk, '')
    walk.path[walk.path.length - 1] = shown
    // `{ "command": "sshpass", "args": ["-p", "X"] }`
    const { program } = walk
    walk.program = 'command' in value && typeof value.command === 'string' ? value.command.slice(-200) : ''
    const covered = cover(item, walk, NEUTRAL.has(key) ? name : key)
    walk.program = program
    walk.path.pop()
    if (shown !== key || covered !== item) same = false
    entries.push([shown, covered])
  }
  return same ? value : Object.fromEntries(entries)
}

/** Words, times, ids and digests: most texts of an answer, and none of them can be a secret by its own form. */
const HARMLESS =
  /^(?:[a-z][a-z_ ]{0,23}|\d{4}-\d\d-\d\dT[\d:.]{8,15}Z|(?:sha256:|hmac:|r_|h_)[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

function coverText(given: string, walk: Walk, name: string): string {
  const { redactor, findings, path } = walk
  const text = coverAddress(given, walk)
  const named = name !== '' && text.length >= 6 && kindOfName(lastPart(name)) !== null
  if (!named && (text.length < 8 || (text.length <= 80 && HARMLESS.test(text)))) return text
  const { text: covered, findings: found } = redactor.redact(text)
  for (const { family } of found) findings.push({ where: placeOf(path), family })
  if (found.length > 0 || !named || text.startsWith('‹secret:')) return covered
  const family = judgeAssignment(lastPart(name), text, true)
  if (family === null) return text
  findings.push({ where: placeOf(path), family })
  return `‹secret:${family}:${redactor.keyed(text).slice(5, 13)}›`
}

/** An address of an MCP server may be a key by itself; that it is one, only its place tells. */
function coverAddress(text: string, { redactor, findings, path }: Walk): string {
  if (!text.includes('://') || !path.some((part) => typeof part === 'string' && /mcp/i.test(part))) return text
  // From the end, so that the places stay. What is known by its form is covered by it.
  return findUrlKeys(text, true).reduceRight((covered, { start, end, family }) => {
    const key = text.slice(start, end)
    if (redactor.find(text).some((one) => one.family !== family && one.start < end && one.end > start)) return covered
    findings.push({ where: placeOf(path), family })
    return `${covered.slice(0, start)}‹secret:${family}:${redactor.keyed(key).slice(5, 13)}›${covered.slice(end)}`
  }, text)
}

const placeOf = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (place, part) => (typeof part === 'number' ? `${place}[${part}]` : place === '' ? part : `${place}.${part}`),
    '',
  )

/** `env.DB_PASSWORD` is judged as `DB_PASSWORD`. */
const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1)
