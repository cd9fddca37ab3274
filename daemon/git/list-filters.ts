import fs from 'node:fs'
import path from 'node:path'
import { type GitContext, git } from './core.ts'

/** Names of settings that would start a program on the content of files (`filter.<name>.clean`, `.smudge`, `.process`). */
export async function listFilterSettings(context: GitContext, gitDir: string): Promise<readonly string[]> {
  const known = remembered.get(context) ?? new Map<string, Remembered>()
  remembered.set(context, known)
  const stamp = stampSettings(gitDir)
  const before = known.get(gitDir)
  if (before !== undefined && before.stamp === stamp) return before.names
  const { stdout } = await git(
    ['config', '-z', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$'],
    {
      git: context,
      gitDir,
      successExitCodes: [0, 1],
    },
  )
  const names = stdout
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '')
  if (stamp === null) known.delete(gitDir)
  else known.set(gitDir, { stamp, names })
  return names
}

interface Remembered {
  readonly stamp: string
  readonly names: readonly string[]
}

const remembered = new WeakMap<GitContext, Map<string, Remembered>>()

/** A file changed within this time may change again without its times moving: what it says is not remembered. */
const RACY_MS = 2_000

/**
 * State of all files the settings of a repository stand in, as it is before they are read; an isolated git reads no others. Null when
 * it cannot be told: one of them includes further files, or was changed only just now.
 */
function stampSettings(gitDir: string): string | null {
  try {
    const common = read(path.join(gitDir, 'commondir'))
    const shared = common === null ? gitDir : path.resolve(gitDir, common.trim())
    const stamps: string[] = [shared]
    for (const file of [path.join(shared, 'config'), path.join(gitDir, 'config.worktree')]) {
      const stat = fs.statSync(file, { bigint: true, throwIfNoEntry: false })
      if (stat === undefined) {
        stamps.push('none')
        continue
      }
      if (Date.now() - Number(stat.ctimeMs) < RACY_MS || /include/i.test(read(file) ?? 'include')) return null
      stamps.push(`${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`)
    }
    return stamps.join('\n')
  } catch {
    return null
  }
}

function read(file: string): string | null {
  try {
    return fs.readFileSync(file, 'latin1')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The same context with these settings emptied: a filter without a program changes nothing. */
export function withoutFilters(context: GitContext, names: readonly string[]): GitContext {
  const settings = names.map((name, at): readonly (readonly [string, string])[] => [
    [`GIT_CONFIG_KEY_${at}`, name],
    [`GIT_CONFIG_VALUE_${at}`, name.endsWith('.required') ? 'false' : ''],
  ])
  return {
    ...context,
    env: { ...context.env, GIT_CONFIG_COUNT: String(names.length), ...Object.fromEntries(settings.flat()) },
  }
}
