/**
 * One line of a `.gitignore`, as Git reads it (its `wildmatch`). Matching follows all ways at once, so that no pattern of an untrusted
 * repository can make it take longer than its length times that of the path.
 */
export interface IgnorePattern {
  readonly negated: boolean
  readonly foldersOnly: boolean
  /** Against the path below the file with the rules; else against the name alone. */
  readonly anchored: boolean
  /** The whole text, when nothing in it is special. */
  readonly literal: string | null
  /** `*` and then only plain text, as in `*.log`. */
  readonly ending: string | null
  readonly matches: (text: string) => boolean
}

type Token =
  | { readonly is: 'one'; readonly test: (code: number) => boolean }
  | { readonly is: 'star' }
  /** Any number of whole folders, none too. */
  | { readonly is: 'folders' }
  | { readonly is: 'rest' }

const SLASH = 0x2f
const NEVER = (): boolean => false

/** Null for a line that says nothing. Bytes as latin1. */
export function parsePattern(line: string): IgnorePattern | null {
  let text = line.endsWith('\r') ? line.slice(0, -1) : line
  if (text === '' || text.startsWith('#')) return null
  text = trimSpaces(text)
  const negated = text.startsWith('!')
  if (negated) text = text.slice(1)
  const foldersOnly = text.endsWith('/')
  if (foldersOnly) text = text.slice(0, -1)
  if (text === '') return null
  const anchored = text.includes('/')
  if (text.startsWith('/')) text = text.slice(1)
  const shape = { negated, foldersOnly, anchored }
  if (!/[*?[\\]/.test(text)) return { ...shape, literal: text, ending: null, matches: (given) => given === text }
  const ending = !anchored && text.startsWith('*') && !/[*?[\\]/.test(text.slice(1)) ? text.slice(1) : null
  if (ending !== null) return { ...shape, literal: null, ending, matches: (given) => given.endsWith(ending) }
  const tokens = tokenize(text)
  return { ...shape, literal: null, ending: null, matches: tokens === null ? NEVER : (given) => run(tokens, given) }
}

function trimSpaces(text: string): string {
  let end = text.length
  while (end > 0 && text[end - 1] === ' ') {
    let slashes = 0
    for (let at = end - 2; at >= 0 && text[at] === '\\'; at -= 1) slashes += 1
    if (slashes % 2 === 1) break
    end -= 1
  }
  return text.slice(0, end)
}

/** Null: can match nothing. */
function tokenize(text: string): readonly Token[] | null {
  const tokens: Token[] = []
  const one = (code: number) => tokens.push({ is: 'one', test: (given) => given === code })
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\\') {
      at += 1
      if (at >= text.length) return null
      one(text.charCodeAt(at))
    } else if (char === '?') tokens.push({ is: 'one', test: (code) => code !== SLASH })
    else if (char === '*') {
      let end = at
      while (text[end + 1] === '*') end += 1
      const whole = end > at && (at === 0 || text[at - 1] === '/') && (end + 1 >= text.length || text[end + 1] === '/')
      if (!whole) tokens.push({ is: 'star' })
      else if (end + 1 >= text.length) tokens.push({ is: 'rest' })
      else {
        tokens.push({ is: 'folders' })
        end += 1 // its slash
      }
      at = end
    } else if (char === '[') {
      const found = bracket(text, at)
      if (found === null) return null
      tokens.push({ is: 'one', test: found.test })
      at = found.end
    } else one(text.charCodeAt(at))
  }
  return tokens
}

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9A-Za-z]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the class of control characters
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
}

function bracket(
  text: string,
  start: number,
): { readonly test: (code: number) => boolean; readonly end: number } | null {
  let at = start + 1
  const negated = text[at] === '!' || text[at] === '^'
  if (negated) at += 1
  const tests: ((code: number) => boolean)[] = []
  let first = true
  let before: number | null = null
  for (; ; at += 1) {
    let char = text[at]
    if (char === undefined) return null
    if (char === ']' && !first) break
    first = false
    const following = text[at + 1]
    if (char === '-' && before !== null && following !== undefined && following !== ']') {
      at += 1
      if (text[at] === '\\') at += 1
      if (at >= text.length) return null
      const low = before
      const high = text.charCodeAt(at)
      tests.push((code) => code >= low && code <= high)
      before = null
      continue
    }
    if (char === '[' && following === ':') {
      const end = text.indexOf(':]', at + 2)
      if (end >= 0) {
        const known = CLASSES[text.slice(at + 2, end)]
        if (known === undefined) return null
        tests.push((code) => code < 0x80 && known.test(String.fromCharCode(code)))
        at = end + 1
        before = null
        continue
      }
    }
    if (char === '\\') {
      at += 1
      char = text[at]
      if (char === undefined) return null
    }
    const code = char.charCodeAt(0)
    tests.push((given) => given === code)
    before = code
  }
  return { test: (code) => code !== SLASH && tests.some((test) => test(code)) !== negated, end: at }
}

/** Follows every way through the tokens at once. */
function run(tokens: readonly Token[], text: string): boolean {
  const count = tokens.length
  let here = new Uint8Array(count + 1)
  let inside = new Uint8Array(count + 1) // in the middle of a folder's name, of a `folders` token
  const reach = (states: Uint8Array, from: number): void => {
    for (let at = from; ; at += 1) {
      if (states[at] === 1) return
      states[at] = 1
      const kind = tokens[at]?.is
      if (kind !== 'star' && kind !== 'folders') return
    }
  }
  reach(here, 0)
  for (let n = 0; n < text.length; n += 1) {
    const code = text.charCodeAt(n)
    const next = new Uint8Array(count + 1)
    const nextInside = new Uint8Array(count + 1)
    let alive = false
    for (let at = 0; at < count; at += 1) {
      const token = tokens[at]
      if (token === undefined) continue
      if (inside[at] === 1) {
        alive = true
        if (code === SLASH) reach(next, at)
        else nextInside[at] = 1
      }
      if (here[at] !== 1) continue
      if (token.is === 'rest') return true
      if (token.is === 'one') {
        if (token.test(code)) {
          reach(next, at + 1)
          alive = true
        }
      } else if (token.is === 'star') {
        if (code !== SLASH) {
          reach(next, at)
          alive = true
        }
      } else {
        alive = true
        if (code === SLASH) reach(next, at)
        else nextInside[at] = 1
      }
    }
    if (!alive) return false
    here = next
    inside = nextInside
  }
  return here[count] === 1
}
