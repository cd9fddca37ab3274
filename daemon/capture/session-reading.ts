import type { Log } from '../log.ts'
import { SourceBusy } from '../runtimes/adapter.ts'
import type { Database } from '../store/index/database.ts'
import type { GapNotes } from './gap-notes.ts'
import type { Task } from './home-scan.ts'
import type { ImportStep, UnitImporter } from './import-unit.ts'
import { homeIdOf } from './run-ids.ts'
import type { SessionChanges } from './session-changes.ts'

/** Sessions read in one transaction. No more than readers are remembered, as what follows reading asks them. */
const FEW = 16
/** Bytes of a session that goes together with others. */
const SMALL = 256 * 1024

/** Reads session files into the index, each step in a transaction: all of what it read is there afterwards, or nothing. */
export interface SessionReading {
  /** One step on one file; null when it could not be read, which was noted. */
  one(task: Task): Promise<ImportStep | null>
  /** Small ones at the head of a list, in one transaction: most of a commit's cost does not depend on its size. Null: read them one by one. */
  few(tasks: readonly Task[]): Promise<readonly ImportStep[] | null>
}

interface ReadingParts {
  readonly db: Database
  readonly units: UnitImporter
  readonly changes: SessionChanges
  readonly gaps: GapNotes
  readonly log: Log
  /** A listed session whose source cannot be read now, and that came from the archive. */
  readonly adopted: (run: number, task: Task) => void
}

export const createSessionReading = ({ db, units, changes, gaps, log, adopted }: ReadingParts): SessionReading => {
  const inOne = async <T>(work: () => Promise<T>): Promise<T> => {
    db.exec('begin immediate')
    try {
      const result = await work()
      db.exec('commit')
      return result
    } catch (error) {
      if (db.isTransaction) db.exec('rollback')
      // What readers remember no longer agrees with what is stored.
      units.forgetReaders()
      throw error
    }
  }

  const noteUnreadable = ({ unit, adapter }: Task, why: string): null => {
    gaps.save({
      kind: 'unreadable_file',
      home: homeIdOf(adapter.runtime, unit.home),
      where: unit.file,
      message: `${unit.file} could not be read: ${why}`,
      hint: 'check its permissions; it is tried again when it changes',
    })
    return null
  }

  return {
    async one(task) {
      const { unit, adapter } = task
      try {
        const run = await changes.adopt(unit, adapter, 'listed')
        if (run !== null) adopted(run, task)
        const step = await inOne(() => units.step(unit, adapter))
        if (step.state === 'unreadable') return noteUnreadable(task, step.reason)
        if (step.state === 'busy') return step
        gaps.drop('unreadable_file', unit.file)
        return step
      } catch (error) {
        if (error instanceof SourceBusy) return { state: 'busy', reason: error.message }
        const { message, stack } = error as Error
        const where = stack?.split('\n').slice(1, 5).join(' | ') ?? null
        log('error', 'session not read', { path: unit.file, message: message, where })
        return noteUnreadable(task, message)
      }
    },

    async few(tasks) {
      const large = tasks.findIndex(({ size }) => size > SMALL)
      const together = tasks.slice(0, Math.min(FEW, large === -1 ? tasks.length : large))
      if (together.length < 2) return null
      try {
        for (const task of together) {
          const run = await changes.adopt(task.unit, task.adapter, 'listed')
          if (run !== null) adopted(run, task)
        }
        return await inOne(async () => {
          const steps: ImportStep[] = []
          for (const { unit, adapter } of together) {
            const step = await units.step(unit, adapter)
            // Anything out of the ordinary is looked at by itself, where it can be told of by name.
            if (step.state === 'unreadable' || step.state === 'busy' || (step.state === 'read' && step.more))
              throw new NotTogether()
            steps.push(step)
          }
          return steps
        })
      } catch {
        return null
      }
    },
  }
}

class NotTogether extends Error {}
