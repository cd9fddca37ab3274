import type { Event, Options } from '@parcel/watcher'
import { toLatin1 } from './bytes.ts'

/** The part of `@parcel/watcher` that is used. */
export interface WatchLibrary {
  subscribe(
    folder: string,
    call: (error: Error | null, events: Event[]) => unknown,
    options?: Options,
  ): Promise<{ unsubscribe(): Promise<void> }>
}

/** Paths of a workspace that may have changed, while somebody works in it. Only ever a hint: events get lost, and a whole look tells the rest. */
export interface WorkspaceWatch {
  /** What changed since the last time, relative, latin1; null: it is not known, look at everything. */
  take(): readonly string[] | null
  /** Null while it works; else why there are no hints. */
  readonly why: () => string | null
  stop(): Promise<void>
}

/** So many changes between two looks are as good as none known. */
const MOST_PATHS = 20_000

/**
 * Watches one workspace, for as long as a run is active there. A watch that cannot be had (no watches left, a folder that may not be read)
 * is a state with a reason, never an error, and then `take` says that nothing is known.
 */
export async function watchWorkspace(
  library: WatchLibrary,
  root: string,
  /** Folders that are left out of states, relative; nothing is to be heard of them. */
  ignored: readonly string[],
  log: (message: string) => void,
): Promise<WorkspaceWatch> {
  let paths = new Set<string>()
  // Between the last look and now anything may have happened.
  let known = false
  let why: string | null = null
  let stopped = false
  const prefix = root.endsWith('/') ? root : `${root}/`
  const lost = (reason: string): void => {
    known = false
    paths = new Set()
    if (why === null) log(`no hints of changes in ${root}: ${reason}`)
    why = reason
  }
  const hear = (error: Error | null, events: readonly Event[]): void => {
    if (stopped) return
    if (error !== null) {
      lost(error.message)
      return
    }
    for (const { path } of events) {
      if (!path.startsWith(prefix)) continue
      const relative = path.slice(prefix.length)
      const git = /(?:^|\/)\.git(?:\/|$)/.exec(relative)
      // Of what happens in a `.git` only that something happened matters; a name that is no UTF-8 is looked for in its folder.
      const told = git !== null ? `${relative.slice(0, git.index)}/.git`.replace(/^\//, '') : nearestReadable(relative)
      paths.add(toLatin1(told))
    }
    if (paths.size > MOST_PATHS) {
      known = false
      paths = new Set()
    }
  }
  const subscription = await library
    .subscribe(root, hear, {
      ignore: ['**/.git/objects/**', '**/.git/logs/**', ...ignored.map((path) => `${prefix}${path}`)],
    })
    .catch((error: unknown) => {
      lost(error instanceof Error ? error.message : String(error))
      return null
    })
  return {
    take() {
      const taken = known && why === null ? [...paths] : null
      paths = new Set()
      known = why === null
      return taken
    },
    why: () => why,
    async stop() {
      stopped = true
      // It rejects when a watched folder has gone; an unhandled rejection would end the daemon.
      await subscription?.unsubscribe().catch((error: unknown) => log(`ending the watch of ${root}: ${error}`))
    },
  }
}

function nearestReadable(path: string): string {
  const bad = path.indexOf('\ufffd')
  return bad < 0 ? path : path.slice(0, Math.max(0, path.lastIndexOf('/', bad)))
}
