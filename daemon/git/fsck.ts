import { type GitContext, git } from './core.ts'

/**
 * Reads every object, checks its digest and that everything it names exists. Gives one line per fault; an unreachable object is none
 * (a write that was never acknowledged leaves some). Exit code 0 with messages and others without happen, so only the lines count.
 */
export async function fsck(context: GitContext, gitDir: string): Promise<readonly string[]> {
  const result = await git(['fsck', '--full', '--no-dangling', '--no-progress', '--no-reflogs'], {
    git: context,
    gitDir,
    expectedErrors: [/[\s\S]/],
    successExitCodes: [0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 128],
  })
  const lines = `${result.stdout.toString('utf8')}\n${result.stderr}`.split('\n').map((line) => line.trim())
  const faults = lines.filter((line) => /^(error|fatal|missing|broken|corrupt|bad|\s*to)\b/i.test(line))
  if (faults.length === 0 && result.exitCode !== 0) faults.push(`git fsck ended with ${result.exitCode}`)
  return [...new Set(faults)]
}
