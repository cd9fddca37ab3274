import { z } from 'zod'
import { RepriseError } from '../../contract/errors.ts'
import type { ObjectReader } from '../git/cat-file-batch.ts'
import { requireSeal, sealed } from './archive-format.ts'
import { CommitView } from './objects.ts'
import type { KeptNames } from './states.ts'
import type { CommitWriter } from './writer.ts'

const aboutSchema = z.looseObject({ mac: z.string() })

export interface KeptNamesParts {
  readonly writer: Pick<CommitWriter, 'commit'>
  readonly reader: ObjectReader
  readonly hmacKey: Uint8Array
  readonly seconds: () => number
  readonly tips: {
    get(ref: string): string | undefined
    set(ref: string, commit: string): void
    delete(ref: string): void
    keys(): Iterable<string>
  }
  readonly deleteRef: (ref: string, from: string) => Promise<void>
}

/** `about.json` on `refs/pins/<name>` or `refs/cases/<name>`; what is to be kept are further parents of the commit. */
export class GitKeptNames implements KeptNames {
  constructor(private readonly parts: KeptNamesParts) {}

  async set(
    kind: 'pins' | 'cases',
    name: string,
    about: Readonly<Record<string, unknown>>,
    commits: readonly string[],
  ): Promise<void> {
    const ref = refOf(kind, name)
    const { writer, seconds, hmacKey, tips } = this.parts
    const content = Buffer.from(`${JSON.stringify(sealed(about, [kind, name], hmacKey), null, 1)}\n`)
    const made = await writer.commit({
      ref,
      parent: tips.get(ref) ?? null,
      at: seconds(),
      message: `Keep ${name}\n`,
      changes: [{ path: 'about.json', content }],
      merges: commits,
    })
    tips.set(ref, made)
  }

  async drop(kind: 'pins' | 'cases', name: string): Promise<void> {
    const ref = refOf(kind, name)
    const tip = this.parts.tips.get(ref)
    if (tip === undefined) return
    await this.parts.deleteRef(ref, tip)
    this.parts.tips.delete(ref)
  }

  async *list(
    kind: 'pins' | 'cases',
  ): AsyncIterable<{ readonly name: string; readonly about: Readonly<Record<string, unknown>> }> {
    for (const ref of [...this.parts.tips.keys()]) {
      const name = ref.startsWith(`refs/${kind}/`) ? ref.slice(`refs/${kind}/`.length) : null
      const tip = this.parts.tips.get(ref)
      if (name === null || tip === undefined) continue
      const content = await new CommitView(this.parts.reader, tip).file(['about.json'])
      const parsed = aboutSchema.safeParse(content === null ? null : JSON.parse(content.toString('utf8')))
      if (!parsed.success) throw new RepriseError('damaged', `${ref} is not readable.`)
      requireSeal(parsed.data, [kind, name], this.parts.hmacKey, ref)
      const { mac: _, ...about } = parsed.data
      yield { name, about }
    }
  }
}

/** Names are checked where they come in (`pinNameSchema`); here they must be the last part of a ref. */
function refOf(kind: 'pins' | 'cases', name: string): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name) || /\.\.|\.lock$|\.$/.test(name))
    throw new RepriseError(
      'wrong_usage',
      `name: ${name} cannot be the name of a ref`,
      'letters, digits, dashes and dots',
    )
  return `refs/${kind}/${name}`
}
