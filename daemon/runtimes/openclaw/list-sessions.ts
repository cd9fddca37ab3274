import { join, relative } from 'node:path'
import type { LinesFrom, SessionUnit, SideFile, UnitStamp } from '../adapter.ts'
import type { DatabaseSession } from './agent-database.ts'
import { type AgentSessions, type FoundFile, readAgent, statOf } from './agent-sessions.ts'
import { agentsOf, type Report } from './places.ts'
import { isPacked } from './read-source.ts'
import { parseSessionKey } from './session-key.ts'
import { readMeta, type SessionSource, writeMeta } from './unit-meta.ts'

/**
 * Every session of a state directory, each agent by itself (R42). One session id that lies in the database, in JSONL files and in
 * archives is one session; its lines are merged by event id (`write-lines.ts`). What a reset set aside is a session of its own: its id
 * went on with another conversation, so that two sessions share it (wild fixtures).
 */
export function* listSessions(home: string, report: Report): Iterable<SessionUnit> {
  const agents = agentsOf(home, report).map((place) => readAgent(place, report))
  const taken = new Map<string, string>()
  const drafts = agents.flatMap((agent) => {
    const found = draftsOf(home, agent)
    return found.map((draft) => {
      const other = taken.get(draft.name)
      if (other === undefined) taken.set(draft.name, agent.place.agent)
      // Two agents never share a session, whatever its id says (R48).
      return other === undefined ? draft : { ...draft, name: `${draft.name}@${agent.place.agent}` }
    })
  })
  const names = new Map(drafts.map(({ agent, session, name }) => [`${agent.place.agent}\0${session}`, name]))
  for (const draft of drafts) yield unitOf(home, draft, parentOf(draft, agents, names))
}

/** A session before its parent is known. */
interface Draft {
  readonly agent: AgentSessions
  /** The runtime's id. */
  readonly session: string
  /** The unit's: another one where the id stands for two sessions. */
  readonly name: string
  readonly inDatabase: DatabaseSession | null
  readonly sources: readonly SessionSource[]
  readonly stamp: UnitStamp
  readonly trajectory: FoundFile | null
  readonly key: string | null
  readonly parentKey: string | null
  readonly title: string | null
}

interface Parts {
  inDatabase: DatabaseSession | null
  key: string | null
  readonly pieces: { readonly source: SessionSource; readonly bytes: number; readonly changed: number }[]
  trajectory: FoundFile | null
}

/** Oldest form first: what a later one has too is told by it. */
const ages: readonly FoundFile['kind'][] = ['checkpoint', 'backup', 'reset', 'deleted', 'imported', 'live']

function draftsOf(home: string, agent: AgentSessions): readonly Draft[] {
  const found = new Map<string, Parts & { readonly session: string }>()
  const part = (name: string, session = name): Parts => {
    const known = found.get(name)
    if (known !== undefined) return known
    const made = { session, inDatabase: null, key: null, pieces: [], trajectory: null }
    found.set(name, made)
    return made
  }
  const published = new Set<string>()
  const files = [...agent.files].sort(
    (a, b) =>
      ages.indexOf(a.kind) - ages.indexOf(b.kind) || compare(a.stamp ?? '', b.stamp ?? '') || compare(a.path, b.path),
  )
  for (const file of files) {
    if (file.kind === 'trajectory') continue
    published.add(file.name)
    const name = file.kind === 'reset' ? resetName(file.session, file.stamp ?? '') : file.session
    part(name, file.session).pieces.push({
      source: { from: 'file', path: relative(home, file.path) },
      bytes: file.size,
      changed: file.mtime,
    })
  }
  for (const archive of agent.archives) {
    const plain = archive.name.replace(/\.zst$/, '')
    // The file beside the database is the same archive, written out.
    if (published.has(plain)) continue
    const stamp = /\.jsonl\.reset\.(.+)$/.exec(plain)?.[1]
    const name =
      archive.reason === 'reset' ? resetName(archive.session, stamp ?? String(archive.created)) : archive.session
    const parts = part(name, archive.session)
    parts.key ??= archive.key
    parts.pieces.push({
      source: { from: 'archive', name: archive.name },
      bytes: archive.bytes,
      changed: archive.created,
    })
  }
  for (const cold of agent.cold) {
    if (cold.inDatabase)
      part(cold.session).pieces.push({ source: { from: 'cold' }, bytes: cold.events, changed: cold.archived })
  }
  for (const session of agent.sessions) {
    const parts = part(session.session)
    parts.inDatabase = session
    parts.pieces.push({ source: { from: 'database' }, bytes: session.bytes + session.events, changed: session.changed })
  }
  for (const file of files) {
    const parts = found.get(file.session)
    if (file.kind === 'trajectory' && parts !== undefined) parts.trajectory = file
  }
  return [...found]
    .sort(([a], [b]) => compare(a, b))
    .map(([name, { session, inDatabase, key, pieces, trajectory }]) => {
      const legacy = agent.keys.get(session)
      return {
        agent,
        session,
        name,
        inDatabase,
        sources: pieces.map(({ source }) => source),
        stamp: {
          size: pieces.reduce((sum, { bytes }) => sum + bytes, 0),
          mtime: Math.max(0, ...pieces.map(({ changed }) => changed)),
        },
        trajectory,
        key: inDatabase?.key ?? key ?? legacy?.key ?? null,
        parentKey: inDatabase?.parentKey ?? legacy?.parentKey ?? null,
        title: inDatabase?.title ?? legacy?.title ?? null,
      }
    })
}

const resetName = (session: string, stamp: string): string => `${session}@reset-${stamp}`
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function unitOf(home: string, draft: Draft, parent: string | null): SessionUnit {
  const { agent, session, name, inDatabase, sources, stamp, trajectory, key, title } = draft
  return {
    home,
    session: name,
    parentSession: parent,
    // One whose parent is not known stands by itself; hidden below nothing it would be lost.
    relation: parent === null ? null : 'subagent',
    file: placeOf(home, draft),
    sideFiles: trajectory === null ? [] : [trajectory.path],
    meta: writeMeta(linesOf(sources), {
      agent: agent.place.agent,
      sessionId: session,
      key,
      reason: inDatabase?.reason ?? null,
      previous: inDatabase?.previous ?? null,
      title,
      sources,
    }),
    ...(linesOf(sources) === null ? {} : { stamp }),
  }
}

/** One file that is not packed is read as it is; everything else is put together (`write-lines.ts`). */
function linesOf(sources: readonly SessionSource[]): LinesFrom | null {
  if (sources.some(({ from }) => from !== 'file')) return 'database'
  const [only] = sources
  if (sources.length > 1 || only?.from !== 'file') return 'files'
  return isPacked(only.path) ? 'compressed' : null
}

/** Its own file, or the newest of several; a session of the database has a name of its own in it. */
function placeOf(home: string, { agent, name, sources }: Draft): string {
  const newest = sources.at(-1)
  return newest?.from === 'file' && sources.every(({ from }) => from === 'file')
    ? join(home, newest.path)
    : `${agent.place.database}#${name}`
}

/** The window of the parent's key in which the subagent was started: the last one that began before it. */
function parentOf(
  { inDatabase, session, key, parentKey }: Draft,
  agents: readonly AgentSessions[],
  names: ReadonlyMap<string, string>,
): string | null {
  if (parentKey === null || parseSessionKey(key).kind !== 'subagent') return null
  const owner = parseSessionKey(parentKey).agent
  for (const agent of agents) {
    if (owner !== null && agent.place.agent !== owner) continue
    const at = inDatabase?.started ?? Number.POSITIVE_INFINITY
    const windows = agent.windows.get(parentKey) ?? []
    const window = windows.filter((one) => one.at <= at).at(-1) ?? windows[0]
    const legacy = [...agent.keys].find(([, entry]) => entry.key === parentKey)?.[0]
    const parent = window?.session ?? legacy
    if (parent === undefined || parent === session) continue
    const name = names.get(`${agent.place.agent}\0${parent}`)
    if (name !== undefined) return name
  }
  return null
}

/** The trajectory of older versions lies beside the transcript; in the database it is told of by the evidence of the session. */
export function* listSideFiles(unit: SessionUnit, report: Report): Iterable<SideFile> {
  const { sources, sessionId } = readMeta(unit)
  const seen = new Set<string>()
  for (const source of sources) {
    if (source.from !== 'file') continue
    const path = trajectoryBeside(`${unit.home}/${source.path}`, sessionId)
    if (path === null || seen.has(path)) continue
    seen.add(path)
    const stat = statOf(path)
    if (stat === null) continue
    if (stat.isFile()) yield { path, isCopy: false }
    else report({ path, reason: 'not a regular file' })
  }
}

/** Trajectory of the live file `<session>.jsonl`; copies that were set aside have none of their own. */
export function trajectoryBeside(file: string, session: string): string | null {
  const live = `${session}.jsonl`
  return file.endsWith(`/${live}`) || file.endsWith(`\\${live}`)
    ? `${file.slice(0, -'.jsonl'.length)}.trajectory.jsonl`
    : null
}
