import { createHash } from 'node:crypto'
import type { Run, RunEvent } from '../../contract/index.ts'
import type { TestDaemon } from './daemon.ts'

/** Everything the daemon answers about runs, in one comparable form: two stores with the same snapshot give a person the same answers. */
export interface Snapshot {
  readonly runs: readonly Run[]
  readonly events: Readonly<Record<string, string>>
  readonly manifests: Readonly<Record<string, string>>
  readonly unreadable: string
  readonly searchable: number
}

export const allEvents = async (daemon: Pick<TestDaemon, 'call'>, run: string): Promise<RunEvent[]> => {
  const events: RunEvent[] = []
  for (let after: number | null = 0; after !== null; ) {
    const page: { events: RunEvent[]; next: number | null } = await daemon.call('runs.events', {
      run,
      after,
      limit: 1000,
    })
    events.push(...page.events)
    after = page.next
  }
  return events
}

export const takeSnapshot = async (daemon: Pick<TestDaemon, 'call'>): Promise<Snapshot> => {
  const { runs } = await daemon.call('runs.list', {})
  const events: Record<string, string> = {}
  const manifests: Record<string, string> = {}
  for (const run of runs) {
    events[run.id] = digest(await allEvents(daemon, run.id))
    for (const { n, manifest } of run.stretches)
      if (manifest !== null)
        manifests[`${run.id}#${n}`] = digest((await daemon.call('manifest.get', { target: manifest })).manifest)
  }
  const { unreadable } = await daemon.call('health.unreadable', { limit: 1000 })
  const { total } = await daemon.call('search.run', { text: 'median' })
  return {
    runs: [...runs].sort((a, b) => (a.id < b.id ? -1 : 1)),
    events,
    manifests,
    unreadable: digest(unreadable),
    searchable: total,
  }
}

const digest = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')
