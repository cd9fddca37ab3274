import path from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { type Digest, errorCodes, type ManifestBody, RepriseError } from '../../contract/index.ts'
import { isolateGit } from '../git/core.ts'
import { openLog } from '../log.ts'
import { withBesideFiles } from '../manifest/complete/beside-files.ts'
import { completeBody } from '../manifest/complete/complete-body.ts'
import { createProgramDigests } from '../manifest/complete/program-digest.ts'
import { redactBody } from '../manifest/redact-body.ts'
import { withChecks } from '../manifest/with-checks.ts'
import type { Surroundings } from '../runtimes/adapter.ts'
import { adapters } from '../runtimes/registry.ts'
import { createRedactor } from '../secrets/create-redactor.ts'
import { createEgress } from '../secrets/egress.ts'
import { openKeys } from '../secrets/keys.ts'
import { openVault } from '../secrets/vault.ts'
import { statements } from '../store/index/database.ts'
import { openIndex } from '../store/index/open-index.ts'
import { resetIndex } from '../store/index/schema.ts'
import { openStore } from '../store/open-store.ts'
import { clearLeftovers } from './clear-leftovers.ts'
import { type Collection, collectionBy } from './collection.ts'
import { createGapNotes } from './gap-notes.ts'
import { createImporter, type Importer } from './importer.ts'
import { createKeepOriginals } from './keep-originals.ts'
import { createKeepRawFiles } from './keep-raw-files.ts'
import { keepTexts } from './keep-texts.ts'
import { createSessionSources } from './open-session.ts'
import { protectPaths } from './protect-paths.ts'
import type { WorkerCalls, WorkerReply, WorkerRequest, WorkerStart } from './worker-messages.ts'
import { createWorkspaceLooks } from './workspaces/look.ts'

/** The thread that reads sessions and writes index and store, so that the daemon always answers. */
const port = parentPort
if (!port) throw new Error('this program runs as a worker thread')
const start = workerData as WorkerStart
const tell = (message: WorkerReply): void => port.postMessage(message)

const hintFor = (error: unknown): string | null =>
  (error as NodeJS.ErrnoException).code === 'ENOSPC' || /disk is full/.test(String(error))
    ? 'make room on the disk that holds the data directory; nothing that was kept is lost'
    : null

const main = async (): Promise<void> => {
  const now = (): Date => new Date()
  const keys = await openKeys(path.join(start.dataDir, 'keys'))
  const redactor = createRedactor(keys.hmacKey)
  const log = openLog(`${start.dataDir}/logs/worker.log`, now, createEgress(redactor))
  const vault = openVault(start.dataDir, { platform: process.platform, env: start.env }, now)
  const store = await openStore({
    dir: start.dataDir,
    vault,
    key: keys,
    redactor,
    now,
    env: start.env,
    log: (message) => log('warn', 'store', { message: message }),
  })
  const opened = openIndex(start.dataDir, now)
  const temporary = path.join(start.dataDir, 'tmp')
  const cleared = clearLeftovers(temporary)
  if (cleared > 0) log('warn', 'unfinished reading of an earlier life removed', { files: cleared })
  const sources = createSessionSources({ folder: temporary })
  const surroundings: Surroundings = {
    platform: process.platform,
    userHome: start.userHome,
    env: start.env,
    systemRoot: start.systemRoot,
    now,
  }
  let collect = collectionBy(start.collection)
  const collection: Collection = (place) => collect(place)
  const completion = { git: isolateGit(start.env), programs: createProgramDigests(), surroundings }

  let rules = start.collection
  let agentHomes: readonly string[] = []
  const looks = createWorkspaceLooks({
    states: store.states,
    large: store.large,
    vault,
    redactor,
    collection: (workspace) => collect({ home: '', workspaces: [workspace] }),
    cacheFolder: path.join(start.dataDir, 'cache', 'workspaces'),
    now,
    clock: () => performance.now(),
    seed: {
      gitDir: path.join(start.dataDir, 'store.git'),
      git: isolateGit(start.env),
      env: { HOME: start.userHome, XDG_CONFIG_HOME: start.env.XDG_CONFIG_HOME },
    },
    settings: () => rules,
    surroundings: () => ({
      userHome: start.userHome,
      agentHomes,
      dataFolder: start.dataDir,
      platform: process.platform,
    }),
    log: (message) => log('warn', 'workspace', { message }),
  })
  const newImporter = (): Importer =>
    createImporter({
      db: opened.db,
      store,
      redactor,
      adapters,
      surroundings,
      completion,
      sources,
      log,
      collection,
      vault,
      rawFiles: store.files,
      workspaces: { looks, isOn: () => rules.capture_workspaces !== false },
      tell: (news) => tell({ type: 'news', news }),
    })
  let importer = newImporter()
  const keepRaw = () =>
    createKeepRawFiles({ raw: store.files, collection, gaps: createGapNotes(statements(opened.db), now, redactor) })

  const calls: WorkerCalls = {
    sync(homes, watching) {
      agentHomes = homes.map((home) => home.path)
      return importer.sync(homes, watching)
    },
    captureWorkspace: (directory) => importer.captureWorkspace(directory),
    hint: (paths, homes) => importer.hint(paths, homes),
    async freeze(home, body: ManifestBody, texts) {
      const adapter = adapters.get(home.runtime)
      if (!adapter) throw new RepriseError('refused', `${home.runtime} cannot be read yet`)
      const whole = await completeBody(completion, adapter, home.path, withBesideFiles(body, surroundings), 'now')
      const originals = createKeepOriginals({
        vault,
        redactor,
        gaps: createGapNotes(statements(opened.db), now, redactor),
        now,
      })
      const { cwd } = body.execution
      const known = texts.map(({ digest, text }) => ({ digest: digest as Digest, text }))
      const place = { home: home.path, workspaces: cwd === null ? [] : [cwd] }
      await keepTexts({ store, collection, originals }, place, known)
      await keepRaw().manifest(place, whole)
      return store.manifests.put(withChecks(redactBody(whole, redactor), redactor).body)
    },
    look: (homes) => importer.look(homes),
    keepFiles: (place, files) => keepRaw().contents(place, files),
    protect: (record, paths) =>
      protectPaths({ safety: store.safety, large: store.large, vault, redactor, now }, record, paths),
    updateRollback: (record) => store.safety.update(record),
    setPin: (name, about, commits) => store.names.set('pins', name, about, commits),
    dropPin: (name) => store.names.drop('pins', name),
    noteEdit: (edit) => importer.noteEdit(edit),
    noteConfiguration: (homes) => importer.noteConfiguration(homes),
    async reindex(homes, watching) {
      await importer.stop()
      // What was written out of sessions is of the life that ends: whether they are still there is found out anew.
      sources.close()
      resetIndex(opened.db)
      tell({ type: 'index-replaced' })
      importer = newImporter()
      return importer.sync(homes, watching)
    },
    async check() {
      const found = await store.check()
      const damaged = [...found.damaged, ...(await vault.verifyAll())]
      return { ...found, damaged, ok: found.ok && damaged.length === 0 }
    },
    collect(changed) {
      rules = changed
      collect = collectionBy(changed)
    },
    async stop() {
      await importer.stop()
      sources.close()
      opened.db.exec('pragma wal_checkpoint(truncate)')
      opened.db.close()
      await store.close()
    },
  }

  port.on('message', async ({ id, method, args }: WorkerRequest) => {
    try {
      const call = calls[method] as (...values: readonly unknown[]) => unknown
      tell({ type: 'reply', id, ok: true, value: await call(...args) })
    } catch (error) {
      const failure =
        error instanceof RepriseError
          ? error.toBody()
          : {
              code: 'internal' as const,
              status: errorCodes.internal.status,
              message: (error as Error).message,
              hint: null,
            }
      if (failure.code === 'internal')
        log('error', 'worker call failed', {
          method,
          message: failure.message,
          stack: (error as Error).stack?.split('\n').slice(1, 5).join(' | ') ?? null,
        })
      tell({ type: 'reply', id, ok: false, error: failure })
    }
  })
  tell({ type: 'ready', rebuilt: opened.setAside })
}

main().catch((error: unknown) => {
  const { message } = error as Error
  const failure = error instanceof RepriseError ? error : new RepriseError('internal', message, hintFor(error))
  tell({ type: 'failed', error: failure.toBody() })
})
