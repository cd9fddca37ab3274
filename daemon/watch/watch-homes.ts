import { basename, dirname, join, resolve, sep } from 'node:path'
import type { WatchPlace } from '../runtimes/adapter.ts'
import { type FileWatches, openFileWatches, type WatchTree, watchTree } from './file-watches.ts'
import { openFolderWatches, type WatchFolder, watchFolder } from './folder-watches.ts'
import {
  type FileStamp,
  type FolderMemory,
  type ScanPlace,
  type ScanResult,
  type SeenFolder,
  scanChanges,
  scanChangesNow,
} from './scan-changes.ts'
import { explainWatchFailure, isExhausted, readWatchLimit } from './watch-limits.ts'

/** Something at `path` is not as it was: created, grown, rewritten or gone. Look for yourself; a hint proves nothing. */
export interface WatchHint {
  readonly path: string
  readonly what: WatchPlace['what']
}

export interface PlaceState {
  readonly path: string
  readonly what: WatchPlace['what']
  /** Folders (for sessions) or files and folders (else) whose changes matter. */
  readonly wanted: number
  /** Those whose changes arrive at once; the rest is looked at every `pollSeconds`. */
  readonly watched: number
  readonly present: boolean
}

export interface WatchState {
  readonly wanted: number
  readonly watched: number
  /** Some of `wanted` is only polled. */
  readonly polling: boolean
  /** Real distance between two looks; grows when a look is expensive. */
  readonly pollSeconds: number
  /** Why not everything is watched and what to do about it; null when everything is. */
  readonly why: string | null
  /** The system or a permission stood in the way, not our own budget. */
  readonly failed: boolean
  readonly places: readonly PlaceState[]
}

/** A look at everything, watched or not. What it found differing was also handed on as hints, except at the start. */
export interface WatchTick {
  readonly reason: 'start' | 'time' | 'asked'
  readonly files: number
  readonly folders: number
  readonly changed: readonly string[]
  readonly vanished: readonly string[]
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[]
  readonly tookMs: number
}

export interface WatchClock {
  nowMs(): number
  /** Runs once after `ms`; the answer cancels it. Must not keep the process alive. */
  after(ms: number, run: () => void): () => void
}

export interface WatcherFactory {
  readonly folder: WatchFolder
  readonly tree: WatchTree
}

export interface WatchOptions {
  readonly places: readonly WatchPlace[]
  /** Most watches of all kinds together. */
  readonly budget: number
  readonly pollSeconds: number
  readonly onHint: (hint: WatchHint) => void
  readonly onState?: (state: WatchState) => void
  readonly onReconcile?: (tick: WatchTick) => void
  /** A look failed as a whole, which is a fault of ours; the next look is tried all the same. */
  readonly onFault?: (error: unknown) => void
  readonly platform?: NodeJS.Platform
  readonly systemRoot?: string
  readonly clock?: WatchClock
  readonly factory?: WatcherFactory
}

export interface HomeWatch {
  /** Resolves when everything was looked at once and the watches stand. */
  readonly ready: Promise<void>
  update(places: readonly WatchPlace[]): Promise<void>
  /** Looks at everything now; resolves when the hints were handed on. */
  lookNow(): Promise<void>
  state(): WatchState
  close(): Promise<void>
}

const systemClock: WatchClock = {
  nowMs: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** Several writes within this time make one hint. Small, for a line of a live session shall be seen within 150 ms. */
const COALESCE_MS = 40
/** More waiting paths than this are not looked at one by one: one look at everything is cheaper, and it yields. */
const STORM = 2_000
/** Looks may cost this share of a core at most; a slower look is repeated less often. */
const LOOK_SHARE = 1 / 200
/** Configuration places together may use this share of the budget. */
const FILE_SHARE = 0.4
/** chokidar is waited for this long before folders take what is left of the budget. */
const FILES_READY_MS = 2_000
/** A file that is rewritten by deleting it first comes back soon; its place is looked at again after these times. */
const RETURN_MS = [200, 1_000]

interface Place extends WatchPlace {
  stamps: Map<string, FileStamp>
  folders: FolderMemory
  present: boolean
  files: FileWatches | null
  /** Which file or folder stood at the place when `files` was opened. */
  filesOf: string
}

/**
 * Watches the places of all homes within one budget, and looks at everything from time to time, because watches are lost in
 * many ways (B23). `NOTES.md` tells why folders are watched with `fs.watch` and files with chokidar.
 */
export function watchHomes(options: WatchOptions): HomeWatch {
  const clock = options.clock ?? systemClock
  const factory = options.factory ?? { folder: watchFolder, tree: watchTree }
  const platform = options.platform ?? process.platform
  const limit = platform === 'linux' ? readWatchLimit(options.systemRoot) : null
  const pending = new Map<string, Place | null>()
  const folderWatches = openFolderWatches(factory.folder, noteFolderEvent)
  let places: Place[] = []
  let cancelFlush: (() => void) | null = null
  let cancelTick: (() => void) | null = null
  let cancelEarly: (() => void) | null = null
  let cancelTell: (() => void) | null = null
  const cancelReturns = new Set<() => void>()
  let closed = false
  let lookMs = 0
  let lastState = ''
  let watchLost = false
  let queue: Promise<void> = Promise.resolve()

  const ready = setPlaces(options.places)

  function enqueue(work: () => Promise<void>): Promise<void> {
    queue = queue
      .then(() => (closed ? undefined : work()))
      .catch((error: unknown) => {
        options.onFault?.(error)
        if (!closed) scheduleTick()
      })
    return queue
  }

  function setPlaces(wish: readonly WatchPlace[]): Promise<void> {
    return enqueue(async () => {
      const next = wish.map(
        (place): Place =>
          places.find((p) => p.path === resolve(place.path) && p.depth === place.depth && p.what === place.what) ?? {
            ...place,
            path: resolve(place.path),
            stamps: new Map(),
            folders: new Map(),
            present: false,
            files: null,
            filesOf: '',
          },
      )
      const fresh = next.filter((place) => !places.includes(place))
      for (const place of places) if (!next.includes(place)) place.files?.close()
      places = next
      await look('start', fresh)
      // Whatever happened between that look and the watches is seen now.
      if (fresh.length > 0 && !closed) await look('asked', [])
    })
  }

  /** Looks at all places; differences become hints, except in `silent` ones, which are seen for the first time. */
  async function look(reason: WatchTick['reason'], silent: readonly Place[]): Promise<void> {
    const started = clock.nowMs()
    const changed: string[] = []
    const vanished: string[] = []
    const unreadable: { path: string; reason: string }[] = []
    let files = 0
    let folders = 0
    let rankChanged =
      reason === 'start' || watchLost || folderWatches.exhaustedBy !== null || folderWatches.refused.size > 0
    for (const place of places) {
      const foldersBefore = place.folders.size
      const wasPresent = place.present
      const result = await scanChanges({
        places: [place],
        known: place.stamps,
        folders: place.folders,
        nowMs: clock.nowMs,
      })
      if (closed) return
      place.stamps = result.files
      place.present = result.places.get(place.path) === 'present'
      files += result.files.size
      folders += result.folders
      unreadable.push(...result.unreadable)
      forgetFolders(place, result.vanished.length > 0 || !place.present || result.folders !== place.folders.size)
      rankChanged ||=
        foldersBefore !== place.folders.size || wasPresent !== place.present || place.files?.incomplete === true
      rankChanged ||= result.added.length + result.changed.length + result.vanished.length > 0
      if (silent.includes(place)) continue
      changed.push(...result.added, ...result.changed)
      vanished.push(...result.vanished)
      for (const path of [...result.added, ...result.changed, ...result.vanished])
        options.onHint({ path, what: place.what })
    }
    if (closed) return
    lookMs = Math.max(0, clock.nowMs() - started)
    if (rankChanged) await setWatches()
    if (closed) return
    tellState()
    scheduleTick()
    options.onReconcile?.({ reason, files, folders, changed, vanished, unreadable, tookMs: lookMs })
  }

  /** Folders that went are forgotten; checked only when something went. */
  function forgetFolders(place: Place, check: boolean): void {
    if (!check) return
    if (!place.present) {
      for (const folder of place.folders.keys()) folderWatches.drop(folder)
      place.folders.clear()
      return
    }
    const listed = new Set([place.path])
    for (const [folder, seen] of place.folders) for (const name of seen.names) listed.add(join(folder, name))
    for (const folder of place.folders.keys()) {
      if (listed.has(folder)) continue
      folderWatches.drop(folder)
      place.folders.delete(folder)
    }
  }

  /** Files first: configuration and live agents matter more than the last of many session folders. */
  async function setWatches(): Promise<void> {
    for (const place of places) if (place.what !== 'sessions') setFileWatches(place)
    await Promise.all(places.map((place) => within(FILES_READY_MS, place.files?.ready)))
    if (!closed) setFolderWatches()
  }

  function setFolderWatches(): void {
    watchLost = false
    const roots: string[] = []
    const inUse: { path: string; newestNs: bigint }[] = []
    for (const place of places) {
      if (place.what !== 'sessions' || !place.present) continue
      for (const [path, seen] of place.folders) {
        if (path === place.path) roots.push(path)
        else inUse.push({ path, newestNs: seen.newestNs })
      }
    }
    // Most recently used first; roots before all, they tell of new folders.
    inUse.sort((a, b) => (a.newestNs > b.newestNs ? -1 : a.newestNs < b.newestNs ? 1 : a.path < b.path ? -1 : 1))
    const wish = [...new Set([...roots, ...inUse.map((folder) => folder.path)])]
    const forFiles = Math.max(filesHeld(), filesExpected())
    // Where the system's limit keeps files from being watched, folders make room for them; the next look tries again.
    const filesStarve = places.some((place) => isExhausted(place.files?.failure))
    folderWatches.keep(wish, filesStarve ? folderWatches.size - forFiles : options.budget - forFiles)
  }

  function within(ms: number, work: Promise<void> | undefined): Promise<void> {
    if (work === undefined) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      work.then(() => {
        cancel()
        resolve()
      })
    })
  }

  function setFileWatches(place: Place): void {
    const identity = identityOf(place)
    if (!place.present || identity !== place.filesOf) {
      place.files?.close()
      place.files = null
    }
    if (!place.present) return
    place.filesOf = identity
    place.files?.prune((path) => place.stamps.has(path) || place.folders.has(path))
    // After a failure chokidar goes on partly blind; a new one finds out whether there is room again.
    if (place.files?.failure != null) {
      place.files.close()
      place.files = null
    }
    const share = Math.floor(options.budget * FILE_SHARE)
    place.files ??= openFileWatches(
      factory.tree,
      place,
      () => share - filesHeld(),
      (path) => note(path, place),
      tellSoon,
    )
  }

  function filesHeld(): number {
    let held = 0
    for (const place of places) held += place.files?.held ?? 0
    return held
  }

  /** What chokidar will hold once it has looked around: known before it is. */
  function filesExpected(): number {
    let wanted = 0
    for (const place of places) if (place.what !== 'sessions') wanted += place.stamps.size + place.folders.size
    return Math.min(wanted, Math.floor(options.budget * FILE_SHARE))
  }

  function noteFolderEvent(folder: string, name: string | null): void {
    note(name === null ? folder : join(folder, name), null)
    if (name === null || name !== basename(folder)) return
    // The last event of a folder that is deleted or moved names the folder itself. Another may stand there already, even with the
    // same inode number, so the watch is given up in any case.
    folderWatches.drop(folder)
    watchLost = true
    note(folder, null)
  }

  function note(path: string, place: Place | null): void {
    if (closed) return
    if (!pending.has(path)) pending.set(path, place)
    cancelFlush ??= clock.after(COALESCE_MS, flush)
  }

  function flush(): void {
    cancelFlush = null
    if (closed) return
    if (pending.size > STORM) {
      pending.clear()
      lookSoon(0)
      return
    }
    const noted = [...pending]
    pending.clear()
    const newFolders: { path: string; place: Place }[] = []
    let foldersWent = false
    let live = false
    for (const [path, from] of noted) {
      for (const place of from === null ? placesOf(path) : [from]) {
        const found = lookAt(place, path)
        if (found === 'new folder') newFolders.push({ path, place })
        if (found === 'folder went') foldersWent = true
        if (found !== 'nothing' && place.what === 'live') live = true
      }
      // Something appeared where a place begins, for example the sessions folder of a fresh home.
      if (places.some((place) => place.path === path && !place.present)) lookSoon(0)
    }
    if (foldersWent || newFolders.length > 0) {
      setFolderWatches()
      tellState()
    }
    // What was put into a new folder before its watch stood is found by looking once more.
    for (const { path, place } of newFolders) note(path, place)
    // An agent started or went on: perhaps in a folder that is not watched, because nobody worked there for long.
    if (live) lookSoon(250)
  }

  function placesOf(path: string): readonly Place[] {
    return places.filter((place) => place.folders.has(path) || place.folders.has(dirname(path)))
  }

  /** Compares one path with what was known, and hands on what differs. */
  function lookAt(place: Place, path: string): 'nothing' | 'file' | 'new folder' | 'folder went' {
    const level = depthOf(place, path)
    if (level === null) return 'nothing'
    const seen = place.folders.get(path)
    if (seen !== undefined && path === place.path) {
      lookSoon(0) // may be large: looked at in chunks
      return 'nothing'
    }
    if (seen !== undefined) return lookAtKnownFolder(place, path, seen, level)
    const remaining = path === place.path ? place.depth : place.depth - level - 1
    const result = compare(place, [{ path, depth: remaining }], onlyKnown(place, path))
    if (place.folders.has(path)) return 'new folder'
    if (result.vanished.includes(place.path)) {
      place.present = false
      place.files?.close()
      place.files = null
      lookForReturn()
    }
    return result.added.length + result.changed.length + result.vanished.length > 0 ? 'file' : 'nothing'
  }

  function lookAtKnownFolder(
    place: Place,
    path: string,
    seen: SeenFolder,
    level: number,
  ): 'nothing' | 'new folder' | 'folder went' {
    const known = filesBelow(place, path)
    const direct = new Map([...known].filter(([file]) => dirname(file) === path))
    const remaining = place.depth - level - 1
    place.folders.delete(path) // list it anew
    const result = compare(place, [{ path, depth: 0 }], direct)
    const now = place.folders.get(path)
    if (now === undefined || now.ino !== seen.ino || now.dev !== seen.dev || watchLost) {
      for (const folder of [...place.folders.keys()]) if (isInside(folder, path)) place.folders.delete(folder)
      folderWatches.drop(path)
      compare(place, [{ path, depth: remaining }], filesBelow(place, path))
      return place.folders.has(path) ? 'new folder' : 'folder went'
    }
    if (remaining === 0 || result.unreadable.length > 0) return 'nothing'
    const fresh = now.names
      .map((name) => join(path, name))
      .filter((at) => !place.stamps.has(at) && !place.folders.has(at))
    compare(
      place,
      fresh.map((at) => ({ path: at, depth: remaining - 1 })),
      new Map(),
    )
    return fresh.some((at) => place.folders.has(at)) ? 'new folder' : 'nothing'
  }

  function compare(place: Place, at: readonly ScanPlace[], known: ReadonlyMap<string, FileStamp>): ScanResult {
    const result = scanChangesNow({ places: at, known, folders: place.folders, nowMs: clock.nowMs })
    for (const [file, stamp] of result.files) place.stamps.set(file, stamp)
    for (const file of result.vanished) place.stamps.delete(file)
    for (const file of [...result.added, ...result.changed]) touch(place, file)
    for (const file of [...result.added, ...result.changed, ...result.vanished])
      options.onHint({ path: file, what: place.what })
    return result
  }

  function onlyKnown(place: Place, path: string): ReadonlyMap<string, FileStamp> {
    const stamp = place.stamps.get(path)
    return stamp === undefined ? new Map() : new Map([[path, stamp]])
  }

  function filesBelow(place: Place, folder: string): ReadonlyMap<string, FileStamp> {
    const below = new Map<string, FileStamp>()
    for (const [path, stamp] of place.stamps) if (isInside(path, folder)) below.set(path, stamp)
    return below
  }

  /** The folder of a changed file is in use; keeps the ranking right between two looks. */
  function touch(place: Place, file: string): void {
    const folder = place.folders.get(dirname(file))
    const stamp = place.stamps.get(file)
    if (folder !== undefined && stamp !== undefined && stamp.mtimeNs > folder.newestNs)
      place.folders.set(dirname(file), { ...folder, newestNs: stamp.mtimeNs })
  }

  function lookForReturn(): void {
    for (const ms of RETURN_MS) {
      const cancel = clock.after(ms, () => {
        cancelReturns.delete(cancel)
        lookSoon(0)
      })
      cancelReturns.add(cancel)
    }
  }

  /** Failures come in crowds. They start no look: looking opens watches, which would fail again. */
  function tellSoon(): void {
    cancelTell ??= clock.after(COALESCE_MS, () => {
      cancelTell = null
      tellState()
    })
  }

  function lookSoon(ms: number): void {
    if (closed || cancelEarly !== null) return
    cancelEarly = clock.after(ms, () => {
      cancelEarly = null
      enqueue(() => look('asked', []))
    })
  }

  function pollMs(): number {
    return Math.max(options.pollSeconds * 1_000, Math.round(lookMs / LOOK_SHARE))
  }

  function scheduleTick(): void {
    cancelTick?.()
    cancelTick = clock.after(pollMs(), () => {
      cancelTick = null
      enqueue(() => look('time', []))
    })
  }

  function stateNow(): WatchState {
    const failures: unknown[] = []
    if (folderWatches.exhaustedBy !== null) failures.push(folderWatches.exhaustedBy)
    const states = places.map((place): PlaceState => {
      if (place.what === 'sessions') {
        const wanted = place.folders.size
        let watched = 0
        for (const folder of place.folders.keys()) {
          if (folderWatches.has(folder)) watched += 1
          const refusal = folderWatches.refused.get(folder)
          if (refusal !== undefined) failures.push(refusal)
        }
        return { path: place.path, what: place.what, wanted, watched, present: place.present }
      }
      const wanted = place.stamps.size + place.folders.size
      const incomplete = place.files?.incomplete ?? place.present
      if (place.files?.failure != null) failures.push(place.files.failure)
      const watched = incomplete
        ? Math.min(place.files?.held ?? 0, Math.max(0, wanted - 1))
        : place.present
          ? wanted
          : 0
      return { path: place.path, what: place.what, wanted, watched, present: place.present }
    })
    const wanted = states.reduce((sum, place) => sum + place.wanted, 0)
    const watched = states.reduce((sum, place) => sum + place.watched, 0)
    const pollSeconds = Math.ceil(pollMs() / 1_000)
    const polling = watched < wanted
    const failure = failures.find(isExhausted) ?? failures[0]
    const fix =
      failure === undefined ? 'The most recently used ones are watched.' : explainWatchFailure(failure, platform, limit)
    const why = polling
      ? `Watching ${count(watched)} of ${count(wanted)} folders, looking at the rest every ${pollSeconds} s. ${fix}`
      : null
    return { wanted, watched, polling, pollSeconds, why, failed: failure !== undefined, places: states }
  }

  function tellState(): void {
    if (options.onState === undefined || closed) return
    const state = stateNow()
    const text = JSON.stringify(state)
    if (text === lastState) return
    lastState = text
    options.onState(state)
  }

  return {
    ready,
    update: setPlaces,
    lookNow: () => enqueue(() => look('asked', [])),
    state: stateNow,
    async close() {
      closed = true
      for (const cancel of [cancelFlush, cancelTick, cancelEarly, cancelTell, ...cancelReturns]) cancel?.()
      folderWatches.close()
      for (const place of places) place.files?.close()
      await queue
    },
  }
}

/** How many folders `path` is below the place: 0 for the place itself and what lies directly in it. Null: not below it. */
function depthOf(place: WatchPlace, path: string): number | null {
  if (path === place.path) return 0
  let level = 0
  for (let at = dirname(path); at !== place.path; at = dirname(at)) {
    if (at === dirname(at)) return null
    level += 1
  }
  return level
}

function identityOf(place: Place): string {
  const at = place.folders.get(place.path) ?? place.stamps.get(place.path)
  return at === undefined ? '' : `${at.dev}:${at.ino}`
}

const isInside = (path: string, folder: string): boolean => path.startsWith(folder) && path[folder.length] === sep

const count = (n: number): string => n.toLocaleString('en-US')
