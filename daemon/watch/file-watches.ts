import { watch } from 'chokidar'
import { isExhausted } from './watch-limits.ts'

/** What chokidar is asked to do; injected so that tests can choose faults. */
export type WatchTree = (
  path: string,
  depth: number,
  ignored: (path: string) => boolean,
  onEvent: (path: string) => void,
  onError: (error: unknown) => void,
) => { readonly ready: Promise<void>; close(): Promise<void> }

export const watchTree: WatchTree = (path, depth, ignored, onEvent, onError) => {
  // `atomic` would hold a removal back for 100 ms; every event is checked against the disk anyway. `persistent: false` would
  // leave chokidar's watchers without an error listener (5.0.0), and their first error would end the daemon.
  const watcher = watch(path, { depth, ignored, ignoreInitial: true, atomic: false, persistent: true })
  watcher.on('all', (_event, changed) => onEvent(changed))
  watcher.on('error', onError)
  const ready = new Promise<void>((resolve) => watcher.once('ready', resolve))
  return { ready, close: () => watcher.close() }
}

export interface FileWatches {
  /** Everything below the place is watched, or failed to be. */
  readonly ready: Promise<void>
  /** Watches held: chokidar takes one per file and one per folder. */
  readonly held: number
  /** Something below the place is left to polling, for want of budget or after a failure. */
  readonly incomplete: boolean
  readonly failure: unknown
  /** Forgets admitted paths that are gone, so that churn of temporary files does not use up the budget. */
  prune(exists: (path: string) => boolean): void
  close(): void
}

/** Folders that are never configuration, however deep a place reaches. */
const neverEntered = /[\\/](?:node_modules|\.git)(?:[\\/]|$)/

/**
 * chokidar over one small place of configuration. It must not grow past its budget (B23), so paths are admitted one by one, and
 * must not climb: for a path that is missing chokidar watches the nearest folder above, which would be the user's whole home.
 */
export function openFileWatches(
  open: WatchTree,
  place: { readonly path: string; readonly depth: number },
  budget: () => number,
  onEvent: (path: string) => void,
  onFailure: () => void,
): FileWatches {
  const admitted = new Set<string>()
  let overBudget = false
  let failed = 0
  let failure: unknown = null
  const below =
    place.path.endsWith('/') || place.path.endsWith('\\') ? place.path : place.path + separatorOf(place.path)

  function ignored(path: string): boolean {
    if (path !== place.path && !path.startsWith(below)) return true
    if (admitted.has(path)) return false
    if (neverEntered.test(path.slice(place.path.length))) return true
    if (isExhausted(failure) || budget() <= 0) {
      overBudget = true
      return true
    }
    admitted.add(path)
    return false
  }

  const watcher = open(place.path, place.depth, ignored, onEvent, (error) => {
    failed += 1
    if (!isExhausted(failure)) failure = error
    onFailure()
  })

  return {
    ready: watcher.ready,
    get held() {
      return Math.max(0, admitted.size - failed)
    },
    get incomplete() {
      return overBudget || failed > 0
    },
    get failure() {
      return failure
    },
    prune(exists) {
      for (const path of admitted) if (path !== place.path && !exists(path)) admitted.delete(path)
    },
    close() {
      watcher.close().catch(() => undefined) // a place that vanished first must not end the daemon
    },
  }
}

function separatorOf(path: string): string {
  return path.includes('\\') && !path.includes('/') ? '\\' : '/'
}
