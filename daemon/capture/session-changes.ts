import fs from 'node:fs'
import path from 'node:path'
import { RepriseError, type RunId } from '../../contract/index.ts'
import { isTypedOnly, linesFrom, type RuntimeAdapter, type SessionUnit, SourceBusy } from '../runtimes/adapter.ts'
import { type Database, inTransaction, statements } from '../store/index/database.ts'
import type { ArchivedFile, Store } from '../store/store.ts'
import { type AboutRun, aboutRunSchema } from './archive-run.ts'
import { type FileRow, findFile, nameOfSource, noteChange } from './file-rows.ts'
import type { GapNotes } from './gap-notes.ts'
import type { UnitImporter } from './import-unit.ts'
import type { OpenSession, SessionSources } from './open-session.ts'
import { digestPrefix } from './prefix.ts'
import type { RunAbouts } from './run-abouts.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { dropRun, dropTypedOnly } from './typed-only-runs.ts'

/** What happens to session files besides growing: they vanish, come back, are rewritten, or are known to the archive only. */
export interface SessionChanges {
  /**
   * A session the index does not know may be one the archive does: its older generations come first, from there. Throws `SourceBusy` when
   * it cannot be told now whether it goes on where the archive ends. Gives the run when all of it came from the archive.
   */
  adopt(unit: SessionUnit, adapter: RuntimeAdapter, source: SourceNow): Promise<number | null>
  markVanished(run: number, file: string): RunId | null
}

/**
 * What is known of the source of a session. Only of a listed one something is read next; of any other all comes from the archive, also
 * when its run was made for a source that went before anything was read from it. The source of a `forgotten` home is not looked at.
 */
export type SourceNow = 'listed' | 'unlisted' | 'gone' | 'forgotten'

interface ChangeParts {
  readonly db: Database
  readonly store: Store
  readonly units: UnitImporter
  readonly sources: SessionSources
  readonly abouts: RunAbouts
  readonly gaps: GapNotes
  readonly now: () => Date
}

export const createSessionChanges = ({ db, store, units, sources, abouts, gaps, now }: ChangeParts): SessionChanges => {
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

  /** The archive keeps the name under which it saw a session first, wherever that lies by now. */
  const nameInArchive = async (id: RunId, unit: SessionUnit): Promise<string> => {
    const parsed = aboutRunSchema.safeParse(await store.sessions.about(id))
    const known = parsed.success && isTypedOnly(parsed.data) === isTypedOnly(unit) ? parsed.data.file : null
    return known ?? path.relative(unit.home, unit.file)
  }

  return {
    async adopt(unit, adapter, source) {
      if (source === 'listed' && findFile(sql, unit.file)) return null
      const id = runIdOf(homeIdOf(adapter.runtime, unit.home), unit.session)
      if (!isTypedOnly(unit)) dropTypedOnly(db, id)
      const known = sql('select files.* from files join runs on runs.key = files.run where runs.id = ?').get(id) as
        | FileRow
        | undefined
      if (known && (source === 'listed' || known.offset > 0)) return null
      const rel = await nameInArchive(id, unit)
      const kept = await readKept(id, rel)
      if (!kept || (known && (kept.bytes === 0 || kept.generation < known.generation))) return null
      const about = await abouts.of(id, unit, adapter.runtime)
      const disk = diskOf(source, () => compare(sources, unit, adapter, kept))
      if (known) dropRun(db, known.run)
      const generation = kept.generation + (disk === 'other' ? 1 : 0)
      try {
        await units.adopt(unit, adapter, {
          generation,
          rel,
          archived: disk === 'other' ? null : kept,
          disk: disk === 'same' || disk === 'other' ? 'there' : disk,
        })
      } catch (error) {
        if (!isDamage(error) || (disk === 'gone' && source !== 'gone')) throw error
        // What the archive cannot give back any more must not stand in the way of what the agent's file still holds.
        noteDamage(id, error)
        return null
      }
      const { key } = sql('select key from runs where id = ?').get(id) as { key: number }
      for (const { at, change, message } of about.changes) noteChange(sql, key, id, at, change, unit.file, message)
      if (disk === 'other')
        record(
          key,
          id,
          about,
          'shrank',
          unit.file,
          `the agent rewrote ${nameOfSource(sql, key)} while Reprise was away`,
        )
      if (disk !== 'gone' && about.changes.some(({ change }) => change === 'shrank'))
        sql("update runs set source_state = 'shrank' where key = ?").run(key)
      return disk === 'same' || disk === 'other' ? null : key
    },

    markVanished(run, file) {
      const known = findFile(sql, file)
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
          `${nameOfSource(sql, run)} is gone; what was read of it is kept here`,
        )
      })
      return id
    },
  }
}

/**
 * A source that nobody lists may still be there in part: what was written out of it a moment ago, or a database that is listed again in
 * a moment. Nothing is read from it next, so nothing may be left to be read from it.
 */
const diskOf = (
  source: SourceNow,
  look: () => ReturnType<typeof compare>,
): ReturnType<typeof compare> | 'forgotten' => {
  if (source === 'gone' || source === 'forgotten') return source
  const disk = look()
  return source === 'unlisted' && disk !== 'gone' ? 'unknown' : disk
}

/** What became of a session the archive holds. Only what is certainly not there is gone. */
const compare = (
  sources: SessionSources,
  unit: SessionUnit,
  adapter: RuntimeAdapter,
  kept: ArchivedFile,
): 'same' | 'other' | 'gone' | 'unknown' => {
  let source: OpenSession
  try {
    source = sources.open(unit, adapter)
  } catch (error) {
    if (error instanceof SourceBusy) throw error
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'gone' : 'unknown'
  }
  try {
    // A session that is not in its database any more has no lines.
    if (kept.bytes > 0 && linesFrom(unit) !== null && fs.fstatSync(source.fd).size === 0) return 'gone'
    return digestPrefix(source.fd, kept.bytes) === kept.prefixDigest ? 'same' : 'other'
  } finally {
    source.close()
  }
}

const isDamage = (error: unknown): error is RepriseError => error instanceof RepriseError && error.code === 'damaged'
