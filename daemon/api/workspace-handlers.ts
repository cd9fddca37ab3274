import path from 'node:path'
import { diffArrays } from 'diff'
import { z } from 'zod'
import {
  asRunId,
  type BlameChange,
  effectSchema,
  type FileAt,
  leftOutSchema,
  RepriseError,
  type RunId,
  unitSchema,
  type Workspace,
} from '../../contract/index.ts'
import { realPath } from '../homes.ts'
import type { Parts } from '../parts.ts'
import type { RunRow } from '../store/index/run-row.ts'
import type { StateEntry, TreeId } from '../store/states.ts'
import type { SomeHandlers } from './handlers.ts'
import { parsePoint } from './references.ts'
import { showText } from './shown-text.ts'

const SHOWN_LEFT_OUT = 500
const LONGEST_TEXT = 1024 * 1024

export const createWorkspaceHandlers = (parts: Parts) =>
  ({
    'workspaces.list': ({ path: one }) => {
      const wanted = one === undefined ? null : realPath(path.resolve(one))
      const rows = parts
        .index()
        .sql(
          `select * from workspaces ${wanted === null ? '' : 'where path = ?'} order by coalesce(last_at, '') desc, path`,
        )
        .all(...(wanted === null ? [] : [wanted])) as WorkspaceRow[]
      return { workspaces: rows.map((row) => toWorkspace(parts, row)) }
    },

    'workspaces.capture': async ({ path: given }) => {
      const state = await parts.worker.call('captureWorkspace', path.resolve(given))
      const row = parts.index().sql('select * from workspaces where id = ?').get(state.about.workspace) as WorkspaceRow
      return { workspace: toWorkspace(parts, row) }
    },

    'runs.file': async ({ run, seq, path: file, side, whole }) => {
      const row = parts.index().findRun(parsePoint(run).run)
      return readFileAt(parts, asRunId(row.id), { seq, file, side, whole: whole === true })
    },

    'runs.blame': async ({ run, path: file, line, seq }) => {
      const point = parsePoint(run)
      const row = parts.index().findRun(point.run)
      return blame(parts, row, { file, line: line ?? null, until: seq ?? point.seq })
    },
  }) satisfies SomeHandlers

interface WorkspaceRow {
  readonly id: string
  readonly path: string
  readonly state: Workspace['state']
  readonly why: string | null
  readonly first_at: string | null
  readonly last_at: string | null
  readonly tree: string | null
  readonly states: number
  readonly files: number
  readonly bytes: number
  readonly doc: string
}

const docSchema = z.object({
  units: z.array(unitSchema).default([]),
  left_out: z.array(leftOutSchema).default([]),
  left_out_count: z.number().default(0),
})

const toWorkspace = (parts: Parts, row: WorkspaceRow): Workspace => {
  const { units, left_out, left_out_count } = docSchema.parse(JSON.parse(row.doc))
  const { n } = parts
    .index()
    .sql(
      `select count(*) as n from runs where exists (select 1 from json_each(runs.workspaces) where value = ? or value like ? || '/%')`,
    )
    .get(row.path, row.path) as { n: number }
  return {
    id: row.id,
    path: row.path,
    state: row.state,
    why: row.why,
    first_seen_at: row.first_at,
    last_seen_at: row.last_at,
    tree: row.tree,
    states: Number(row.states),
    files: Number(row.files),
    bytes: Number(row.bytes),
    runs: Number(n),
    units,
    left_out: left_out.slice(0, SHOWN_LEFT_OUT),
    left_out_count,
  }
}

/** The root of the workspace a commit of a run is of. */
const rootOf = (parts: Parts, event: Readonly<Record<string, unknown>>): string | null => {
  const row = parts
    .index()
    .sql('select path from workspaces where id = ?')
    .get(String(event.workspace ?? '')) as { path: string } | undefined
  return row?.path ?? null
}

interface Side {
  readonly seq: number
  readonly file: string
  readonly side: 'before' | 'after'
  readonly whole: boolean
}

/** A path in the state after an event, or in the one before it. */
async function readFileAt(parts: Parts, run: RunId, { seq, file, side, whole }: Side): Promise<FileAt> {
  const unknown = (why: string): FileAt => ({
    path: file,
    exists: null,
    kind: null,
    mode: null,
    bytes: null,
    digest: null,
    text: null,
    why,
  })
  const commit = await parts.store.commits.at(run, seq)
  if (commit === null) return unknown(`no state was captured at event ${seq}`)
  const pre = commit.event.pre_state
  const tree = side === 'after' ? commit.tree : typeof pre === 'string' ? (pre as TreeId) : null
  if (tree === null) return unknown(`no state was captured ${side} event ${seq}`)
  const root = rootOf(parts, commit.event)
  const below = root === null ? file : path.isAbsolute(file) ? path.relative(root, file) : file
  if (below.startsWith('..')) return unknown('it lies outside of the workspace')
  const entry = await parts.store.states.entry(tree, Buffer.from(below).toString('latin1'))
  if (entry === null) return { ...unknown('there was no such file'), exists: false }
  return describeEntry(parts, file, entry, `f:${run}:${seq}:${side}`, whole)
}

async function describeEntry(
  parts: Parts,
  file: string,
  entry: StateEntry,
  place: string,
  whole: boolean,
): Promise<FileAt> {
  const { states } = parts.store
  const kept = await states.kept(entry)
  const base = {
    path: file,
    exists: true,
    kind: entry.mode === '120000' ? ('link' as const) : ('file' as const),
    mode: Number.parseInt(entry.mode.slice(-3), 8),
    digest: kept.as === 'blob' || kept.as === 'large' ? await states.digest(entry) : null,
    text: null,
  }
  if (kept.as === 'unkept') return { ...base, bytes: kept.bytes, why: `its content was not kept: ${kept.why}` }
  if (kept.as === 'vault') return { ...base, bytes: kept.bytes, why: 'it holds a secret; its content is in the vault' }
  if (kept.as === 'large') return { ...base, bytes: kept.bytes, why: 'too large to be shown' }
  const content = await collect(states.read(entry))
  const text = content.toString('utf8')
  if (content.length > LONGEST_TEXT && !whole) return { ...base, bytes: content.length, why: 'too long to be shown' }
  if (content.includes(0) || !Buffer.from(text).equals(content))
    return { ...base, bytes: content.length, why: 'it is no text' }
  return { ...base, bytes: content.length, text: showText(parts.redactor, text, place, { whole }), why: null }
}

/** Events that changed a path, newest first, across runs; with a line, only those that made it what it is, and those before. */
async function blame(
  parts: Parts,
  own: RunRow,
  { file, line, until }: { readonly file: string; readonly line: number | null; readonly until: number | null },
): Promise<{ changes: BlameChange[]; complete: boolean; why: string | null }> {
  const index = parts.index()
  const tip = await parts.store.commits.tip(asRunId(own.id))
  const root =
    tip === null ? null : rootOf(parts, (await parts.store.commits.at(asRunId(own.id), tip.seq))?.event ?? {})
  const base = root ?? own.workspace ?? ''
  const absolute = path.isAbsolute(file) ? path.normalize(file) : path.join(base, file)
  const found = new Map<string, BlameChange & { readonly sort: string }>()
  const captured = index
    .sql(
      `select captured.run, captured.seq, captured.doc, commits."commit", commits.at from captured
       join commits on commits.run = captured.run and commits.seq = captured.seq where captured.path = ?`,
    )
    .all(absolute) as { run: string; seq: number; doc: string; commit: string; at: string }[]
  for (const { run, seq, doc, commit, at } of captured)
    found.set(`${run}@${seq}`, {
      run,
      seq: Number(seq),
      commit,
      line: null,
      at,
      summary: summaryOf(parts, run, Number(seq)),
      effect: effectSchema.parse(JSON.parse(doc)),
      sort: at,
    })
  const recorded = index
    .sql(
      `select runs.id as run, events.seq, events.at, events.summary, events.effects from events join runs on runs.key = events.run
       where events.effects is not null and instr(events.effects, ?) > 0`,
    )
    .all(JSON.stringify(absolute)) as {
    run: string
    seq: number
    at: string | null
    summary: string
    effects: string
  }[]
  for (const { run, seq, at, summary, effects } of recorded) {
    const effect = z
      .array(effectSchema)
      .parse(JSON.parse(effects))
      .findLast((one) => one.path === absolute)
    const key = `${run}@${seq}`
    if (effect && !found.has(key))
      found.set(key, { run, seq: Number(seq), commit: null, line: null, at, summary, effect, sort: at ?? '' })
  }
  const limit = until === null ? null : (found.get(`${own.id}@${until}`)?.sort ?? timeOf(parts, own, until))
  const changes = [...found.values()]
    .filter((one) => (one.run === own.id && until !== null ? one.seq <= until : limit === null || one.sort <= limit))
    .sort((a, b) => (a.sort < b.sort ? 1 : a.sort > b.sort ? -1 : b.seq - a.seq))
    .map(({ sort: _, ...change }) => change)
  if (changes.length === 0)
    throw new RepriseError(
      'not_found',
      `no event is known to have changed ${absolute}`,
      'paths are those of the workspace, or absolute',
    )
  const uncaptured = changes.some(({ commit }) => commit === null)
  const why = uncaptured ? 'changes from before the workspace was captured are known from the records only' : null
  if (line === null) return { changes, complete: !uncaptured, why }
  return { ...(await narrowToLine(parts, changes, absolute, line)), ...(why === null ? {} : { why }) }
}

/** Follows a line back through the states: an event that did not touch it is left out. */
async function narrowToLine(parts: Parts, changes: readonly BlameChange[], file: string, line: number) {
  const kept: BlameChange[] = []
  let at = line
  let complete = true
  for (const change of changes) {
    const [before, after] = await Promise.all(
      (['before', 'after'] as const).map((side) =>
        readFileAt(parts, asRunId(change.run), { seq: change.seq, file, side, whole: true }),
      ),
    )
    const is = after?.text?.text.split('\n')
    if (is === undefined || change.commit === null) {
      complete = false
      continue
    }
    if (at > is.length)
      throw new RepriseError('not_found', `${file} has ${is.length} lines there`, 'name a line it has')
    const was = before?.exists === false ? [] : before?.text?.text.split('\n')
    if (was === undefined) {
      complete = false
      continue
    }
    const origin = originOf(was, is, at)
    if (origin === null) {
      kept.push({ ...change, line: at })
      break
    }
    at = origin
  }
  return { changes: kept, complete, why: complete ? null : 'some states of the file are not known as text' }
}

/** Line of the earlier text that became this one unchanged; null: this change made it. */
function originOf(before: readonly string[], after: readonly string[], line: number): number | null {
  let [was, is] = [1, 1]
  for (const { value, added, removed } of diffArrays([...before], [...after])) {
    if (added) {
      if (line < is + value.length) return null
      is += value.length
    } else if (removed) was += value.length
    else {
      if (line < is + value.length) return was + (line - is)
      was += value.length
      is += value.length
    }
  }
  return null
}

const summaryOf = (parts: Parts, run: string, seq: number): string =>
  (
    parts
      .index()
      .sql('select events.summary from events join runs on runs.key = events.run where runs.id = ? and events.seq = ?')
      .get(run, seq) as { summary: string } | undefined
  )?.summary ?? ''

const timeOf = (parts: Parts, run: RunRow, seq: number): string | null =>
  (
    parts.index().sql('select at from events where run = ? and seq = ?').get(run.key, seq) as
      | { at: string | null }
      | undefined
  )?.at ?? null

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return Buffer.concat(all)
}
