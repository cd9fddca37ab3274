import type { FileMode } from '../../store/states.ts'

/** What is remembered of a workspace between looks: what its newest state holds, and the stat of each path when that was so. */
export interface FileNode {
  readonly kind: 'file'
  mode: FileMode
  /** What the state holds: a blob id, or `large:`, `vault:`, `unkept:` and a digest. */
  key: string
  size: number
  mtimeMs: number
  /** {@link STALE}: to be read whatever its stat. */
  ctimeMs: number
  ino: number
  /** Milliseconds since 1970, just before it was read. */
  seenAt: number
  /** False: known only by its id in a state or in the user's own objects, and not yet searched for secrets. */
  searched: boolean
}

export interface FolderNode {
  readonly kind: 'folder'
  readonly children: Map<string, FileNode | FolderNode>
  /** Those of the children that are folders: what goes through all folders must not go through all files. */
  readonly folders: Map<string, FolderNode>
  /** What is in the folder and not in the state. */
  others: Map<string, LeftOutNote>
  mtimeMs: number
  ctimeMs: number
  ino: number
  seenAt: number
  /** Identity of the ignore rules its names were judged by. */
  rules: string
  /** Whether it was asked what Git tracks, and so depends on the index. */
  askedIndex: boolean
  /** Names on the disk, `.git` included; null: not listed yet. */
  names: number | null
  /** Own files, and their bytes. */
  files: number
  bytes: number
  /** `.git` in it: what it is. */
  dotGit: 'folder' | 'file' | 'link' | null
}

export type LeftOutReason =
  | 'ignored'
  | 'oversized'
  | 'unreadable'
  | 'special'
  | 'credential'
  | 'repository'
  | 'budget'
  | 'excluded'
  | 'cache'

export interface LeftOutNote {
  readonly reason: LeftOutReason
  readonly why: string
  readonly bytes: number | null
  readonly folder: boolean
}

export const STALE = -1

export const newFolder = (): FolderNode => ({
  kind: 'folder',
  children: new Map(),
  folders: new Map(),
  others: new Map(),
  mtimeMs: 0,
  ctimeMs: STALE,
  ino: 0,
  seenAt: 0,
  rules: '',
  askedIndex: false,
  names: null,
  files: 0,
  bytes: 0,
  dotGit: null,
})

export const newFile = (mode: FileMode, key: string): FileNode => ({
  kind: 'file',
  mode,
  key,
  size: 0,
  mtimeMs: 0,
  ctimeMs: STALE,
  ino: 0,
  seenAt: 0,
  searched: false,
})

/**
 * Times move in steps (10 ms of the kernel, 2 s on old file systems): what was touched so shortly before it was read may have been
 * touched again without its times showing it.
 */
export const isRacy = (node: { readonly ctimeMs: number; readonly seenAt: number }): boolean =>
  node.ctimeMs > node.seenAt - (node.ctimeMs % 1000 === 0 ? 2_000 : 50)

/** The node at a path, or null. */
export function nodeAt(root: FolderNode, path: string): FileNode | FolderNode | null {
  let node: FileNode | FolderNode = root
  if (path === '') return root
  for (const name of path.split('/')) {
    if (node.kind === 'file') return null
    const next = node.children.get(name)
    if (next === undefined) return null
    node = next
  }
  return node
}

/** Puts a file there, with the folders above it. */
export function placeFile(root: FolderNode, path: string, file: FileNode): void {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  let folder = root
  for (const part of parts) {
    const found = folder.children.get(part)
    if (found?.kind === 'folder') folder = found
    else {
      if (found !== undefined) dropChild(folder, part)
      folder = addFolder(folder, part)
    }
  }
  dropChild(folder, name)
  folder.others.delete(name)
  folder.children.set(name, file)
  folder.files += 1
  folder.bytes += file.size
}

export function addFolder(folder: FolderNode, name: string, inner: FolderNode = newFolder()): FolderNode {
  folder.children.set(name, inner)
  folder.folders.set(name, inner)
  return inner
}

export function dropChild(folder: FolderNode, name: string): void {
  const node = folder.children.get(name)
  if (node === undefined) return
  folder.children.delete(name)
  if (node.kind === 'folder') folder.folders.delete(name)
  else {
    folder.files -= 1
    folder.bytes -= node.size
  }
}

/** Takes a path out; folders above stay. */
export function removePath(root: FolderNode, path: string): void {
  const slash = path.lastIndexOf('/')
  const folder = nodeAt(root, slash < 0 ? '' : path.slice(0, slash))
  if (folder?.kind === 'folder') dropChild(folder, path.slice(slash + 1))
}

/** Every file at or below a node. */
export function* filesBelow(node: FileNode | FolderNode, path: string): Generator<readonly [string, FileNode]> {
  if (node.kind === 'file') {
    yield [path, node]
    return
  }
  const prefix = path === '' ? '' : `${path}/`
  for (const [name, child] of node.children) yield* filesBelow(child, prefix + name)
}

/** Calls for a folder and each below it. */
export function eachFolder(node: FolderNode, path: string, call: (path: string, folder: FolderNode) => void): void {
  call(path, node)
  for (const [name, child] of node.folders) eachFolder(child, path === '' ? name : `${path}/${name}`, call)
}

export function countFiles(folder: FolderNode): number {
  let count = folder.files
  for (const child of folder.folders.values()) count += countFiles(child)
  return count
}

export const hasFiles = (folder: FolderNode): boolean => {
  if (folder.files > 0) return true
  for (const child of folder.folders.values()) if (hasFiles(child)) return true
  return false
}
