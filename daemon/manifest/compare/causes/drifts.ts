import type { Drift, Evidence } from '../../../../contract/index.ts'
import { type Draft, textField } from './draft.ts'

const MOST = 3

/** When and by whom what a cause is about was changed between the two starts, as far as it was noticed. */
export const withDrifts = <D extends Draft>(draft: D, drifts: readonly Drift[]): D => {
  if (draft.kind === 'program') {
    const update = drifts.findLast(({ kind }) => kind === 'update')
    if (!update) return draft
    const isOwn = update.writer.who === 'agent update'
    return {
      ...draft,
      title: isOwn ? `${draft.title} (updated itself)` : draft.title,
      evidence: [...draft.evidence, evidenceOf(update)],
    }
  }
  const files = new Set<string>()
  for (const { item } of draft.changes)
    for (const row of [item?.a ?? null, item?.b ?? null])
      for (const name of ['path', 'source'] as const) {
        const file = textField(row, name)?.replace(/#.*$/, '')
        if (file?.startsWith('/')) files.add(file)
      }
  const found = drifts.filter(
    ({ kind, changes }) => kind !== 'first_seen' && changes.some(({ path }) => path !== null && files.has(path)),
  )
  return found.length === 0 ? draft : { ...draft, evidence: [...draft.evidence, ...found.slice(-MOST).map(evidenceOf)] }
}

const evidenceOf = ({ id, at, title, writer }: Drift): Evidence => ({
  side: 'both',
  text: `noticed at ${at}: ${title}, by ${writer.who === 'run' && writer.run !== null ? `run ${writer.run}` : writer.who}`,
  ref: { type: 'drift', id },
})
