/** Start flags of `openclaw agent` and `openclaw agent exec`, as far as they bear on configuration (help texts of 2026.9.6). */
export interface Start {
  /** `exec` for `agent exec`, `local` for an embedded turn, `gateway` for everything that a running gateway answers. */
  readonly surface: 'exec' | 'local' | 'gateway'
  readonly words: readonly { readonly name: string | null; readonly value: string | null; readonly known: boolean }[]
  /** Last value of a flag; null when it was not given. */
  value(name: string): string | null
  has(name: string): boolean
}

const WITH_VALUE: ReadonlySet<string> = new Set([
  '--agent',
  '--channel',
  '--code-mode',
  '--config',
  '--cwd',
  '--fallback',
  '--message',
  '--message-file',
  '--model',
  '--profile',
  '--reply-account',
  '--reply-channel',
  '--reply-to',
  '--session-id',
  '--session-key',
  '--state-dir',
  '--thinking',
  '--timeout',
  '--to',
  '--verbose',
])
const SWITCHES: ReadonlySet<string> = new Set([
  '--auth-env-only',
  '--deliver',
  '--dev',
  '--isolated',
  '--json',
  '--local',
  '--local-model-lean',
  '--no-auth-env-only',
])
const ALIASES: Readonly<Record<string, string>> = { '-m': '--message', '-t': '--to' }

/** Flags of the runtime that only name what is said, where to or how the answer is printed. */
export const NO_CONFIGURATION: ReadonlySet<string> = new Set([
  '--message',
  '--message-file',
  '--json',
  '--timeout',
  '--deliver',
  '--reply-to',
])

export function parseStart(given: readonly string[]): Start {
  const words: { name: string | null; value: string | null; known: boolean }[] = []
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at] ?? ''
    if (!word.startsWith('-') || word === '-') {
      words.push({ name: null, value: word, known: true })
      continue
    }
    const equals = word.startsWith('--') ? word.indexOf('=') : -1
    const typed = equals > 0 ? word.slice(0, equals) : word
    const name = ALIASES[typed] ?? typed
    const takesValue = WITH_VALUE.has(name)
    let value = equals > 0 ? word.slice(equals + 1) : null
    if (takesValue && equals < 0) {
      value = given[at + 1] ?? null
      at += 1
    }
    words.push({ name, value, known: takesValue || SWITCHES.has(name) })
  }
  const has = (name: string): boolean => words.some((word) => word.name === name)
  const commands = words.filter((word) => word.name === null).map((word) => word.value)
  const isExec = commands[0] === 'exec' || (commands[0] === 'agent' && commands[1] === 'exec')
  return {
    surface: isExec ? 'exec' : has('--local') ? 'local' : 'gateway',
    words,
    has,
    value: (name) => words.filter((word) => word.name === name).at(-1)?.value ?? null,
  }
}
