import { createHash } from 'node:crypto'

/** Reading of raw Git objects. Names in trees are bytes; they are given as latin1 strings, which keeps every byte. */
export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag'

export interface TreeEntry {
  readonly mode: string
  readonly name: string
  readonly oid: string
}

/** SHA-1 id of an object. `cat-file` does not check it for us when it reads from a pack. */
export const objectId = (type: ObjectType, content: Uint8Array): string =>
  createHash('sha1').update(`${type} ${content.length}\0`).update(content).digest('hex')

export function parseTree(content: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  let at = 0
  while (at < content.length) {
    const space = content.indexOf(0x20, at)
    const end = content.indexOf(0, space)
    if (space < 0 || end < 0 || end + 21 > content.length) throw new Error('tree object is cut')
    entries.push({
      mode: content.toString('latin1', at, space),
      name: content.toString('latin1', space + 1, end),
      oid: content.toString('hex', end + 1, end + 21),
    })
    at = end + 21
  }
  return entries
}

/** The id of the tree a commit holds. */
export function treeOfCommit(content: Buffer): string {
  const found = /^tree ([0-9a-f]{40})\n/.exec(content.toString('latin1', 0, 64))
  if (found?.[1] === undefined) throw new Error('commit object without a tree')
  return found[1]
}
