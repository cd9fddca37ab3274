import { RepriseError } from '../../../contract/index.ts'
import type { FileMode, StateAbout, StateChange, WorkspaceState } from '../../store/states.ts'
import { describeState, saysTheSame } from './about.ts'
import { createBreathing } from './breathing.ts'
import { toLatin1 } from './bytes.ts'
import { IgnoreFile } from './ignore-rules.ts'
import type { Look, LookParts, LookRequest, PathChange } from './look.ts'
import type { Memory } from './memory.ts'
import { dropChild, type FileNode, filesBelow, STALE } from './nodes.ts'
import type { WorkspacePlace } from './places.ts'
import { type ContentParts, type Stamp, type Taken, takeContent } from './read-content.ts'
import { isWorthSeeding, seedFromRepositories } from './seed.ts'
import { judgeUnits } from './unit-dirty.ts'
import { type Candidate, type WalkFound, WorkspaceGone, walkWorkspace } from './walk.ts'

/** What a state may hold, unless the settings say otherwise. */
export const DEFAULT_BUDGET = { files: 200_000, bytes: 4_000_000_000, seconds: 30 } as const

/** So much content is held in memory before it goes to the store; what follows is a further state. */
const BATCH_BYTES = 64 << 20
/** Of the time of a look; the rest is for reading, so that each look gets on with something. */
const WALK_SHARE = 0.7

export async function takeState(
  parts: LookParts,
  memory: Memory,
  place: WorkspacePlace,
  request: LookRequest,
): Promise<Look> {
  const started = parts.clock()
  const settings = parts.settings()
  const budget = { ...DEFAULT_BUDGET, ...dropUndefined(settings.workspace_budget ?? {}) }
  const stopAt = Math.min(request.deadline ?? Number.POSITIVE_INFINITY, started + budget.seconds * 1000)
  const breathe = createBreathing(parts.clock)
  const hint = memory.walked && memory.state !== null && request.hint !== null ? cleanHint(request.hint) : null
  const before = memory.state

  let found: WalkFound
  try {
    found = await walkWorkspace(
      {
        root: memory.root,
        tree: memory.tree,
        excludes: new IgnoreFile((settings.workspace_excludes ?? []).map(toLatin1).join('\n')),
        units: memory.units,
        tracked: memory.tracked,
        ignoreFiles: memory.ignoreFiles,
        unread: memory.unread,
        mostFiles: budget.files,
        now: () => parts.now().getTime(),
        clock: parts.clock,
        stopAt: started + (stopAt - started) * WALK_SHARE,
        breathe,
      },
      hint,
      memory.unvisited,
    )
  } catch (error) {
    if (!(error instanceof WorkspaceGone)) throw error
    throw new RepriseError('not_found', `${place.path} is not there any more.`)
  }
  if (hint === null) {
    memory.unvisited = found.unvisited
    memory.walked = found.unvisited.length === 0
  }

  const taking = new Taking(parts, memory, place)
  for (const { path, node, reported } of found.removals) {
    taking.changes.push({ path, gone: true })
    if (reported) for (const [below, file] of filesBelow(node, path)) taking.told.push(deletion(below, file))
  }
  const content: ContentParts = {
    workspace: place.id,
    level: parts.collection(place.path),
    large: parts.large,
    vault: parts.vault,
    redactor: parts.redactor,
    now: parts.now,
    breathe,
  }
  let candidates: readonly Candidate[] = found.candidates
  if (parts.seed !== null && before === null && content.level !== 'digests' && isWorthSeeding(candidates)) {
    const seenAt = parts.now().getTime() - (parts.clock() - started) // the stats were taken after this
    await seedFromRepositories(parts.seed, memory.root, memory.units.values(), memory.tracked, candidates, breathe)
    candidates = candidates.filter((candidate) => !taking.seed(candidate, seenAt))
  }
  let bytesRead = 0
  const over = { files: 0, bytes: 0 }
  for (const candidate of candidates) {
    const late = parts.clock() > stopAt
    if (late || bytesRead + candidate.bytes > budget.bytes) {
      over.files += 1
      over.bytes += candidate.bytes
      const limit = late ? 'no time was left for it' : `over the limit of ${budget.bytes} new bytes`
      taking.leaveUnread(candidate, 'budget', `${limit}; it follows with a later look`)
      continue
    }
    bytesRead += candidate.bytes
    const node = candidate.folder.children.get(candidate.name)
    // What was never searched for secrets is searched now, also when it is the blob the state has.
    const known = node?.kind === 'file' && node.searched ? { key: node.key, mode: node.mode } : null
    const taken = await takeContent(content, `${memory.root}/${candidate.path}`, candidate.path, known)
    const isNew = await taking.take(candidate, node?.kind === 'file' ? node : null, taken)
    if (!isNew) bytesRead -= candidate.bytes
    if (taking.stored >= BATCH_BYTES) await taking.append('it is still being captured')
    const pause = breathe()
    if (pause !== null) await pause
  }

  await judgeUnits(
    parts.seed?.git ?? null,
    memory,
    taking.told.map(({ path }) => path),
    hint === null && (before !== null || !isWorthSeeding(found.candidates)),
  )
  const partial = describePartial(memory, found, over, budget.files)
  await taking.finish(partial)
  const state = memory.state
  if (state === null) throw new Error('a look ended without a state')
  const changes = before === null ? [] : await withDigests(parts, before, taking.told)
  return {
    state,
    before,
    changes,
    about: state.about,
    ms: parts.clock() - started,
    walked: found.looked,
  }
}

interface Told extends Omit<PathChange, 'before'> {
  /** The content was told by the state before. */
  readonly had: boolean
}

const deletion = (path: string, file: FileNode): Told => ({
  path,
  change: 'delete',
  had: true,
  after: null,
  beforeMode: file.mode,
  afterMode: null,
  mtimeMs: null,
  bytes: null,
})

/** Changes on their way into a state, and the memory that follows them. */
class Taking {
  changes: StateChange[] = []
  readonly told: Told[] = []
  stored = 0

  constructor(
    private readonly parts: LookParts,
    private readonly memory: Memory,
    private readonly place: WorkspacePlace,
  ) {}

  /** Takes a file by the id of a blob that is in our store. False: it is to be read. */
  seed({ path, name, folder, stat, oid }: Candidate, seenAt: number): boolean {
    if (oid === null || folder.children.has(name)) return false
    const { size, mtimeMs, ctimeMs, ino } = stat
    const mode: FileMode =
      (stat.mode & 0o170000) === 0o120000 ? '120000' : (stat.mode & 0o100) !== 0 ? '100755' : '100644'
    const searched = mode === '120000'
    if (!searched) this.memory.unsearched = true
    folder.children.set(name, { kind: 'file', mode, key: oid, size, mtimeMs, ctimeMs, ino, seenAt, searched })
    folder.files += 1
    folder.bytes += size
    this.memory.unread.delete(path)
    this.changes.push({ path, mode, oid })
    return true
  }

  leaveUnread(candidate: Candidate, reason: 'budget' | 'unreadable', why: string): void {
    this.memory.unread.set(candidate.path, { reason, why, bytes: candidate.bytes, folder: false })
    const node = candidate.folder.children.get(candidate.name)
    if (node?.kind === 'file') node.ctimeMs = STALE
  }

  /** False: the state has it already. */
  async take(candidate: Candidate, node: FileNode | null, taken: Taken): Promise<boolean> {
    const { folder, name, path } = candidate
    if (taken.is === 'unreadable') {
      const kept = node === null ? '' : '; its last known content is kept'
      this.leaveUnread(candidate, 'unreadable', taken.why + kept)
      return false
    }
    this.memory.unread.delete(path)
    if (taken.is === 'gone' || taken.is === 'other') {
      // Whatever is there now is found when the folder is listed again.
      folder.names = null
      if (node === null) return false
      dropChild(folder, name)
      folder.others.delete(name)
      this.changes.push({ path, gone: true })
      this.told.push(deletion(path, node))
      return false
    }
    const note = taken.note
    if (note !== null) folder.others.set(name, note)
    else if (folder.others.get(name)?.reason === 'credential') folder.others.delete(name)
    const same =
      node !== null &&
      node.mode === taken.mode &&
      (node.key === taken.key || (await this.keyOfState(node, path)) === taken.key)
    if (node === null) {
      folder.children.set(name, { kind: 'file', mode: taken.mode, key: taken.key, searched: true, ...taken.stamp })
      folder.files += 1
      folder.bytes += taken.stamp.size
    }
    if (!same) {
      this.changes.push(taken.change)
      this.stored += taken.stored
    }
    // Only kept in another way, as a secret was found in it: nothing happened on the disk.
    const keptOtherwise = node !== null && node.mode === taken.mode && node.key === taken.blob
    if (!same && !keptOtherwise) {
      this.told.push({
        path,
        change: kindOfChange(node, taken.mode, node?.key === taken.key),
        had: node !== null,
        after: taken.digest,
        beforeMode: node?.mode ?? null,
        afterMode: taken.mode,
        mtimeMs: taken.stamp.mtimeMs,
        bytes: taken.stamp.size,
      })
    }
    if (node !== null) refresh(folder, node, taken.mode, taken.key, taken.stamp)
    return !same
  }

  /** A node that was made from a state knows only the id of the entry; what stands behind a pointer is asked when it matters. */
  private async keyOfState(node: FileNode, path: string): Promise<string> {
    const { state } = this.memory
    if (state === null || node.ctimeMs !== STALE || !/^[0-9a-f]{40}$/.test(node.key)) return node.key
    const kept = await this.parts.states.kept({ path, mode: node.mode, oid: node.key })
    switch (kept.as) {
      case 'blob':
        return node.key
      case 'large':
        return `large:${kept.digest}`
      case 'vault':
        return `vault:${kept.mark}`
      case 'unkept':
        return `unkept:${kept.mark}`
    }
  }

  /** What is there so far as a state. */
  async append(partial: string | null): Promise<void> {
    const about = this.about(partial)
    const changes = this.changes
    this.changes = []
    this.stored = 0
    this.memory.state = await this.parts.states.append(this.place.id, this.memory.state?.commit ?? null, changes, about)
  }

  async finish(partial: string | null): Promise<void> {
    const { state } = this.memory
    if (state !== null && this.changes.length === 0 && saysTheSame(state.about, this.about(partial))) return
    await this.append(partial)
  }

  private about(partial: string | null): StateAbout {
    return describeState({
      workspace: this.place.id,
      path: this.memory.root,
      at: this.parts.now().toISOString(),
      tree: this.memory.tree,
      unread: this.memory.unread,
      units: this.memory.units.values(),
      dirty: this.memory.dirty,
      partial,
    })
  }
}

function refresh(folder: { bytes: number }, node: FileNode, mode: FileMode, key: string, stamp: Stamp): void {
  folder.bytes += stamp.size - node.size
  Object.assign(node, { mode, key, searched: true, ...stamp })
}

function kindOfChange(node: FileNode | null, mode: FileMode, sameContent: boolean): PathChange['change'] {
  if (node === null) return 'add'
  if ((node.mode === '120000') !== (mode === '120000')) return 'type'
  return sameContent ? 'mode' : 'change'
}

/** The digests of what was there before, from the state; not told where it is a secret. */
async function withDigests(parts: LookParts, before: WorkspaceState, told: readonly Told[]): Promise<PathChange[]> {
  const changes: PathChange[] = []
  for (const { had, ...change } of told) {
    const entry = had ? await parts.states.entry(before.tree, change.path) : null
    const digest = entry === null ? null : await parts.states.digest(entry)
    const after = change.change === 'mode' && change.after === null ? digest : change.after
    changes.push({ ...change, before: digest, after })
  }
  return changes
}

function describePartial(
  memory: Memory,
  found: WalkFound,
  over: { readonly files: number; readonly bytes: number },
  mostFiles: number,
): string | null {
  const said: string[] = []
  if (over.files > 0)
    said.push(`${over.files} files (${over.bytes} bytes) were over the limit and follow with a later look`)
  const unreadable = [...memory.unread.values()].filter(({ reason }) => reason !== 'budget').length
  if (unreadable > 0) said.push(`${unreadable} could not be read`)
  const waiting = memory.unread.size - unreadable - over.files
  if (waiting > 0) said.push(`${waiting} of an earlier look are still to follow`)
  if (memory.unvisited.length > 0)
    said.push(`no time was left to look into ${memory.unvisited.length} folders: ${nameSome(memory.unvisited)}`)
  if (found.overFiles > 0) said.push(`${found.overFiles} new ones are over the limit of ${mostFiles} files`)
  return said.length === 0 ? null : said.join('; ')
}

const nameSome = (paths: readonly string[]): string =>
  paths.length <= 5
    ? paths.map(shownFolder).join(', ')
    : `${paths.slice(0, 5).map(shownFolder).join(', ')} and ${paths.length - 5} more`

const shownFolder = (path: string): string => (path === '' ? '.' : path)

/** Relative, without `.` and empty parts; what leads out is dropped, as nothing of it is captured. */
const cleanHint = (hint: readonly string[]): readonly string[] =>
  hint.flatMap((path) => {
    const parts = path.split('/').filter((part) => part !== '' && part !== '.')
    return path.startsWith('/') || parts.includes('..') ? [] : [parts.join('/')]
  })

const dropUndefined = <T extends object>(given: T): Partial<{ [K in keyof T]: NonNullable<T[K]> }> =>
  Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<{
    [K in keyof T]: NonNullable<T[K]>
  }>
