import { type GitContext, git } from './core.ts'

/**
 * Rolls small packs into fewer (each at least twice the next), leaves big ones alone and keeps unreachable objects: nothing is ever
 * lost by maintenance. Packs that a running fast-import wrote carry a `.keep` file and are skipped by git.
 */
export async function repackGeometric(context: GitContext, gitDir: string): Promise<void> {
  await git(['repack', '-q', '-d', '--geometric=2'], { git: context, gitDir })
}
