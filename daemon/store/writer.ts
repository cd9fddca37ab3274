import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import type { GitContext } from '../git/core.ts'
import {
  type CommitChain,
  type CommitRequest,
  FastImport,
  FastImportEnded,
  type TreeChange,
  type WrittenCommit,
} from '../git/fast-import.ts'
import { forEachRef } from '../git/for-each-ref.ts'
import { syncFolder } from './durable.ts'
import { clearLeftovers, noteWriter } from './leftovers.ts'

/** Refs after which the fast-import process is replaced: at every checkpoint git goes through all refs it ever wrote (measured: 0.2 ms each). */
const REFS_PER_PROCESS = 8
const GROUP_COMMITS = 128
const GROUP_BYTES = 48 * 1024 * 1024

interface Waiting {
  readonly ref: string
  readonly chain: CommitChain
  readonly size: number
  readonly resolve: (written: readonly WrittenCommit[]) => void
  readonly reject: (error: Error) => void
}

/**
 * The one writer of the repository. Requests that arrive while a checkpoint runs share the next one (group commit). A request
 * resolves only after its pack and ref are on disk and the ref was read back; a process that dies is replaced and its group tried
 * once more, which gives the same commits because nothing in them depends on the attempt.
 */
export class CommitWriter {
  private process: FastImport | null = null
  private queue: Waiting[] = []
  private running: Promise<void> | null = null
  private gate: Promise<void> = Promise.resolve()
  private closed = false
  /** Checkpoints since the last maintenance; each leaves one pack. */
  checkpoints = 0

  constructor(
    private readonly context: GitContext,
    private readonly gitDir: string,
    private readonly afterGroup: () => void,
  ) {}

  /** Stores one commit. Rejects with `conflict` when the ref does not point to `parent` any more. */
  async commit(commit: CommitRequest): Promise<string> {
    const [written] = await this.commitChain([commit])
    return written?.id ?? ''
  }

  /** Stores commits that follow each other on one ref, all or none. */
  commitChain(chain: CommitChain): Promise<readonly WrittenCommit[]> {
    if (this.closed) return Promise.reject(new Error('the store is closed'))
    const size = chain.reduce((sum, { changes }) => changes.reduce((all, change) => all + sizeOf(change), sum), 0)
    return new Promise((resolve, reject) => {
      this.queue.push({ ref: chain[0].ref, chain, size, resolve, reject })
      this.running ??= this.drain()
    })
  }

  /** Waits for the current group, ends the process, runs `work` with nobody writing, and goes on. */
  async pause<T>(work: () => Promise<T>): Promise<T> {
    const before = this.gate
    let open = () => {}
    this.gate = new Promise((resolve) => {
      open = resolve
    })
    try {
      await before
      await this.idle()
      await this.endProcess()
      return await work()
    } finally {
      open()
      if (this.queue.length > 0) this.running ??= this.drain()
    }
  }

  async close(): Promise<void> {
    this.closed = true
    await this.running
    await this.gate
    await this.endProcess()
  }

  private inGroup: Promise<void> = Promise.resolve()
  private async idle(): Promise<void> {
    await this.inGroup
  }

  private async drain(): Promise<void> {
    try {
      while (this.queue.length > 0) {
        await new Promise((resolve) => setImmediate(resolve)) // requests made in the same turn belong together
        await this.gate
        const group = this.takeGroup()
        const work = this.store(group)
        this.inGroup = work
        await work
        this.afterGroup()
      }
    } finally {
      this.running = null
    }
  }

  /** Next requests in order, at most one per ref, within the size limit. */
  private takeGroup(): Waiting[] {
    const group: Waiting[] = []
    const later: Waiting[] = []
    const refs = new Set<string>()
    let size = 0
    for (const waiting of this.queue) {
      const fits = group.length === 0 || (size + waiting.size <= GROUP_BYTES && group.length < GROUP_COMMITS)
      if (!fits || refs.has(waiting.ref)) {
        later.push(waiting)
        continue
      }
      refs.add(waiting.ref)
      size += waiting.size
      group.push(waiting)
    }
    this.queue = later
    return group
  }

  private async store(group: readonly Waiting[]): Promise<void> {
    let open = group
    for (let attempt = 1; attempt <= 2 && open.length > 0; attempt += 1) {
      let failure: Error
      try {
        const ids = await this.write(open)
        const moved = await this.readBack(open, ids)
        for (const [index, waiting] of open.entries()) if (!moved.has(waiting)) waiting.resolve(ids[index] ?? [])
        open = open.filter((waiting) => moved.has(waiting))
        if (open.length === 0) return
        failure = new RepriseError(
          'conflict',
          `The store changed under ${open[0]?.ref}.`,
          'Only one daemon may use a data directory.',
        )
      } catch (error) {
        failure = error instanceof Error ? error : new Error(String(error))
      }
      await this.abortProcess()
      if (attempt === 2 || !(failure instanceof FastImportEnded || failure instanceof RepriseError)) {
        for (const waiting of open) waiting.reject(failure)
        return
      }
    }
  }

  private async write(group: readonly Waiting[]): Promise<readonly (readonly WrittenCommit[])[]> {
    if (this.process !== null) {
      const { refs, ended } = this.process
      const more = group.filter(({ ref }) => !refs.has(ref)).length
      if (ended || (more > 0 && refs.size + more > REFS_PER_PROCESS)) await this.endProcess()
    }
    if (this.process === null) {
      this.process = new FastImport(this.context, this.gitDir)
      noteWriter(this.gitDir, this.process.pid)
    }
    const ids = await this.process.write(group.map(({ chain }) => chain))
    this.checkpoints += 1
    await syncFolder(join(this.gitDir, 'objects', 'pack'))
    const folders = new Set(group.map(({ ref }) => join(this.gitDir, ref, '..')))
    for (const folder of folders) await syncFolder(folder)
    return ids
  }

  /**
   * fast-import warns, and acknowledges all the same, when it leaves a ref alone that moved or that it could not lock. So each ref
   * is read again; a loose file is normal, as the update has just written it.
   */
  private async readBack(
    group: readonly Waiting[],
    written: readonly (readonly WrittenCommit[])[],
  ): Promise<ReadonlySet<Waiting>> {
    const wrong = new Set<Waiting>()
    for (const [index, waiting] of group.entries()) {
      let found: string | undefined
      try {
        found = readFileSync(join(this.gitDir, waiting.ref), 'latin1').trim()
      } catch {
        found = (await forEachRef(this.context, this.gitDir, [waiting.ref])).refs.get(waiting.ref)
      }
      if (found !== written[index]?.at(-1)?.id) wrong.add(waiting)
    }
    return wrong
  }

  private async abortProcess(): Promise<void> {
    const { process } = this
    this.process = null
    await process?.abort()
    noteWriter(this.gitDir, undefined)
    clearLeftovers(this.gitDir) // its locks and temporary packs would stop the next one (B05)
  }

  private async endProcess(): Promise<void> {
    const { process } = this
    this.process = null
    if (process === null) return
    await process.close()
    noteWriter(this.gitDir, undefined)
  }
}

const sizeOf = (change: TreeChange): number =>
  'oid' in change || change.content === null
    ? 0
    : change.content instanceof Uint8Array
      ? change.content.length
      : change.content.reduce((sum, piece) => sum + piece.length, 0)
