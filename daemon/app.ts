import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import {
  type InProcessApp,
  type OpenInProcess,
  type Progress,
  type Settings,
  settingsSchema,
  type Tag,
} from '../contract/index.ts'
import { createCompareHandlers } from './api/compare-handlers.ts'
import { createDaemonHandlers } from './api/daemon-handlers.ts'
import { createDispatch, type Dispatch } from './api/dispatch.ts'
import { createDriftHandlers } from './api/drift-handlers.ts'
import { createExportHandlers } from './api/export-handlers.ts'
import { createFileHandlers } from './api/file-handlers.ts'
import { combineHandlers, type Handlers } from './api/handlers.ts'
import { createHomeHandlers } from './api/home-handlers.ts'
import { type Loopback, listenOnLoopback } from './api/listeners.ts'
import { readLoopback, writeLoopback } from './api/loopback-record.ts'
import { createManifestHandlers } from './api/manifest-handlers.ts'
import { notYetHandlers } from './api/not-yet-handlers.ts'
import { openRollbacks } from './api/open-rollbacks.ts'
import { createPinHandlers } from './api/pin-handlers.ts'
import { createPushHub, type PushHub } from './api/push-hub.ts'
import { createRollbackHandlers } from './api/rollback-handlers.ts'
import { createRunHandlers } from './api/run-handlers.ts'
import { createSensitiveHandlers } from './api/sensitive-handlers.ts'
import { createWorkspaceHandlers } from './api/workspace-handlers.ts'
import type { ImportNews } from './capture/importer.ts'
import { createSessionSources } from './capture/open-session.ts'
import { type IndexWorker, startIndexWorker } from './capture/worker-client.ts'
import { clearExports } from './export/bundle-writer.ts'
import type { Ask } from './export/run-material.ts'
import { openFileRecords } from './files/file-records.ts'
import { createHomeRegistry } from './homes.ts'
import { takeWriterLock } from './lock.ts'
import { type Log, openLog } from './log.ts'
import type { HomeRegistry, Parts } from './parts.ts'
import { type DataPaths, prepareData } from './paths.ts'
import { openPinRecords } from './releases/pins/pin-records.ts'
import type { Rollbacks } from './rollback/rollbacks.ts'
import type { Surroundings } from './runtimes/adapter.ts'
import { adapters } from './runtimes/registry.ts'
import { createRedactor } from './secrets/create-redactor.ts'
import { createEgress } from './secrets/egress.ts'
import { openKeys } from './secrets/keys.ts'
import { openRevealLog } from './secrets/reveal-log.ts'
import { openVault } from './secrets/vault.ts'
import { openDocument } from './store/documents.ts'
import { openIndexReader } from './store/index/open-index.ts'
import { createIndexReader, type IndexReader } from './store/index/reader.ts'
import { openStoreReader } from './store/open-store-reader.ts'
import { createCaptureAlarm } from './watch/capture-alarm.ts'
import { createHomeWatches, type HomeWatches } from './watch/home-watches.ts'

export interface App {
  readonly paths: DataPaths
  readonly log: Log
  readonly nonce: string
  readonly dispatch: Dispatch
  readonly hub: PushHub
  readonly pages: string | null
  /** First look at all homes, then watching. Resolves when the first look is done. */
  begin(): Promise<void>
  /** Finishes what is under way and lets go of everything. */
  close(): Promise<void>
}

export interface AppOptions {
  readonly env: NodeJS.ProcessEnv
  /** Folder of the built programs (`out/node`). */
  readonly programs: string
  readonly watch: boolean
  /** Called when a client asks the daemon to stop. */
  readonly onStop: () => void
}

const defaultSettings: Settings = {
  version: 1,
  theme: 'system',
  density: 'compact',
  single_key_shortcuts: true,
  collection: 'redacted',
  homes: [],
  poll_seconds: 30,
  welcome_closed: false,
}

/** Distance between looks for sessions that go on without being captured, more where looking takes long: a small share of a core. */
const STALL_LOOK_MS = 60_000
const STALL_LOOK_REST = 1_000
/** A rollback that waits for an agent begins so soon after it has ended. */
const WAKE_MS = 2_000

/** The capturing thread got on: a repeated report of the same place is no progress. */
const isProgress = (news: ImportNews, before: Progress | null): boolean =>
  news.type === 'progress' &&
  (news.progress.files_done !== before?.files_done ||
    news.progress.bytes_done !== before.bytes_done ||
    news.progress.searchable !== before.searchable)

/** Opens one data directory as its only writer and makes everything that answers for it. */
export const openApp = async (options: AppOptions): Promise<App> => {
  process.umask(0o077)
  const paths = prepareData(options.env)
  const lock = takeWriterLock(paths.lock)
  const opened: (() => unknown)[] = [() => lock.release()]
  try {
    return await assemble(options, paths, opened)
  } catch (error) {
    // A start that fails half way (a full disk) must not leave threads and processes that keep the program alive.
    for (const close of opened.reverse()) await close()
    throw error
  }
}

const assemble = async (
  { env, programs, watch, onStop }: AppOptions,
  paths: DataPaths,
  opened: (() => unknown)[],
): Promise<App> => {
  clearExports(paths.dir)
  const now = (): Date => new Date()
  const lock = { release: () => opened[0]?.() }
  const keys = await openKeys(path.join(paths.dir, 'keys'))
  const redactor = createRedactor(keys.hmacKey)
  const egress = createEgress(redactor)
  const log = openLog(paths.log, now, egress)
  const startedAt = now()
  const nonce = randomBytes(16).toString('hex')
  const hub = createPushHub(egress)
  const surroundings: Surroundings = {
    platform: process.platform,
    userHome: os.homedir(),
    env,
    systemRoot: env.REPRISE_SYSTEM_ROOT ?? '',
    now,
  }
  for (const repaired of keys.repaired) log('warn', 'keys', { repaired })
  const vault = openVault(paths.dir, { platform: process.platform, env }, now)
  const store = openStoreReader({
    dir: paths.dir,
    vault,
    key: keys,
    redactor,
    env,
    log: (message) => log('warn', 'store', { message: message }),
  })
  opened.push(() => store.close())
  const sources = createSessionSources({ folder: path.join(paths.dir, 'tmp') })
  opened.push(() => sources.close())
  const document = await openDocument({
    path: paths.settings,
    schema: settingsSchema,
    version: 1,
    defaults: defaultSettings,
    upgraders: {},
    now,
    log: (message) => log('warn', 'settings', { message }),
  })
  const fileRecords = await openFileRecords(path.join(paths.dir, 'files.json'), now, (message) =>
    log('warn', 'files', { message }),
  )
  opened.push(() => fileRecords.close())
  const pinRecords = await openPinRecords(path.join(paths.dir, 'pins.json'), store.names, now, (message) =>
    log('warn', 'pins', { message }),
  )
  opened.push(() => pinRecords.close())
  const settings: Parts['settings'] = {
    read: () => document.data,
    write: (change) => document.update((data) => ({ ...data, ...change })),
    damage: () => (document.state.kind === 'damaged' ? document.state.why : null),
  }

  let watches: HomeWatches | null = null
  const noWatch = { watched: 0, wanted: 0, polling: false, why: null }
  const watchState: HomeRegistry['watchState'] = (id) => watches?.state(id) ?? noWatch
  const homes = createHomeRegistry({ adapters, surroundings, settings: settings.read, watchState })

  let progress: Progress | null = null
  let oldestHint: number | null = null
  const changed = (tags: readonly Tag[]): void => {
    if (tags.length > 0) hub.send({ type: 'changed', tags: [...tags] })
  }
  let index: IndexReader | null = null
  const reopenIndex = (): IndexReader => {
    index?.close()
    index = createIndexReader(openIndexReader(paths.dir), homes.isLive)
    return index
  }

  let pendingTags = new Set<Tag>()
  let tagTimer: NodeJS.Timeout | null = null
  /** Windows hear of changes at most ten times a second. */
  const changedSoon = (tags: readonly Tag[]): void => {
    for (const tag of tags) pendingTags.add(tag)
    tagTimer ??= setTimeout(() => {
      tagTimer = null
      const sent = [...pendingTags]
      pendingTags = new Set()
      changed(sent)
    }, 100)
  }

  let lastArrival = now().getTime()
  let alarmTimer: NodeJS.Timeout | null = null
  let wakeTimer: NodeJS.Timeout | null = null
  let stallLookMs = 0
  let closing = false
  let looked = false
  let restarts = 0
  const startWorker = (): IndexWorker =>
    startIndexWorker(
      path.join(programs, 'index-worker.cjs'),
      {
        dataDir: paths.dir,
        userHome: surroundings.userHome,
        env: { ...env },
        systemRoot: surroundings.systemRoot,
        collection: settings.read(),
      },
      {
        news(news) {
          if (news.type === 'run' || isProgress(news, progress)) lastArrival = now().getTime()
          if (news.type === 'progress') {
            if (news.progress.phase !== 'discovering') looked = true
            progress = news.progress
            hub.send({ type: 'progress', progress: news.progress })
          } else if (news.type === 'drift') {
            const { id, title, alert } = news.drift
            hub.send({ type: 'drift', id, title, alert })
            changedSoon(['drift', 'timeline', 'manifests'])
          } else if (news.type === 'run') {
            if (news.events >= 0) hub.send({ type: 'run', run: news.run, events: news.events, status: news.status })
            changedSoon(['runs', 'timeline', 'events', 'status'])
          } else {
            oldestHint = null
            changedSoon(['search', 'health', 'status', 'store'])
          }
        },
        indexReplaced: () => {
          reopenIndex()
        },
        died(error) {
          log('error', 'index worker died', { message: error.message })
          if (closing || ++restarts > 5) return
          worker = startWorker()
          void worker.ready
            .then(reopenIndex)
            .then(() => acts.sync(null))
            .catch((again: Error) => log('error', 'index worker not restarted', { message: again.message }))
        },
      },
    )
  let worker = startWorker()
  opened.push(() => worker.end())
  const { rebuilt } = await worker.ready
  if (rebuilt) log('warn', 'index was damaged or of another version and is built again', { setAside: rebuilt })
  reopenIndex()

  const damage = createDamageNotes(() => changedSoon(['health', 'status']))
  let loopback: Loopback | null = null
  const pages =
    [path.join(programs, '..', 'renderer')].find((dir) => fs.existsSync(path.join(dir, 'index.html'))) ?? null
  const acts = {
    async sync(home: string | null) {
      homes.refresh()
      await watches?.update(homes.list())
      const refs = homes.refs().filter((ref) => home === null || ref.path === home)
      const totals = await worker.call('sync', refs, watches !== null)
      return totals
    },
    async reindex() {
      return worker.call('reindex', homes.refs(), watches !== null)
    },
    stop: () => setImmediate(onStop),
    async openBrowser() {
      loopback ??= await listenOnLoopback({ dispatch, hub, pages }, readLoopback(paths.loopback))
      writeLoopback(paths.loopback, loopback)
      const target = `${loopback.url}/#t=${loopback.token}`
      fs.writeFileSync(
        paths.page,
        `<!doctype html><meta charset="utf-8"><title>Reprise</title><script>location.replace(${JSON.stringify(target)})</script>`,
        { mode: 0o600 },
      )
      fs.chmodSync(paths.page, 0o600)
      return { url: loopback.url, page: paths.page, port: loopback.port }
    },
    async closeBrowser() {
      await loopback?.close()
      loopback = null
      fs.rmSync(paths.page, { force: true })
      fs.rmSync(paths.loopback, { force: true })
    },
  }

  let openedRollbacks: Rollbacks | null = null
  const parts: Parts = {
    rollbacks: () => openedRollbacks?.list() ?? [],
    paths,
    log,
    now,
    startedAt,
    nonce,
    hub,
    get worker() {
      return worker
    },
    store,
    index: () => index ?? reopenIndex(),
    sources,
    redactor,
    egress,
    damage,
    vault,
    reveals: openRevealLog(path.join(paths.dir, 'vault', 'reads.jsonl')),
    adapters,
    surroundings,
    settings,
    homes,
    stalled: () => alarm.gaps(),
    state: () => ({
      phase: closing ? 'draining' : looked ? 'ready' : 'starting',
      sample: env.REPRISE_DEMO === '1',
      url: loopback?.url ?? null,
      progress: progress === null || progress.phase === 'idle' ? [] : [progress],
      lagMs: oldestHint === null ? 0 : now().getTime() - oldestHint,
    }),
  }
  const alarm = createCaptureAlarm({
    adapters,
    homes,
    surroundings,
    index: parts.index,
    lastArrival: () => lastArrival,
  })
  const lookForStalls = (): void => {
    alarmTimer = setTimeout(
      () => {
        const began = performance.now()
        void alarm
          .look()
          .then((changed) => {
            if (changed) changedSoon(['health', 'status'])
            for (const { message } of changed ? alarm.gaps() : []) log('warn', 'capture stalled', { message })
          })
          .catch((error: Error) => log('error', 'looking for stalled capture failed', { message: error.message }))
          .finally(() => {
            stallLookMs = performance.now() - began
            if (!closing) lookForStalls()
          })
      },
      Math.max(STALL_LOOK_MS, stallLookMs * STALL_LOOK_REST),
    ).unref()
  }
  const rollbacks = openRollbacks(parts)
  openedRollbacks = rollbacks
  /** A handler asked by another one, in the same turn of the queue. */
  const ask: Ask = async (name, input) => handlers[name](input, { via: 'process' })
  const handlers: Handlers = combineHandlers(
    createDaemonHandlers(parts, acts),
    createRunHandlers(parts),
    createManifestHandlers(parts),
    createHomeHandlers(parts, acts.sync),
    createSensitiveHandlers(parts),
    createCompareHandlers(parts),
    createDriftHandlers(parts),
    createExportHandlers(parts, ask),
    createPinHandlers(parts, pinRecords),
    createFileHandlers({ parts, raw: store.files, records: fileRecords }),
    createRollbackHandlers(rollbacks),
    createWorkspaceHandlers(parts),
    notYetHandlers,
  )
  const dispatch = createDispatch(handlers, { changed, log, gate: egress, damaged: (message) => damage.note(message) })

  return {
    paths,
    log,
    nonce,
    dispatch,
    hub,
    pages,
    async begin() {
      await rollbacks.recover()
      wakeTimer = setInterval(() => {
        void rollbacks.wake().catch((error: Error) => log('error', 'a waiting rollback', { message: error.message }))
      }, WAKE_MS).unref()
      if (watch && readLoopback(paths.loopback) !== null) await acts.openBrowser()
      if (watch) {
        watches = createHomeWatches({
          adapters,
          surroundings,
          pollSeconds: settings.read().poll_seconds,
          log,
          onHints(changedPaths) {
            oldestHint ??= now().getTime()
            void worker
              .call('hint', changedPaths, homes.refs())
              .catch((error: Error) => log('error', 'hint not handled', { message: error.message }))
          },
          onConfiguration({ runtime, path: home }) {
            void worker
              .call('noteConfiguration', [{ runtime, path: home }])
              .catch((error: Error) => log('error', 'hint not handled', { message: error.message }))
          },
          onState: () => changedSoon(['status', 'health']),
        })
        await watches.update(homes.list())
        lookForStalls()
      }
      await acts.sync(null)
    },
    async close() {
      closing = true
      hub.send({ type: 'draining' })
      await watches?.close()
      await dispatch.drain()
      await worker
        .call('stop')
        .catch((error: Error) => log('error', 'worker did not stop cleanly', { message: error.message }))
      await worker.end()
      // Its address stays on record: a window that is open will look for the next daemon there.
      await loopback?.close()
      if (tagTimer) clearTimeout(tagTimer)
      if (alarmTimer) clearTimeout(alarmTimer)
      if (wakeTimer) clearInterval(wakeTimer)
      index?.close()
      sources.close()
      await store.close()
      lock.release()
    },
  }
}

/** The same endpoints inside the command's own process, with the same single-writer lock (`REPRISE_NO_DAEMON=1`). */
export const openInProcess: OpenInProcess = async (env): Promise<InProcessApp> => {
  const app = await openApp({ env: { ...env }, programs: __dirname, watch: false, onStop: () => undefined })
  await app.begin()
  return { call: (name, input) => app.dispatch(name, input, { via: 'process' }), close: () => app.close() }
}

/** Met again and again, the same damage is one gap. */
const createDamageNotes = (changed: () => void): Parts['damage'] => {
  let messages = new Set<string>()
  return {
    note(message) {
      if (messages.has(message)) return
      messages.add(message)
      changed()
    },
    replace(found) {
      messages = new Set(found)
      changed()
    },
    list: () => [...messages],
  }
}
