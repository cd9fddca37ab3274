import type { PathSide } from '../../contract/index.ts'
import { type BytePath, codeOf, type Disk, type NewFile, parentOf, toText } from './disk.ts'
import type { Journal, JournalItem, Journals } from './journal.ts'
import { obstacleOn, type PathState, readState, sameContent, sameState } from './path-state.ts'

/** One path of an approved plan. */
export interface Change {
  readonly path: BytePath
  /** No folder below this one may be a link on the way to the path. */
  readonly root: BytePath
  /** What the plan saw; anything else there now is a conflict. */
  readonly before: PathState
  /** What is to be there; null: nothing. */
  readonly after: Wanted | null
  /** A folder that becomes empty by this deletion stays: it may have been empty before. */
  readonly leaveFolder?: true
}

export type Wanted =
  | { readonly side: PathSide & { readonly kind: 'file' }; readonly content: () => AsyncIterable<Uint8Array> }
  | { readonly side: PathSide & { readonly kind: 'link' }; readonly target: Buffer }

export type Applied =
  | {
      readonly outcome: 'done'
      readonly items: readonly AppliedItem[]
      /** Why names of old contents could not be cleared up yet; the next start does it. */
      readonly left: string | null
    }
  /** Nothing was changed. */
  | { readonly outcome: 'conflict'; readonly path: BytePath; readonly found: PathState; readonly why: string }
  /** Something failed; all is again as it was, but for the paths named. */
  | {
      readonly outcome: 'taken_back'
      readonly path: BytePath | null
      readonly why: string
      readonly left: readonly { readonly path: BytePath; readonly why: string }[]
    }

export interface AppliedItem {
  readonly path: BytePath
  readonly before: PathState
  readonly after: PathState
  /** Somebody wrote there between the check and the swap: the disk was left as it is. */
  readonly conflict: string | null
}

export interface ApplyParts {
  readonly disk: Disk
  readonly journals: Journals
}

/**
 * Puts a set of paths into their wanted states, all or none. Everything is prepared beside its target first; then it is decided, by one
 * durable write; then each is swapped in by a rename, deletions last (R01), with a second name on what was there until all is verified, so
 * that even somebody who writes in between loses nothing. A crash before the decision changes nothing; one after it is finished by `resume`.
 */
export async function applyChanges(parts: ApplyParts, id: string, changes: readonly Change[]): Promise<Applied> {
  const { disk, journals } = parts
  const early = await findConflict(disk, changes)
  if (early) return early
  const staged = stage(disk, id, changes)
  const wanted = new Map(changes.map(({ path, after }) => [encode(path), after]))
  await journals.write({ ...staged, phase: 'preparing' })
  try {
    for (const item of staged.items) await prepare(disk, item, wanted.get(item.path) ?? null)
    for (const folder of new Set(staged.items.map(({ staged: at }) => at).filter((at) => at !== null)))
      disk.syncFolder(parentOf(decode(folder)))
  } catch (error) {
    await abandon(parts, staged)
    return { outcome: 'taken_back', path: null, why: `it could not be prepared: ${messageOf(error)}`, left: [] }
  }
  const late = await findConflict(disk, changes)
  if (late) {
    await abandon(parts, staged)
    return late
  }
  try {
    await journals.write({ ...staged, phase: 'decided' })
  } catch (error) {
    await abandon(parts, staged)
    return { outcome: 'taken_back', path: null, why: `it could not be noted down: ${messageOf(error)}`, left: [] }
  }
  return carryOut(parts, staged)
}

/** Swaps what is decided, verifies, and clears up; on a failure takes everything back. */
async function carryOut(parts: ApplyParts, journal: Journal): Promise<Applied> {
  const { disk, journals } = parts
  const done: AppliedItem[] = []
  for (const item of inOrder(journal.items)) {
    try {
      done.push(await swap(disk, item))
    } catch (error) {
      const left = await takeBack(parts, journal)
      return { outcome: 'taken_back', path: decode(item.path), why: messageOf(error), left }
    }
  }
  // What is left over from here on is found and cleared up by the next start; what was wanted is in place.
  try {
    await journals.write({ ...journal, phase: 'verified' })
    await clearUp(parts, journal)
  } catch (error) {
    return { outcome: 'done', items: done, left: messageOf(error) }
  }
  return { outcome: 'done', items: done, left: null }
}

/**
 * Goes on where a crash ended an apply: undoes what was only prepared, finishes what was decided. `how` may be chosen by a person where
 * that failed before.
 */
export async function resume(parts: ApplyParts, journal: Journal, how: 'finish' | 'take_back'): Promise<Applied> {
  if (journal.phase === 'preparing') {
    await abandon(parts, journal)
    return { outcome: 'taken_back', path: null, why: 'it was interrupted before anything was changed', left: [] }
  }
  if (journal.phase === 'verified') {
    await clearUp(parts, journal)
    const items = journal.items.map(({ path, before, after }) => ({
      path: decode(path),
      before,
      after,
      conflict: null,
    }))
    return { outcome: 'done', items, left: null }
  }
  if (how === 'take_back' || journal.phase === 'taking_back') {
    const left = await takeBack(parts, journal)
    return { outcome: 'taken_back', path: null, why: 'it was interrupted and taken back', left }
  }
  return carryOut(parts, journal)
}

async function findConflict(
  disk: Disk,
  changes: readonly Change[],
): Promise<Extract<Applied, { outcome: 'conflict' }> | null> {
  const going = new Set(changes.filter(({ after }) => after === null).map(({ path }) => path))
  for (const { path, root, before, after } of changes) {
    const obstacle = obstacleOn(disk, root, path)
    // A file or link in the way is none when it goes with the same plan.
    if (obstacle !== null && !going.has(obstacle)) {
      const found = await readState(disk, obstacle)
      return { outcome: 'conflict', path, found, why: `${toText(obstacle)} is no folder` }
    }
    const found = obstacle === null ? await readState(disk, path) : null
    const isFolder = found?.kind === 'directory'
    if (isFolder && after !== null && (before === null || before.kind === 'directory')) {
      const inside = await whatStays(disk, path, going)
      if (inside !== null) return { outcome: 'conflict', path, found, why: `${toText(inside)} is in the way` }
      continue
    }
    if (!sameState(found, before)) return { outcome: 'conflict', path, found, why: 'it changed since it was looked at' }
  }
  return null
}

/** Something below a folder that the plan does not take away; null when it will be empty. */
async function whatStays(disk: Disk, folder: BytePath, going: ReadonlySet<BytePath>): Promise<BytePath | null> {
  for (const name of disk.list(folder)) {
    const at = `${folder}/${name}` as BytePath
    if (going.has(at)) continue
    if (!disk.lstat(at)?.isDirectory()) return at
    const inside = await whatStays(disk, at, going)
    if (inside !== null) return inside
  }
  return null
}

/** Where each new content waits and each old one stays: in the nearest folder that is there, so that a rename is all it takes. */
function stage(disk: Disk, id: string, changes: readonly Change[]): Omit<Journal, 'phase'> & { phase: 'preparing' } {
  const replaced = changes.filter(({ path, after }) => after !== null && disk.lstat(path)?.isDirectory() === true)
  const items: JournalItem[] = changes.map(({ path, root, before, after, leaveFolder }, index) => {
    // Nothing may wait in a folder that itself gives way to a file.
    const gone = replaced.find(({ path: folder }) => path.startsWith(`${folder}/`))
    const folder = nearestFolder(disk, gone?.path ?? path)
    const name = (end: string): string => encode(`${folder}/.reprise-${id}-${index}.${end}` as BytePath)
    return {
      path: encode(path),
      root: encode(root),
      before,
      after: after?.side ?? null,
      leave_folder: leaveFolder === true,
      staged: after === null ? null : name('new'),
      old: before === null || before.kind === 'directory' ? null : name('old'),
    }
  })
  const made = new Set<BytePath>()
  for (const { path, after } of changes) {
    if (after === null) continue
    for (let folder = parentOf(path); disk.lstat(folder)?.isDirectory() !== true; folder = parentOf(folder))
      made.add(folder)
  }
  const folders = [...made].sort((a, b) => a.length - b.length)
  return { v: 1, id, phase: 'preparing', made: folders.map(encode), items }
}

function nearestFolder(disk: Disk, path: BytePath): BytePath {
  let folder = parentOf(path)
  while (disk.lstat(folder)?.isDirectory() !== true) folder = parentOf(folder)
  return folder
}

async function prepare(disk: Disk, item: JournalItem, wanted: Wanted | null): Promise<void> {
  if (wanted === null || item.staged === null) return
  const at = decode(item.staged)
  if ('target' in wanted) {
    disk.symlink(wanted.target, at)
  } else {
    const stat = disk.lstat(decode(item.path))
    const like: NewFile = {
      mode: wanted.side.mode ?? (stat?.isFile() ? stat.mode & 0o7777 : 0o644),
      ...(stat?.isFile() ? { owner: { uid: stat.uid, gid: stat.gid } } : {}),
      // Only who may run it changes: for everything that compares times the content is the same.
      ...(stat?.isFile() && sameContent(item.before, item.after) ? { mtimeMs: stat.mtimeMs } : {}),
    }
    await disk.create(at, wanted.content(), like)
  }
  const made = await readState(disk, at)
  if (!sameContent(made, item.after)) throw new Error(`the content for ${toText(decode(item.path))} is not what it was`)
}

/**
 * What is in the way of something new goes first, deepest first; then everything new, outermost first; then everything else that goes, deepest
 * first, so that a failure finds as much as possible still there.
 */
function inOrder(items: readonly JournalItem[]): readonly JournalItem[] {
  const paths = items.map((item) => ({ item, path: decode(item.path) }))
  const coming = paths.filter(({ item }) => item.after !== null)
  const going = paths.filter(({ item }) => item.after === null).sort((a, b) => b.path.length - a.path.length)
  const inTheWay = going.filter(({ path }) =>
    coming.some(({ path: other }) => other.startsWith(`${path}/`) || path.startsWith(`${other}/`)),
  )
  const rest = going.filter((one) => !inTheWay.includes(one))
  return [...inTheWay, ...coming.sort((a, b) => a.path.length - b.path.length), ...rest].map(({ item }) => item)
}

/** One path. May be called again for one that was swapped already. */
async function swap(disk: Disk, item: JournalItem): Promise<AppliedItem> {
  const path = decode(item.path)
  const root = decode(item.root)
  const obstacle = obstacleOn(disk, root, path)
  if (obstacle !== null) {
    if (item.after === null) return { path, before: item.before, after: null, conflict: null }
    throw new Error(`${toText(obstacle)} is no folder any more`)
  }
  const found = await readState(disk, path)
  const swapped = await wasSwapped(disk, item, found)
  if (!swapped && item.after === null) {
    if (found !== null) {
      if (!sameState(found, item.before)) return { path, before: item.before, after: found, conflict: LATE }
      disk.rename(path, decode(required(item.old)))
      disk.syncFolder(parentOf(path))
    }
  } else if (!swapped) {
    if (found?.kind === 'directory') removeEmpty(disk, path)
    else if (!sameState(found, item.before)) return { path, before: item.before, after: found, conflict: LATE }
    makeFolders(disk, path)
    if (item.old !== null && found !== null && found.kind !== 'directory') keepOld(disk, path, decode(item.old))
    const staged = decode(required(item.staged))
    // Where nothing was nothing may be replaced: a second name fails where a rename would not.
    if (found === null || found.kind === 'directory') {
      if (item.after?.kind === 'link') disk.symlink(disk.readlink(staged), path)
      else disk.link(staged, path)
      disk.unlink(staged)
    } else disk.rename(staged, path)
    disk.syncFolder(parentOf(path))
  }
  const now = await readState(disk, path)
  if (!sameState(now, item.after)) throw new Error(`${toText(path)} is not what was written`)
  const old = item.old === null ? null : await readState(disk, decode(item.old))
  // Somebody had it open and wrote to it in the very moment: what they wrote is in the old one.
  if (old !== null && item.before !== null && !sameContent(old, item.before) && old.kind === 'file') {
    disk.rename(decode(required(item.old)), path)
    return { path, before: item.before, after: old, conflict: LATE }
  }
  return { path, before: item.before, after: now, conflict: null }
}
const LATE = 'somebody wrote to it while it was being replaced; it was left as they wrote it'

/** Nothing is staged any more, and what should be there is. */
async function wasSwapped(disk: Disk, item: JournalItem, found: PathState): Promise<boolean> {
  if (!sameState(found, item.after)) return false
  if (item.staged === null) return true
  const staged = decode(item.staged)
  const left = disk.lstat(staged)
  if (left === null) return true
  // Both names of one file: it was put in place, and the process ended before the other name went.
  if (left.isSymbolicLink() || left.ino === disk.lstat(decode(item.path))?.ino) {
    disk.unlink(staged)
    return true
  }
  return false
}

/** A second name for what is there; where the file system has none, a copy. */
function keepOld(disk: Disk, path: BytePath, old: BytePath): void {
  if (disk.lstat(old) !== null) return
  const stat = disk.lstat(path)
  if (stat?.isSymbolicLink()) {
    disk.symlink(disk.readlink(path), old)
    return
  }
  disk.link(path, old)
}

function makeFolders(disk: Disk, path: BytePath): void {
  const folder = parentOf(path)
  if (disk.lstat(folder)?.isDirectory() === true) return
  makeFolders(disk, folder)
  disk.mkdir(folder)
}

/** A folder all of whose files went with the same plan. */
function removeEmpty(disk: Disk, folder: BytePath): void {
  for (const name of disk.list(folder)) {
    const at = `${folder}/${name}` as BytePath
    if (disk.lstat(at)?.isDirectory() === true) removeEmpty(disk, at)
  }
  disk.rmdir(folder)
}

/** Everything that was swapped goes back; what cannot, with the reason. */
async function takeBack(
  parts: ApplyParts,
  journal: Journal,
): Promise<readonly { readonly path: BytePath; readonly why: string }[]> {
  const { disk, journals } = parts
  // Best effort: a disk that is full may refuse even this; then the next start decides by what is there.
  await journals.write({ ...journal, phase: 'taking_back' }).catch(() => {})
  const left: { path: BytePath; why: string }[] = []
  for (const item of [...inOrder(journal.items)].reverse()) {
    try {
      await putBack(disk, item, new Set(journal.made.map(decode)))
    } catch (error) {
      left.push({ path: decode(item.path), why: messageOf(error) })
    }
  }
  if (left.length === 0) await abandon(parts, journal)
  return left
}

async function putBack(disk: Disk, item: JournalItem, made: ReadonlySet<BytePath>): Promise<void> {
  const path = decode(item.path)
  const old = item.old === null ? null : decode(item.old)
  const found = await readState(disk, path)
  if (old !== null && disk.lstat(old) !== null) {
    if (found?.kind === 'directory' && made.has(path))
      for (const folder of [...made].filter((one) => `${one}/`.startsWith(`${path}/`)).sort(deepestFirst))
        removeIfEmpty(disk, folder)
    else if (found !== null && !sameState(found, item.after) && !sameState(found, item.before))
      throw new Error(`somebody wrote to it meanwhile; what was there before is ${toText(old)}`)
    makeFolders(disk, path)
    disk.rename(old, path)
    disk.syncFolder(parentOf(path))
    return
  }
  if (item.before === null && item.after !== null && sameState(found, item.after)) {
    disk.unlink(path)
    disk.syncFolder(parentOf(path))
  }
}

/** Takes away what was prepared; nothing else was touched, or all of it is back. */
async function abandon({ disk, journals }: ApplyParts, journal: Journal): Promise<void> {
  for (const { staged, old } of journal.items)
    for (const at of [staged, old]) if (at !== null) removeName(disk, decode(at))
  for (const folder of [...journal.made].reverse()) removeIfEmpty(disk, decode(folder))
  await journals.remove(journal.id)
}

/** All is in place: the old names go, and folders that are empty because of it. */
async function clearUp({ disk, journals }: ApplyParts, journal: Journal): Promise<void> {
  const emptied = new Set<BytePath>()
  for (const { staged, old, path, after, root, leave_folder } of journal.items) {
    for (const at of [staged, old]) if (at !== null) removeName(disk, decode(at))
    if (after !== null || leave_folder) continue
    for (let folder = parentOf(decode(path)); folder.length > decode(root).length; folder = parentOf(folder))
      emptied.add(folder)
  }
  for (const folder of [...emptied].sort(deepestFirst)) removeIfEmpty(disk, folder)
  await journals.remove(journal.id)
}

function removeName(disk: Disk, at: BytePath): void {
  const stat = disk.lstat(at)
  if (stat !== null && !stat.isDirectory()) disk.unlink(at)
}

function removeIfEmpty(disk: Disk, folder: BytePath): void {
  if (disk.lstat(folder)?.isDirectory() !== true || disk.list(folder).length > 0) return
  try {
    disk.rmdir(folder)
  } catch (error) {
    // Somebody put something there in this moment.
    if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error
  }
}

const deepestFirst = (a: BytePath, b: BytePath): number => b.length - a.length

const encode = (at: BytePath): string => Buffer.from(at, 'latin1').toString('base64')
export const decode = (base64: string): BytePath => Buffer.from(base64, 'base64').toString('latin1') as BytePath
const required = (value: string | null): string => {
  if (value === null) throw new Error('the journal names no place for it')
  return value
}
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
