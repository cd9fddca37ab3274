import { RepriseError } from '../../contract/errors.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import { CommitView } from './objects.ts'
import type { CommitWriter } from './writer.ts'

/** All a collection needs of the writer. */
export type Committing = Pick<CommitWriter, 'commit'>

export interface NamedBlob {
  readonly name: string
  readonly content: Uint8Array
}

interface Addition {
  readonly blobs: readonly NamedBlob[]
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const BATCH_BYTES = 16 * 1024 * 1024

/**
 * Many small objects under one ref, fanned out by the first two characters of their hex names (`ab/abcd….json`). Objects are never
 * changed or removed. Additions made while a commit is on its way share the next one.
 */
export class BlobCollection {
  private waiting: Addition[] = []
  private running = false

  constructor(
    private readonly writer: Committing,
    private readonly reader: ObjectReader,
    private readonly options: {
      readonly ref: string
      readonly suffix: string
      readonly what: string
      readonly seconds: () => number
      /** Where the ref stands now, for a reader beside the writer. */
      readonly liveTip?: () => string | null
    },
    private tip: string | null,
  ) {}

  /** Durable when it resolves. */
  add(blobs: readonly NamedBlob[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ blobs, resolve, reject })
      if (!this.running) void this.drain()
    })
  }

  /** Null when no intact tree names it. Throws `damaged`. */
  async read(name: string): Promise<Buffer | null> {
    const tip = this.current()
    if (tip === null) return null
    return new CommitView(this.reader, tip).file([name.slice(0, 2), `${name}${this.options.suffix}`])
  }

  /** All names, folder by folder. Folders that cannot be read are told to `damaged` and passed over. */
  async names(damaged: (why: string) => void): Promise<string[]> {
    const tip = this.current()
    if (tip === null) return []
    const view = new CommitView(this.reader, tip)
    const names: string[] = []
    for (const folder of await view.root()) {
      try {
        for (const { name } of await view.tree(folder.oid))
          names.push(name.slice(0, name.length - this.options.suffix.length))
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error
        damaged(`${this.options.ref}:${folder.name}: ${error.message}`)
      }
    }
    return names
  }

  private current(): string | null {
    return this.options.liveTip ? this.options.liveTip() : this.tip
  }

  private async drain(): Promise<void> {
    this.running = true
    while (this.waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve)) // additions of the same turn share a commit
      const batch = this.takeBatch()
      try {
        await this.store(batch.flatMap(({ blobs }) => blobs))
        for (const { resolve } of batch) resolve()
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    this.running = false
  }

  private takeBatch(): readonly Addition[] {
    let bytes = 0
    let count = 0
    while (count < this.waiting.length && (count === 0 || bytes < BATCH_BYTES)) {
      for (const { content } of this.waiting[count]?.blobs ?? []) bytes += content.length
      count += 1
    }
    return this.waiting.splice(0, count)
  }

  private async store(blobs: readonly NamedBlob[]): Promise<void> {
    const { ref, suffix, what, seconds } = this.options
    this.tip = await this.writer.commit({
      ref,
      parent: this.tip,
      at: seconds(),
      message: `Add ${blobs.length} ${what}\n`,
      changes: blobs.map(({ name, content }) => ({ path: `${name.slice(0, 2)}/${name}${suffix}`, content })),
    })
  }
}
