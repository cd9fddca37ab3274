import type { PathSide, Writer } from '../../contract/index.ts'
import type { StateAbout, StateDifference, StateEntry, TreeId, WorkspaceStates } from '../store/states.ts'
import type { Wanted } from './apply.ts'
import { asBytePath, type BytePath, type Disk, fromText, parentOf, toText } from './disk.ts'
import { countLines } from './merge-text.ts'
import { type PathState, readState, sameState } from './path-state.ts'
import { PlanBuilder, type Planned, type PlannedChange, shownPath } from './planned.ts'

export interface WorkspaceRequest {
  /** Absolute path, as text. */
  readonly root: string
  readonly target: TreeId
  /** The state that was taken of the disk just now. */
  readonly now: { readonly tree: TreeId; readonly about: StateAbout }
  /** Only these paths, and what is below them: asked for by name, so who wrote them since is no question. Null: all. */
  readonly only: readonly string[] | null
}

export interface WorkspaceParts {
  readonly disk: Disk
  readonly states: Pick<WorkspaceStates, 'differences' | 'kept' | 'read' | 'digest'>
  /** Who last changed a path after the target; null: no action is known to have. `own`: the run the target is a point of. */
  readonly lastWriter: (
    path: string,
  ) => { readonly writer: Writer; readonly own: boolean; readonly created: boolean } | null
  readonly hasSecret: (text: string) => boolean
}

const LONGEST_TEXT = 256 * 1024
const SHOWN_LEFT_OUT = 500

/**
 * What would bring the files of a workspace back to a captured state. Only what is known goes: a path the target did not have is deleted only
 * if an action of the same run is known to have made it since; what somebody else wrote since is a conflict (B01, B03).
 */
export async function planWorkspace(parts: WorkspaceParts, request: WorkspaceRequest): Promise<Planned> {
  const plan = new PlanBuilder()
  const root = fromText(request.root)
  for await (const difference of parts.states.differences(request.target, request.now.tree))
    if (isAsked(request, difference.path)) await planDifference(parts, plan, root, difference, request.only !== null)
  if (request.only === null)
    for (const { path, why } of request.now.about.leftOut.slice(0, SHOWN_LEFT_OUT))
      plan.kept.push({
        ...shownPath(asBytePath(`${root}/${path.replace(/\/$/, '')}`)),
        area: 'workspace',
        why,
        deletable: false,
      })
  return plan.build()
}

async function planDifference(
  parts: WorkspaceParts,
  plan: PlanBuilder,
  root: BytePath,
  { path, before: wanted, after: present }: StateDifference,
  named: boolean,
): Promise<void> {
  const at = asBytePath(`${root}/${path}`)
  const shown = shownPath(at)
  const found = await readState(parts.disk, at)
  const last = parts.lastWriter(toText(at))
  if (wanted === null) return planExtra(plan, { at, root, found, last, named })
  const target = await wantedOf(parts, wanted, found, at)
  if (target === null) {
    const kept = await parts.states.kept(wanted)
    const why = kept.as === 'unkept' ? `its content was not kept: ${kept.why}` : 'its content is not kept'
    plan.not_restorable.push({ path: shown.path, area: 'workspace', what: shown.path, why })
    return
  }
  if (sameState(found, target.side)) return
  const texts = await textsOf(parts, at, found, wanted)
  const change = { path: at, root, before: found?.kind === 'directory' ? null : found, after: target }
  plan.changes.set(shown.path, { area: 'workspace', key: null, change, texts })
  // What is there now and was seen is an action's of this run, or somebody else's.
  if (last?.own !== true && !named) {
    plan.conflicts.push({
      ...shown,
      area: 'workspace',
      expected: target.side.digest,
      found: found?.digest ?? null,
      last_writer: last?.writer ?? { who: 'unknown', run: null, seq: null, at: null },
      why:
        last === null
          ? 'it was changed after the target, by no action that is known'
          : present === null
            ? 'another run deleted it after the target'
            : 'another run wrote to it after the target',
      choices: texts.disk === null || texts.target === null ? ['disk', 'target'] : ['disk', 'target', 'hunks'],
      after: target.side,
    })
    return
  }
  const lines = texts.disk === null || texts.target === null ? null : countLines(texts.disk, texts.target)
  plan.writes.push({
    ...shown,
    area: 'workspace',
    change: changeOf(found, target.side),
    key: null,
    before: found,
    after: target.side,
    added_lines: lines?.added ?? null,
    removed_lines: lines?.removed ?? null,
    keeps: [],
    warnings: [],
    ticked: true,
  })
}

interface Extra {
  readonly at: BytePath
  readonly root: BytePath
  readonly found: PathState
  readonly last: ReturnType<WorkspaceParts['lastWriter']>
  readonly named: boolean
}

/** A path of now that the target does not have. */
function planExtra(plan: PlanBuilder, { at, root, found, last, named }: Extra): void {
  if (found === null || found.kind === 'directory') return
  const shown = shownPath(at)
  const change: PlannedChange = {
    area: 'workspace',
    key: null,
    change: { path: at, root, before: found, after: null },
    texts: { disk: null, target: null, why: null },
  }
  plan.changes.set(shown.path, change)
  if (last?.created && (last.own || named))
    plan.deletes.push({
      ...shown,
      area: 'workspace',
      before: found,
      why: 'an action of this run made it after the target',
      ticked: true,
    })
  else
    plan.kept.push({
      ...shown,
      area: 'workspace',
      why:
        last === null
          ? 'it is not part of that state, and no action is known to have made it'
          : 'it is not part of that state; another run made it',
      deletable: true,
    })
}

function isAsked({ only, root }: WorkspaceRequest, path: string): boolean {
  if (only === null) return true
  const full = `${fromText(root)}/${path}`
  return only.some((one) => full === fromText(one) || full.startsWith(`${fromText(one)}/`))
}

async function wantedOf(
  parts: WorkspaceParts,
  entry: StateEntry,
  found: PathState,
  at: BytePath,
): Promise<Wanted | null> {
  const kept = await parts.states.kept(entry)
  if (kept.as === 'unkept') return null
  const digest = await parts.states.digest(entry)
  if (entry.mode === '120000') {
    const target = Buffer.concat(await collect(parts.states.read(entry)))
    return { side: { kind: 'link', digest, mode: null, bytes: target.length }, target }
  }
  const bytes = kept.as === 'blob' ? null : kept.bytes
  const side = { kind: 'file' as const, digest, mode: modeOf(parts.disk, entry, found, at), bytes }
  return { side, content: () => parts.states.read(entry) }
}

/** Git remembers who may run a file; who may read and write it is what it is now, or what its folder allows. */
function modeOf(disk: Disk, { mode }: StateEntry, found: PathState, at: BytePath): number {
  const folder = disk.lstat(parentOf(at))
  const base = found?.kind === 'file' && found.mode !== null ? found.mode : (folder?.mode ?? 0o755) & 0o644
  return mode === '100755' ? base | ((base & 0o444) >> 2) : base & ~0o111
}

function changeOf(found: PathState, after: PathSide): 'add' | 'change' | 'mode' | 'type' {
  if (found === null) return 'add'
  if (found.kind !== after.kind) return 'type'
  return found.digest === after.digest ? 'mode' : 'change'
}

async function textsOf(
  parts: WorkspaceParts,
  at: BytePath,
  found: PathState,
  entry: StateEntry,
): Promise<PlannedChange['texts']> {
  const none = (why: string) => ({ disk: null, target: null, why })
  const kept = await parts.states.kept(entry)
  if (kept.as === 'vault') return none('it holds a secret')
  if (kept.as !== 'blob' || (found?.bytes ?? 0) > LONGEST_TEXT) return none('it is too long to be shown')
  if (entry.mode === '120000' || (found !== null && found.kind !== 'file')) return none('it is no text')
  const target = Buffer.concat(await collect(parts.states.read(entry)))
  const disk = found === null ? Buffer.alloc(0) : Buffer.concat(await collect(parts.disk.read(at)))
  if (target.length > LONGEST_TEXT) return none('it is too long to be shown')
  for (const side of [target, disk]) {
    const text = side.toString('utf8')
    if (side.includes(0) || !Buffer.from(text).equals(side)) return none('it is no text')
    if (parts.hasSecret(text)) return none('it holds a secret')
  }
  return { disk: disk.toString('utf8'), target: target.toString('utf8'), why: null }
}

async function collect(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const all: Uint8Array[] = []
  for await (const chunk of chunks) all.push(chunk)
  return all
}
