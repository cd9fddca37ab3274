import { RepriseError } from '../../contract/errors.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import { parseTree, type TreeEntry, treeOfCommit } from '../git/objects.ts'

/**
 * Reading below a commit. Every object on the way is checked by the reader, so "not there" is only said by an intact tree; an object
 * that a tree or ref names and that is missing is damage.
 */
export class CommitView {
  constructor(
    private readonly reader: ObjectReader,
    readonly commit: string,
  ) {}

  async root(): Promise<readonly TreeEntry[]> {
    const { content } = await this.required(this.commit)
    return this.tree(treeOfCommit(content))
  }

  /** The first parent; null for the first commit. */
  async parent(): Promise<string | null> {
    const { content } = await this.required(this.commit)
    const head = content.toString('latin1', 0, content.indexOf('\n\n'))
    return /^parent ([0-9a-f]{40})$/m.exec(head)?.[1] ?? null
  }

  async message(): Promise<string> {
    const { content } = await this.required(this.commit)
    return content.toString('utf8', content.indexOf('\n\n') + 2)
  }

  async tree(oid: string): Promise<readonly TreeEntry[]> {
    return parseTree((await this.required(oid)).content)
  }

  async blob(oid: string): Promise<Buffer> {
    return (await this.required(oid)).content
  }

  /** Entries of a folder, in Git's order; null when an intact tree says there is none. */
  async folder(parts: readonly string[]): Promise<readonly TreeEntry[] | null> {
    let entries = await this.root()
    for (const part of parts) {
      const next = entries.find((entry) => entry.name === part && entry.mode === '40000')
      if (next === undefined) return null
      entries = await this.tree(next.oid)
    }
    return entries
  }

  async file(parts: readonly string[]): Promise<Buffer | null> {
    const entries = await this.folder(parts.slice(0, -1))
    const entry = entries?.find(({ name }) => name === parts[parts.length - 1])
    return entry === undefined ? null : this.blob(entry.oid)
  }

  private async required(oid: string) {
    const object = await this.reader.read(oid)
    if (object === null) throw missingObject(oid)
    return object
  }
}

/** What a tree or ref leads to must be there. */
export const missingObject = (oid: string): RepriseError =>
  new RepriseError('damaged', `Object ${oid} is missing from the store.`, 'Run `reprise check` to see everything.')
