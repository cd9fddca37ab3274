import fs from 'node:fs'
import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import { linesFrom, type SessionUnit } from '../runtimes/adapter.ts'
import type { Statement } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import { aboutRunSchema } from './archive-run.ts'

export interface ArchivedOnly {
  readonly run: RunId
  readonly runtime: string
  readonly unit: SessionUnit
  /** Side files that were left out, relative to the home, and why. */
  readonly notKept: Readonly<Record<string, string>>
}

export interface ArchiveSearch {
  /** Whether runs of this home are looked for. */
  readonly wanted: (runtime: string, home: string) => boolean
  /** Runs of sessions the homes have now. */
  readonly listed: (run: RunId) => boolean
  /** The files of the homes are not looked at. */
  readonly blind: boolean
}

/**
 * Sessions that only the archive still knows (B13): they are gone, cannot be looked at now, or their home is not read any more, and the
 * index may be new. A run of which nothing was read yet counts as unknown to the index.
 */
export async function* findArchivedOnly(
  sql: (text: string) => Statement,
  store: Store,
  { wanted, listed, blind }: ArchiveSearch,
): AsyncGenerator<ArchivedOnly> {
  for await (const { run, about } of store.sessions.list()) {
    const parsed = aboutRunSchema.safeParse(about)
    if (!parsed.success || !wanted(parsed.data.runtime, parsed.data.home)) continue
    if (!isHollow(sql, run) || listed(run)) continue
    const { runtime, home, session, parent_session, relation, meta, not_kept: notKept = {} } = parsed.data
    const file = path.join(home, parsed.data.file)
    if (blind || linesFrom({ meta }) !== null || !isReadable(file))
      yield {
        run,
        runtime,
        unit: { home, session, parentSession: parent_session, relation, file, sideFiles: [], meta },
        notKept,
      }
  }
}

/** The index does not know the run, or read nothing of it yet. */
export const isHollow = (sql: (text: string) => Statement, run: string): boolean =>
  sql('select 1 from runs join files on files.run = runs.key where runs.id = ? and files.offset > 0').get(run) ===
  undefined

const isReadable = (file: string): boolean => {
  try {
    fs.accessSync(file, fs.constants.R_OK)
    return true
  } catch {
    return false
  }
}
