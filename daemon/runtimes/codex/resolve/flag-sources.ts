import type { StartFlags } from './flags.ts'
import { makeSource, type Source } from './sources.ts'

/** Flags described by the part that applies them. */
const APPLIED_ELSEWHERE: ReadonlySet<string> = new Set(['--config', '--enable', '--disable'])

/** Flags as typed, without the prompt; of `-c` only the key, whose value stands among the settings, covered where it must be. */
export function recordFlags(flags: StartFlags): readonly string[] {
  return flags.all.flatMap((flag) =>
    flag.name === null ? [] : [flag.name, ...flag.values.map((value) => shown(flag.name, value))],
  )
}

const shown = (name: string | null, value: string): string =>
  name === '--config' ? `${value.split('=')[0]?.trim() ?? ''}=…` : value

export function flagSources(flags: StartFlags): readonly Source[] {
  const sources: Source[] = []
  const seen = new Set<string>()
  for (const flag of flags.all) {
    if (flag.name === null || seen.has(flag.name) || APPLIED_ELSEWHERE.has(flag.name)) continue
    seen.add(flag.name)
    sources.push(
      makeSource({
        path: null,
        uri: `flag:${flag.name}`,
        scope: 'flag',
        kind: 'flag',
        status: flag.known ? 'loaded' : 'unknown',
        reason: flag.known ? null : 'this flag is not known here; whether it takes a value was guessed',
        extra: { values: [...flags.values(flag.name)] },
      }),
    )
  }
  return sources
}
