import fs from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import type { Gap, RuntimeName } from '../../contract/index.ts'
import { homeIdOf, runIdOf } from '../capture/run-ids.ts'
import type { HomeRegistry } from '../parts.ts'
import { linesFrom, type RuntimeAdapter, type SessionUnit, type Surroundings } from '../runtimes/adapter.ts'
import type { IndexReader } from '../store/index/reader.ts'

/**
 * R05: capture that stopped without a word. Independent of watches, hints and the thread that captures: from time to time every session
 * is compared with what the index last saw of it. One that changed, or that its home says is running, and of which nothing arrived for
 * some minutes is an alarm.
 */
export interface CaptureAlarm {
  /** Looks at all homes once; true when another set of homes is stalled than before. */
  look(): Promise<boolean>
  /** What is stalled now, one for each home. */
  gaps(): readonly Gap[]
}

interface AlarmParts {
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly homes: Pick<HomeRegistry, 'list' | 'isLive'>
  readonly surroundings: Surroundings
  readonly index: () => IndexReader
  /** When something last reached the index; while it works through a backlog, a session that waits its turn is not stalled. */
  readonly lastArrival: () => number
  readonly minutes?: number
}

interface Late {
  /** What the index knew when the session was first found to be ahead of it. */
  readonly known: string
  readonly since: number
}

/** Longer than the slowest look of the watches and the longest rest between looks at a home; shorter than anyone's patience. */
const MINUTES = 5
const CHUNK = 100

export const createCaptureAlarm = (parts: AlarmParts): CaptureAlarm => {
  const { adapters, homes, surroundings, index, lastArrival, minutes = MINUTES } = parts
  const late = new Map<string, Late>()
  let stalled: readonly Gap[] = []

  /** What the index knows of a unit; null when it has seen the state the unit is in now. */
  const behind = (unit: SessionUnit): string | null => {
    const row = index()
      .sql('select size, mtime, ino, offset, generation from files where path = ?')
      .get(Buffer.from(unit.file)) as
      | { size: number; mtime: number; ino: number; offset: number; generation: number }
      | undefined
    const now = stateOf(unit)
    if (now === null) return null
    // -1: an unfinished last line was looked at in the state of this time.
    if (row && row.mtime === now.mtime && row.ino === now.ino && (row.size === now.size || row.size === -1)) return null
    return row ? Object.values(row).join(' ') : 'nothing'
  }

  const lookAtHome = async (home: ReturnType<HomeRegistry['list']>[number], seen: Set<string>): Promise<string[]> => {
    const adapter = adapters.get(home.runtime)
    if (!adapter) return []
    const at = surroundings.now().getTime()
    const before = at - minutes * 60_000
    const found: string[] = []
    const note = (session: string, known: string): void => {
      const key = `${home.id}\0${session}`
      seen.add(key)
      const first = late.get(key)
      if (first?.known !== known) late.set(key, { known, since: at })
      else if (first.since <= before && lastArrival() <= before) found.push(session)
    }
    const listed = new Set<string>()
    let n = 0
    // What cannot be listed or read is a gap already, with the reason.
    for (const unit of adapter.listSessions(home.path, () => undefined)) {
      listed.add(unit.session)
      const known = behind(unit)
      if (known !== null && !isTold(unit.file)) note(unit.session, known)
      if (++n % CHUNK === 0) await breathe()
    }
    const id = homeIdOf(home.runtime, home.path)
    for (const { session } of adapter.describeHome(home.path, surroundings).live) {
      if (listed.has(session) || !homes.isLive(home.id, session)) continue
      if (index().sql('select 1 from runs where id = ?').get(runIdOf(id, session)) === undefined) note(session, 'live')
    }
    return found
  }

  const isTold = (file: string): boolean =>
    index().sql("select 1 from gaps where kind = 'unreadable_file' and path = ?").get(file) !== undefined

  const toGap = (home: ReturnType<HomeRegistry['list']>[number], sessions: readonly string[]): Gap => {
    const since = Math.min(...sessions.map((session) => late.get(`${home.id}\0${session}`)?.since ?? 0))
    const named = sessions.slice(0, 3).join(', ') + (sessions.length > 3 ? ` and ${sessions.length - 3} more` : '')
    return {
      id: `capture_stalled:${home.id}`,
      kind: 'capture_stalled',
      home: home.id,
      run: null,
      path: home.path,
      at: new Date(since).toISOString(),
      count: sessions.length,
      message: `${sessions.length === 1 ? 'a session of' : `${sessions.length} sessions of`} ${home.path} went on for ${minutes} minutes or more without being captured: ${named}`,
      hint: 'sync now; when that does not help, stop the daemon and start it again. A session in which nothing was typed yet stands here until something is',
    }
  }

  return {
    gaps: () => stalled,
    async look() {
      const seen = new Set<string>()
      const now: Gap[] = []
      for (const home of homes.list()) {
        const sessions = await lookAtHome(home, seen)
        if (sessions.length > 0) now.push(toGap(home, sessions))
      }
      for (const key of late.keys()) if (!seen.has(key)) late.delete(key)
      const changed =
        now.map(({ id, count }) => `${id} ${count}`).join() !== stalled.map(({ id, count }) => `${id} ${count}`).join()
      stalled = now
      return changed
    },
  }
}

/** Null when it cannot be told. */
const stateOf = (unit: SessionUnit): { readonly size: number; readonly mtime: number; readonly ino: number } | null => {
  if (linesFrom(unit) !== null)
    return unit.stamp ? { size: unit.stamp.size, mtime: Math.trunc(unit.stamp.mtime), ino: 0 } : null
  try {
    const { size, mtimeMs, ino } = fs.statSync(unit.file)
    return { size, mtime: Math.trunc(mtimeMs), ino }
  } catch {
    return null
  }
}
