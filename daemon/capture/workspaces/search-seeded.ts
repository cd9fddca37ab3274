import { createHash } from 'node:crypto'
import fs from 'node:fs'
import type { Redactor } from '../../secrets/redactor.ts'
import { asPath, openQuietly } from './bytes.ts'
import type { Memory } from './memory.ts'
import { eachFolder, type FileNode, type FolderNode, STALE } from './nodes.ts'
import { hasSecret } from './read-content.ts'

/** A quarter of one core: nobody waits for it. */
const WORK_MS = 15
const REST_MS = 45

export interface SeededSearch {
  readonly redactor: Redactor
  readonly clock: () => number
  /** Resolves after so many milliseconds; does not keep the process alive. */
  readonly rest: (milliseconds: number) => Promise<void>
  /** False ends it. */
  readonly wanted: () => boolean
}

/**
 * Goes through files that were taken over by the id of the user's blob: each is read once, to see that its bytes are that blob and hold no
 * secret. Gives the paths for which that is not so; they are marked to be read again, and the next state keeps them as it should.
 */
export async function searchSeeded(parts: SeededSearch, memory: Memory): Promise<readonly string[]> {
  const due: string[] = []
  let since = parts.clock()
  const breathe = (): Promise<void> | null => {
    if (parts.clock() - since < WORK_MS) return null
    return parts.rest(REST_MS).then(() => {
      since = parts.clock()
    })
  }
  for (const [path, node] of unsearchedFiles(memory.tree)) {
    const pause = breathe()
    if (pause !== null) await pause
    if (!parts.wanted()) break
    if (node.searched || node.ctimeMs === STALE) continue
    const content = readUnchanged(`${memory.root}/${path}`, node)
    // It changed or went since: then it is read, and searched, by the look that finds that.
    if (content === null) continue
    const key = node.key
    const id = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
    const good = id === key && !(await hasSecret({ redactor: parts.redactor, breathe }, content)).found
    if (node.key !== key || node.searched) continue
    if (good) node.searched = true
    else {
      node.ctimeMs = STALE
      due.push(path)
    }
  }
  return due
}

function unsearchedFiles(tree: FolderNode): readonly (readonly [string, FileNode])[] {
  const found: (readonly [string, FileNode])[] = []
  eachFolder(tree, '', (path, folder) => {
    if (folder.files === 0) return
    for (const [name, child] of folder.children)
      if (child.kind === 'file' && !child.searched) found.push([path === '' ? name : `${path}/${name}`, child])
  })
  return found
}

function readUnchanged(full: string, node: FileNode): Buffer | null {
  try {
    const fd = openQuietly(asPath(full))
    try {
      const stat = fs.fstatSync(fd)
      if (stat.size !== node.size || stat.mtimeMs !== node.mtimeMs || stat.ctimeMs !== node.ctimeMs) return null
      return fs.readFileSync(fd)
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    return null
  }
}
