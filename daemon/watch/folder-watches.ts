import { watch } from 'node:fs'
import { codeOf } from './scan-changes.ts'
import { isExhausted } from './watch-limits.ts'

/** Opens one watch on one folder; throws when the system refuses. `name` is null when the system does not say what changed. */
export type WatchFolder = (
  path: string,
  onEvent: (name: string | null) => void,
  onError: (error: unknown) => void,
) => { close(): void }

export const watchFolder: WatchFolder = (path, onEvent, onError) => {
  const watcher = watch(path, { persistent: false })
  watcher.on('change', (_kind, name) => onEvent(typeof name === 'string' ? name : null))
  watcher.on('error', onError)
  return watcher
}

export interface FolderWatches {
  /** Makes the watched set the longest affordable prefix of `wish` (most wanted first); those already watched stay open. */
  keep(wish: readonly string[], budget: number): void
  has(folder: string): boolean
  /** Closes the watch of a folder that is gone; the next `keep` may open it anew. */
  drop(folder: string): void
  readonly size: number
  /** The failure that stopped further watches, if one did. */
  readonly exhaustedBy: unknown
  /** Folders that could not be watched for reasons of their own. */
  readonly refused: ReadonlyMap<string, unknown>
  close(): void
}

/**
 * One watch per folder, none per file, so that a home costs by its folders in use and not by its history. Opening and closing
 * errors are kept as values: a watcher must not end the daemon (B23).
 */
export function openFolderWatches(
  open: WatchFolder,
  onEvent: (folder: string, name: string | null) => void,
): FolderWatches {
  const held = new Map<string, { close(): void }>()
  const refused = new Map<string, unknown>()
  let exhaustedBy: unknown = null

  function shut(folder: string): void {
    const watcher = held.get(folder)
    held.delete(folder)
    try {
      watcher?.close()
    } catch {
      // The folder went first: some systems then refuse to close its watch. It is gone either way.
    }
  }

  function tryOpen(folder: string): boolean {
    try {
      const watcher = open(
        folder,
        (name) => onEvent(folder, name),
        (error) => {
          shut(folder)
          refused.set(folder, error)
          onEvent(folder, null)
        },
      )
      held.set(folder, watcher)
      refused.delete(folder)
      return true
    } catch (error) {
      if (isExhausted(error)) {
        exhaustedBy = error
        return false
      }
      if (codeOf(error) !== 'ENOENT') refused.set(folder, error)
      return true
    }
  }

  return {
    keep(wish, budget) {
      const affordable = wish.slice(0, Math.max(0, budget))
      const wanted = new Set(affordable)
      for (const folder of [...held.keys()]) if (!wanted.has(folder)) shut(folder)
      for (const folder of [...refused.keys()]) if (!wanted.has(folder)) refused.delete(folder)
      exhaustedBy = null // perhaps another program gave some back: one attempt tells
      for (const folder of affordable) if (!held.has(folder) && !tryOpen(folder)) break
    },
    has: (folder) => held.has(folder),
    drop: shut,
    get size() {
      return held.size
    },
    get exhaustedBy() {
      return exhaustedBy
    },
    refused,
    close() {
      for (const folder of [...held.keys()]) shut(folder)
    },
  }
}
