import { type Coverage, type Digest, RepriseError, type RunId } from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import type { RunRow } from '../store/index/run-row.ts'

/** What of a run's own objects does not prove itself when it is looked at (R68): its manifests, and what its archive says of it. */
const damageOf = async (parts: Parts, row: RunRow): Promise<readonly string[]> => {
  const manifests = parts
    .index()
    .sql('select distinct manifest from stretches where run = ? and manifest is not null')
    .all(row.key) as { manifest: Digest }[]
  const damage: string[] = []
  const prove = async (work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error
      damage.push(error.message)
    }
  }
  for (const { manifest } of manifests)
    await prove(async () => {
      if ((await parts.store.manifests.get(manifest)) === null)
        throw new RepriseError('damaged', `Manifest ${manifest} is gone from the store.`)
    })
  await prove(() => parts.store.sessions.state(row.id as RunId))
  return damage
}

/** Coverage with what is damaged in it, by name; nothing is added where all is intact. */
export const withDamage = async (parts: Parts, row: RunRow, coverage: Coverage): Promise<Coverage> => {
  const damage = await damageOf(parts, row)
  if (damage.length === 0) return coverage
  const item = { what: 'store', state: 'partial' as const, why: damage.join(' '), count: damage.length }
  return { ...coverage, items: [item, ...coverage.items], state: coverage.state === 'none' ? 'none' : 'partial' }
}
