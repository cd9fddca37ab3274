import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionUnit, StretchEvidence } from '../adapter.ts'
import { asName, asRow, type Row } from '../shared/fields.ts'
import { databaseFiles, type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { columnsOf, parseRow, readAbout, readEntry } from './agent-database.ts'
import { statOf } from './agent-sessions.ts'
import type { Evidence, OpenClawRecord, PromptReport, Trace } from './evidence.ts'
import { agentPlace, listNames } from './places.ts'
import { linesOfFile } from './read-source.ts'
import { fingerprintOf, readReport, readTraces } from './read-trace.ts'
import { parseSessionKey } from './session-key.ts'
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
    const stretches = all.map((evidence, n) =>
      evidence.toStretch(home, session, common, partOf(found, evidence, n === 0, all[n + 1]?.startedAt ?? null)),
    )
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
    const trajectories = this.#trajectories()
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
    const fromFiles = readTraces(eventsOf(trajectories))
    const entry = Object.values(indexOf(index) ?? {}).find((one) => asRow(one)?.sessionId === sessionId)
    this.#found = {
      ...found,
      traces: [...found.traces, ...fromFiles].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
      report: found.report ?? readReport(asRow(entry)?.systemPromptReport),
    }
    this.#stamp = stamp
    return this.#found
  }

  #trajectories(): readonly string[] {
    const { sessions, imported } = agentPlace(this.#unit.home, this.#meta.agent)
    const name = `${this.#meta.sessionId}.trajectory.jsonl`
    return [
      join(sessions, name),
      ...listNames(imported, () => {})
        .filter((one) => one.startsWith(name))
        .map((one) => join(imported, one)),
    ].filter((path) => statOf(path)?.isFile() === true)
  }
}

function readBeside(db: HomeDatabase, session: string): Found {
  const { schema, program } = readAbout(db)
  const traced = columnsOf(db, 'trajectory_runtime_events').has('event_json')
  return {
    traces: traced ? readTraces(tracedEvents(db, session)) : [],
    report: readReport(readEntry(db, session)?.systemPromptReport),
    schema,
    program,
  }
}

function* tracedEvents(db: HomeDatabase, session: string): Iterable<Row> {
  for (const { event_json } of db.each(
    `select event_json from home.trajectory_runtime_events where session_id = ?
     and (instr(event_json, '"type":"trace.metadata"') > 0 or instr(event_json, '"type":"context.compiled"') > 0) order by seq`,
    session,
  )) {
    const row = typeof event_json === 'string' ? parseRow(event_json) : null
    if (row !== null) yield row
  }
}

function* eventsOf(files: readonly string[]): Iterable<Row> {
  for (const file of files) {
    try {
      for (const line of linesOfFile(file)) {
        const row = parseRow(line)
        if (row !== null) yield row
      }
    } catch {
      // Gone or unreadable: what it would have told stays unknown.
    }
  }
}

function indexOf(path: string): Row | null {
  try {
    return parseRow(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

/** What was written while the stretch went on. The first trace of a turn stands: it was there when the stretch began. */
function partOf(found: Found, evidence: Evidence, first: boolean, until: string | null): Partial<OpenClawRecord> {
  const within = (at: string | null): boolean =>
    at !== null && (first || evidence.startedAt === null || at >= evidence.startedAt) && (until === null || at < until)
  const traces = found.traces.filter(({ at }) => within(at))
  const [trace] = traces
  return {
    ...(trace === undefined ? {} : { trace, configurations: countConfigurations(traces) }),
    ...(found.report !== null && within(found.report.at) ? { report: found.report } : {}),
    ...(found.schema === null ? {} : { schema: found.schema }),
    ...(found.program === null ? {} : { database_program: found.program }),
  }
}

/** Tool lists are cut in some turns; those that are there are compared with each other only. */
function countConfigurations(traces: readonly Trace[]): number {
  const tools = traces.flatMap((trace) => (trace.tools === null ? [] : [JSON.stringify(trace.tools)]))
  return Math.max(new Set(traces.map(fingerprintOf)).size, new Set(tools).size)
}
