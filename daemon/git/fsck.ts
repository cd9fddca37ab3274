import { type GitContext, type GitResult, git } from './core.ts'

/** Checks of what people write into files of their own repositories: here these are contents, of which anything is right. */
const CONTENTS = [
  'gitmodulesBlob',
  'gitmodulesLarge',
  'gitmodulesMissing',
  'gitmodulesName',
  'gitmodulesParse',
  'gitmodulesPath',
  'gitmodulesSymlink',
  'gitmodulesUpdate',
  'gitmodulesUrl',
]
/** Known to newer versions only; an older one ends at a name it does not know. */
const NEWER_CONTENTS = ['gitattributesBlob', 'gitattributesLarge', 'gitattributesLineLength', 'gitattributesMissing']

/**
 * Reads every object, checks its digest and that everything it names exists. Gives one line per fault; an unreachable object is none
 * (a write that was never acknowledged leaves some). Exit code 0 with messages and others without happen, so only the lines count.
 */
export async function fsck(context: GitContext, gitDir: string): Promise<readonly string[]> {
  const first = await run(context, gitDir, [...CONTENTS, ...NEWER_CONTENTS])
  const result = /Unhandled message id/.test(first.stderr) ? await run(context, gitDir, CONTENTS) : first
  const lines = `${result.stdout.toString('utf8')}\n${result.stderr}`.split('\n').map((line) => line.trim())
  const faults = lines.filter((line) => /^(error|fatal|missing|broken|corrupt|bad|\s*to)\b/i.test(line))
  if (faults.length === 0 && result.exitCode !== 0) faults.push(`git fsck ended with ${result.exitCode}`)
  return [...new Set(faults)]
}

const run = (context: GitContext, gitDir: string, ignored: readonly string[]): Promise<GitResult> =>
  git(
    [
      ...ignored.flatMap((id) => ['-c', `fsck.${id}=ignore`]),
      'fsck',
      '--full',
      '--no-dangling',
      '--no-progress',
      '--no-reflogs',
    ],
    {
      git: context,
      gitDir,
      expectedErrors: [/[\s\S]/],
      successExitCodes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 128],
    },
  )
