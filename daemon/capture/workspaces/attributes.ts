import { type IgnorePattern, parsePattern } from './ignore-pattern.ts'

/** What attributes may do to the bytes of a file on their way into the user's repository. */
export type Conversion =
  /** Nothing: the blob is the file. */
  | 'none'
  /** Line ends: they are the same exactly when they have the same size. */
  | 'line-ends'
  /** Anything. */
  | 'any'

interface AttributeRule {
  /** Folder of the file the rule stands in, with its slash. */
  readonly base: string
  readonly pattern: IgnorePattern
  readonly conversion: Conversion
}

export interface Attributes {
  readonly rules: readonly AttributeRule[]
  readonly always: Conversion
}

/** Rules of a `.gitattributes` (latin1) that convert something. What takes a conversion away again is not believed. */
export function parseAttributes(text: string, folder: string): readonly AttributeRule[] {
  const rules: AttributeRule[] = []
  for (const line of (text.startsWith('\xef\xbb\xbf') ? text.slice(3) : text).split('\n')) {
    const trimmed = line.trim()
    if (trimmed === '' || trimmed.startsWith('#')) continue
    const found = /^("(?:[^"\\]|\\.)*"|\S+)\s*(.*)$/s.exec(trimmed)
    const written = found?.[1] ?? ''
    const conversion = conversionOf(found?.[2] ?? '')
    if (conversion === 'none') continue
    const base = folder === '' ? '' : `${folder}/`
    // A macro, or a quoted name: whatever it is for, everything is taken to be.
    const pattern = /^["[]/.test(written) ? parsePattern('*') : parsePattern(written.replace(/^!/, '\\!'))
    if (pattern !== null) rules.push({ base, pattern, conversion })
  }
  return rules
}

function conversionOf(attributes: string): Conversion {
  let worst: Conversion = 'none'
  for (const one of attributes.split(/\s+/)) {
    const name = one.replace(/=.*$/, '')
    if (name === 'filter' || name === 'ident' || name === 'working-tree-encoding') return 'any'
    if (name === 'text' || name === 'eol' || name === 'crlf') worst = 'line-ends'
  }
  return worst
}

export function conversionFor({ rules, always }: Attributes, path: string): Conversion {
  let worst = always
  for (const { base, pattern, conversion } of rules) {
    if (worst === 'any' || !path.startsWith(base)) continue
    const below = path.slice(base.length)
    const given = pattern.anchored ? below : below.slice(below.lastIndexOf('/') + 1)
    if (pattern.matches(given)) worst = conversion === 'any' ? 'any' : worst === 'none' ? conversion : worst
  }
  return worst
}
