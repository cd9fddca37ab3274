import { judgeAssignment } from './find-assignments.ts'
import type { Redactor } from './redactor.ts'

export interface JsonFinding {
  /** Path of the text, with any secret in a key covered: `settings.env.TOKEN.value`. */
  readonly where: string
  readonly family: string
}

/** Secrets in the texts of a JSON value. A text is also judged by the name it stands under, as `{"DB_PASSWORD": "…"}` has no other sign. */
export function findInJson(value: unknown, redactor: Redactor): readonly JsonFinding[] {
  const findings: JsonFinding[] = []
  walk(value, redactor, findings)
  return findings
}

/** A copy with every secret covered, keys included. Without a finding the very value is given back. */
export function redactJson<T>(
  value: T,
  redactor: Redactor,
): { readonly value: T; readonly findings: readonly JsonFinding[] } {
  const findings: JsonFinding[] = []
  const covered = walk(value, redactor, findings)
  // The copy differs only in texts, so it has the shape of the original.
  return { value: findings.length === 0 ? value : (covered as T), findings }
}

/** Names that only say "here is the value"; the name above them tells what it is. */
const NEUTRAL = new Set(['value', 'values', 'text', 'content', 'overridden', 'data'])

function walk(value: unknown, redactor: Redactor, findings: JsonFinding[], where = '', name = ''): unknown {
  if (typeof value === 'string') return coverText(value, redactor, findings, where, name)
  if (Array.isArray(value))
    return value.map((item, index) => walk(item, redactor, findings, `${where}[${index}]`, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const covered = coverText(key, redactor, findings, where === '' ? '(key)' : `${where}.(key)`, '')
      const path = where === '' ? covered : `${where}.${covered}`
      return [covered, walk(item, redactor, findings, path, NEUTRAL.has(key) ? name : key)]
    }),
  )
}

function coverText(text: string, redactor: Redactor, findings: JsonFinding[], where: string, name: string): string {
  const { text: covered, findings: found } = redactor.redact(text)
  for (const { family } of found) findings.push({ where, family })
  if (found.length > 0 || name === '' || text.startsWith('‹secret:')) return covered
  const family = judgeAssignment(lastPart(name), text, true)
  if (family === null) return text
  findings.push({ where, family })
  return `‹secret:${family}:${redactor.keyed(text).slice(5, 13)}›`
}

/** `env.DB_PASSWORD` is judged as `DB_PASSWORD`. */
const lastPart = (name: string) => name.slice(name.lastIndexOf('.') + 1)
