import type { RunId } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import { taskId } from '../manifest/complete/complete-body.ts'
import type { RuntimeAdapter, SessionUnit, StretchEvidence } from '../runtimes/adapter.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import { type FreezeParts, freezeStretch } from './freeze-stretches.ts'
import type { GapNotes } from './gap-notes.ts'
import type { UnitImporter } from './import-unit.ts'
import type { RunAbouts } from './run-abouts.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'

interface Unfrozen {
  readonly run: number
  readonly id: RunId
  readonly unit: SessionUnit
  readonly adapter: RuntimeAdapter
  readonly evidence: StretchEvidence
  /** It began while we watched: its configuration is resolved from the disk as well. */
  readonly fresh: boolean
  /** Nothing more will be used in it. */
  readonly over: boolean
}

/** Manifests that go into the store together. */
const TOGETHER = 48
/** How long a stretch that has no answer yet may wait for the rows that belong to its start. */
const SETTLE_MS = 10_000
/** A stretch is resolved rather than inferred when it began this recently, under our eyes. */
const FRESH_MS = 60_000
/** A stretch whose last record is older than this is taken to be over. */
const OVER_MS = 10 * 60_000

export interface StretchFreezer {
  /** Notes the stretches of a run that was just read. Those whose start is not complete yet are looked at again later. */
  gather(run: number, unit: SessionUnit, adapter: RuntimeAdapter, watching: boolean): void
  /** Takes up a run that an earlier life of the daemon read and did not finish. */
  takeUp(run: number, unit: SessionUnit, adapter: RuntimeAdapter): void
  /** True while as many are waiting as go together. */
  readonly full: boolean
  /** Milliseconds until something waiting is due; null when nothing waits. */
  dueIn(): number | null
  /** Freezes what was gathered, or looks again at what is due. Gives the runs it touched; null when there was nothing to do. */
  step(watching: boolean): Promise<readonly number[] | null>
}

export interface FreezerParts {
  readonly db: Database
  readonly log: Log
  readonly gaps: GapNotes
  readonly abouts: RunAbouts
  readonly units: UnitImporter
  readonly freeze: () => FreezeParts
  readonly now: () => Date
}

export const createStretchFreezer = ({ db, log, gaps, abouts, units, freeze, now }: FreezerParts): StretchFreezer => {
  const sql = statements(db)
  const unfrozen: Unfrozen[] = []
  const unsettled = new Map<number, { unit: SessionUnit; adapter: RuntimeAdapter; due: number }>()

  const gather: StretchFreezer['gather'] = (run, unit, adapter, watching) => {
    const reader = units.readerOf(unit.file)
    if (!reader) return
    const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
    const { stretches, endedAt } = reader.summary()
    const at = now().getTime()
    let waiting = false
    for (const evidence of stretches) {
      const row = sql('select manifest from stretches where run = ? and n = ?').get(run, evidence.n) as
        | { manifest: string | null }
        | undefined
      if (!row || row.manifest !== null) continue
      const last = evidence.n === stretches.at(-1)?.n
      const age = evidence.startedAt === null ? Number.POSITIVE_INFINITY : at - Date.parse(evidence.startedAt)
      if (last && age < SETTLE_MS && !isAnswered(run, evidence.n)) {
        unsettled.set(run, { unit, adapter, due: at + SETTLE_MS })
        waiting = true
        continue
      }
      const known = unfrozen.findIndex((one) => one.run === run && one.evidence.n === evidence.n)
      if (known !== -1) unfrozen.splice(known, 1)
      const over = !last || endedAt === null || at - Date.parse(endedAt) > OVER_MS
      unfrozen.push({ run, id, unit, adapter, evidence, fresh: watching && age < FRESH_MS, over })
    }
    if (!waiting && !unfrozen.some((stretch) => stretch.run === run)) settle(run)
  }

  const isAnswered = (run: number, stretch: number): boolean =>
    sql("select 1 from events where run = ? and stretch = ? and kind in ('model', 'error') limit 1").get(
      run,
      stretch,
    ) !== undefined

  const settle = (run: number): void => {
    sql('update runs set settled = 1 where key = ?').run(run)
  }

  const freezeBatch = async (): Promise<readonly number[]> => {
    const batch = unfrozen.splice(0)
    const digests = await Promise.all(batch.map(freezeOne))
    inTransaction(db, () => {
      for (const [n, { run, evidence }] of batch.entries()) {
        const { digest, task } = digests[n] ?? {}
        if (!digest) continue
        if (evidence.n === 1 && task) sql('update runs set task = ? where key = ?').run(task, run)
        sql('update stretches set manifest = ? where run = ? and n = ?').run(digest, run, evidence.n)
        sql(
          'update runs set manifest = (select manifest from stretches where run = runs.key and manifest is not null order by n desc limit 1) where key = ?',
        ).run(run)
      }
      for (const { run } of batch) if (!unsettled.has(run)) settle(run)
    })
    return [...new Set(batch.map(({ run }) => run))]
  }

  const freezeOne = async ({
    id,
    unit,
    adapter,
    evidence,
    fresh,
    over,
  }: Unfrozen): Promise<{ readonly digest: string; readonly task: string | null } | null> => {
    try {
      const about = await abouts.of(id, unit, adapter.runtime)
      const known = about.manifests[String(evidence.n)]
      if (known !== undefined) return { digest: known, task: taskId(adapter.inferManifest(evidence).task.input_digest) }
      const { digest, task, problems } = await freezeStretch(freeze(), adapter, id, evidence, fresh, over)
      about.manifests[String(evidence.n)] = digest
      for (const message of problems)
        gaps.save({ kind: 'resolve_failed', run: id, where: `${id}#${evidence.n}`, message, hint: null })
      return { digest, task }
    } catch (error) {
      const { message } = error as Error
      log('error', 'manifest not frozen', { run: id, stretch: evidence.n, message: message })
      gaps.save({
        kind: 'resolve_failed',
        run: id,
        where: `${id}#${evidence.n}`,
        message: `no manifest for stretch ${evidence.n} of ${id}: ${message}`,
        hint: null,
      })
      return null
    }
  }

  return {
    gather,
    takeUp(run, unit, adapter) {
      unsettled.set(run, { unit, adapter, due: 0 })
    },
    get full() {
      return unfrozen.length >= TOGETHER
    },
    dueIn() {
      if (unsettled.size === 0) return null
      return Math.max(0, Math.min(...[...unsettled.values()].map(({ due }) => due)) - now().getTime())
    },
    async step(watching) {
      const at = now().getTime()
      const next = [...unsettled].find(([, { due }]) => due <= at)
      if (next) {
        const [run, { unit, adapter }] = next
        unsettled.delete(run)
        if (await units.reopen(unit, adapter)) gather(run, unit, adapter, watching)
        return [run]
      }
      return unfrozen.length > 0 ? freezeBatch() : null
    },
  }
}
