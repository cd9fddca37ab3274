import fs from 'node:fs'
import path from 'node:path'
import { type Digest, RepriseError, type RunId } from '../../contract/index.ts'
import { isTypedOnly, type RuntimeAdapter, type SessionUnit } from '../runtimes/adapter.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import type { ArchivedFile, Store } from '../store/store.ts'
import type { AboutRun } from './archive-run.ts'
import type { GapNotes } from './gap-notes.ts'
import { noteChange, type UnitImporter } from './import-unit.ts'
import { digestPrefix } from './prefix.ts'
import type { RunAbouts } from './run-abouts.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { dropTypedOnly } from './typed-only-runs.ts'

/** What happens to session files besides growing: they vanish, come back, are rewritten, or are known to the archive only. */
export interface SessionChanges {
  /** A file the index does not know may be one the archive does: its older generations come first, from there. */
  adopt(unit: SessionUnit, adapter: RuntimeAdapter): Promise<void>
  markVanished(run: number, file: string): RunId | null
}

interface ChangeParts {
  readonly db: Database
  readonly store: Store
  readonly units: UnitImporter
  readonly abouts: RunAbouts
  readonly gaps: GapNotes
  readonly now: () => Date
}

export const createSessionChanges = ({ db, store, units, abouts, gaps, now }: ChangeParts): SessionChanges => {
  const sql = statements(db)

  const record = (
    run: number,
    id: RunId,
    about: AboutRun | undefined,
    change: 'shrank' | 'vanished',
    file: string,
    message: string,
  ) => {
    const at = now().toISOString()
    about?.changes.push({ at, change, message })
    noteChange(sql, run, id, at, change, file, message)
  }

  const noteDamage = (id: RunId, error: Error): void => {
    gaps.save({
      kind: 'store_damaged',
      run: id,
      where: id,
      message: `what was kept of ${id} is damaged: ${error.message}`,
      hint: 'its session file is read again; `reprise check` lists all damage',
    })
  }

  const readKept = async (id: RunId, rel: string): Promise<ArchivedFile | null> => {
    try {
      return (await store.sessions.state(id)).find(({ file }) => file === rel) ?? null
    } catch (error) {
      if (!isDamage(error)) throw error
      noteDamage(id, error)
      return null
    }
  }

  return {
    async adopt(unit, adapter) {
      if (sql('select 1 from files where path = ?').get(Buffer.from(unit.file)) !== undefined) return
      const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
      if (!isTypedOnly(unit)) dropTypedOnly(db, id)
      const rel = path.relative(unit.home, unit.file)
      const kept = await readKept(id, rel)
      if (!kept) return
      const about = await abouts.of(id, unit, adapter.runtime)
      const same = hasPrefix(unit.file, kept.bytes, kept.prefixDigest)
      const vanished = same === null
      const generation = kept.generation + (same === false ? 1 : 0)
      try {
        await units.adopt(unit, adapter, { generation, archived: same === true ? kept : null, vanished })
      } catch (error) {
        if (!isDamage(error) || vanished) throw error
        // What the archive cannot give back any more must not stand in the way of what the agent's file still holds.
        noteDamage(id, error)
        return
      }
      const { key } = sql('select key from runs where id = ?').get(id) as { key: number }
      for (const { at, change, message } of about.changes) noteChange(sql, key, id, at, change, unit.file, message)
      if (same === false)
        record(key, id, about, 'shrank', unit.file, 'the agent rewrote the session file while Reprise was away')
      if (!vanished && about.changes.some(({ change }) => change === 'shrank'))
        sql("update runs set source_state = 'shrank' where key = ?").run(key)
    },

    markVanished(run, file) {
      const known = sql('select state from files where path = ?').get(Buffer.from(file)) as
        | { state: string }
        | undefined
      if (!known || known.state === 'vanished') return null
      const { id } = sql('select id from runs where key = ?').get(run) as { id: RunId }
      inTransaction(db, () => {
        sql("update files set state = 'vanished' where path = ?").run(Buffer.from(file))
        sql("update runs set source_state = 'vanished' where key = ?").run(run)
        record(
          run,
          id,
          abouts.known(id),
          'vanished',
          file,
          'the session file is gone; what was read of it is kept here',
        )
      })
      return id
    },
  }
}

/** Whether the file still begins with what was kept of it; null when it is gone or cannot be read. */
const hasPrefix = (file: string, bytes: number, digest: Digest): boolean | null => {
  let fd: number
  try {
    fd = fs.openSync(file, 'r')
  } catch {
    return null
  }
  try {
    return digestPrefix(fd, bytes) === digest
  } finally {
    fs.closeSync(fd)
  }
}

const isDamage = (error: unknown): error is RepriseError => error instanceof RepriseError && error.code === 'damaged'
