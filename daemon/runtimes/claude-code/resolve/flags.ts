/** Start flags of the runtime, parsed as far as they bear on configuration (help text of 2.1.332). */
export interface StartFlags {
  readonly all: readonly StartFlag[]
  /** Last value of a flag; null when it was not given. */
  value(name: string): string | null
  /** Every value of a flag. */
  values(name: string): readonly string[]
  has(name: string): boolean
}

export interface StartFlag {
  /** Canonical long name with its dashes; null for the prompt and other words. */
  readonly name: string | null
  readonly values: readonly string[]
  readonly known: boolean
}

/** `none`: a switch. `one`: takes the next word. `many`: takes all words up to the next flag. `maybe`: takes the next word if it is no flag. */
type Arity = 'none' | 'one' | 'many' | 'maybe'

const ARITY: Readonly<Record<string, Arity>> = {
  '--add-dir': 'many',
  '--agent': 'one',
  '--agents': 'one',
  '--allow-dangerously-skip-permissions': 'none',
  '--allowedTools': 'many',
  '--append-system-prompt': 'one',
  '--append-system-prompt-file': 'one',
  '--autocompact': 'one',
  '--ax-screen-reader': 'none',
  '--bare': 'none',
  '--betas': 'many',
  '--bg': 'none',
  '--brief': 'none',
  '--chrome': 'none',
  '--cloud': 'maybe',
  '--continue': 'none',
  '--dangerously-skip-permissions': 'none',
  '--debug': 'maybe',
  '--debug-file': 'one',
  '--desktop': 'none',
  '--disable-slash-commands': 'none',
  '--disallowedTools': 'many',
  '--effort': 'one',
  '--environment': 'one',
  '--exclude-dynamic-system-prompt-sections': 'none',
  '--fallback-model': 'one',
  '--file': 'many',
  '--fork-session': 'none',
  '--forward-subagent-text': 'none',
  '--from-pr': 'maybe',
  '--help': 'none',
  '--ide': 'none',
  '--include-hook-events': 'none',
  '--include-partial-messages': 'none',
  '--init': 'none',
  '--init-only': 'none',
  '--input-format': 'one',
  '--json-schema': 'one',
  '--max-budget-usd': 'one',
  '--max-turns': 'one',
  '--mcp-config': 'many',
  '--model': 'one',
  '--name': 'one',
  '--no-chrome': 'none',
  '--no-session-persistence': 'none',
  '--output-format': 'one',
  '--permission-mode': 'one',
  '--permission-prompt-tool': 'one',
  '--permission-prompts': 'one',
  '--plugin-dir': 'one',
  '--plugin-url': 'one',
  '--print': 'none',
  '--prompt-suggestions': 'maybe',
  '--remote-control': 'maybe',
  '--remote-control-session-name-prefix': 'one',
  '--replay-user-messages': 'none',
  '--restricted': 'none',
  '--resume': 'maybe',
  '--safe-mode': 'none',
  '--session-id': 'one',
  '--setting-sources': 'one',
  '--settings': 'one',
  '--strict-mcp-config': 'none',
  '--system-prompt': 'one',
  '--system-prompt-file': 'one',
  '--system-prompt-snapshot': 'one',
  '--teleport': 'maybe',
  '--tmux': 'none',
  '--tools': 'many',
  '--verbose': 'none',
  '--version': 'none',
  '--worktree': 'maybe',
}

const ALIASES: Readonly<Record<string, string>> = {
  '--allowed-tools': '--allowedTools',
  '--disallowed-tools': '--disallowedTools',
  '--background': '--bg',
  '-p': '--print',
  '-c': '--continue',
  '-r': '--resume',
  '-d': '--debug',
  '-n': '--name',
  '-h': '--help',
  '-v': '--version',
  '-w': '--worktree',
}

export function parseFlags(words: readonly string[]): StartFlags {
  const all: StartFlag[] = []
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? ''
    if (word === '--') {
      for (const rest of words.slice(at + 1)) all.push({ name: null, values: [rest], known: true })
      break
    }
    if (!word.startsWith('-') || word === '-') {
      all.push({ name: null, values: [word], known: true })
      continue
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const typed = equals > 0 ? word.slice(0, equals) : word
    const name = ALIASES[typed] ?? typed
    const arity = ARITY[name]
    if (equals > 0) {
      all.push({ name, values: [word.slice(equals + 1)], known: arity !== undefined })
      continue
    }
    const values: string[] = []
    const isValue = (next: string | undefined): next is string =>
      next !== undefined && !(next.startsWith('-') && next.length > 1)
    if (arity === 'one') {
      const next = words[at + 1]
      if (next !== undefined) {
        values.push(next)
        at += 1
      }
    } else if (arity === 'many' || arity === 'maybe') {
      while (isValue(words[at + 1])) {
        values.push(words[at + 1] ?? '')
        at += 1
        if (arity === 'maybe') break
      }
    }
    all.push({ name, values, known: arity !== undefined })
  }
  const values = (name: string): readonly string[] =>
    all.filter((flag) => flag.name === name).flatMap((flag) => flag.values)
  return {
    all,
    values,
    value: (name) => values(name).at(-1) ?? null,
    has: (name) => all.some((flag) => flag.name === name),
  }
}
