import { join } from 'node:path'
import type { SessionUnit } from '../adapter.ts'
import { asRow, asText, type Row } from '../shared/fields.ts'
import { type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { columnsOf, parseRow } from './agent-database.ts'
import { statOf } from './agent-sessions.ts'
import { type AgentPlace, agentPlace, listNames } from './places.ts'
import { linesOfFile } from './read-source.ts'
import { readMeta } from './unit-meta.ts'

/** Trajectory files of older versions, of the session as it is and of what an import moved away. */
export function trajectoryFiles({ sessions, imported }: AgentPlace, session: string): readonly string[] {
  const name = `${session}.trajectory.jsonl`
  return [
    join(sessions, name),
    ...listNames(imported, () => {})
      .filter((one) => one.startsWith(name))
      .map((one) => join(imported, one)),
  ].filter((path) => statOf(path)?.isFile() === true)
}

/** The events that tell of configuration; calls, results and snapshots of the conversation are left alone. */
export function* tracedEvents(db: HomeDatabase, session: string): Iterable<Row> {
  if (!columnsOf(db, 'trajectory_runtime_events').has('event_json')) return
  for (const { event_json } of db.each(
    `select event_json from home.trajectory_runtime_events where session_id = ?
     and (instr(event_json, '"type":"trace.metadata"') > 0 or instr(event_json, '"type":"context.compiled"') > 0) order by seq`,
    session,
  )) {
    const row = typeof event_json === 'string' ? parseRow(event_json) : null
    if (row !== null) yield row
  }
}

export function* eventsOfFiles(files: readonly string[]): Iterable<Row> {
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

/** The system prompt of a turn, as long as its trajectory is kept; null when it is not there or was cut (above 32,768 characters). */
export function systemPromptOf(unit: SessionUnit, run: string): string | null {
  const { agent, sessionId } = readMeta(unit)
  const place = agentPlace(unit.home, agent)
  const find = (events: Iterable<Row>): string | null => {
    for (const event of events) {
      if (event.runId !== run || event.type !== 'context.compiled') continue
      const text = asText(asRow(event.data)?.systemPrompt)
      if (text !== null) return text
    }
    return null
  }
  try {
    const found =
      statOf(place.database) === null ? null : readDatabase(place.database, (db) => find(tracedEvents(db, sessionId)))
    return found ?? find(eventsOfFiles(trajectoryFiles(place, sessionId)))
  } catch {
    // Being written to, or damaged: the request is shown without it, and says so.
    return null
  }
}
