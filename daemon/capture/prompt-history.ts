import path from 'node:path'
import type { HomeId, RunId } from '../../contract/index.ts'
import type { Log } from '../log.ts'
import { type RuntimeAdapter, type SessionUnit, typedOnly } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'
import { type Database, statements } from '../store/index/database.ts'
import type { Store } from '../store/store.ts'
import type { Collection } from './collection.ts'
import type { GapNotes } from './gap-notes.ts'
import type { UnitImporter } from './import-unit.ts'
import type { RunAbouts } from './run-abouts.ts'
import { homeIdOf, runIdOf } from './run-ids.ts'
import { dropTypedOnly } from './typed-only-runs.ts'
import { createTypedPromptPlaces } from './typed-prompt-places.ts'

/** Sessions that go into the store together: they share its commits, and a live session waits for them. */
const TOGETHER = 24

export interface HomeListing {
  readonly home: string
  readonly adapter: RuntimeAdapter
  /** Sessions the home holds now. */
  readonly sessions: readonly string[]
  /** Folders that could not be listed. */
  readonly unlisted: readonly string[]
}

/**
 * Sessions whose transcript was gone before it was read (B13): what was typed in them is kept in their archive like a session of its own,
 * and stands on the timeline with that alone. A session with a transcript takes nothing from here.
 */
export interface PromptHistory {
  /** The prompt history of a home is to be looked at. */
  expect(listing: HomeListing): void
  readonly waiting: boolean
  /** Does a part of it; gives the runs that changed. */
  step(): Promise<readonly number[]>
}

interface Parts {
  readonly db: Database
  readonly store: Store
  readonly redactor: Redactor
  readonly log: Log
  readonly gaps: GapNotes
  readonly abouts: RunAbouts
  readonly units: UnitImporter
  readonly collection: Collection
}

interface Pending {
  readonly id: HomeId
  readonly home: string
  readonly file: string
  readonly adapter: RuntimeAdapter
  readonly listed: ReadonlySet<string>
  readonly unlisted: readonly string[]
  /** Sessions that are known otherwise, or could not be brought in. */
  readonly settled: Set<string>
  read: boolean
}

const workspacesOf = (adapter: RuntimeAdapter, line: Uint8Array): readonly string[] => {
  const cwd = adapter.readTypedPrompt(JSON.parse(Buffer.from(line).toString()))?.cwd ?? null
  return cwd === null ? [] : [cwd]
}

export const createPromptHistory = (parts: Parts): PromptHistory => {
  const { db, store, redactor, log, gaps, abouts, units, collection } = parts
  const sql = statements(db)
  const places = createTypedPromptPlaces(db, gaps)
  const pending = new Map<HomeId, Pending>()

  const hasTranscript = ({ id, listed }: Pending, session: string): boolean =>
    listed.has(session) ||
    sql(
      "select 1 from runs where (id = ? or (home = ? and session = ?)) and json_extract(meta, '$.typed_only') is null limit 1",
    ).get(runIdOf(id, session), id, session) !== undefined

  const unitOf = ({ home, file }: Pending, session: string): SessionUnit => ({
    home,
    session,
    parentSession: null,
    relation: null,
    // No such file is ever there: the archive holds it from the beginning.
    file: `${file}#${session}`,
    sideFiles: [],
    meta: { ...typedOnly },
  })

  /** Keeps the prompts of a session that its archive does not have yet. Null when its archive holds a transcript. */
  const keep = async (one: Pending, session: string): Promise<{ readonly added: number } | null> => {
    const unit = unitOf(one, session)
    const id = runIdOf(one.id, session)
    const rel = path.relative(one.home, unit.file)
    const known = await store.sessions.about(id)
    if (known !== null && known.file !== redactor.redact(rel).text) return null
    const kept = (await store.sessions.state(id)).find(({ file }) => file === redactor.redact(rel).text)
    const seen = new Set<string>()
    for await (const { text } of store.sessions.read(id, rel)) seen.add(Buffer.from(text).toString('latin1'))
    const fresh: Uint8Array[] = []
    for (const line of places.linesOf(one.id, one.file, session, one.adapter)) {
      const workspaces = workspacesOf(one.adapter, line)
      // What was typed where only digests are kept stays with the agent alone.
      if (workspaces.length > 0 && collection({ home: one.home, workspaces }) === 'digests') continue
      const covered = redactor.redactBytes(line).bytes
      const key = Buffer.from(covered).toString('latin1')
      if (seen.has(key)) continue
      seen.add(key)
      fresh.push(covered)
    }
    if (fresh.length === 0) return { added: 0 }
    const slice = {
      file: rel,
      firstLine: (kept?.lines ?? 0) + 1,
      firstByte: kept?.bytes ?? 0,
      bytes: Buffer.concat(fresh),
      lineBytes: fresh.map(({ length }) => length),
    }
    await store.sessions.append(id, await abouts.of(id, unit, one.adapter.runtime), [slice], false)
    return { added: fresh.length }
  }

  /** Puts what the archive holds of it on the timeline. */
  const show = async (one: Pending, session: string, id: RunId): Promise<number | null> => {
    const unit = unitOf(one, session)
    dropTypedOnly(db, id)
    const rel = redactor.redact(path.relative(one.home, unit.file)).text
    const kept = (await store.sessions.state(id)).find(({ file }) => file === rel)
    if (!kept) return null
    await units.adopt(unit, one.adapter, {
      generation: kept.generation,
      rel,
      archived: kept,
      disk: 'gone',
    })
    const { key } = sql('select key from runs where id = ?').get(id) as { key: number }
    sql('update runs set linked = 1, settled = 1 where key = ?').run(key)
    return key
  }

  const bring = async (one: Pending, session: string): Promise<(() => Promise<number | null>) | null> => {
    const id = runIdOf(one.id, session)
    try {
      const done = await keep(one, session)
      if (done === null) {
        one.settled.add(session)
        return null
      }
      return async () => {
        const shown = sql('select 1 from runs where id = ?').get(id) !== undefined
        const run = done.added > 0 || !shown ? await show(one, session, id) : null
        places.markKept(one.id, session)
        gaps.drop('not_archived', id)
        return run
      }
    } catch (error) {
      const { message } = error as Error
      one.settled.add(session)
      log('error', 'typed prompts not kept', { run: id, message: message })
      gaps.save({
        kind: 'not_archived',
        home: one.id,
        where: id,
        message: `the typed prompts of session ${session} are not kept: ${message}`,
        hint: 'it is tried again at the next start',
      })
      return null
    }
  }

  /** Why the sessions that are left cannot be brought in now. */
  const obstacle = (one: Pending, count: number): string | null => {
    const hidden = one.unlisted.filter((folder) => !folder.split(path.sep).some((name) => one.listed.has(name)))
    const what = `the typed prompts of ${count} ${count === 1 ? 'session' : 'sessions'} in ${one.file}`
    if (hidden.length > 0)
      return `${what} wait: their transcripts may be in ${hidden.join(', ')}, which cannot be listed`
    return collection({ home: one.home, workspaces: [] }) !== 'digests'
      ? null
      : `${what} are not kept: only digests of texts are`
  }

  /** True when more is left. */
  const settle = async (one: Pending, changed: number[]): Promise<boolean> => {
    const left = places.waiting(one.id).filter((session) => !one.settled.has(session) && !hasTranscript(one, session))
    const why = left.length === 0 ? null : obstacle(one, left.length)
    if (why === null) gaps.drop('not_archived', one.file)
    else gaps.save({ kind: 'not_archived', home: one.id, where: one.file, message: why, hint: null })
    if (left.length === 0 || why !== null) return false
    const batch = left.slice(0, TOGETHER)
    const shows = await Promise.all(batch.map((session) => bring(one, session)))
    for (const show of shows) {
      const run = (await show?.()) ?? null
      if (run !== null) changed.push(run)
    }
    return left.length > batch.length
  }

  return {
    expect({ home, adapter, sessions, unlisted }) {
      const file = adapter.promptHistoryFile(home)
      if (file === null) return
      const id = homeIdOf(adapter.runtime, home)
      // The same id in a second folder is told apart by what follows the sign.
      const listed = new Set(sessions.flatMap((session) => [session, session.split('@')[0] ?? session]))
      pending.set(id, { id, home, file, adapter, listed, unlisted, settled: new Set(), read: false })
    },

    get waiting() {
      return pending.size > 0
    },

    async step() {
      const one = pending.values().next().value
      if (!one) return []
      const changed: number[] = []
      const finish = (): void => {
        if (pending.get(one.id) === one) pending.delete(one.id)
      }
      try {
        if (!one.read) one.read = !places.readOn(one.id, one.file, one.adapter)
        else if (!(await settle(one, changed))) finish()
        gaps.drop('unreadable_file', one.file)
      } catch (error) {
        const { message } = error as Error
        log('error', 'prompt history not read', { path: one.file, message: message })
        gaps.save({
          kind: 'unreadable_file',
          home: one.id,
          where: one.file,
          message: `${one.file} could not be read: ${message}`,
          hint: 'check its permissions; it is tried again at the next look',
        })
        finish()
      }
      return changed
    },
  }
}
