import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import type { StartFlag, StartFlags } from './flags.ts'
import { makeSource, type Source } from './sources.ts'

/** Flags whose value is configuration text and may hold secrets or private words; it is kept as a source, not in the list of flags. */
const TEXT_FLAGS: ReadonlySet<string> = new Set([
  '--settings',
  '--mcp-config',
  '--agents',
  '--system-prompt',
  '--append-system-prompt',
  '--json-schema',
])
/** Flags already described by the part that applies them. */
const APPLIED_ELSEWHERE: ReadonlySet<string> = new Set(['--settings', '--mcp-config'])

/** Flags as typed, without the prompt and without texts. */
export function recordFlags(flags: StartFlags): readonly string[] {
  return flags.all.flatMap((flag) =>
    flag.name === null ? [] : [flag.name, ...flag.values.map((value) => shown(flag, value))],
  )
}

function shown(flag: StartFlag, value: string): string {
  if (flag.name === null || !TEXT_FLAGS.has(flag.name)) return value
  const isText = flag.name.includes('prompt') || /^\s*[{[]/.test(value)
  return isText ? `<text: see flag:${flag.name}>` : value
}

/** Each flag as a source; prompts given by flag enter the context and carry their text. */
export function flagSources(flags: StartFlags, disk: Disk, cwd: string): readonly Source[] {
  const sources: Source[] = []
  const seen = new Set<string>()
  for (const flag of flags.all) {
    if (flag.name === null || seen.has(flag.name) || APPLIED_ELSEWHERE.has(flag.name)) continue
    seen.add(flag.name)
    const values = flags.values(flag.name)
    const draft = {
      path: null,
      uri: `flag:${flag.name}`,
      scope: 'flag',
      kind: 'flag' as const,
      extra: { values: values.map((value) => shown(flag, value)) },
    }
    if (!flag.known) {
      sources.push(
        makeSource({
          ...draft,
          status: 'unknown',
          reason: 'this flag is not known here; whether it takes a value was guessed',
        }),
      )
      continue
    }
    const last = values.at(-1) ?? ''
    if (flag.name === '--append-system-prompt' || flag.name === '--system-prompt') {
      sources.push(
        makeSource({
          ...draft,
          status: 'loaded',
          raw: Buffer.from(last, 'utf8'),
          text: last,
          rule: 'enters the system prompt, not the instruction block',
        }),
      )
    } else if (flag.name === '--append-system-prompt-file' || flag.name === '--system-prompt-file') {
      const file = path.resolve(cwd, last)
      const found = disk.read(file)
      sources.push(
        found.state === 'ok'
          ? makeSource({
              ...draft,
              path: file,
              status: 'loaded',
              raw: found.bytes,
              text: found.bytes.toString('utf8'),
              rule: 'enters the system prompt, not the instruction block',
            })
          : makeSource({ ...draft, path: file, status: 'unknown', reason: `the file is ${found.state}` }),
      )
    } else if (TEXT_FLAGS.has(flag.name)) {
      sources.push(makeSource({ ...draft, status: 'loaded', raw: Buffer.from(last, 'utf8') }))
    } else sources.push(makeSource({ ...draft, status: 'loaded' }))
  }
  return sources
}
