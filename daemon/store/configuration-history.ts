import { createHash } from 'node:crypto'
import { ZodError } from 'zod'
import { type Drift, driftSchema, RepriseError } from '../../contract/index.ts'
import { redactJson } from '../secrets/redact-json.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { requireSeal, sealed } from './archive-format.ts'
import type { BlobCollection } from './blob-collection.ts'
import type { ConfigurationHistory } from './store.ts'

/** Every change of a home's configuration, one object each under `refs/homes/<home>`, in the order of its commits. */
export class GitConfigurationHistory implements ConfigurationHistory {
  private readonly open = new Map<string, BlobCollection>()

  constructor(
    private readonly parts: {
      readonly homes: () => readonly string[]
      readonly collection: (ref: string) => BlobCollection
      readonly redactor: Redactor
      readonly hmacKey: Uint8Array
      readonly log: (message: string) => void
    },
  ) {}

  async append(drift: Drift): Promise<void> {
    const { redactor, hmacKey } = this.parts
    const name = nameOf(drift.id)
    const change = sealed(redactJson(drift, redactor).value, ['change', drift.home, name], hmacKey)
    await this.of(drift.home).add([{ name, content: Buffer.from(JSON.stringify(change)) }])
  }

  async *list(): AsyncIterable<Drift> {
    for (const home of new Set([...this.parts.homes(), ...this.open.keys()])) {
      const blobs = this.of(home)
      for (const name of await blobs.names(this.parts.log)) {
        const drift = await this.read(blobs, home, name)
        if (drift) yield drift
      }
    }
  }

  private async read(blobs: BlobCollection, home: string, name: string): Promise<Drift | null> {
    const told = (why: string): null => {
      this.parts.log(`a change of configuration (${name} of ${home}) is damaged: ${why}`)
      return null
    }
    try {
      const bytes = await blobs.read(name)
      if (bytes === null) return told('its object is gone')
      const value: unknown = JSON.parse(bytes.toString('utf8'))
      const drift = driftSchema.parse(value)
      requireSeal(Object(value), ['change', home, name], this.parts.hmacKey, 'it')
      return nameOf(drift.id) === name ? drift : told('it names another id')
    } catch (error) {
      if (error instanceof RepriseError || error instanceof SyntaxError || error instanceof ZodError)
        return told(error.message)
      throw error
    }
  }

  /** What does not read back as what was written. */
  async verifyAll(): Promise<readonly string[]> {
    const faults: string[] = []
    for (const home of new Set([...this.parts.homes(), ...this.open.keys()])) {
      const blobs = this.of(home)
      for (const name of await blobs.names((why) => faults.push(why))) {
        if ((await this.read(blobs, home, name)) === null) faults.push(`change ${name} of ${home} is damaged`)
      }
    }
    return faults
  }

  private of(home: string): BlobCollection {
    const known = this.open.get(home)
    if (known) return known
    const made = this.parts.collection(`refs/homes/${home}`)
    this.open.set(home, made)
    return made
  }
}

const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex')
