import type { StateAbout } from '../../store/states.ts'
import { eachFolder, type FolderNode, type LeftOutNote } from './nodes.ts'
import type { DirtyMark } from './unit-dirty.ts'
import type { Unit } from './units.ts'

/** So many paths are named beside a state; all are counted. A list without end in every record is how a log explodes (B05). */
const MOST_NAMED = 500

export interface AboutInput {
  readonly workspace: StateAbout['workspace']
  readonly path: string
  readonly at: string
  readonly tree: FolderNode
  readonly unread: ReadonlyMap<string, LeftOutNote>
  readonly units: Iterable<Unit>
  readonly dirty: ReadonlyMap<string, DirtyMark>
  readonly partial: string | null
}

/** Everything that is told of a state beside its files. Cost follows the number of folders. */
export function describeState({ tree, unread, units, dirty, ...input }: AboutInput): StateAbout {
  const leftOut: { path: string; reason: string; why: string; bytes: number | null }[] = []
  let leftOutCount = 0
  const emptyFolders: string[] = []
  let files = 0
  let bytes = 0
  const name = (path: string, note: LeftOutNote): void => {
    leftOutCount += 1
    if (leftOut.length < MOST_NAMED)
      leftOut.push({ path: note.folder ? `${path}/` : path, reason: note.reason, why: note.why, bytes: note.bytes })
  }
  // What is missing though it should be there comes before what is left out on purpose.
  for (const [path, note] of unread) name(path, note)
  eachFolder(tree, '', (path, folder) => {
    files += folder.files
    bytes += folder.bytes
    if (folder.names === 0 && path !== '' && folder.dotGit === null) emptyFolders.push(path)
    if (folder.others.size > 0)
      for (const [own, note] of folder.others) name(path === '' ? own : `${path}/${own}`, note)
  })
  const told = [...units]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, kind, head, branch }) => ({ path, kind, head, branch, dirty: dirty.get(path)?.dirty ?? null }))
  return {
    v: 1,
    workspace: input.workspace,
    path: input.path,
    at: input.at,
    leftOut,
    leftOutCount,
    partial: input.partial,
    units: told.some(({ path }) => path === '')
      ? told
      : [{ path: '', kind: 'plain', head: null, branch: null, dirty: null }, ...told],
    emptyFolders: emptyFolders.sort(),
    files,
    bytes,
  }
}

/**
 * Whether `now` has nothing new to say. The time, and the sizes of what is left out, are no news; neither is what was not known before of
 * a repository being dirty, which goes into the next state there is a reason for.
 */
export function saysTheSame(before: StateAbout, now: StateAbout): boolean {
  const plain = (about: StateAbout) =>
    JSON.stringify({
      ...about,
      at: '',
      leftOut: about.leftOut.map((one) => ({ ...one, bytes: 0 })),
      units: about.units.map((unit, at) => (before.units[at]?.dirty === null ? { ...unit, dirty: null } : unit)),
    })
  return plain(before) === plain(now)
}
