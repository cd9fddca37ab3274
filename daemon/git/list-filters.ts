import { type GitContext, git } from './core.ts'

/** Names of settings that would start a program on the content of files (`filter.<name>.clean`, `.smudge`, `.process`). */
export async function listFilterSettings(context: GitContext, gitDir: string): Promise<readonly string[]> {
  const { stdout } = await git(
    ['config', '-z', '--name-only', '--get-regexp', '^filter\\..*\\.(clean|smudge|process|required)$'],
    {
      git: context,
      gitDir,
      successExitCodes: [0, 1],
    },
  )
  return stdout
    .toString('utf8')
    .split('\0')
    .filter((name) => name !== '')
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
