import type { ObjectReader } from '../git/cat-file-batch.ts'
import { parseTree, type TreeEntry } from '../git/objects.ts'
import { missingObject } from './objects.ts'
import type { FileMode, StateDifference, StateEntry, TreeId } from './states.ts'

/** The tree with nothing in it; Git knows it without holding it. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as TreeId

const isFileMode = (mode: string): mode is FileMode => mode === '100644' || mode === '100755' || mode === '120000'

/** Looking into trees of workspaces; every object is checked by the reader. */
export class StateTrees {
  constructor(private readonly reader: ObjectReader) {}

  async entry(tree: TreeId, path: string): Promise<StateEntry | null> {
    const parts = path.split('/')
    let oid: string = tree
    for (const [index, part] of parts.entries()) {
      const found = (await this.read(oid)).find(({ name }) => name === part)
      if (!found) return null
      if (index < parts.length - 1) {
        if (found.mode !== '40000') return null
        oid = found.oid
      } else return isFileMode(found.mode) ? { path, mode: found.mode, oid: found.oid } : null
    }
    return null
  }

  async *entries(tree: TreeId, under = ''): AsyncIterable<StateEntry> {
    let oid: string = tree
    if (under !== '') {
      for (const part of under.split('/')) {
        const found = (await this.read(oid)).find(({ name }) => name === part)
        if (found?.mode !== '40000') {
          if (found && isFileMode(found.mode)) yield { path: under, mode: found.mode, oid: found.oid }
          return
        }
        oid = found.oid
      }
    }
    yield* this.walk(oid, under)
  }

  private async *walk(oid: string, under: string): AsyncIterable<StateEntry> {
    for (const entry of await this.read(oid)) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`
      if (entry.mode === '40000') yield* this.walk(entry.oid, path)
      else if (isFileMode(entry.mode)) yield { path, mode: entry.mode, oid: entry.oid }
    }
  }

  /** Folders with equal ids are not looked into, so the cost follows what differs. */
  async *differences(before: TreeId | null, after: TreeId | null): AsyncIterable<StateDifference> {
    yield* this.compare(before, after, '')
  }

  private async *compare(before: string | null, after: string | null, under: string): AsyncIterable<StateDifference> {
    if (before === after) return
    const old = new Map((before === null ? [] : await this.read(before)).map((entry) => [entry.name, entry]))
    const now = new Map((after === null ? [] : await this.read(after)).map((entry) => [entry.name, entry]))
    for (const name of [...new Set([...old.keys(), ...now.keys()])].sort(byBytes)) {
      const was = old.get(name)
      const is = now.get(name)
      if (was?.oid === is?.oid && was?.mode === is?.mode) continue
      const path = under === '' ? name : `${under}/${name}`
      const wasFolder = was?.mode === '40000' ? was.oid : null
      const isFolder = is?.mode === '40000' ? is.oid : null
      const fileBefore = fileOf(was, path)
      const fileAfter = fileOf(is, path)
      // What went first: a folder that became a file is seen as its files going and the file coming.
      if (wasFolder !== null && isFolder === null) yield* this.compare(wasFolder, null, path)
      if (fileBefore !== null || fileAfter !== null) yield { path, before: fileBefore, after: fileAfter }
      if (isFolder !== null) yield* this.compare(wasFolder, isFolder, path)
    }
  }

  private async read(oid: string): Promise<readonly TreeEntry[]> {
    if (oid === EMPTY_TREE) return []
    const object = await this.reader.read(oid)
    if (object === null) throw missingObject(oid)
    return parseTree(object.content)
  }
}

const fileOf = (entry: TreeEntry | undefined, path: string): StateEntry | null =>
  entry && isFileMode(entry.mode) ? { path, mode: entry.mode, oid: entry.oid } : null

const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
