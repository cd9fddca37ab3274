import type { RunId } from '../../contract/index.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { lineRef, type Original, textRef, type Vault } from '../secrets/vault.ts'
import type { ArchiveSlice } from '../store/store.ts'
import type { GapNotes } from './gap-notes.ts'

/**
 * At the level `originals`: whole texts of sources, and whole lines of sessions, in which a secret was found, go into the vault before their
 * covered form goes into the store. A vault that cannot be opened does not stop capturing; that the originals are not kept is told.
 */
export interface KeepOriginals {
  texts(texts: readonly { readonly digest: string; readonly text: string }[]): Promise<void>
  lines(run: RunId, slices: readonly ArchiveSlice[], generation: number): Promise<void>
}

interface Parts {
  readonly vault: Pick<Vault, 'put'>
  readonly redactor: Redactor
  readonly gaps: GapNotes
  readonly now: () => Date
}

export const createKeepOriginals = ({ vault, redactor, gaps, now }: Parts): KeepOriginals => {
  const put = async (originals: readonly Original[], where: string): Promise<void> => {
    if (originals.length === 0) return
    try {
      await vault.put(originals)
      gaps.drop('not_archived', `vault:${where}`)
    } catch (error) {
      gaps.save({
        kind: 'not_archived',
        where: `vault:${where}`,
        message: `${originals.length} originals of ${where} are not in the vault: ${(error as Error).message}`,
        hint: 'their covered form is kept',
      })
    }
  }
  const about = (ref: string, source: string, families: readonly string[]) => ({
    v: 1 as const,
    ref,
    classification: 'secret' as const,
    source,
    families: [...new Set(families)].sort(),
    at: now().toISOString(),
  })

  return {
    async texts(texts) {
      const found = texts.flatMap(({ digest, text }) => {
        const families = redactor.find(text).map(({ family }) => family)
        if (families.length === 0) return []
        return [{ about: about(textRef(digest), digest, families), content: Buffer.from(text) }]
      })
      await put(found, 'sources')
    },

    async lines(run, slices, generation) {
      const found: Original[] = []
      for (const { file, bytes, lineBytes, firstLine } of slices) {
        const name = redactor.redact(file).text
        // Most slices hold none at all: one search instead of one per line.
        if (redactor.redactBytes(bytes).findings === 0) continue
        let at = 0
        for (const [index, length] of lineBytes.entries()) {
          const line = bytes.subarray(at, at + length)
          at += length
          const families = redactor.find(Buffer.from(line).toString('latin1')).map(({ family }) => family)
          if (families.length === 0) continue
          const ref = lineRef(run, name, generation, firstLine + index)
          found.push({ about: about(ref, `${run} ${name}:${firstLine + index}`, families), content: Buffer.from(line) })
        }
      }
      await put(found, run)
    },
  }
}
