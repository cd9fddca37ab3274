import { type GitContext, git } from './core.ts'

/** Puts loose refs into one file; needs that nobody else updates refs meanwhile. */
export async function packRefs(context: GitContext, gitDir: string): Promise<void> {
  await git(['pack-refs', '--all'], { git: context, gitDir })
}
