import { type GitContext, GitError } from '../../git/core.ts'
import { diffIndex } from '../../git/diff-raw.ts'
import type { GitIndex } from './git-index.ts'
import type { Memory } from './memory.ts'
import { nodeAt } from './nodes.ts'
import type { Unit } from './units.ts'

/** What makes a unit dirty, so that the next look need not search for it again. */
export interface DirtyMark {
  /** HEAD and index of the unit, and the state it was judged by. */
  readonly stamp: string
  /** A tracked file that is not as the index has it; null: none, or the index itself differs from HEAD. */
  readonly witness: string | null
  /** Null: not known. */
  readonly dirty: boolean | null
}

/**
 * Brings up to date which units differ from their HEAD in what Git tracks. Files are compared with the index by us: no filter runs, and
 * what only looks different because its line ends were converted is clean when its stat is the index's. Index and HEAD are compared by
 * git. After a partial look (`whole` false) only what needs no search is said.
 */
export async function judgeUnits(
  git: GitContext | null,
  memory: Memory,
  changed: readonly string[],
  whole: boolean,
): Promise<void> {
  for (const path of [...memory.dirty.keys()]) if (!memory.units.has(path)) memory.dirty.delete(path)
  for (const unit of memory.units.values()) {
    const before = memory.dirty.get(unit.path)
    const tracked = memory.tracked.get(unit.path)
    const index = tracked?.index() ?? null
    if (tracked === undefined || index === null || index.split || unit.gitDir === null) {
      memory.dirty.set(unit.path, { stamp: '', witness: null, dirty: null })
      continue
    }
    const stamp = `${unit.head} ${tracked.stamp()}`
    const prefix = unit.path === '' ? '' : `${unit.path}/`
    const own = changed.filter((path) => path.startsWith(prefix)).map((path) => path.slice(prefix.length))
    if (own.length === 0 && before !== undefined && before.stamp === stamp && before.dirty !== null) continue
    const differs = (name: string): boolean => differsFromIndex(memory, prefix, index, name)
    const first = [...(before?.witness == null ? [] : [before.witness]), ...own]
    let witness = first.find(differs) ?? null
    let dirty: boolean | null = witness !== null ? true : null
    if (dirty === null && whole) {
      witness = findDifference(index, differs)
      dirty = witness !== null ? true : await indexDiffers(git, memory, unit, unit.gitDir)
    }
    memory.dirty.set(unit.path, { stamp, witness, dirty })
  }
}

function findDifference(index: GitIndex, differs: (name: string) => boolean): string | null {
  for (let n = 0; n < index.count; n += 1) {
    const name = index.nameAt(n)
    if (differs(name)) return name
  }
  return null
}

function differsFromIndex(memory: Memory, prefix: string, index: GitIndex, name: string): boolean {
  const n = index.find(name)
  if (n === null) return false
  const entry = index.entryAt(n, name)
  if (entry.assumed || entry.mode === 0o160000 || entry.mode === 0o040000) return false
  const node = nodeAt(memory.tree, prefix + name)
  if (node === null || node.kind === 'folder') return true
  if (Number.parseInt(node.mode, 8) !== entry.mode) return true
  if (node.key === index.oidAt(n)) return false
  const mtimeMs = entry.mtimeSeconds * 1000 + entry.mtimeNanos / 1e6
  return entry.size !== node.size || Math.abs(mtimeMs - node.mtimeMs) >= 0.001
}

/** Null: git cannot say (R24). */
async function indexDiffers(
  git: GitContext | null,
  memory: Memory,
  unit: Unit,
  gitDir: string,
): Promise<boolean | null> {
  if (git === null || unit.head === null) return unit.head === null && git !== null ? true : null
  const plain = (latin1: string) => Buffer.from(latin1, 'latin1').toString('utf8')
  const workTree = plain(unit.path === '' ? memory.root : `${memory.root}/${unit.path}`)
  try {
    const differences = await diffIndex(git, { gitDir: plain(gitDir), workTree, signal: AbortSignal.timeout(5_000) })
    return differences === null ? true : differences.length > 0
  } catch (error) {
    if (error instanceof GitError || (error instanceof Error && error.name === 'AbortError')) return null
    throw error
  }
}
