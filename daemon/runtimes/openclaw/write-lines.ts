import { join } from 'node:path'
import type { SessionUnit } from '../adapter.ts'
import { asName } from '../shared/fields.ts'
import { type HomeDatabase, readDatabase } from '../shared/sqlite-home.ts'
import { parseRow } from './agent-database.ts'
import { statOf } from './agent-sessions.ts'
import { agentPlace } from './places.ts'
import { linesOf } from './read-source.ts'
import { readMeta, type UnitMeta } from './unit-meta.ts'

/**
 * The transcript events of a session, as they stand, one a line. Only what is appended to goes in here: trajectories are pruned from their
 * beginning (14 days, 10 MiB a session; 2026.9.6, source) and session entries are overwritten at every turn, either would make a growing
 * session look like a rewritten one. They are read beside the lines, as evidence of the configuration.
 */
export function writeLines(unit: SessionUnit, write: (line: string) => void): void {
  const meta = readMeta(unit)
  if (meta.sources.every(({ from }) => from === 'file')) {
    writeAll(unit, meta, null, write)
    return
  }
  const { database } = agentPlace(unit.home, meta.agent)
  if (statOf(database) === null) writeAll(unit, meta, null, write)
  else readDatabase(database, (db) => writeAll(unit, meta, db, write))
}

function writeAll(
  unit: SessionUnit,
  { sources, sessionId }: UnitMeta,
  db: HomeDatabase | null,
  write: (line: string) => void,
): void {
  // A file that was moved away since it was listed has no lines here; the next look finds where it went.
  const [only, ...others] = sources.filter(
    (source) => source.from !== 'file' || statOf(join(unit.home, source.path)) !== null,
  )
  if (only === undefined) return
  if (others.length === 0) {
    for (const line of linesOf(unit.home, only, sessionId, db)) write(line)
    return
  }
  let merged: readonly KeyedLine[] = []
  for (const source of [only, ...others])
    merged = union(merged, [...linesOf(unit.home, source, sessionId, db)].map(keyed))
  for (const { text } of merged) write(text)
}

interface KeyedLine {
  readonly key: string
  readonly text: string
}

/** An event is known by its id, the header by being one, a damaged line by its text. */
function keyed(text: string): KeyedLine {
  const row = parseRow(text)
  if (row?.type === 'session') return { key: 'session', text }
  const id = asName(row?.id)
  return { key: id === null ? `text ${text}` : `id ${id}`, text }
}

/** All lines of both, each once and as the newer form has it, in an order that agrees with both. */
function union(older: readonly KeyedLine[], newer: readonly KeyedLine[]): readonly KeyedLine[] {
  const places = new Map(newer.map(({ key }, at) => [key, at]))
  const merged: KeyedLine[] = []
  let next = 0
  for (const line of older) {
    const at = places.get(line.key)
    if (at === undefined) merged.push(line)
    else for (; next <= at; next++) merged.push(...newer.slice(next, next + 1))
  }
  return [...merged, ...newer.slice(next)]
}
