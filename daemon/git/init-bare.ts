import { type GitContext, git } from './core.ts'

/**
 * Makes a bare repository without templates (a template folder of the user could bring hooks). On an existing repository it only
 * puts back what is missing, such as `HEAD` or `objects/info`.
 */
export async function initBare(context: GitContext, gitDir: string): Promise<void> {
  await git(['init', '--quiet', '--bare', '--template=', '--object-format=sha1', '--initial-branch=none', gitDir], {
    git: context,
    gitDir: null,
  })
}
