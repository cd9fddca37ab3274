import { type GitContext, git } from './core.ts'

/**
 * Settings as the user's own git sees them in a repository, by lower-case name, the last value winning. This one command reads the user's
 * configuration, as nothing else tells how git brought files into the repository; reading it starts no program.
 */
export async function readEffectiveConfig(
  context: GitContext,
  gitDir: string,
  user: { readonly HOME?: string | undefined; readonly XDG_CONFIG_HOME?: string | undefined },
): Promise<ReadonlyMap<string, string>> {
  const env: Record<string, string> = { ...context.env }
  if (user.HOME !== undefined) env.HOME = user.HOME
  if (user.XDG_CONFIG_HOME !== undefined) env.XDG_CONFIG_HOME = user.XDG_CONFIG_HOME
  for (const name of ['GIT_CONFIG_GLOBAL', 'GIT_CONFIG_NOSYSTEM', 'GIT_ATTR_NOSYSTEM']) delete env[name]
  const { stdout } = await git(['config', '--list', '-z', '--includes'], { git: { ...context, env }, gitDir })
  const found = new Map<string, string>()
  for (const line of stdout.toString('utf8').split('\0')) {
    const end = line.indexOf('\n')
    if (line !== '')
      found.set((end < 0 ? line : line.slice(0, end)).toLowerCase(), end < 0 ? 'true' : line.slice(end + 1))
  }
  return found
}
