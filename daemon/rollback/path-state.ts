import { createHash } from 'node:crypto'
import type { PathSide } from '../../contract/index.ts'
import { type BytePath, codeOf, type Disk, parentOf } from './disk.ts'

/** What is at a path, as a plan saw it and an apply must find it again; null: nothing is there. */
export type PathState = PathSide | null

/** Bits of the mode that belong to the content: who may read, write and run it. */
const PERMISSIONS = 0o7777

export async function readState(disk: Disk, at: BytePath): Promise<PathState> {
  const stat = disk.lstat(at)
  if (stat === null) return null
  const mode = stat.mode & PERMISSIONS
  if (stat.isSymbolicLink()) {
    const target = disk.readlink(at)
    return { kind: 'link', digest: digestOf(target), mode: null, bytes: target.length }
  }
  if (stat.isDirectory()) return { kind: 'directory', digest: null, mode, bytes: null }
  if (!stat.isFile()) return { kind: 'other', digest: null, mode, bytes: null }
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of disk.read(at)) {
      hash.update(piece)
      bytes += piece.length
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  return { kind: 'file', digest: `sha256:${hash.digest('hex')}`, mode, bytes }
}

/** Equal in kind, content and permissions, as far as both are known. What has no digest is equal to nothing; a folder is to a folder. */
export function sameState(a: PathState, b: PathState): boolean {
  if (a === null || b === null) return a === b
  if (a.kind !== b.kind) return false
  if (a.kind === 'directory') return true
  if (a.digest === null || a.digest !== b.digest) return false
  return a.kind === 'link' || a.mode === null || b.mode === null || a.mode === b.mode
}

export const sameContent = (a: PathState, b: PathState): boolean =>
  a !== null && b !== null && a.kind === b.kind && a.digest !== null && a.digest === b.digest

export const digestOf = (content: Uint8Array): string => `sha256:${createHash('sha256').update(content).digest('hex')}`

/**
 * The first thing on the way from `root` to `at` that is no real folder: a link could lead the write anywhere (rule 3). Null: none. What is
 * not there yet is no obstacle.
 */
export function obstacleOn(disk: Disk, root: BytePath, at: BytePath): BytePath | null {
  const folders: BytePath[] = []
  for (let folder = parentOf(at); folder.length >= root.length; folder = parentOf(folder)) {
    folders.push(folder)
    if (folder === root || folder === '/') break
  }
  if (folders.at(-1) !== root) return parentOf(at)
  for (const folder of folders.reverse()) {
    const stat = disk.lstat(folder)
    if (stat === null) return null
    if (!stat.isDirectory()) return folder
  }
  return null
}
