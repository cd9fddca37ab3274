import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import { type RuntimeAdapter, type SessionUnit, SourceBusy } from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { type ArchiveSearch, findArchivedOnly } from './find-archived.ts'
import type { GapNotes } from './gap-notes.ts'
import type { HomeRef } from './importer.ts'
import { tellLeftOut } from './keep-side-files.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import type { SessionChanges } from './session-changes.ts'

/** Brings sessions that only the archive still knows into a new index (B13), one at a time. */
export interface ArchiveAdoption {
  add(home: HomeRef): void
  /** Those of all homes that are not read. */
  addOthers(): void
  /** False when nothing is left. */
  step(): Promise<boolean>
}

interface AdoptionParts {
  readonly sql: (text: string) => Statement
  readonly store: Store
  readonly changes: SessionChanges
  readonly gaps: GapNotes
  /** Throws for a runtime nothing can read. */
  readonly adapterOf: (runtime: string) => RuntimeAdapter
  readonly isRead: (runtime: string, home: string) => boolean
  /** Runs whose sessions the homes have now. */
  readonly listed: (run: RunId) => boolean
  readonly adopted: (run: number, unit: SessionUnit, adapter: RuntimeAdapter) => void
  /** Whether a session is still there could not be told now. */
  readonly busy: (home: HomeRef, error: SourceBusy) => void
  /** All of its sessions were looked for. */
  readonly done: (home: HomeRef) => void
  /** Null: of a home that is not read. */
  readonly fault: (error: unknown, home: HomeRef | null) => void
}

/** Runs of every home that is not read (any more), forgotten or not found: what was captured of it stays. */
const otherHomes = Symbol('other homes')
type Wanted = HomeRef | typeof otherHomes

export const createArchiveAdoption = (parts: AdoptionParts): ArchiveAdoption => {
  const { sql, store, changes, gaps, adapterOf, isRead, listed, adopted, busy, done, fault } = parts
  const wanted: Wanted[] = []
  let again = false
  let open: ReturnType<typeof findArchivedOnly> | null = null

  const searchOf = (one: Wanted): ArchiveSearch =>
    one === otherHomes
      ? { wanted: (runtime, home) => !isRead(runtime, home), listed, blind: true }
      : { wanted: (runtime, home) => home === one.path && runtime === one.runtime, listed, blind: false }

  const one = async (of: Wanted): Promise<void> => {
    open ??= findArchivedOnly(sql, store, searchOf(of))
    const next = await open.next()
    if (next.done) {
      wanted.shift()
      open = null
      if (!again && of !== otherHomes) done(of)
      again = false
      return
    }
    const { run, runtime, unit, notKept } = next.value
    const adapter = adapterOf(runtime)
    if (of === otherHomes) noteHome(run, adapter, unit)
    const key = await changes.adopt(unit, adapter, of === otherHomes ? 'forgotten' : 'unlisted')
    for (const [rel, why] of Object.entries(notKept)) tellLeftOut(gaps, run, path.join(unit.home, rel), why)
    if (key !== null) adopted(key, unit, adapter)
  }

  /** A run is shown with its home, whether that is read or not. */
  const noteHome = (run: RunId, { runtime }: RuntimeAdapter, { home, session }: SessionUnit): void => {
    const id = homeIdOf(runtime, home)
    if (runIdOf(id, session) !== run) throw new Error(`${run} is not that of session ${session} in ${home}`)
    sql('insert or ignore into homes (id, runtime, path) values (?, ?, ?)').run(id, runtime, home)
  }

  return {
    add(home) {
      wanted.push(home)
    },
    addOthers() {
      wanted.push(otherHomes)
    },
    async step() {
      const [first] = wanted
      if (first === undefined) return false
      try {
        await one(first)
      } catch (error) {
        // One session that cannot be read from the store must not hide the others.
        if (error instanceof SourceBusy && first !== otherHomes) {
          again = true
          busy(first, error)
        } else fault(error, first === otherHomes ? null : first)
      }
      return true
    },
  }
}
