import path from 'node:path'
import type { Surroundings } from '../../adapter.ts'

/** Where the program keeps what concerns all users of a machine; Windows from its source only. */
export function systemDirectory({ platform, env }: Pick<Surroundings, 'platform' | 'env'>): string {
  if (platform !== 'win32') return '/etc/codex'
  return path.win32.join(env.ProgramData ?? 'C:\\ProgramData', 'OpenAI', 'Codex')
}

/** Directories from `top` down to `cwd`; only `cwd` when it does not lie below `top`. */
export function directoriesDown(top: string, cwd: string): readonly string[] {
  const found: string[] = []
  for (let at = cwd; ; at = path.dirname(at)) {
    found.unshift(at)
    if (at === top) return found
    if (path.dirname(at) === at) return [cwd]
  }
}

/** Directories above `directory`, the nearest first. */
export function directoriesAbove(directory: string): readonly string[] {
  const found: string[] = []
  for (let at = directory; path.dirname(at) !== at; ) {
    at = path.dirname(at)
    found.push(at)
  }
  return found
}
