import { type GitContext, git } from './core.ts'

/** Takes a ref away, if it still points to `from`. The objects stay. */
export async function deleteRef(context: GitContext, gitDir: string, ref: string, from: string): Promise<void> {
  await git(['update-ref', '--no-deref', '-d', ref, from], { git: context, gitDir })
}
