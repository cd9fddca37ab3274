import fs from 'node:fs'
import path from 'node:path'
import type { Gap } from '../../contract/index.ts'
import { createDaemonHandlers } from '../../daemon/api/daemon-handlers.ts'
import { createRunHandlers } from '../../daemon/api/run-handlers.ts'
import { createSensitiveHandlers } from '../../daemon/api/sensitive-handlers.ts'
import { createImporter, type HomeRef, type ImportNews } from '../../daemon/capture/importer.ts'
import { createSessionSources } from '../../daemon/capture/open-session.ts'
import { isolateGit } from '../../daemon/git/core.ts'
import { createProgramDigests } from '../../daemon/manifest/complete/program-digest.ts'
import type { Parts } from '../../daemon/parts.ts'
import type { RuntimeAdapter, Surroundings } from '../../daemon/runtimes/adapter.ts'
import { createRedactor } from '../../daemon/secrets/create-redactor.ts'
import { createEgress } from '../../daemon/secrets/egress.ts'
import { openKeys } from '../../daemon/secrets/keys.ts'
import { openRevealLog } from '../../daemon/secrets/reveal-log.ts'
import { openIndex, openIndexReader } from '../../daemon/store/index/open-index.ts'
import { createIndexReader, type IndexReader } from '../../daemon/store/index/reader.ts'
import { resetIndex } from '../../daemon/store/index/schema.ts'
import { openStore } from '../../daemon/store/open-store.ts'
import { openStoreReader } from '../../daemon/store/open-store-reader.ts'

/** Capture in this process, with an adapter of the test's own: the real importer, store and index, and the handlers that answer. */
export interface Capture {
  readonly runs: ReturnType<typeof createRunHandlers>
  readonly sensitive: ReturnType<typeof createSensitiveHandlers>
  readonly health: ReturnType<typeof createDaemonHandlers>
  readonly index: IndexReader
  readonly news: ImportNews[]
  /** What stands beside the gaps on record. */
  stalled: () => readonly Gap[]
  sync(): Promise<void>
  /** Empties the index and fills it again, from these homes and the store. */
  reindex(homes?: readonly HomeRef[]): Promise<void>
  hint(...paths: string[]): void
  /** Rows of the index. */
  query(sql: string, ...values: (string | number)[]): readonly Record<string, unknown>[]
  close(): Promise<void>
}

export const openCapture = async (data: string, home: string, adapter: RuntimeAdapter): Promise<Capture> => {
  fs.mkdirSync(data, { recursive: true, mode: 0o700 })
  const now = (): Date => new Date()
  const env = { PATH: process.env.PATH, HOME: path.dirname(home) }
  const keys = await openKeys(path.join(data, 'keys'))
  const redactor = createRedactor(keys.hmacKey)
  const log = (): void => undefined
  const store = await openStore({ dir: data, key: keys, redactor, now, env, log })
  const opened = openIndex(data, now)
  const adapters = new Map([[adapter.runtime, adapter]])
  const surroundings: Surroundings = {
    platform: process.platform,
    userHome: path.dirname(home),
    env,
    systemRoot: '',
    now,
  }
  const refs: readonly HomeRef[] = [{ runtime: adapter.runtime, path: home }]
  const news: ImportNews[] = []
  // Two of them, as in the daemon: the thread that captures and the one that answers.
  const folder = path.join(data, 'tmp')
  const capturing = createSessionSources({ folder })
  const answering = createSessionSources({ folder })
  const newImporter = () =>
    createImporter({
      db: opened.db,
      store,
      redactor,
      adapters,
      surroundings,
      completion: { git: isolateGit(env), programs: createProgramDigests(), surroundings },
      sources: capturing,
      log,
      collection: () => 'redacted',
      vault: { put: () => Promise.resolve() },
      rawFiles: { put: () => Promise.resolve(), has: () => Promise.resolve(false) },
      workspaces: null,
      tell: (told) => news.push(told),
    })
  let importer = newImporter()
  const reader = createIndexReader(openIndexReader(data), () => false)
  const kept = openStoreReader({ dir: data, key: keys, redactor, env, log })
  const parts = {
    store: kept,
    index: () => reader,
    redactor,
    adapters,
    surroundings,
    now,
    sources: answering,
    stalled: () => capture.stalled(),
    settings: { damage: () => null },
    damage: { note: () => undefined, replace: () => undefined, list: () => [] },
    homes: { list: () => [], isLive: () => false },
    egress: createEgress(redactor),
    reveals: openRevealLog(path.join(data, 'vault', 'reads.jsonl')),
  } as unknown as Parts
  let closed = false
  const capture: Capture = {
    runs: createRunHandlers(parts),
    sensitive: createSensitiveHandlers(parts),
    health: createDaemonHandlers(parts, {} as never),
    index: reader,
    news,
    stalled: () => [],
    async sync() {
      await importer.sync(refs, false)
    },
    async reindex(homes = refs) {
      await importer.stop()
      resetIndex(opened.db)
      importer = newImporter()
      await importer.sync(homes, false)
    },
    hint: (...paths) => importer.hint(paths, refs),
    query: (sql, ...values) => reader.sql(sql).all(...values) as Record<string, unknown>[],
    async close() {
      if (closed) return
      closed = true
      await importer.stop()
      capturing.close()
      answering.close()
      reader.close()
      opened.db.close()
      await kept.close()
      await store.close()
    },
  }
  return capture
}
