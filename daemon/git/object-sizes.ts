import { type GitContext, git } from './core.ts'

/** Sizes of objects, in the order asked; null for one that is not there or is no blob. */
export async function readBlobSizes(
  context: GitContext,
  gitDir: string,
  ids: readonly string[],
): Promise<readonly (number | null)[]> {
  const { stdout } = await git(['cat-file', '--buffer', '--batch-check=%(objecttype) %(objectsize)'], {
    git: context,
    gitDir,
    input: `${ids.join('\n')}\n`,
  })
  const lines = stdout.toString('latin1').split('\n')
  return ids.map((_, at) => {
    const size = /^blob (\d+)$/.exec(lines[at] ?? '')?.[1]
    return size === undefined ? null : Number(size)
  })
}
