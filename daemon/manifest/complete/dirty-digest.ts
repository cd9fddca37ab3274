import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Digest } from '../../../contract/index.ts'
import type { GitContext } from '../../git/core.ts'
import { diffFiles, diffIndex } from '../../git/diff-raw.ts'
import { listFilterSettings, withoutFilters } from '../../git/list-filters.ts'
import { listUntracked } from '../../git/list-untracked.ts'
import { digestOfJson } from '../canonical.ts'

/** How a work tree differs from its commit; `digest` is null when it does not. */
export type DirtyState =
  | { readonly state: 'known'; readonly digest: Digest | null; readonly paths: number }
  | { readonly state: 'unknown'; readonly why: string }

export interface DirtyLimits {
  readonly paths: number
  readonly bytes: number
  readonly milliseconds: number
}

/** A start must not wait for a tree of half a million changed files (B05, B07): beyond this it is said that it was not compared. */
const LIMITS: DirtyLimits = { paths: 5000, bytes: 64 * 1024 * 1024, milliseconds: 3000 }

/**
 * Digest over every path that differs from the commit checked out, with its mode and the raw bytes of the file. Contents are hashed here
 * and not by git, so that no filter or helper of an untrusted repository runs (R10), and line ends count as they lie on the disk (R07).
 */
export async function readDirtyState(
  context: GitContext,
  place: { readonly gitDir: string; readonly workTree: string },
  limits: DirtyLimits = LIMITS,
): Promise<DirtyState> {
  const signal = AbortSignal.timeout(limits.milliseconds)
  try {
    const where = { ...place, signal }
    // An index written in the same second as a file makes git look inside that file, and its filter would run.
    const quiet = withoutFilters(context, await listFilterSettings(context, place.gitDir))
    const [changed, staged, untracked] = await Promise.all([
      diffFiles(quiet, where),
      diffIndex(quiet, where),
      listUntracked(quiet, where),
    ])
    const states = new Map<string, { readonly path: Buffer; readonly index: string | null }>()
    for (const { path: name, newMode, newId } of staged ?? [])
      states.set(name.toString('latin1'), { path: name, index: `${newMode} ${newId}` })
    for (const { path: name } of changed)
      states.set(name.toString('latin1'), { path: name, index: states.get(name.toString('latin1'))?.index ?? null })
    for (const name of untracked) states.set(name.toString('latin1'), { path: name, index: null })
    if (states.size > limits.paths)
      return { state: 'unknown', why: `${states.size} paths differ from the commit, more than ${limits.paths}` }
    const indexed = new Map(changed.map((one) => [one.path.toString('latin1'), one]))
    const budget = { bytes: limits.bytes }
    const lines: (readonly [string, string | null, string])[] = []
    for (const [key, { path: name, index }] of [...states].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const now = stateOfPath(Buffer.concat([Buffer.from(place.workTree + path.sep), name]), budget)
      if (now === null)
        return { state: 'unknown', why: `what differs from the commit is more than ${limits.bytes} bytes` }
      const tracked = indexed.get(key)
      // Touched, but with the content and mode the index names: git would say so too, had it looked inside.
      if (tracked && index === null && now.blob === tracked.oldId && now.mode === tracked.oldMode) continue
      lines.push([name.toString('base64'), index, now.text])
    }
    return { state: 'known', digest: lines.length === 0 ? null : digestOfJson(lines), paths: lines.length }
  } catch (error) {
    const why = signal.aborted ? `comparing took more than ${limits.milliseconds} ms` : (error as Error).message
    return { state: 'unknown', why }
  }
}

/** Mode and content of one path as it lies there; null when the budget is used up. */
function stateOfPath(
  file: Buffer,
  budget: { bytes: number },
): { readonly text: string; readonly blob: string | null; readonly mode: string } | null {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false })
  if (!stat) return { text: 'gone', blob: null, mode: '000000' }
  if (stat.isSymbolicLink()) {
    const target = fs.readlinkSync(file, 'buffer')
    return { text: `link ${sha256(target)}`, blob: blobId(target), mode: '120000' }
  }
  if (!stat.isFile()) return { text: 'no file', blob: null, mode: '040000' }
  budget.bytes -= stat.size
  if (budget.bytes < 0) return null
  const bytes = fs.readFileSync(file)
  const mode = (stat.mode & 0o100) !== 0 ? '100755' : '100644'
  return { text: `${mode} ${sha256(bytes)}`, blob: blobId(bytes), mode }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
const blobId = (bytes: Uint8Array): string =>
  createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
