import { RepriseError } from '../../contract/errors.ts'
import { type GitContext, git, OLDEST_GIT } from './core.ts'

/** `[2, 39]`. Throws `refused` when git is missing or too old, with what to do about it. */
export async function requireGit(context: GitContext): Promise<readonly [number, number]> {
  let answer: string
  try {
    answer = (await git(['--version'], { git: context, gitDir: null })).stdout.toString('latin1')
  } catch (error) {
    throw new RepriseError(
      'refused',
      `Git could not be started (${context.program}): ${String(error)}`,
      `Install Git ${OLDEST_GIT} or newer.`,
    )
  }
  const found = /(\d+)\.(\d+)/.exec(answer)
  const version = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)] as const
  const [major = 0, minor = 0] = OLDEST_GIT.split('.').map(Number)
  if (version[0] < major || (version[0] === major && version[1] < minor)) {
    throw new RepriseError('refused', `Git ${version.join('.')} is too old.`, `Install Git ${OLDEST_GIT} or newer.`)
  }
  return version
}
