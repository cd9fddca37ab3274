import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { type GitContext, gitArguments } from './core.ts'

export interface TreeChange {
  /** Path in the tree; any bytes, given as latin1. `.git` components are refused (fast-import itself would take them). */
  readonly path: string
  /** New content, or null to remove the path. A list is written one after the other. */
  readonly content: Uint8Array | readonly Uint8Array[] | null
}

export interface CommitRequest {
  readonly ref: string
  /** The commit the ref must point to now; null when the ref must not exist. */
  readonly parent: string | null
  readonly message: string
  /** Seconds since 1970. Part of the commit's id: a repeated request gives the same commit. */
  readonly at: number
  readonly changes: readonly TreeChange[]
}

/** The fast-import process ended before it acknowledged a group; nothing of the group may be taken as stored. */
export class FastImportEnded extends Error {
  override readonly name = 'FastImportEnded'
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>

interface Group {
  readonly wanted: number
  readonly ids: string[]
  readonly ack: string
  readonly resolve: (ids: readonly string[]) => void
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

  /** Writes the commits (each on its own ref) and waits for the checkpoint. Gives their ids in order. One group at a time. */
  async write(commits: readonly CommitRequest[]): Promise<readonly string[]> {
    if (this.group !== null) throw new Error('fast-import is still busy with a group')
    if (this.gone) throw new FastImportEnded(`git fast-import has ended: ${this.said.trim() || 'no message'}`)
    // Checked before the first byte is sent: half a commit must never be in the stream.
    for (const { changes } of commits) for (const { path } of changes) quotePath(path)
    const answered = new Promise<readonly string[]>((resolve, reject) => {
      this.groups += 1
      this.group = { wanted: commits.length, ids: [], ack: `stored ${this.groups}`, resolve, reject }
    })
    answered.catch(() => {}) // awaited below, after the writing
    for (const [index, commit] of commits.entries()) {
      this.refs.add(commit.ref)
      await this.send(commit, index + 1)
    }
    const marks = commits.map((_, index) => `get-mark :${index + 1}\n`).join('')
    await this.put(`${marks}checkpoint\nprogress stored ${this.groups}\n`)
    return answered
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

  private async send(commit: CommitRequest, mark: number): Promise<void> {
    const message = Buffer.from(commit.message, 'utf8')
    const head =
      `commit ${commit.ref}\nmark :${mark}\ncommitter Reprise <reprise@localhost> ${commit.at} +0000\n` +
      `data ${message.length}\n`
    await this.put(Buffer.concat([Buffer.from(head, 'utf8'), message, Buffer.from('\n')]))
    if (commit.parent !== null) await this.put(`from ${commit.parent}\n`)
    for (const change of commit.changes) {
      const path = quotePath(change.path)
      if (change.content === null) {
        await this.put(`D ${path}\n`)
        continue
      }
      const pieces = change.content instanceof Uint8Array ? [change.content] : change.content
      const size = pieces.reduce((sum, piece) => sum + piece.length, 0)
      await this.put(`M 100644 inline ${path}\ndata ${size}\n`)
      for (const piece of pieces) await this.put(piece)
      await this.put('\n')
    }
    await this.put('\n')
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
      if (/^[0-9a-f]{40}$/.test(line)) group.ids.push(line)
      else if (line === `progress ${group.ack}`) {
        this.group = null
        if (group.ids.length === group.wanted) group.resolve(group.ids)
        else group.reject(new FastImportEnded('git fast-import acknowledged a group without all of its ids'))
      }
    }
  }
}

/** A C-quoted path with octal escapes: the one form in which fast-import takes any bytes. */
export function quotePath(path: string): string {
  for (const part of path.split('/')) {
    if (part === '' || part === '.' || part === '..' || /^\.git$/i.test(part))
      throw new TypeError(`not a path for a tree: ${path.slice(0, 200)}`)
  }
  const escaped = path.replace(
    /[^ !#-[\]-~]/g,
    (char) => `\\${(char.charCodeAt(0) & 0xff).toString(8).padStart(3, '0')}`,
  )
  return `"${escaped}"`
}
