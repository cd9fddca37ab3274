import { type GitContext, git } from './core.ts'
import type { WorkTreePlace } from './diff-raw.ts'

/** Paths that are neither tracked nor ignored by the repository's own rules, as bytes. The user's global ignore file takes no part. */
export async function listUntracked(context: GitContext, place: WorkTreePlace): Promise<readonly Buffer[]> {
  const { gitDir, workTree, signal } = place
  const { stdout } = await git(['ls-files', '--others', '--exclude-standard', '-z'], {
    git: context,
    gitDir,
    workTree,
    ...(signal === undefined ? {} : { signal }),
  })
  const paths: Buffer[] = []
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf(0, at)
    if (end === -1) break
    paths.push(stdout.subarray(at, end))
    at = end + 1
  }
  return paths
}
