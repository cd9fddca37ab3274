import { createSHA256, type IHasher } from 'hash-wasm'

/**
 * SHA-256 whose state can be stored and taken up again after a restart. Node's own hash cannot do that, and the archive must go on
 * digesting the original bytes of a session of which it keeps only the redacted form.
 */
export class ResumableSha256 {
  /** Instances of the compiled hash that nobody uses now: making one costs more than digesting a small session. */
  private static readonly free: IHasher[] = []

  private constructor(private readonly hasher: IHasher) {}

  static async start(): Promise<ResumableSha256> {
    return new ResumableSha256((ResumableSha256.free.pop() ?? (await createSHA256())).init())
  }

  /** Gives the instance back; the digest must not be used after it. */
  release(): void {
    if (ResumableSha256.free.length < 64) ResumableSha256.free.push(this.hasher)
  }

  /** Takes up what {@link save} gave. Throws TypeError when it is something else. */
  static async resume(saved: string): Promise<ResumableSha256> {
    const hash = await ResumableSha256.start()
    if (!/^(?:[0-9a-f]{2})+$/.test(saved)) throw new TypeError('not a saved digest state')
    try {
      hash.hasher.load(Buffer.from(saved, 'hex'))
    } catch (error) {
      throw new TypeError('not a saved digest state', { cause: error })
    }
    return hash
  }

  update(bytes: Uint8Array): this {
    this.hasher.update(bytes)
    return this
  }

  save(): string {
    return Buffer.from(this.hasher.save()).toString('hex')
  }

  /** The digest so far, in hex; more can be added afterwards. */
  digest(): string {
    const state = this.hasher.save()
    const digest = this.hasher.digest('hex')
    this.hasher.load(state)
    return digest
  }
}
