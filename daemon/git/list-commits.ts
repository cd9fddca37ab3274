import { type GitContext, git } from './core.ts'

/** Ids of all commits, also of those no ref leads to. Reads the list of every object: only for a store that is damaged. */
export async function listCommits(context: GitContext, gitDir: string): Promise<ReadonlySet<string>> {
  const { stdout } = await git(
    ['cat-file', '--batch-check=%(objecttype) %(objectname)', '--batch-all-objects', '--unordered'],
    { git: context, gitDir },
  )
  const commits = new Set<string>()
  for (const [, id] of stdout.toString('latin1').matchAll(/^commit ([0-9a-f]{40})$/gm)) if (id) commits.add(id)
  return commits
}
