import { createHmac, timingSafeEqual } from 'node:crypto'
import { RepriseError } from '../../contract/errors.ts'
import { asDigest, type Digest } from '../../contract/ids.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { BlobCollection, NamedBlob } from './blob-collection.ts'
import type { TextStore } from './store.ts'

/**
 * Redacted texts of sources. A text is named by the digest of what it was before redaction, which cannot be checked against what is
 * stored; so a first line carries a keyed digest over name, count and text (R68).
 *
 *     {"v":1,"redactions":2,"mac":"<64 hex>"}\n<text>
 */
export class GitTextStore implements TextStore {
  constructor(
    private readonly blobs: BlobCollection,
    private readonly redactor: Redactor,
    private readonly hmacKey: Uint8Array,
    /** False: an earlier state is lost, so a text that is not found may have been stored all the same. */
    private readonly complete: boolean,
  ) {}

  async put(items: readonly { readonly digest: Digest; readonly text: string }[]): Promise<void> {
    const fresh = new Map<string, NamedBlob>()
    for (const { digest, text } of items) {
      const name = hexOf(digest)
      if (fresh.has(name) || (await this.holds(name))) continue
      const { text: covered, findings } = this.redactor.redact(text)
      // Half surrogates have no UTF-8 form; they become U+FFFD here and not first at reading, so that the keyed digest holds.
      const bytes = Buffer.from(covered, 'utf8')
      const head = JSON.stringify({ v: 1, redactions: findings.length, mac: this.macOf(name, findings.length, bytes) })
      fresh.set(name, { name, content: Buffer.concat([Buffer.from(`${head}\n`), bytes]) })
    }
    if (fresh.size > 0) await this.blobs.add([...fresh.values()])
  }

  async get(digest: Digest): Promise<{ readonly text: string; readonly redactions: number } | null> {
    const name = hexOf(digest)
    const content = await this.blobs.read(name)
    if (content === null && this.complete) return null
    const damaged = (why: string) => new RepriseError('damaged', `The text ${digest} is damaged: ${why}.`)
    if (content === null) throw damaged('it is not among those still readable, and a part of the list is lost')
    const end = content.indexOf(0x0a)
    const found = /^\{"v":(\d+)(?:,"redactions":(\d+),"mac":"([0-9a-f]{64})"\})?/.exec(
      content.subarray(0, Math.max(end, 0)).toString('latin1'),
    )
    if (found === null) throw damaged('its first line is unreadable')
    if (Number(found[1]) > 1)
      throw new RepriseError(
        'newer_version',
        `The text ${digest} was made by a newer version.`,
        'Update Reprise to read it.',
      )
    const text = content.subarray(end + 1)
    const redactions = Number(found[2])
    const mac = Buffer.from(this.macOf(name, redactions, text))
    if (found[3] === undefined || !timingSafeEqual(mac, Buffer.from(found[3])))
      throw damaged('its keyed digest does not match')
    return { text: text.toString('utf8'), redactions }
  }

  /** Proves every text. Gives the faults. */
  async verifyAll(): Promise<readonly string[]> {
    const faults: string[] = []
    for (const name of await this.blobs.names((why) => faults.push(why))) {
      try {
        await this.get(asDigest(`sha256:${name}`))
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error
        faults.push(error.message)
      }
    }
    return faults
  }

  /** A damaged copy does not count as held: it is written again. */
  private async holds(name: string): Promise<boolean> {
    try {
      return (await this.get(asDigest(`sha256:${name}`))) !== null
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'damaged') return false
      throw error
    }
  }

  private macOf(name: string, redactions: number, text: Uint8Array): string {
    return createHmac('sha256', this.hmacKey).update(`text\0${name}\0${redactions}\0`).update(text).digest('hex')
  }
}

const hexOf = (digest: Digest) => digest.slice('sha256:'.length)
