/** A value of a rules file, as far as it is written out. */
type Literal = string | readonly Literal[] | { readonly computed: string }

export interface PrefixRule {
  /** Words of the command, alternatives as lists. */
  readonly pattern: readonly (string | readonly string[])[]
  readonly decision: 'allow' | 'prompt' | 'forbidden'
  readonly justification: string | null
  readonly line: number
}

export interface RulesRead {
  readonly rules: readonly PrefixRule[]
  /** What makes the program stop, with its line. */
  readonly errors: readonly { readonly line: number; readonly why: string }[]
  /** Lines of rules that are computed and were not evaluated here. */
  readonly computed: readonly number[]
}

interface Token {
  readonly kind: 'name' | 'text' | 'mark' | 'end of line' | 'other'
  readonly text: string
  readonly line: number
}

/** What a rules file may call at its top level (0.171.0). */
const FUNCTIONS: ReadonlySet<string> = new Set(['prefix_rule', 'host_executable', 'network_rule'])
const DECISIONS: ReadonlySet<string> = new Set(['allow', 'prompt', 'forbidden'])

/**
 * Reads the calls of `prefix_rule` in a rules file. The file is a program (Starlark); rules written out are read, anything computed is
 * said to be so, never guessed.
 */
export function readPrefixRules(text: string): RulesRead {
  const rules: PrefixRule[] = []
  const errors: { line: number; why: string }[] = []
  const computed: number[] = []
  const lexed = tokenize(text)
  if ('why' in lexed) return { rules, errors: [lexed], computed }
  const { tokens } = lexed
  const defined = new Set<string>()
  const constants = new Map<string, Literal>()
  let depth = 0
  for (let n = 0; n < tokens.length; n += 1) {
    const token = tokens[n]
    if (token === undefined) break
    const next = tokens[n + 1]
    const isStart = depth === 0 && (n === 0 || tokens[n - 1]?.kind === 'end of line')
    if (isStart && token.kind === 'name' && (token.text === 'def' || token.text === 'load'))
      defined.add(next?.text ?? '')
    if (isStart && token.kind === 'name' && next?.text === '=' && tokens[n + 2]?.text !== '=') {
      const value = literal(tokens, n + 2)
      if (value === null) errors.push({ line: token.line, why: `nothing stands after ${token.text} =` })
      else constants.set(token.text, value.value)
    }
    if (token.kind === 'name' && next?.text === '(' && tokens[n - 1]?.text !== '.' && tokens[n - 1]?.text !== 'def') {
      if (token.text === 'prefix_rule') {
        const end = closing(tokens, n + 1)
        const rule = depth === 0 ? ruleOf(tokens.slice(n + 2, end), constants, token.line) : null
        if (rule === null) computed.push(token.line)
        else if ('why' in rule) errors.push(rule)
        else rules.push(rule)
      } else if (isStart && !FUNCTIONS.has(token.text) && !defined.has(token.text) && token.text !== 'load')
        errors.push({ line: token.line, why: `nothing is called ${token.text}` })
    }
    if (token.kind === 'mark' && '([{'.includes(token.text)) depth += 1
    if (token.kind === 'mark' && ')]}'.includes(token.text)) depth -= 1
  }
  return { rules, errors, computed }
}

function tokenize(
  text: string,
): { readonly tokens: readonly Token[] } | { readonly line: number; readonly why: string } {
  const tokens: Token[] = []
  const open: { readonly text: string; readonly line: number }[] = []
  let line = 1
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at)
    const space = /^(?:[ \t\r]+|#[^\n]*|\\\n)/.exec(rest)?.[0]
    if (space !== undefined) {
      if (space.endsWith('\n')) line += 1
      at += space.length
      continue
    }
    if (rest.startsWith('\n')) {
      if (open.length === 0 && tokens.at(-1)?.kind !== 'end of line')
        tokens.push({ kind: 'end of line', text: '\n', line })
      line += 1
      at += 1
      continue
    }
    const quoted = /^(?:r)?("""|'''|"|')/.exec(rest)
    if (quoted !== null) {
      const value = readText(rest, quoted[1] ?? '"', rest.startsWith('r'))
      if (value === null) return { line, why: 'a text is not closed' }
      tokens.push({ kind: 'text', text: value.text, line })
      line += rest.slice(0, value.length).split('\n').length - 1
      at += value.length
      continue
    }
    const name = /^[A-Za-z_][A-Za-z0-9_]*/.exec(rest)?.[0]
    if (name !== undefined) {
      tokens.push({ kind: 'name', text: name, line })
      at += name.length
      continue
    }
    const mark = rest[0] ?? ''
    if ('([{'.includes(mark)) open.push({ text: mark, line })
    if (')]}'.includes(mark)) {
      const opened = open.pop()
      if (opened === undefined || '([{'.indexOf(opened.text) !== ')]}'.indexOf(mark))
        return { line, why: `${mark} closes nothing` }
    }
    tokens.push({ kind: '([{)]}=,.'.includes(mark) ? 'mark' : 'other', text: mark, line })
    at += 1
  }
  const left = open.at(-1)
  return left === undefined ? { tokens } : { line, why: `${left.text} of line ${left.line} is not closed` }
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  '"': '"',
  "'": "'",
  '\n': '',
}

function readText(
  rest: string,
  quote: string,
  isRaw: boolean,
): { readonly text: string; readonly length: number } | null {
  let text = ''
  for (let at = quote.length + (isRaw ? 1 : 0); at < rest.length; at += 1) {
    if (rest.startsWith(quote, at)) return { text, length: at + quote.length }
    const character = rest[at] ?? ''
    if (character === '\n' && quote.length === 1) return null
    if (character === '\\' && !isRaw) {
      at += 1
      text += ESCAPES[rest[at] ?? ''] ?? `\\${rest[at] ?? ''}`
    } else text += character
  }
  return null
}

/** Index of the bracket that closes the one at `start`. */
function closing(tokens: readonly Token[], start: number): number {
  let depth = 0
  for (let at = start; at < tokens.length; at += 1) {
    const token = tokens[at]
    if (token?.kind !== 'mark') continue
    if ('([{'.includes(token.text)) depth += 1
    if (')]}'.includes(token.text)) depth -= 1
    if (depth === 0) return at
  }
  return tokens.length
}

function literal(tokens: readonly Token[], start: number): { readonly value: Literal; readonly end: number } | null {
  const token = tokens[start]
  if (token === undefined || token.kind === 'end of line') return null
  const after = tokens[start + 1]
  const isAlone = after === undefined || after.kind === 'end of line' || after.text === ',' || after.text === ']'
  if (token.kind === 'text' && isAlone) return { value: token.text, end: start + 1 }
  if (token.kind === 'name' && isAlone) return { value: { computed: token.text }, end: start + 1 }
  if (token.text === '[') {
    const end = closing(tokens, start)
    const items: Literal[] = []
    for (let at = start + 1; at < end; ) {
      const item = literal(tokens, at)
      if (item === null) return { value: { computed: '' }, end: end + 1 }
      items.push(item.value)
      at = item.end
      if (at < end && tokens[at]?.text !== ',') return { value: { computed: '' }, end: end + 1 }
      at += 1
    }
    return { value: items, end: end + 1 }
  }
  return { value: { computed: '' }, end: start + 1 }
}

const POSITIONS = ['pattern', 'decision'] as const

/** Null when an argument is computed. */
function ruleOf(
  tokens: readonly Token[],
  constants: ReadonlyMap<string, Literal>,
  line: number,
): PrefixRule | { readonly line: number; readonly why: string } | null {
  const given = new Map<string, Literal>()
  for (const [n, argument] of splitArguments(tokens).entries()) {
    const named = argument[0]?.kind === 'name' && argument[1]?.text === '='
    const name = named ? argument[0]?.text : POSITIONS[n]
    const value = literal(argument, named ? 2 : 0)
    if (name === undefined || value === null) return null
    const whole = value.end === argument.length ? value.value : { computed: '' }
    given.set(name, isComputed(whole) ? (constants.get(whole.computed) ?? whole) : whole)
  }
  const pattern = given.get('pattern')
  if (pattern === undefined) return { line, why: 'prefix_rule needs a pattern' }
  if (!Array.isArray(pattern)) return null
  const words: (string | readonly string[])[] = []
  for (const word of pattern as readonly Literal[]) {
    if (typeof word === 'string') words.push(word)
    else if (!isComputed(word) && word.every((each): each is string => typeof each === 'string')) words.push(word)
    else return null
  }
  if (words.length === 0) return { line, why: 'the pattern is empty' }
  const decision = given.get('decision') ?? 'allow'
  if (typeof decision !== 'string') return null
  if (!DECISIONS.has(decision))
    return { line, why: `no decision is called ${decision}: allow, prompt and forbidden are` }
  const justification = given.get('justification')
  return {
    pattern: words,
    decision: decision as PrefixRule['decision'],
    justification: typeof justification === 'string' ? justification : null,
    line,
  }
}

const isComputed = (value: Literal): value is { readonly computed: string } =>
  typeof value === 'object' && 'computed' in value

function splitArguments(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'mark' && '([{'.includes(token.text)) depth += 1
    if (token.kind === 'mark' && ')]}'.includes(token.text)) depth -= 1
    if (depth === 0 && token.text === ',' && token.kind === 'mark') parts.push([])
    else if (token.kind !== 'end of line') parts.at(-1)?.push(token)
  }
  return parts.filter((part) => part.length > 0)
}
