import { type Digest, type Drift, isDigest, type ManifestBody } from '../../../contract/index.ts'
import type { Store } from '../../store/store.ts'
import { readState } from './configuration-state.ts'

/** One thing a change can be found by: file, what about it, and the words, secrets covered. */
export type DriftWords = readonly [path: string | null, what: string, text: string]

/** Of a long text its head is searchable, as of long outputs in sessions. */
const LONGEST = 64 * 1024

/** Words of a change: what differs, what was there when it was first seen, and the texts of files that came or changed. */
export async function wordsOf(
  drift: Drift,
  body: ManifestBody | null,
  texts: Pick<Store['texts'], 'get'>,
): Promise<readonly DriftWords[]> {
  const isFirst = drift.kind === 'first_seen'
  const words: DriftWords[] = [
    [null, 'title', [drift.title, drift.alert ?? '', drift.workspace ?? drift.home_path].join(' ')],
    ...drift.changes.map(
      ({ path, what, before, after }): DriftWords => [
        path,
        what,
        [path ?? '', what, before ?? '', after ?? ''].join(' '),
      ],
    ),
  ]
  if (body === null) return words
  if (isFirst)
    for (const { path, what, shown } of readState(body).items.values())
      words.push([path, what, [path ?? '', what, shown].join(' ')])
  const changed = new Set(drift.changes.map(({ path }) => path))
  for (const { path, text_digest } of body.instructions.sources) {
    if (path === null || text_digest === null || !isDigest(text_digest) || !(isFirst || changed.has(path))) continue
    const kept = await texts.get(text_digest as Digest).catch(() => null)
    if (kept) words.push([path, 'text', kept.text.slice(0, LONGEST)])
  }
  return words
}
