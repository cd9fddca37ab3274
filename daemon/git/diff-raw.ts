import { type GitContext, git } from './core.ts'

/** One path that differs; the name as bytes. */
export interface RawDifference {
  readonly path: Buffer
  /** `A`, `M`, `D`, `T`, `U`. */
  readonly status: string
  readonly oldMode: string
  readonly newMode: string
  readonly oldId: string
  readonly newId: string
}

export interface WorkTreePlace {
  readonly gitDir: string
  readonly workTree: string
  readonly signal?: AbortSignal
}

/** Paths whose state in the work tree differs from the index by their stat: contents are not read, so no filter of the repository runs. */
export const diffFiles = (context: GitContext, place: WorkTreePlace): Promise<readonly RawDifference[]> =>
  diff(context, place, ['diff-files', '--raw', '-z', '--no-renames', '--ignore-submodules=all'])

/** Paths that differ between the commit checked out and the index; null when there is no commit yet. */
export async function diffIndex(context: GitContext, place: WorkTreePlace): Promise<readonly RawDifference[] | null> {
  const args = ['diff-index', '--cached', '--raw', '-z', '--no-renames', '--ignore-submodules=all', 'HEAD']
  const result = await run(context, place, args, [/ambiguous argument 'HEAD'|bad revision|unknown revision/])
  return result === null ? null : parse(result)
}

async function diff(context: GitContext, place: WorkTreePlace, args: string[]): Promise<readonly RawDifference[]> {
  return parse((await run(context, place, args, [])) ?? Buffer.alloc(0))
}

async function run(context: GitContext, place: WorkTreePlace, args: string[], expected: RegExp[]) {
  const { gitDir, workTree, signal } = place
  const result = await git(args, {
    git: context,
    gitDir,
    workTree,
    expectedErrors: expected,
    ...(signal === undefined ? {} : { signal }),
  })
  return result.expected === null ? result.stdout : null
}

/** `:<old mode> <new mode> <old id> <new id> <status>NUL<path>NUL`, again and again. */
function parse(output: Buffer): RawDifference[] {
  const found: RawDifference[] = []
  let at = 0
  while (at < output.length) {
    const endOfHead = output.indexOf(0, at)
    const endOfPath = endOfHead === -1 ? -1 : output.indexOf(0, endOfHead + 1)
    if (endOfPath === -1) break
    const [oldMode = '', newMode = '', oldId = '', newId = '', status = ''] = output
      .toString('latin1', at + 1, endOfHead)
      .split(' ')
    found.push({ path: output.subarray(endOfHead + 1, endOfPath), status, oldMode, newMode, oldId, newId })
    at = endOfPath + 1
  }
  return found
}
