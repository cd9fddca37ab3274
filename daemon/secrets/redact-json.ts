import { judgeAssignment, kindOfName } from './find-assignments.ts'
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
  const walk: Walk = { redactor, findings: [], path: [] }
  // The copy differs only in texts, so it has the shape of the original.
  return { value: cover(value, walk, '') as T, findings: walk.findings }
}

interface Walk {
  readonly redactor: Redactor
  readonly findings: JsonFinding[]
  /** Keys as they are shown, and indexes, from the top. */
  readonly path: (string | number)[]
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
  for (const [index, item] of list.entries()) {
    if (typeof item === 'number') continue
    walk.path.push(index)
    const covered = cover(item, walk, name)
    walk.path.pop()
    if (covered === item) continue
    copy ??= [...list]
    copy[index] = covered
  }
  return copy ?? list
}

function coverObject(value: object, walk: Walk, name: string): object {
  const entries: [string, unknown][] = []
  let same = true
  for (const [key, item] of Object.entries(value)) {
    walk.path.push('(key)')
    const shown = coverText(key, walk, '')
    walk.path[walk.path.length - 1] = shown
    const covered = cover(item, walk, NEUTRAL.has(key) ? name : key)
    walk.path.pop()
    if (shown !== key || covered !== item) same = false
    entries.push([shown, covered])
  }
  return same ? value : Object.fromEntries(entries)
}

/** Words, times, ids and digests: most texts of an answer, and none of them can be a secret by its own form. */
const HARMLESS =
  /^(?:[a-z][a-z_ ]{0,23}|\d{4}-\d\d-\d\dT[\d:.]{8,15}Z|(?:sha256:|hmac:|r_|h_)[0-9a-f]{8,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

function coverText(text: string, { redactor, findings, path }: Walk, name: string): string {
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

const placeOf = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (place, part) => (typeof part === 'number' ? `${place}[${part}]` : place === '' ? part : `${place}.${part}`),
    '',
  )

/** `env.DB_PASSWORD` is judged as `DB_PASSWORD`. */
const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1)
