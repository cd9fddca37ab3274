import { setImmediate as breathe } from 'node:timers/promises'
import {
  type Endpoints,
  type EventDetail,
  type Manifest,
  type Output,
  type ParsedInput,
  RepriseError,
  type RunEvent,
  type RunUse,
} from '../../contract/index.ts'

/** Asks a handler of the daemon directly: an export stands in the queue of mutations itself and must not wait for it. */
export type Ask = <N extends keyof Endpoints>(name: N, input: ParsedInput<N>) => Promise<Output<N>>

export type RunDetails = Output<'runs.get'>

/** Why something is not in an export, instead of nothing. */
export interface Lacking {
  readonly what: string
  readonly why: string
}

const PAGE = 500

export async function* eventsOf(ask: Ask, run: string): AsyncGenerator<RunEvent> {
  for (let after: number | null = 0; after !== null; ) {
    const page: Output<'runs.events'> = await ask('runs.events', { run, after, limit: PAGE })
    yield* page.events
    after = page.next
    await breathe()
  }
}

/** Every event with everything it says; one that cannot be read any more says so itself. */
export async function* detailsOf(ask: Ask, run: string): AsyncGenerator<EventDetail> {
  for await (const event of eventsOf(ask, run)) {
    try {
      yield await ask('runs.event', { run, seq: event.seq, whole: true })
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error
      // Damage is named in the export as everywhere; one unreadable event does not hide the others.
      const text = `${error.code}: ${error.message}`
      const body = { text, total: text.length, hidden: [] }
      yield {
        event,
        parts: [{ role: 'error', label: 'not readable', body, format: 'text' }],
        changes: [],
        source: null,
        fed_by: [],
        feeds: [],
      }
    }
    if (event.seq % 16 === 0) await breathe()
  }
}

/** Manifests of the stretches of a run, each once. A damaged one is named. */
export async function manifestsOf(
  ask: Ask,
  { run }: RunDetails,
): Promise<{ readonly manifests: readonly Manifest[]; readonly lacking: readonly Lacking[] }> {
  const manifests: Manifest[] = []
  const lacking: Lacking[] = []
  for (const digest of new Set(run.stretches.flatMap(({ manifest }) => manifest ?? []))) {
    const got = await orWhy(() => ask('manifest.get', { target: digest }))
    if ('why' in got) lacking.push({ what: `manifest ${digest}`, why: got.why })
    else {
      manifests.push(got.value.manifest)
      for (const damage of got.value.damage) lacking.push({ what: `a text of manifest ${digest}`, why: damage })
    }
  }
  for (const { n, manifest } of run.stretches)
    if (manifest === null) lacking.push({ what: `manifest of stretch ${n}`, why: 'none was made' })
  return { manifests, lacking }
}

/** What the run used of what its manifests declare; why not, where that cannot be told. */
export const readUse = (ask: Ask, run: string): Promise<Attempt<RunUse>> => orWhy(() => ask('runs.use', { run }))

export type Attempt<T> = { readonly value: T } | { readonly why: string }

/** The answer, or the reason why there is none. Faults stay exceptions. */
export async function orWhy<T>(work: () => Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await work() }
  } catch (error) {
    if (error instanceof RepriseError) return { why: error.message }
    throw error
  }
}
