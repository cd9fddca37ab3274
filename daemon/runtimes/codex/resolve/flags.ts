import path from 'node:path'
import { parseTomlText } from './config-file.ts'

/** Start flags of the program, parsed as far as they bear on configuration (help texts of 0.171.0). */
export interface StartFlags {
  readonly all: readonly StartFlag[]
  /** Sub-command that was named: `exec`, `resume` …; null when the interactive program is started, or when none was given. */
  readonly command: string | null
  value(name: string): string | null
  values(name: string): readonly string[]
  has(name: string): boolean
}

export interface StartFlag {
  /** Canonical long name with its dashes; null for the prompt and other words. */
  readonly name: string | null
  readonly values: readonly string[]
  readonly known: boolean
}

/** `none`: a switch. `one`: takes the next word. `many`: takes all words up to the next flag. */
type Arity = 'none' | 'one' | 'many'

const ARITY: Readonly<Record<string, Arity>> = {
  '--add-dir': 'one',
  '--all': 'none',
  '--approve-for-me': 'none',
  '--ask-for-approval': 'one',
  '--cd': 'one',
  '--color': 'one',
  '--config': 'one',
  '--cyber-access-program': 'one',
  '--dangerously-bypass-approvals-and-sandbox': 'none',
  '--dangerously-bypass-hook-trust': 'none',
  '--disable': 'one',
  '--enable': 'one',
  '--ephemeral': 'none',
  '--help': 'none',
  '--ignore-rules': 'none',
  '--ignore-user-config': 'none',
  '--image': 'many',
  '--json': 'none',
  '--last': 'none',
  '--local-provider': 'one',
  '--model': 'one',
  '--no-alt-screen': 'none',
  '--no-daemon': 'none',
  '--oss': 'none',
  '--output-last-message': 'one',
  '--output-schema': 'one',
  '--profile': 'one',
  '--remote': 'one',
  '--remote-auth-token-env': 'one',
  '--sandbox': 'one',
  '--search': 'none',
  '--skip-git-repo-check': 'none',
  '--strict-config': 'none',
  '--thread-source': 'one',
  '--trust': 'none',
  '--version': 'none',
  '--worktree': 'none',
}

const SHORT: Readonly<Record<string, string>> = {
  '-C': '--cd',
  '-V': '--version',
  '-a': '--ask-for-approval',
  '-c': '--config',
  '-h': '--help',
  '-i': '--image',
  '-m': '--model',
  '-o': '--output-last-message',
  '-p': '--profile',
  '-s': '--sandbox',
}

const COMMANDS: ReadonlySet<string> = new Set(['app-server', 'e', 'exec', 'fork', 'resume', 'review'])

export function parseFlags(words: readonly string[]): StartFlags {
  const all: StartFlag[] = []
  let command: string | null = null
  for (let n = 0; n < words.length; n += 1) {
    const word = words[n] ?? ''
    if (word === '--') {
      for (const rest of words.slice(n + 1)) all.push({ name: null, values: [rest], known: true })
      break
    }
    if (!word.startsWith('-') || word === '-') {
      if (command === null && COMMANDS.has(word) && !all.some((flag) => flag.name === null))
        command = word === 'e' ? 'exec' : word
      all.push({ name: null, values: [word], known: true })
      continue
    }
    const { name, attached } = split(word)
    const arity = ARITY[name]
    if (attached !== null) {
      all.push({ name, values: [attached], known: arity !== undefined })
      continue
    }
    const values: string[] = []
    if (arity === 'one') {
      const next = words[n + 1]
      if (next !== undefined) {
        values.push(next)
        n += 1
      }
    } else if (arity === 'many') {
      for (let next = words[n + 1]; next !== undefined && !next.startsWith('-'); next = words[n + 1]) {
        values.push(next)
        n += 1
      }
    }
    all.push({ name, values, known: arity !== undefined })
  }
  const values = (name: string): readonly string[] =>
    all.filter((flag) => flag.name === name).flatMap((flag) => flag.values)
  return {
    all,
    command,
    values,
    value: (name) => values(name).at(-1) ?? null,
    has: (name) => all.some((flag) => flag.name === name),
  }
}

/** `--name=value`, `-nvalue` and `-n=value` carry their value. */
function split(word: string): { readonly name: string; readonly attached: string | null } {
  if (word.startsWith('--')) {
    const equals = word.indexOf('=')
    return equals > 0
      ? { name: word.slice(0, equals), attached: word.slice(equals + 1) }
      : { name: word, attached: null }
  }
  const name = SHORT[word.slice(0, 2)] ?? word.slice(0, 2)
  if (word.length === 2 || ARITY[name] === undefined || ARITY[name] === 'none')
    return { name: SHORT[word] ?? word, attached: null }
  return { name, attached: word.slice(2).replace(/^=/, '') }
}

export interface FlagTable {
  /** As parsed, integers as bigint. */
  readonly raw: Readonly<Record<string, unknown>>
  readonly problems: readonly string[]
}

/**
 * The layer that `-c`, `--enable` and `--disable` make, in this order, later ones winning (0.171.0). Keys are split at dots whatever
 * quotes stand there; a value that is no TOML is taken as text.
 */
export function flagTable(flags: StartFlags): FlagTable {
  const raw: Record<string, unknown> = {}
  const problems: string[] = []
  for (const word of flags.values('--config')) {
    const equals = word.indexOf('=')
    const key = (equals < 0 ? word : word.slice(0, equals)).trim()
    if (equals < 0) problems.push(`-c ${key}: there is no "="; the program does not start`)
    else if (key === '') problems.push('-c: the key is empty; the program does not start')
    else put(raw, key.split('.'), flagValue(word.slice(equals + 1).trim()))
  }
  for (const name of flags.values('--enable')) put(raw, ['features', name], true)
  for (const name of flags.values('--disable')) put(raw, ['features', name], false)
  return { raw, problems }
}

function flagValue(text: string): unknown {
  const parsed = parseTomlText(`value = ${text}\n`)
  // A line end in the value could smuggle in a second key.
  if (parsed.state === 'ok' && Object.keys(parsed.value).length === 1) return parsed.value.value
  return text.replace(/^["']+|["']+$/g, '')
}

function put(table: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = '', ...rest] = keys
  if (rest.length === 0) {
    Object.defineProperty(table, key, { value, enumerable: true, configurable: true, writable: true })
    return
  }
  const inner = Object.hasOwn(table, key) ? table[key] : undefined
  const next: Record<string, unknown> =
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? { ...inner } : {}
  put(next, rest, value)
  Object.defineProperty(table, key, { value: next, enumerable: true, configurable: true, writable: true })
}

/** Where the run starts: `-C` is taken as written, otherwise the kernel's view of the directory counts (0.171.0). */
export function startDirectory(flags: StartFlags, physical: string): string {
  const given = flags.value('--cd')
  return given === null ? physical : path.resolve(physical, given)
}

/** Settings that flags of their own set, above every layer, by flag (0.171.0: `-m` and `-s` beat the managed file too). */
export function ownFlagTables(
  flags: StartFlags,
): readonly { readonly origin: string; readonly value: Record<string, string> }[] {
  const found: { origin: string; value: Record<string, string> }[] = []
  const take = (flag: string, key: string, value: string | null): void => {
    if (value !== null) found.push({ origin: `flag:${flag}`, value: { [key]: value } })
  }
  const bypass = '--dangerously-bypass-approvals-and-sandbox'
  if (flags.has(bypass))
    found.push({ origin: `flag:${bypass}`, value: { sandbox_mode: 'danger-full-access', approval_policy: 'never' } })
  take('--model', 'model', flags.value('--model'))
  take('--sandbox', 'sandbox_mode', flags.value('--sandbox'))
  take('--ask-for-approval', 'approval_policy', flags.value('--ask-for-approval'))
  take('--local-provider', 'oss_provider', flags.value('--local-provider'))
  return found
}
