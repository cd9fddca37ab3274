import type { TreeId, WorkspaceId, WorkspaceState, WorkspaceStates } from '../../store/states.ts'
import { createBreathing } from './breathing.ts'
import type { IgnoreFile } from './ignore-rules.ts'
import {
  type FolderNode,
  filesBelow,
  type LeftOutNote,
  newFile,
  newFolder,
  nodeAt,
  placeFile,
  removePath,
  STALE,
} from './nodes.ts'
import { readStatCache, writeStatCache } from './stat-cache.ts'
import type { DirtyMark } from './unit-dirty.ts'
import type { TrackedFiles, Unit } from './units.ts'

/** What is remembered of a workspace while somebody works in it. */
export interface Memory {
  readonly id: WorkspaceId
  /** Absolute, latin1. */
  readonly root: string
  state: WorkspaceState | null
  readonly tree: FolderNode
  readonly units: Map<string, Unit>
  readonly tracked: Map<string, TrackedFiles>
  readonly ignoreFiles: Map<string, { readonly stamp: string; readonly file: IgnoreFile }>
  /** What should be in the state as it is now and could not be read. */
  readonly unread: Map<string, LeftOutNote>
  readonly dirty: Map<string, DirtyMark>
  /** Folders there was no time for; the next look begins with them. */
  unvisited: readonly string[]
  /** Since it was loaded everything was looked at. */
  walked: boolean
  /** Some files came from the user's objects and were not searched for secrets yet. */
  unsearched: boolean
  /** On the clock; null: never. */
  savedAt: number | null
}

interface MemoryParts {
  readonly states: WorkspaceStates
  readonly cacheFolder: string
  readonly clock: () => number
  readonly log: (message: string) => void
}

/** From the cache, brought up to the newest state; without one from the state alone, and then every file is read once. */
export async function loadMemory(parts: MemoryParts, id: WorkspaceId, root: string): Promise<Memory> {
  const state = await parts.states.tip(id)
  const cached = await readStatCache(parts.cacheFolder, id, root, createBreathing(parts.clock))
  let tree: FolderNode | null = null
  if (cached !== null && state !== null) {
    tree = cached.folder
    if (cached.tree !== state.tree)
      tree = await bringUpToDate(parts, tree, cached.tree as TreeId, state.tree).catch((error: unknown) => {
        parts.log(`the stat cache of ${id} is of a state that cannot be compared any more: ${error}`)
        return null
      })
  }
  if (tree === null) {
    tree = newFolder()
    if (state !== null)
      for await (const entry of parts.states.entries(state.tree))
        placeFile(tree, entry.path, newFile(entry.mode, entry.oid))
  }
  return {
    id,
    root,
    state,
    tree,
    units: new Map(),
    tracked: new Map(),
    ignoreFiles: new Map(),
    unread: new Map(),
    dirty: new Map(),
    unvisited: [],
    walked: false,
    unsearched: cached !== null && [...filesBelow(tree, '')].some(([, file]) => !file.searched),
    savedAt: cached !== null && cached.commit === state?.commit ? parts.clock() : null,
  }
}

async function bringUpToDate(parts: MemoryParts, tree: FolderNode, from: TreeId, to: TreeId): Promise<FolderNode> {
  for await (const { path, after } of parts.states.differences(from, to)) {
    if (after === null) removePath(tree, path)
    else placeFile(tree, path, newFile(after.mode, after.oid))
    // Names that come and go are told by the folder's times; here they came from elsewhere.
    const slash = path.lastIndexOf('/')
    const folder = nodeAt(tree, slash < 0 ? '' : path.slice(0, slash))
    if (folder?.kind === 'folder') folder.ctimeMs = STALE
  }
  return tree
}

export async function saveMemory(parts: Pick<MemoryParts, 'cacheFolder' | 'clock'>, memory: Memory): Promise<void> {
  const { state } = memory
  if (state === null) return
  const unfinished = new Set<string>()
  for (const path of memory.unread.keys()) {
    const slash = path.lastIndexOf('/')
    unfinished.add(slash < 0 ? '' : path.slice(0, slash))
    unfinished.add(path)
  }
  const head = { commit: state.commit, tree: state.tree, root: memory.root }
  await writeStatCache(parts.cacheFolder, memory.id, head, memory.tree, unfinished, createBreathing(parts.clock))
  memory.savedAt = parts.clock()
}
