/** Start flags as far as they bear on configuration (runtime page 2; those marked there as source or documented are so here). */
export interface StartFlags {
  /** As typed, without prompts. */
  readonly recorded: readonly string[]
  /** Canonical names with their values, in order. */
  readonly all: readonly { readonly name: string; readonly value: string | null; readonly known: boolean }[]
  /** `chat`, `gateway` …; null when none was given. */
  readonly command: string | null
  has(name: string): boolean
  value(name: string): string | null
}

type Arity = 'none' | 'one' | 'prompt' | 'maybe'

const KNOWN: Readonly<Record<string, Arity>> = {
  '-z': 'prompt',
  '--query': 'prompt',
  '--resume': 'one',
  '--continue': 'maybe',
  '--profile': 'one',
  '--model': 'one',
  '--provider': 'one',
  '--toolsets': 'one',
  '--skills': 'one',
  '--max-turns': 'one',
  '--yolo': 'none',
  '--checkpoints': 'none',
  '--accept-hooks': 'none',
  '--no-restore-cwd': 'none',
  '--ignore-rules': 'none',
  '--ignore-user-config': 'none',
  '--safe-mode': 'none',
  '--quiet': 'none',
  '--verbose': 'none',
  '--worktree': 'none',
}
const SHORT: Readonly<Record<string, string>> = {
  '-q': '--query',
  '-r': '--resume',
  '-c': '--continue',
  '-p': '--profile',
  '-m': '--model',
  '-t': '--toolsets',
  '-s': '--skills',
  '-Q': '--quiet',
  '-v': '--verbose',
  '-w': '--worktree',
  '--oneshot': '-z',
}

export function parseFlags(words: readonly string[]): StartFlags {
  const all: { name: string; value: string | null; known: boolean }[] = []
  const recorded: string[] = []
  let command: string | null = null
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!word.startsWith('-') || word === '-') {
      if (command === null && /^[a-z][\w-]*$/.test(word)) {
        command = word
        recorded.push(word)
      }
      continue
    }
    const equals = word.indexOf('=')
    const typed = equals > 0 ? word.slice(0, equals) : word
    const name = SHORT[typed] ?? typed
    const arity = KNOWN[name]
    const next = words[at + 1]
    const takes =
      arity === 'one' || arity === 'prompt' || (arity === 'maybe' && next !== undefined && !next.startsWith('-'))
    let value = equals > 0 ? word.slice(equals + 1) : null
    if (value === null && takes && next !== undefined) {
      value = next
      at++
    }
    all.push({ name, value, known: arity !== undefined })
    recorded.push(name, ...(value === null ? [] : [arity === 'prompt' ? '<prompt>' : value]))
  }
  return {
    recorded,
    all,
    command,
    has: (name) => all.some((flag) => flag.name === name),
    value: (name) => all.findLast((flag) => flag.name === name)?.value ?? null,
  }
}
