import { parseDocument } from 'yaml'

/** Front matter of a Markdown file and the text after it. */
export interface FrontMatter {
  /** Parsed keys; empty when there is no front matter or it cannot be parsed. */
  readonly keys: Readonly<Record<string, unknown>>
  /** `quoted`: parsed only after values with special characters were put in quotes, as the runtime does. */
  readonly state: 'none' | 'parsed' | 'quoted' | 'invalid'
  readonly body: string
}

/**
 * Begins with `---` on the first line and ends at the next `---`, wherever that stands: in 2.1.332 a `---` inside a value ends the block
 * as well.
 */
const BLOCK = /^---\s*\n([\s\S]*?)---\s*\n?/

export function readFrontMatter(text: string): FrontMatter {
  const found = BLOCK.exec(text)
  if (!found) return { keys: {}, state: 'none', body: text }
  const body = text.slice(found[0].length)
  const source = found[1] ?? ''
  const plain = parseKeys(source)
  if (plain) return { keys: plain, state: 'parsed', body }
  const quoted = parseKeys(quoteSpecialValues(source))
  if (quoted) return { keys: quoted, state: 'quoted', body }
  return { keys: {}, state: 'invalid', body }
}

function parseKeys(source: string): Record<string, unknown> | null {
  // The runtime's parser takes a tab for indentation and the last of two equal keys.
  const document = parseDocument(
    source.replace(/^\t+/gm, (tabs) => '  '.repeat(tabs.length)),
    {
      uniqueKeys: false,
      logLevel: 'error',
    },
  )
  if (document.errors.length > 0) return null
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch {
    return null
  }
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}

/** Values such as `a glob with stars` or `a: b` are no plain YAML; the runtime tries them again in quotes, for keys of the first level only. */
function quoteSpecialValues(source: string): string {
  return source
    .split('\n')
    .map((line) => {
      const found = /^([A-Za-z_-]+):\s+(.+)$/.exec(line)
      if (!found) return line
      const value = (found[2] ?? '').trimEnd()
      if (/^(".*"|'.*')$/.test(value) || !/[{}[\]*&#!|>%@`]|: /.test(value)) return line
      return `${found[1]}: "${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
    })
    .join('\n')
}

/**
 * The path patterns of a rule. Null when the rule is not bound to paths: no `paths`, nothing usable in it, or only `**`.
 * A trailing `/**` is taken off, so that the pattern also covers the directory itself (2.1.332).
 */
export function pathPatterns(keys: Readonly<Record<string, unknown>>): readonly string[] | null {
  const value = keys.paths
  const given =
    typeof value === 'string' ? [value] : Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  const patterns = given
    .flatMap(splitAtCommas)
    .flatMap(expandBraces)
    .map((pattern) => (pattern.endsWith('/**') ? pattern.slice(0, -3) : pattern))
    .filter((pattern) => pattern !== '')
  return patterns.length === 0 || patterns.every((pattern) => pattern === '**') ? null : patterns
}

function splitAtCommas(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of text) {
    if (character === '{') depth += 1
    if (character === '}') depth -= 1
    if (character === ',' && depth <= 0) {
      parts.push(part)
      part = ''
    } else part += character
  }
  parts.push(part)
  return parts.map((each) => each.trim()).filter((each) => each !== '')
}

function expandBraces(pattern: string): string[] {
  const found = /^([^{]*)\{([^}]+)\}(.*)$/s.exec(pattern)
  if (!found) return [pattern]
  const [, before = '', inside = '', after = ''] = found
  return inside.split(',').flatMap((choice) => expandBraces(before + choice.trim() + after))
}
