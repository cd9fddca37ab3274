import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUnit, StretchEvidence } from '../adapter.ts'
import { asName, asRow, type Row } from '../shared/fields.ts'
import { databaseFiles, type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { columnsOf, parseRow, readAbout, readEntry } from './agent-database.ts'
import { statOf } from './agent-sessions.ts'
import type { Evidence, OpenClawRecord, PromptReport, Trace } from './evidence.ts'
import { agentPlace } from './places.ts'
import { fingerprintOf, readReport, readTraces } from './read-trace.ts'
import { parseSessionKey } from './session-key.ts'
import { eventsOfFiles, tracedEvents, trajectoryFiles } from './trajectory.ts'
import type { UnitMeta } from './unit-meta.ts'

interface Found {
  readonly traces: readonly Trace[]
  readonly report: PromptReport | null
  readonly schema: number | null
  readonly program: string | null
}
const nothing: Found = { traces: [], report: null, schema: null, program: null }

/**
 * What OpenClaw keeps of a session's configuration beside its transcript: trajectory, session entry, index. It is overwritten at every turn
 * and pruned, so it is looked at again whenever it changed, and each part goes to the stretch in whose time it was written. Credential
 * tables of the same database are never read.
 */
export class BesideSession {
  readonly #unit: SessionUnit
  readonly #meta: UnitMeta
  #stamp = ''
  #found: Found = nothing

  constructor(unit: SessionUnit, meta: UnitMeta) {
    this.#unit = unit
    this.#meta = meta
  }

  complete(all: readonly Evidence[]): {
    readonly versions: readonly string[]
    readonly stretches: readonly StretchEvidence[]
  } {
    const { home, session } = this.#unit
    const { agent, sessionId, key, reason, previous } = this.#meta
    const common = {
      agent,
      session_id: sessionId,
      session_key: key,
      ...(reason === null ? {} : { window_reason: reason }),
      ...(previous === null ? {} : { previous_session: previous }),
    }
    const found = all.length === 0 ? nothing : this.#look()
    const stretches = all.map((evidence) => evidence.toStretch(home, session, common, partOf(found, evidence, all)))
    const versions = found.traces.flatMap(({ version }) => (version === null ? [] : [version]))
    return { versions: [...new Set(versions)], stretches }
  }

  /** The first session of a key, in the agent that the key names: what `sessions_spawn` began. */
  sessionOf(key: string): string | null {
    const place = agentPlace(this.#unit.home, parseSessionKey(key).agent ?? this.#meta.agent)
    try {
      if (statOf(place.database) !== null) {
        const session = readDatabase(place.database, (db) =>
          columnsOf(db, 'session_windows').has('session_key')
            ? asName(
                db.get(
                  'select session_id from home.session_windows where session_key = ? order by created_at limit 1',
                  key,
                )?.session_id,
              )
            : null,
        )
        if (session !== null) return session
      }
    } catch {
      // The child's own session names its parent; this link is made when it can be.
    }
    return asName(asRow(indexOf(join(place.sessions, 'sessions.json'))?.[key])?.sessionId)
  }

  #look(): Found {
    const place = agentPlace(this.#unit.home, this.#meta.agent)
    const index = join(place.sessions, 'sessions.json')
    const trajectories = trajectoryFiles(place, this.#meta.sessionId)
    const stamp = [...databaseFiles(place.database), index, ...trajectories]
      .map((path) => {
        const stat = statOf(path)
        return stat === null ? '-' : `${stat.size} ${stat.mtimeMs}`
      })
      .join('\n')
    if (stamp === this.#stamp) return this.#found
    const { sessionId } = this.#meta
    let found = nothing
    try {
      if (statOf(place.database) !== null) found = readDatabase(place.database, (db) => readBeside(db, sessionId))
    } catch {
      // Being written to, or damaged: the transcript was read all the same, and its manifest says what is not known.
      return this.#found
    }
    const fromFiles = readTraces(eventsOfFiles(trajectories))
    const entry = Object.values(indexOf(index) ?? {}).find((one) => asRow(one)?.sessionId === sessionId)
    this.#found = {
      ...found,
      traces: [...found.traces, ...fromFiles].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
      report: found.report ?? readReport(asRow(entry)?.systemPromptReport),
    }
    this.#stamp = stamp
    return this.#found
  }
}

function readBeside(db: HomeDatabase, session: string): Found {
  const { schema, program } = readAbout(db)
  return {
    traces: readTraces(tracedEvents(db, session)),
    report: readReport(readEntry(db, session)?.systemPromptReport),
    schema,
    program,
  }
}

function indexOf(path: string): Row | null {
  try {
    return parseRow(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/**
 * What belongs to a stretch. Report and trajectory of a turn are written before its first row, so each goes to the first stretch that has
 * a row behind it (2026.9.6). The first trace stands: it was there when the stretch began.
 */
function partOf(found: Found, evidence: Evidence, all: readonly Evidence[]): Partial<OpenClawRecord> {
  const isOf = (at: string | null): boolean =>
    at !== null && (all.find(({ lastAt }) => lastAt !== null && lastAt >= at) ?? all.at(-1)) === evidence
  const traces = found.traces.filter(({ at }) => isOf(at))
  const [trace] = traces
  return {
    ...(trace === undefined ? {} : { trace, configurations: countConfigurations(traces) }),
    ...(found.report !== null && isOf(found.report.at) ? { report: found.report } : {}),
    ...(found.schema === null ? {} : { schema: found.schema }),
    ...(found.program === null ? {} : { database_program: found.program }),
  }
}

/** Lists and prompts are cut in some turns; those that are there are compared with each other only. */
function countConfigurations(traces: readonly Trace[]): number {
  const kinds = (['tools', 'instructions', 'skills'] as const).map((field) =>
    traces.flatMap((trace) => (trace[field] === null ? [] : [JSON.stringify(trace[field])])),
  )
  return Math.max(...[traces.map(fingerprintOf), ...kinds].map((values) => new Set(values).size))
}
