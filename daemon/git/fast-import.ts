import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type GitContext, gitArguments } from './core.ts'

export type TreeMode = '100644' | '100755' | '120000'

/** Path in the tree: any bytes, given as latin1. `.git` components are refused (fast-import itself would take them). */
export type TreeChange =
  /** New content, or null to remove the path. A list is written one after the other. */
  | {
      readonly path: string
      readonly content: Uint8Array | readonly Uint8Array[] | null
      readonly mode?: TreeMode
    }
  /** An object the store holds already. `40000`: a whole folder. */
  | { readonly path: string; readonly oid: string; readonly mode: TreeMode | '40000' }

export interface CommitRequest {
  readonly ref: string
  /** The commit the ref must point to now; null when the ref must not exist. */
  readonly parent: string | null
  readonly message: string
  /** Seconds since 1970. Part of the commit's id: a repeated request gives the same commit. */
  readonly at: number
  readonly changes: readonly TreeChange[]
  /** More parents, which a ref to this commit then keeps. At most 15. */
  readonly merges?: readonly string[]
  /** A folder of the new tree whose id is wanted. */
  readonly treeOf?: string
}

/** Commits that follow each other on one ref; only the first names its parent. */
export type CommitChain = readonly [CommitRequest, ...Omit<CommitRequest, 'parent'>[]]

export interface WrittenCommit {
  readonly id: string
  /** Of `treeOf`; null when it was not asked for, or there is no such folder. */
  readonly tree: string | null
}

/** The fast-import process ended before it acknowledged a group; nothing of the group may be taken as stored. */
export class FastImportEnded extends Error {
  override readonly name = 'FastImportEnded'
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

interface Group {
  readonly wanted: number
  readonly ids: string[]
  /** In the order asked for. */
  readonly trees: (string | null)[]
  readonly ack: string
  readonly resolve: (answer: { readonly ids: readonly string[]; readonly trees: readonly (string | null)[] }) => void
  readonly reject: (error: Error) => void
}

/**
 * A long-lived `git fast-import`. A group of commits ends with `checkpoint` (pack and refs written and fsynced) and a `progress`
 * line, which git prints only after the checkpoint. `--done` makes git discard a stream that ends early, so a killed daemon leaves
 * no half-meant commit behind.
 */
export class FastImport {
  /** Distinct refs this process has written. Git updates each of them again at every checkpoint, so the owner restarts it in time. */
  readonly refs = new Set<string>()
  private readonly child: Child
  private readonly exit: Promise<number>
  private group: Group | null = null
  private groups = 0
  private rest = ''
  private said = ''
  private gone = false

  constructor(context: GitContext, gitDir: string) {
    const args = ['fast-import', '--quiet', '--done', '--date-format=raw', '--depth=0']
    this.child = spawn(context.program, gitArguments(gitDir, ['-c', 'pack.compression=3', ...args]), {
      env: context.env,
      stdio: ['pipe', 'pipe', 'pipe'],
      windowsHide: true,
    })
    this.child.stdin.on('error', () => {}) // the exit below tells why
    this.child.stdout.on('data', (chunk: Buffer) => this.take(chunk.toString('latin1')))
    this.child.stderr.on('data', (chunk: Buffer) => {
      this.said = (this.said + chunk.toString('utf8')).slice(-4000)
    })
    this.exit = new Promise((resolve) => {
      const end = (code: number, why: string) => {
        this.gone = true
        const { group } = this
        this.group = null
        group?.reject(new FastImportEnded(`git fast-import ended (${why}): ${this.said.trim() || 'no message'}`))
        resolve(code)
      }
      this.child.on('error', (error) => end(-1, error.message))
      this.child.on('close', (code, signal) => end(code ?? -1, signal ?? `exit code ${code}`))
    })
  }

  get pid(): number | undefined {
    return this.child.pid
  }

  get ended(): boolean {
    return this.gone
  }

  /** Writes the chains (each on its own ref) and waits for the checkpoint. Gives the commits in order. One group at a time. */
  async write(chains: readonly CommitChain[]): Promise<readonly (readonly WrittenCommit[])[]> {
    if (this.group !== null) throw new Error('fast-import is still busy with a group')
    if (this.gone) throw new FastImportEnded(`git fast-import has ended: ${this.said.trim() || 'no message'}`)
    const commits = chains.flat()
    // Checked before the first byte is sent: half a commit must never be in the stream.
    for (const { changes, treeOf } of commits) {
      for (const { path } of changes) quotePath(path)
      if (treeOf !== undefined) quotePath(treeOf)
    }
    const answered = new Promise<Parameters<Group['resolve']>[0]>((resolve, reject) => {
      this.groups += 1
      this.group = { wanted: commits.length, ids: [], trees: [], ack: `stored ${this.groups}`, resolve, reject }
    })
    answered.catch(() => {}) // awaited below, after the writing
    let mark = 0
    for (const chain of chains) {
      const [first, ...others] = chain
      this.refs.add(first.ref)
      mark += 1
      await this.send(first, mark, first.parent)
      for (const commit of others) {
        mark += 1
        await this.send(commit, mark, `:${mark - 1}`)
      }
    }
    const marks = commits.map((_, index) => `get-mark :${index + 1}\n`).join('')
    await this.put(`${marks}checkpoint\nprogress stored ${this.groups}\n`)
    const { ids, trees } = await answered
    let at = 0
    let asked = 0
    return chains.map((chain) =>
      chain.map(({ treeOf }) => ({
        id: ids[at++] ?? '',
        tree: treeOf === undefined ? null : (trees[asked++] ?? null),
      })),
    )
  }

  /** Ends the process in good order. Its packs lose their `.keep` files and may be repacked from then on. */
  async close(): Promise<void> {
    if (!this.gone) this.child.stdin.end('done\n')
    await this.exit
  }

  /** Ends the process at once, in whatever state it is; what was not acknowledged is dropped. */
  async abort(): Promise<void> {
    if (!this.gone) this.child.kill('SIGKILL')
    await this.exit
  }

  private async send(commit: Omit<CommitRequest, 'parent'>, mark: number, from: string | null): Promise<void> {
    const message = Buffer.from(commit.message, 'utf8')
    const head =
      `commit ${commit.ref}\nmark :${mark}\ncommitter Reprise <reprise@localhost> ${commit.at} +0000\n` +
      `data ${message.length}\n`
    await this.put(Buffer.concat([Buffer.from(head, 'utf8'), message, Buffer.from('\n')]))
    if (from !== null) await this.put(`from ${from}\n`)
    for (const merged of commit.merges ?? []) await this.put(`merge ${merged}\n`)
    for (const change of commit.changes) {
      const path = quotePath(change.path)
      if ('oid' in change) {
        await this.put(`M ${change.mode} ${change.oid} ${path}\n`)
        continue
      }
      if (change.content === null) {
        await this.put(`D ${path}\n`)
        continue
      }
      const pieces = change.content instanceof Uint8Array ? [change.content] : change.content
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
      await this.put(`M ${change.mode ?? '100644'} inline ${path}\ndata ${size}\n`)
      for (const piece of pieces) await this.put(piece)
      await this.put('\n')
    }
    await this.put('\n')
    if (commit.treeOf !== undefined) await this.put(`ls :${mark} ${quotePath(commit.treeOf)}\n`)
  }

  /** Writes with backpressure. When the process is gone the bytes go nowhere; the group is rejected by its end. */
  private async put(bytes: string | Uint8Array): Promise<void> {
    const { stdin } = this.child
    if (this.gone || !stdin.writable || stdin.write(bytes)) return
    let drained = () => {}
    const room = new Promise<void>((resolve) => {
      drained = resolve
      stdin.once('drain', drained)
    })
    await Promise.race([room, this.exit])
    stdin.off('drain', drained)
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n')
    this.rest = lines.pop() ?? ''
    for (const line of lines) {
      const { group } = this
      if (group === null) continue
      const listed = /^(?:missing |\d{6} \w+ ([0-9a-f]{40})\t)/.exec(line)
      if (/^[0-9a-f]{40}$/.test(line)) group.ids.push(line)
      else if (listed) group.trees.push(listed[1] ?? null)
      else if (line === `progress ${group.ack}`) {
        this.group = null
        if (group.ids.length === group.wanted) group.resolve({ ids: group.ids, trees: group.trees })
        else group.reject(new FastImportEnded('git fast-import acknowledged a group without all of its ids'))
      }
    }
  }
}

/** A C-quoted path with octal escapes: the one form in which fast-import takes any bytes. Throws for names no tree may hold. */
export function quotePath(path: string): string {
  for (const part of path.split('/'))
    if (!isTreeName(part)) throw new TypeError(`not a path for a tree: ${path.slice(0, 200)}`)
  const escaped = path.replace(
    /[^ !#-[\]-~]/g,
    (char) => `\\${(char.charCodeAt(0) & 0xff).toString(8).padStart(3, '0')}`,
  )
  return `"${escaped}"`
}

/**
 * Whether a tree may hold a name, given as latin1. Not what some file system would take for `.git`: Git's own check of a repository
 * rejects a tree with one (letters of any case, characters that HFS+ ignores, endings and short names of NTFS).
 */
export function isTreeName(part: string): boolean {
  if (part === '' || part === '.' || part === '..' || /[/\0]/.test(part)) return false
  if (!/g/i.test(part)) return true
  const text = Buffer.from(part, 'latin1').toString('utf8')
  const plain = text.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, '')
  return !/^(?:\.git|git~1)[ .]*(?::.*)?$/i.test(plain)
}
