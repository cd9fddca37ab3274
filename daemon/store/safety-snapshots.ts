import { createHash } from 'node:crypto'
import { z } from 'zod'
import { type Digest, RepriseError, type RollbackRecord, rollbackRecordSchema } from '../../contract/index.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import type { TreeChange } from '../git/fast-import.ts'
import type { Vault } from '../secrets/vault.ts'
import { requireSeal, sealed } from './archive-format.ts'
import { CommitView } from './objects.ts'
import { readPointer, writePointer } from './pointer.ts'
import type { LargeObjects, SafetyContent, SafetyPath, SafetySnapshots } from './states.ts'
import type { CommitWriter } from './writer.ts'

export const SAFETY = 'refs/safety/'

const pathsSchema = z.object({
  v: z.literal(1),
  paths: z.array(
    z.object({
      /** base64 of the bytes of the absolute path. */
      path: z.string(),
      was: z
        .object({ kind: z.enum(['file', 'link']), mode: z.number().int(), bytes: z.number().int(), digest: z.string() })
        .nullable(),
    }),
  ),
  mac: z.string(),
})

export interface SafetyParts {
  readonly writer: Pick<CommitWriter, 'commit'>
  readonly reader: ObjectReader
  readonly hmacKey: Uint8Array
  readonly large: LargeObjects
  readonly vault: Pick<Vault, 'get'>
  readonly seconds: () => number
  readonly tips: {
    get(ref: string): string | undefined
    set(ref: string, commit: string): void
    keys(): Iterable<string>
  }
  readonly log: (message: string) => void
}

/** `record.json`, `paths.json` and `files/<number of the path>` on `refs/safety/<id>`; a new state of the record is a new commit. */
export class GitSafetySnapshots implements SafetySnapshots {
  constructor(private readonly parts: SafetyParts) {}

  async put(record: RollbackRecord, paths: Parameters<SafetySnapshots['put']>[1]): Promise<void> {
    const changes: TreeChange[] = [this.recordChange(record)]
    const listed: z.input<typeof pathsSchema>['paths'] = []
    for (const [index, { path, was }] of paths.entries()) {
      const name = Buffer.from(path, 'latin1').toString('base64')
      if (was === null) {
        listed.push({ path: name, was: null })
        continue
      }
      const { content, bytes, digest } = this.contentOf(was.content)
      changes.push({ path: `files/${index}`, content })
      listed.push({ path: name, was: { kind: was.kind, mode: was.mode, bytes, digest } })
    }
    const list = sealed({ v: 1 as const, paths: listed }, ['safety paths', record.id], this.parts.hmacKey)
    changes.push({ path: 'paths.json', content: Buffer.from(JSON.stringify(list)) })
    await this.commit(record, null, changes)
  }

  async update(record: RollbackRecord): Promise<void> {
    const parent = this.parts.tips.get(SAFETY + record.id)
    if (parent === undefined) throw new RepriseError('not_found', `rollback: ${record.id} is not known`)
    await this.commit(record, parent, [this.recordChange(record)])
  }

  async *list(): AsyncIterable<RollbackRecord> {
    for (const ref of this.parts.tips.keys()) {
      if (!ref.startsWith(SAFETY)) continue
      try {
        const record = await this.get(ref.slice(SAFETY.length))
        if (record) yield record
      } catch (error) {
        if (!(error instanceof RepriseError)) throw error
        this.parts.log(error.message)
      }
    }
  }

  async get(id: string): Promise<RollbackRecord | null> {
    const value = await this.file(id, 'record.json')
    if (value === null) return null
    const parsed = rollbackRecordSchema.extend({ mac: z.string() }).safeParse(value)
    if (!parsed.success) throw new RepriseError('damaged', `The record of rollback ${id} is not readable.`)
    requireSeal(parsed.data, ['rollback', id], this.parts.hmacKey, `The record of rollback ${id}`)
    const { mac: _, ...record } = parsed.data
    return record
  }

  async paths(id: string): Promise<readonly SafetyPath[]> {
    const parsed = pathsSchema.safeParse(await this.file(id, 'paths.json'))
    if (!parsed.success) throw new RepriseError('damaged', `The safety snapshot ${id} is not readable.`)
    requireSeal(parsed.data, ['safety paths', id], this.parts.hmacKey, `The safety snapshot ${id}`)
    return parsed.data.paths.map(({ path, was }, index) => ({
      path: Buffer.from(path, 'base64').toString('latin1'),
      was:
        was === null
          ? null
          : { ...was, digest: was.digest as Digest, read: () => this.read(id, `files/${index}`, was.digest) },
    }))
  }

  /** What does not read back as what was written. */
  async verify(id: string): Promise<readonly string[]> {
    try {
      await this.get(id)
      for (const { was } of await this.paths(id)) if (was !== null) for await (const _ of was.read());
      return []
    } catch (error) {
      if (error instanceof RepriseError) return [error.message]
      throw error
    }
  }

  private async *read(id: string, name: string, digest: string): AsyncIterable<Uint8Array> {
    const tip = this.parts.tips.get(SAFETY + id)
    const blob = tip === undefined ? null : await new CommitView(this.parts.reader, tip).file(name.split('/'))
    if (blob === null) throw new RepriseError('damaged', `The safety snapshot ${id} has lost a file.`)
    const kept = readPointer(blob, this.parts.hmacKey)
    const hash = createHash('sha256')
    const chunks =
      kept.as === 'large'
        ? this.parts.large.read(kept.digest)
        : [kept.as === 'vault' ? ((await this.parts.vault.get(kept.ref))?.content ?? Buffer.alloc(0)) : blob]
    for await (const chunk of chunks) {
      hash.update(chunk)
      yield chunk
    }
    // A vault object stands for one path of one snapshot; for all others the id of the object vouches too.
    if (!digest.startsWith('hmac:') && `sha256:${hash.digest('hex')}` !== digest)
      throw new RepriseError('damaged', `A file of the safety snapshot ${id} is not what it was.`)
  }

  private contentOf(content: SafetyContent): { content: Uint8Array; bytes: number; digest: string } {
    const { hmacKey } = this.parts
    if (content instanceof Uint8Array)
      return {
        content,
        bytes: content.length,
        digest: `sha256:${createHash('sha256').update(content).digest('hex')}`,
      }
    const { bytes } = content
    if ('large' in content)
      return {
        content: writePointer({ as: 'large', digest: content.large, bytes }, hmacKey),
        bytes,
        digest: content.large,
      }
    const pointer = { as: 'vault' as const, ref: content.vault, mark: content.mark, bytes }
    return { content: writePointer(pointer, hmacKey), bytes, digest: content.digest }
  }

  private recordChange(record: RollbackRecord): TreeChange {
    const whole = sealed(record, ['rollback', record.id], this.parts.hmacKey)
    return { path: 'record.json', content: Buffer.from(`${JSON.stringify(whole, null, 1)}\n`) }
  }

  private async commit(record: RollbackRecord, parent: string | null, changes: readonly TreeChange[]): Promise<void> {
    const ref = SAFETY + record.id
    const made = await this.parts.writer.commit({
      ref,
      parent,
      at: this.parts.seconds(),
      message: `Rollback ${record.id}: ${record.state}, ${record.paths.length} paths\n`,
      changes,
    })
    this.parts.tips.set(ref, made)
  }

  private async file(id: string, name: string): Promise<unknown> {
    const tip = this.parts.tips.get(SAFETY + id)
    if (tip === undefined) return null
    const content = await new CommitView(this.parts.reader, tip).file([name])
    if (content === null) throw new RepriseError('damaged', `The safety snapshot ${id} has no ${name}.`)
    try {
      return JSON.parse(content.toString('utf8'))
    } catch {
      throw new RepriseError('damaged', `${name} of the safety snapshot ${id} is not readable.`)
    }
  }
}
