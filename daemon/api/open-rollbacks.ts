import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import {
  asRunId,
  type Manifest,
  RepriseError,
  type RollbackRequest,
  type RollbackTarget,
  type RuntimeName,
  type Writer,
} from '../../contract/index.ts'
import { readLastChanger } from '../capture/actions/last-changer.ts'
import { readLastWriter } from '../capture/drift/last-writer.ts'
import { homeIdOf } from '../capture/run-ids.ts'
import { compareFields } from '../manifest/compare/fields.ts'
import { knowledgeOf } from '../manifest/compare/knowledge.ts'
import { placementOf, relatePlaces } from '../manifest/compare/places.ts'
import type { Parts } from '../parts.ts'
import { type Areas, isBelow } from '../rollback/configuration-files.ts'
import { realDisk } from '../rollback/disk.ts'
import { openJournals } from '../rollback/journal.ts'
import { findOpenFiles } from '../rollback/open-files.ts'
import { planConfiguration } from '../rollback/plan-configuration.ts'
import { planWorkspace } from '../rollback/plan-workspace.ts'
import { PlanBuilder, type Planned } from '../rollback/planned.ts'
import { createRollbacks, type Resolved, type Rollbacks } from '../rollback/rollbacks.ts'
import type { TreeId } from '../store/states.ts'
import { resolveNow } from './manifest-handlers.ts'
import { findTarget } from './rollback-targets.ts'

/** Rollbacks over the parts of this daemon. */
export const openRollbacks = (parts: Parts): Rollbacks => {
  const disk = realDisk()

  const resolve = async (request: RollbackRequest): Promise<Resolved> => {
    const { home, project, workspace, only } = request.scope
    const { target, manifest } = await findTarget(parts, request)
    // Nothing is named yet: the target alone, so that it can be seen what there is to choose from.
    if (!home && !project && !workspace && (only ?? []).length === 0)
      return { target, manifest: null, isRollback: false, planned: merge([]) }
    const wantsConfiguration = home || project || (only ?? []).length > 0
    if (wantsConfiguration && manifest === null && !workspace && target.state === null)
      throw new RepriseError('refused', `${target.text} has no manifest, so its configuration is not known`)
    const pieces: Planned[] = []
    const asked = only ?? []
    if (wantsConfiguration && manifest !== null) pieces.push(await configuration(request, target, manifest))
    if (workspace) pieces.push(await files(target, null))
    else if (asked.length > 0 && target.state !== null) {
      // A path that is no configuration may be a file of the workspace.
      const [first] = pieces
      const left = asked.filter(
        ({ path: one }) => first === undefined || first.not_restorable.some((not) => not.path === one),
      )
      const found =
        left.length === 0
          ? null
          : await files(
              target,
              left.map(({ path: one }) => one),
            )
      if (found !== null && first !== undefined && left.length > 0)
        pieces.splice(0, 1, {
          ...first,
          not_restorable: first.not_restorable.filter(({ path: one }) => !left.some((not) => not.path === one)),
        })
      if (found !== null) pieces.push(found)
    }
    return {
      target,
      manifest: wantsConfiguration ? manifest : null,
      isRollback: Boolean(wantsConfiguration),
      planned: merge(pieces),
    }
  }

  const files = async (target: RollbackTarget, only: readonly string[] | null): Promise<Planned> => {
    const cannot = (why: string): Planned => {
      const plan = new PlanBuilder()
      plan.not_restorable.push({ path: null, area: 'workspace', what: 'files of the workspace', why })
      return plan.build()
    }
    if (target.state === null) return cannot(`no state of it was captured for ${target.text}`)
    const root = await rootOfTarget(parts, target)
    if (root === null) return cannot('the workspace of that state is not known')
    if (!fs.existsSync(root)) return cannot(`${root} is not there any more`)
    // What is there now, before anything is decided: it also tells apart what somebody else did.
    const now = await parts.worker.call('captureWorkspace', root)
    return planWorkspace(
      {
        disk,
        states: parts.store.states,
        lastWriter: (file) => readLastChanger(parts.index(), file, target),
        hasSecret: (text) => parts.redactor.find(text).length > 0,
      },
      { root, target: target.state as TreeId, now, only },
    )
  }

  const configuration = async (
    request: RollbackRequest,
    target: RollbackTarget,
    manifest: Manifest,
  ): Promise<Planned> => {
    const { home } = target
    const runtime = target.runtime
    if (home === null || runtime === null)
      throw new RepriseError('not_found', `the home of ${target.text} is not known here`, 'name it with --of HOME')
    const areas = areasOf(parts, home, target.workspace)
    const now = await presentOf(parts, runtime, home, target.workspace, manifest)
    const adapter = parts.adapters.get(runtime)
    const homeId = homeIdOf(runtime, home)
    const { only } = request.scope
    return planConfiguration(
      {
        disk,
        files: parts.store.files,
        sharedFile: (file) => adapter?.sharedFile(home, file, target.workspace) ?? null,
        isSessionFile: (file) =>
          file.endsWith('.jsonl') &&
          (adapter?.watchPlaces(home, parts.surroundings) ?? []).some(
            ({ path: place, what }) => what === 'sessions' && isBelow(file, place),
          ),
        lastWriter: (file): Writer => readLastWriter(parts.index(), homeId, file, target),
        hasSecret: (text) => parts.redactor.find(text).length > 0,
      },
      {
        runtime,
        target: manifest,
        now,
        areas,
        scope: { home: request.scope.home === true, project: request.scope.project === true },
        only:
          only === undefined || only.length === 0
            ? null
            : only.map(({ path: one, key, hunks }) => ({
                path: one,
                ...(key === undefined ? {} : { key }),
                ...(hunks === undefined ? {} : { hunks }),
              })),
      },
    )
  }

  return createRollbacks({
    disk,
    journals: openJournals(path.join(parts.paths.dir, 'journal')),
    now: parts.now,
    randomId: () => randomBytes(6).toString('hex'),
    resolve,
    running: (target) => runningIn(parts, target),
    heldOpen: (paths) => findOpenFiles(paths, process.pid),
    protect: (record, paths) => parts.worker.call('protect', record, paths),
    update: (record) => parts.worker.call('updateRollback', record),
    records: () => parts.store.safety.list(),
    saved: (id) => parts.store.safety.paths(id),
    async verify(target, manifest) {
      if (target.runtime === null || target.home === null) return null
      const now = await presentOf(parts, target.runtime, target.home, target.workspace, manifest)
      return compareReached(manifest, now, target.home)
    },
    async wrote(record) {
      for (const { path: file, after, result } of record.paths)
        if (result === 'done')
          await parts.worker.call('noteEdit', { path: file, digest: after, why: `rolled back (${record.id})` })
      if (record.paths.some(({ area }) => area === 'workspace')) {
        const root = await rootOfTarget(parts, record.target)
        // From here on what the files are is known: nothing of it is taken for the next action's doing.
        if (root !== null) await parts.worker.call('captureWorkspace', root)
      }
      const refs = parts.homes.refs().filter((ref) => ref.path === record.target.home)
      if (refs.length > 0) await parts.worker.call('noteConfiguration', refs)
    },
    changed: () => parts.hub.send({ type: 'changed', tags: ['rollbacks', 'timeline', 'status', 'files', 'drift'] }),
    log: (message) => parts.log('warn', 'rollback', { message }),
  })
}

/** The directory whose files a state holds. */
async function rootOfTarget(parts: Parts, { run }: RollbackTarget): Promise<string | null> {
  if (run === null) return null
  const id = asRunId(run)
  const tip = await parts.store.commits.tip(id)
  const commit = tip === null ? null : await parts.store.commits.at(id, tip.seq)
  const row = parts
    .index()
    .sql('select path from workspaces where id = ?')
    .get(String(commit?.event.workspace ?? '')) as { path: string } | undefined
  return row?.path ?? null
}

const areasOf = (parts: Parts, home: string, workspace: string | null): Areas => ({
  home: fs.existsSync(home) ? fs.realpathSync(home) : home,
  workspace: workspace !== null && fs.existsSync(workspace) ? fs.realpathSync(workspace) : workspace,
  userHome: parts.surroundings.userHome,
})

/** The configuration as it is now for a start like that of the target. */
const presentOf = (
  parts: Parts,
  runtime: RuntimeName,
  home: string,
  workspace: string | null,
  { execution }: Manifest,
): Promise<Manifest> =>
  resolveNow(parts, {
    runtime,
    home,
    workspace: workspace !== null && fs.existsSync(workspace) ? workspace : home,
    flags: execution.flags ?? [],
    version: 'installed',
  })

/** Whether the text that enters is that of the target; and what of the configuration still differs. */
function compareReached(wanted: Manifest, now: Manifest, home: string) {
  const placements = { a: placementOf(wanted, home), b: placementOf(now, home) }
  const cover = relatePlaces(placements.a, placements.b)
  const { changes } = compareFields(
    { body: wanted, knowledge: knowledgeOf(wanted), cover: cover.a },
    { body: now, knowledge: knowledgeOf(now), cover: cover.b },
  )
  const known = changes.filter(({ unknown_on }) => unknown_on === null)
  const target = wanted.instructions.effective_digest
  const effective = now.instructions.effective_digest
  return {
    reached: target === null ? null : target === effective,
    target_digest: target,
    effective_digest: effective,
    differences: known
      .slice(0, 200)
      .map(({ path: field, before, after }) => ({ path: field, before: shown(before), after: shown(after) })),
    why: target === null ? 'the text that entered then is not known, so there is nothing to compare it with' : null,
  }
}

const shown = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value)

/** Agents at work where the target's files are. */
function runningIn(parts: Parts, { home, workspace }: RollbackTarget) {
  return parts.homes.list().flatMap(({ runtime, path: place }) => {
    const live = parts.adapters.get(runtime)?.describeHome(place, parts.surroundings).live ?? []
    return live
      .filter(({ pid }) => isAlive(pid))
      .flatMap(({ pid, session, cwd }) => {
        const inWorkspace = workspace !== null && cwd !== null && (cwd === workspace || isBelow(cwd, workspace))
        if (place !== home && !inWorkspace) return []
        const why = place === home ? 'it uses this home' : 'it works in this workspace'
        return [{ runtime, pid, session, cwd, why }]
      })
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function merge(pieces: readonly Planned[]): Planned {
  return {
    writes: pieces.flatMap(({ writes }) => writes),
    deletes: pieces.flatMap(({ deletes }) => deletes),
    kept: pieces.flatMap(({ kept }) => kept),
    conflicts: pieces.flatMap(({ conflicts }) => conflicts),
    not_restorable: pieces.flatMap(({ not_restorable }) => not_restorable),
    changes: new Map(pieces.flatMap(({ changes }) => [...changes])),
  }
}
