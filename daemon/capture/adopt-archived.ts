import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import { type RuntimeAdapter, type SessionUnit, SourceBusy } from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { findArchivedOnly } from './find-archived.ts'
import type { GapNotes } from './gap-notes.ts'
import type { HomeRef } from './importer.ts'
import { tellLeftOut } from './keep-side-files.ts'
import type { SessionChanges } from './session-changes.ts'

/** Brings sessions that only the archive still knows into a new index (B13), one at a time. */
export interface ArchiveAdoption {
  add(home: HomeRef): void
  /** False when nothing is left. */
  step(): Promise<boolean>
}

interface AdoptionParts {
  readonly sql: (text: string) => Statement
  readonly store: Store
  readonly changes: SessionChanges
  readonly gaps: GapNotes
  readonly adapterOf: (home: HomeRef) => RuntimeAdapter
  /** Runs whose sessions the homes have now. */
  readonly listed: (run: RunId) => boolean
  readonly adopted: (run: number, unit: SessionUnit, adapter: RuntimeAdapter) => void
  /** Whether a session is still there could not be told now. */
  readonly busy: (home: HomeRef, error: SourceBusy) => void
  /** All of its sessions were looked for. */
  readonly done: (home: HomeRef) => void
  readonly fault: (error: unknown, home: HomeRef) => void
}

export const createArchiveAdoption = (parts: AdoptionParts): ArchiveAdoption => {
  const { sql, store, changes, gaps, adapterOf, listed, adopted, busy, done, fault } = parts
  const homes: HomeRef[] = []
  let again: HomeRef | null = null
  let open: ReturnType<typeof findArchivedOnly> | null = null

  const one = async (home: HomeRef): Promise<void> => {
    const adapter = adapterOf(home)
    open ??= findArchivedOnly(sql, store, {
      wanted: (runtime, where) => where === home.path && runtime === home.runtime,
      listed,
      blind: false,
    })
    const next = await open.next()
    if (next.done) {
      homes.shift()
      open = null
      if (again === null) done(home)
      again = null
      return
    }
    const { run, unit, notKept } = next.value
    const adoptedRun = await changes.adopt(unit, adapter, 'unlisted')
    for (const [rel, why] of Object.entries(notKept)) tellLeftOut(gaps, run, path.join(home.path, rel), why)
    if (adoptedRun !== null) adopted(adoptedRun, unit, adapter)
  }

  return {
    add(home) {
      homes.push(home)
    },
    async step() {
      const [home] = homes
      if (!home) return false
      try {
        await one(home)
      } catch (error) {
        // One session that cannot be read from the store must not hide the others.
        if (error instanceof SourceBusy) {
          again = home
          busy(home, error)
        } else fault(error, home)
      }
      return true
    },
  }
}
