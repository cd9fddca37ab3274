import { type GitContext, git } from './core.ts'

export interface RefList {
  readonly refs: ReadonlyMap<string, string>
  /** Refs git could not read, by name. */
  readonly broken: readonly string[]
  /** Git came to the end of the list. When not, any number of refs is missing in it: `packed-refs` is damaged. */
  readonly whole: boolean
}

/** All refs below the prefixes with their object ids. A broken ref file is told on stderr and left out of the list by git. */
export async function forEachRef(context: GitContext, gitDir: string, prefixes: readonly string[]): Promise<RefList> {
  const { stdout, stderr, exitCode } = await git(['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes], {
    git: context,
    gitDir,
    expectedErrors: [/ignoring broken ref/, /missing object/, /bad ref/, /packed-refs/],
  })
  const refs = new Map<string, string>()
  for (const line of stdout.toString('utf8').split('\n')) {
    const space = line.indexOf(' ')
    if (space > 0) refs.set(line.slice(space + 1), line.slice(0, space))
  }
  const broken = [...stderr.matchAll(/(refs\/\S+)/g)].map((match) => match[1] ?? '')
  return { refs, broken: [...new Set(broken)].filter((name) => !refs.has(name)), whole: exitCode === 0 }
}
