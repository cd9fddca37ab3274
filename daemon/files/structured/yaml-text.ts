import { parseDocument } from 'yaml'
import { isTable } from './plain-value.ts'

/** How an old value was written, so that a new one is written alike. */
export type ScalarStyle = 'PLAIN' | 'QUOTE_SINGLE' | 'QUOTE_DOUBLE' | 'BLOCK_LITERAL' | 'BLOCK_FOLDED' | string

/** A value on one line; null: YAML has no such value. */
export function yamlInline(value: unknown, style: ScalarStyle, flow: boolean): string | null {
  if (value === null) return 'null'
  if (typeof value === 'string') return stringText(value, style, flow)
  if (typeof value === 'boolean' || typeof value === 'bigint') return String(value)
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return '.nan'
    if (!Number.isFinite(value)) return value > 0 ? '.inf' : '-.inf'
    // YAML 1.1 takes a number with an exponent but without a point for a word.
    const text = String(value)
    return /e/.test(text) && !text.includes('.') ? text.replace('e', '.0e') : text
  }
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) {
    const items = value.map((item: unknown) => yamlInline(item, 'PLAIN', true))
    return items.includes(null) ? null : `[${items.join(', ')}]`
  }
  if (!isTable(value)) return null
  const entries = Object.entries(value).map(([key, item]) => {
    const written = yamlInline(item, 'PLAIN', true)
    return written === null ? null : `${yamlKey(key, true)}: ${written}`
  })
  return entries.includes(null) ? null : `{${entries.join(', ')}}`
}

export function yamlKey(key: string, flow: boolean): string {
  return stringText(key, 'PLAIN', flow)
}

export function isFilled(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : isTable(value) && Object.keys(value).length > 0
}

/** A table or list, one entry a line, each line with `indent`; the first line without it, for behind a dash. */
export function yamlBlock(value: unknown, indent: string, unit: string, end: string): string | null {
  const lines: string[] = []
  const entry = (head: string, item: unknown): boolean => {
    if (!isFilled(item)) {
      const text = yamlText(item, 'PLAIN', indent, unit, end)
      lines.push(`${head} ${text}`)
      return text !== null
    }
    const inner = indent + (head === '-' ? '  ' : unit)
    const block = yamlBlock(item, inner, unit, end)
    lines.push(head === '-' ? `- ${block}` : `${head}${end}${inner}${block}`)
    return block !== null
  }
  if (Array.isArray(value)) {
    for (const item of value) if (!entry('-', item)) return null
  } else if (isTable(value)) {
    for (const [key, item] of Object.entries(value)) if (!entry(`${yamlKey(key, false)}:`, item)) return null
  } else return null
  return lines.join(end + indent)
}

/** A single value in block style: text of several lines as a block below `indent`, without a line end of its own. */
export function yamlText(value: unknown, style: ScalarStyle, indent: string, unit: string, end: string): string | null {
  const blockable =
    typeof value === 'string' &&
    /^[^\s#][^\p{Cc}]*(\n[^\p{Cc}]*)+$/u.test(value) &&
    !/[ \t](\n|$)|\n\n$|[\u0085\u2028\u2029\uFEFF]/.test(value) &&
    !/\p{Surrogate}/u.test(value) &&
    (style === 'PLAIN' || style.startsWith('BLOCK'))
  if (!blockable || typeof value !== 'string') return yamlInline(value, style, false)
  const closed = value.endsWith('\n')
  const lines = (closed ? value.slice(0, -1) : value).split('\n')
  return [closed ? '|' : '|-', ...lines.map((line) => (line === '' ? '' : indent + unit + line))].join(end)
}

function stringText(value: string, style: ScalarStyle, flow: boolean): string {
  if (style === 'QUOTE_SINGLE' && /^[^\p{Cc}\u2028\u2029\uFEFF\p{Surrogate}]*$/u.test(value)) {
    return `'${value.replaceAll("'", "''")}'`
  }
  if (style !== 'QUOTE_DOUBLE' && isPlain(value, flow)) return value
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028\u2029\uFEFF]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** May stand without quotes: agents read YAML 1.1 or 1.2, so both must take it for this very text. */
function isPlain(value: string, flow: boolean): boolean {
  if (!/^[\p{L}\p{N}_/.~$(][^\p{Cc}\u2028\u2029\uFEFF\p{Surrogate}]*$/u.test(value)) return false
  if (/: |:$| #|^\s|\s$|^(y|n|yes|no|on|off|true|false|null|~)$|^[\d.+-]/i.test(value)) return false
  if (flow && /[,[\]{}:]/.test(value)) return false
  return (['1.1', '1.2'] as const).every((version) => {
    const document = parseDocument(value, { version, logLevel: 'error' })
    return document.errors.length === 0 && document.toJS() === value
  })
}
