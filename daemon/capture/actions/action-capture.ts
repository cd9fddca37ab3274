import { asDigest, asRunId, isDigest, RepriseError, type RunId } from '../../../contract/index.ts'
import type { Log } from '../../log.ts'
import { type Database, statements } from '../../store/index/database.ts'
import { EVENTS_OF_RUN, type EventRow, toEvent } from '../../store/index/event-row.ts'
import type { AgentCommitRequest, TreeId, WorkspaceState } from '../../store/states.ts'
import type { Store } from '../../store/store.ts'
import type { GapNotes } from '../gap-notes.ts'
import type { Look, WorkspaceLooks, WorkspacePlace } from '../workspaces/look.ts'
import { type ActionInInterval, type AttributedEffect, attributeEffects } from './attribute-effects.ts'
import { type CaptureRows, toSealed } from './capture-rows.ts'
import { workspaceOf } from './workspace-of.ts'

export interface ActionCaptureParts {
  readonly db: Database
  readonly store: Store
  readonly looks: WorkspaceLooks
  readonly rows: CaptureRows
  readonly gaps: GapNotes
  readonly log: Log
  readonly now: () => Date
  /** Whether anything of a workspace is captured at all. */
  readonly isOn: () => boolean
  readonly changed: (run: string) => void
}

export interface ActionCapture {
  /** Events of a run arrived: its workspaces are looked at soon. */
  runGrew(run: number): void
  /** Every workspace that runs name and of which there is no state yet is to get one. */
  expectAll(): void
  /** A state of one workspace now; resolves when it is durable. */
  captureNow(directory: string): Promise<WorkspaceState>
  /** One step, the most urgent first; false when nothing is due. */
  step(): Promise<boolean>
  dueIn(): number | null
  /** Of what a run waits for; first looks at workspaces can wait. */
  urgentIn(): number | null
}

interface Due {
  readonly place: WorkspacePlace
  due: number
}

/** Looks at one workspace keep this distance, more where a look takes long: they never take more than a part of the time. */
const REST_MS = 400
const SHARE = 4
/** A call that is open for so long will hardly be answered; what follows it is sealed without waiting on. */
const OPEN_MS = 6 * 3_600_000

type PlainEvent = ReturnType<typeof toEvent>

/**
 * Takes states of workspaces as their runs go on, finds out which action made each change, and seals every action with its effect in an agent
 * commit. A run is captured from the first state of its workspace on; what happened before has no commits, which its coverage says.
 */
export const createActionCapture = (parts: ActionCaptureParts): ActionCapture => {
  const { db, store, looks, rows, gaps, log, now } = parts
  const sql = statements(db)
  const urgent = new Map<string, Due>()
  const unseen: string[] = []
  const known = new Map<string, { readonly at: number; readonly found: ReturnType<typeof workspaceOf> }>()

  const clock = (): number => now().getTime()

  const placeOf = (directory: string): WorkspacePlace | null => {
    const before = known.get(directory)
    // What was not there may come; what may not be captured may be allowed later.
    const found = before && clock() - before.at < 10_000 ? before.found : workspaceOf(looks, directory)
    if (found !== before?.found) known.set(directory, { at: clock(), found })
    if (found.state === 'there') return found.place
    const why = found.state === 'refused' ? found.why : null
    rows.without(found.place.id, found.place.path, found.state, why)
    if (found.state === 'refused')
      gaps.save({
        kind: 'workspace_refused',
        where: found.place.path,
        message: `${found.place.path} is not captured as a workspace: ${why}`,
        hint: 'start agents in a folder of the project',
      })
    return null
  }

  const directoriesOf = (run: number): readonly string[] => {
    const row = sql('select workspace, workspaces from runs where key = ?').get(run) as
      | { workspace: string | null; workspaces: string }
      | undefined
    if (!row) return []
    const all = JSON.parse(row.workspaces) as unknown
    return [...new Set([row.workspace, ...(Array.isArray(all) ? all : [])])].filter(
      (one): one is string => typeof one === 'string',
    )
  }

  const ask = (place: WorkspacePlace, after: number): void => {
    const before = urgent.get(place.id)
    const due = clock() + after
    if (!before) urgent.set(place.id, { place, due })
    else before.due = Math.min(before.due, due)
  }

  /** Runs in a workspace that have events which are not sealed. */
  const openRuns = async (place: WorkspacePlace, since: string): Promise<readonly OpenRun[]> => {
    const found: OpenRun[] = []
    const candidates = sql(
      `select key, id, status, workspace, workspaces from runs where coalesce(ended_at, started_at, '') >= ? or status = 'running'
       or id in (select run from commits where run = runs.id group by run having max(seq) < runs.events)`,
    ).all(new Date(Math.max(0, Date.parse(since) - 60_000) || 0).toISOString()) as {
      key: number
      id: string
      status: string
    }[]
    for (const { key, id, status } of candidates) {
      if (!directoriesOf(key).some((directory) => placeOf(directory)?.id === place.id)) continue
      const run = asRunId(id)
      const tip = await store.commits.tip(run)
      const events = (
        sql(`${EVENTS_OF_RUN} and events.seq > ? order by events.seq limit 5000`).all(key, tip?.seq ?? 0) as EventRow[]
      )
        .map(toEvent)
        .filter(({ at }) => tip !== null || (at !== null && at > since))
      if (events.length > 0) found.push({ key, run, status, tip, events })
    }
    return found
  }

  const nextDue = (): number | null => {
    const due = [...urgent.values()].map((one) => one.due)
    return due.length === 0 ? null : Math.max(0, Math.min(...due) - clock())
  }

  const capture = async (place: WorkspacePlace): Promise<Look | null> => {
    let look: Look
    try {
      look = await looks.look(place, { hint: null, deadline: null })
      gaps.drop('workspace_not_captured', place.path)
    } catch (error) {
      if (error instanceof RepriseError && error.code === 'not_found') {
        rows.without(place.id, place.path, 'gone', null)
        return null
      }
      gaps.save({
        kind: 'workspace_not_captured',
        where: place.path,
        message: `${place.path} could not be captured: ${(error as Error).message}`,
        hint: 'it is tried again with the next action there',
      })
      log('warn', 'a workspace could not be captured', { path: place.path, message: (error as Error).message })
      return null
    }
    rows.state(place.path, look.state)
    const { partial } = look.about
    if (partial === null) gaps.drop('workspace_partial', place.path)
    else
      gaps.save({
        kind: 'workspace_partial',
        where: place.path,
        message: `${place.path} is captured in part: ${partial}`,
        hint: 'raise `workspace_budget` in the settings, or leave parts out with `workspace_excludes`',
      })
    return look
  }

  const seal = async (place: WorkspacePlace, look: Look): Promise<void> => {
    const { before } = look
    if (before === null) return
    const runs = await openRuns(place, before.about.at)
    if (runs.length === 0) return
    const actions = runs
      .flatMap(({ run, events }) => events.filter(({ kind }) => kind === 'tool').map((event) => actionOf(run, event)))
      .sort((a, b) => (a.from ?? 0) - (b.from ?? 0) || a.seq - b.seq)
    const attributed = attributeEffects(place.path, look.changes, actions)
    for (const open of runs) {
      const sealable = closedEvents(open, clock())
      if (sealable.length === 0) continue
      const requests = await requestsFor(place, look, before, open, sealable, attributed)
      const written = await store.commits.append(requests)
      for (const [index, { seq, commit }] of written.entries()) {
        const request = requests[index]
        if (!request) continue
        rows.commit(
          open.run,
          seq,
          commit,
          request.tree,
          requests[index - 1]?.tree ?? open.tip?.tree ?? null,
          request.at,
        )
        rows.effects(open.run, seq, attributed.filter(({ action }) => isOf(action, open.run, seq)).map(toSealed))
      }
      parts.changed(open.run)
    }
  }

  const requestsFor = async (
    place: WorkspacePlace,
    look: Look,
    before: WorkspaceState,
    open: OpenRun,
    events: readonly PlainEvent[],
    attributed: readonly AttributedEffect[],
  ): Promise<readonly AgentCommitRequest[]> => {
    const manifests = await manifestsOf(open.key)
    const requests: AgentCommitRequest[] = []
    const at = look.state.about.at
    if (open.tip === null) {
      const first = events[0]?.seq ?? 1
      requests.push({
        run: open.run,
        seq: first - 1,
        eventId: `${open.run}@${first - 1}`,
        parentEvent: null,
        summary: first === 1 ? 'the workspace before the first action' : `the workspace before event ${first}`,
        at: before.about.at,
        manifest: manifests.get(events[0]?.stretch ?? 1) ?? null,
        tree: before.tree,
        event: {
          kind: 'baseline',
          workspace: place.id,
          note: first === 1 ? null : `events 1 to ${first - 1} happened before this workspace was captured`,
        },
        external: externalOf(before.about),
      })
    }
    // One look for several actions: the files are known before the first and after the last of those that changed something.
    const changing = events.filter(({ seq }) => attributed.some(({ action }) => isOf(action, open.run, seq)))
    const lastChange = changing.at(-1)?.seq ?? events[0]?.seq ?? 0
    const shared = changing.length > 1
    for (const event of events) {
      const own = attributed.filter(({ action }) => isOf(action, open.run, event.seq)).map(toSealed)
      const tree: TreeId = event.seq >= lastChange ? look.state.tree : (open.tip?.tree ?? before.tree)
      requests.push({
        run: open.run,
        seq: event.seq,
        eventId: event.id,
        parentEvent: event.parent,
        summary: event.summary,
        at: event.at ?? at,
        manifest: manifests.get(event.stretch) ?? null,
        tree,
        event: {
          kind: event.kind,
          tool: event.tool,
          tool_use_id: event.tool_use_id,
          summary: event.summary,
          ok: event.ok,
          unfinished: event.kind === 'tool' && event.ok === null,
          duration_ms: event.duration_ms,
          origin: event.origin,
          tokens: event.tokens,
          model: event.model,
          stretch: event.stretch,
          cwd: event.cwd,
          workspace: place.id,
          state: look.state.commit,
          recorded_effects: event.effects,
          effects: own,
          // Where the words of it stand in `refs/sessions/<run>`.
          record: { line: event.line },
          exact: event.kind !== 'tool' || !shared || event.seq === lastChange || own.length === 0,
        },
        external: externalOf(look.about),
      })
    }
    return requests
  }

  const manifestsOf = async (run: number) => {
    const found = new Map<number, NonNullable<AgentCommitRequest['manifest']>>()
    const stretches = sql('select n, manifest from stretches where run = ? and manifest is not null').all(run) as {
      n: number
      manifest: string
    }[]
    for (const { n, manifest } of stretches) {
      if (!isDigest(manifest)) continue
      const body = await store.manifests.get(asDigest(manifest))
      if (body) found.set(Number(n), { digest: asDigest(manifest), json: Buffer.from(`${JSON.stringify(body)}\n`) })
    }
    return found
  }

  const lookAndSeal = async (place: WorkspacePlace): Promise<Look | null> => {
    const look = await capture(place)
    if (look !== null) await seal(place, look)
    return look
  }

  return {
    runGrew(run) {
      if (!parts.isOn()) return
      for (const directory of directoriesOf(run)) {
        const place = placeOf(directory)
        if (place !== null) ask(place, 0)
      }
    },

    expectAll() {
      if (!parts.isOn()) return
      const directories = sql(
        'select workspace, max(sort_at) as last from runs where workspace is not null group by workspace order by last desc',
      ).all() as { workspace: string }[]
      for (const { workspace } of directories) if (!unseen.includes(workspace)) unseen.push(workspace)
    },

    async captureNow(directory) {
      const found = workspaceOf(looks, directory)
      if (found.state === 'gone') throw new RepriseError('not_found', `${directory} is no directory`)
      if (found.state === 'refused')
        throw new RepriseError('refused', `${directory} is not captured as a workspace: ${found.why}`)
      const look = await looks.look(found.place, { hint: null, deadline: null })
      rows.state(found.place.path, look.state)
      await seal(found.place, look)
      return look.state
    },

    async step() {
      const at = clock()
      for (const [id, { place, due }] of urgent) {
        if (due > at) continue
        urgent.delete(id)
        const look = await lookAndSeal(place)
        // Something may have come while it was looked at: it is asked again then, and waits its turn.
        const waiting = urgent.get(id)
        if (waiting) waiting.due = Math.max(waiting.due, clock() + Math.max(REST_MS, (look?.ms ?? 0) * SHARE))
        return true
      }
      const directory = unseen.shift()
      if (directory === undefined) return false
      const place = placeOf(directory)
      if (place !== null) {
        const state = await store.states.tip(place.id)
        // One that was captured in an earlier life: what happened since belongs to somebody.
        if (state === null) await capture(place)
        else if ((await openRuns(place, state.about.at)).length > 0) await lookAndSeal(place)
      }
      return true
    },

    urgentIn: () => nextDue(),
    dueIn() {
      if (unseen.length > 0) return 0
      return nextDue()
    },
  }
}

interface OpenRun {
  readonly key: number
  readonly run: RunId
  readonly status: string
  readonly tip: { readonly seq: number; readonly tree: TreeId | null } | null
  readonly events: readonly PlainEvent[]
}

const isOf = (action: AttributedEffect['action'], run: string, seq: number): boolean =>
  action !== null && action.run === run && action.seq === seq

function actionOf(
  run: RunId,
  { seq, tool, at, duration_ms, ok, effects, effects_state }: PlainEvent,
): ActionInInterval {
  const from = at === null ? null : Date.parse(at)
  return {
    run,
    seq,
    tool,
    from: from === null || Number.isNaN(from) ? null : from,
    // A record without a duration: the answer came some time after the call.
    to: ok === null || from === null ? null : from + (duration_ms ?? 600_000),
    effects,
    mayChangeMore:
      effects_state === 'none' || effects_state === 'partial' || effects.some(({ change }) => change === 'unknown'),
  }
}

/** Events in order up to the first call that is still open: what comes after it may be its doing. */
function closedEvents({ status, events }: OpenRun, at: number): readonly PlainEvent[] {
  const isOver = status === 'done' || status === 'failed'
  const open = events.findIndex(
    (event) =>
      event.kind === 'tool' &&
      event.ok === null &&
      !isOver &&
      (event.at === null || at - Date.parse(event.at) < OPEN_MS),
  )
  return open === -1 ? events : events.slice(0, open)
}

/** What Git cannot hold of the state of the world, each with the reason (R172). */
const externalOf = (about: WorkspaceState['about']) => ({
  database: { state: 'not captured', why: 'no database of this workspace is known' },
  browser: { state: 'not captured', why: 'the run was observed, not recorded' },
  processes: { state: 'not captured', why: 'the run was observed, not recorded' },
  network: { state: 'not captured', why: 'the run was observed, not recorded' },
  repositories: about.units,
  left_out: about.leftOutCount,
  partial: about.partial,
})
