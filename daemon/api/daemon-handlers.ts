import fs from 'node:fs'
import path from 'node:path'
import {
  CONTRACT_VERSION,
  type CollectionOverride,
  type Gap,
  PRODUCT_VERSION,
  RepriseError,
  type Status,
} from '../../contract/index.ts'
import type { Parts } from '../parts.ts'
import { querySearch } from '../store/index/search-query.ts'
import type { SomeHandlers } from './handlers.ts'
import { describeHome, describeLooked } from './home-handlers.ts'
import { parsePoint } from './references.ts'
import { unreadableFiles, unreadableOf } from './unreadable.ts'

export interface DaemonActs {
  readonly openBrowser: () => Promise<{ url: string; page: string; port: number }>
  readonly closeBrowser: () => Promise<void>
  readonly stop: () => void
  readonly sync: (home: string | null) => Promise<{ sessions: number; events: number; seconds: number }>
  readonly reindex: () => Promise<{ sessions: number; events: number; seconds: number }>
}

/** Gaps that stand in the status line's list; the rest is counted there and listed under Health. */
const SHOWN_GAPS = 50

export const createDaemonHandlers = (parts: Parts, acts: DaemonActs) =>
  ({
    'daemon.handshake': () => ({
      version: PRODUCT_VERSION,
      contract: CONTRACT_VERSION,
      pid: process.pid,
      nonce: parts.nonce,
    }),
    'daemon.stop': () => {
      acts.stop()
      return { ok: true as const }
    },
    'browser.open': () => acts.openBrowser(),
    'browser.close': async () => {
      await acts.closeBrowser()
      return { ok: true as const }
    },

    'status.get': async () => {
      const index = parts.index()
      parts.homes.refresh()
      const { phase, sample, url, progress, lagMs } = parts.state()
      const counts = index.sql('select count(*) as runs, coalesce(sum(events), 0) as events from runs').get() as {
        runs: number
        events: number
      }
      const homes = parts.homes.list().map((home) => describeHome(parts, home))
      const { gaps, total } = listGaps(parts, SHOWN_GAPS)
      return {
        daemon: {
          pid: process.pid,
          version: PRODUCT_VERSION,
          contract: CONTRACT_VERSION,
          started_at: parts.startedAt.toISOString(),
          data_dir: parts.paths.dir,
          socket: parts.paths.socket,
          url,
          state: phase,
          sample,
        },
        homes,
        looked: describeLooked(parts),
        watches: {
          count: homes.reduce((sum, home) => sum + home.watching.watched, 0),
          limit: watchLimit(),
          polling: homes.reduce((sum, home) => sum + Math.max(0, home.watching.wanted - home.watching.watched), 0),
        },
        lag_ms: lagMs,
        store: {
          bytes: parts.store.size().bytes,
          runs: Number(counts.runs),
          events: Number(counts.events),
          manifests: Number(
            (
              index.sql('select count(distinct manifest) as n from stretches where manifest is not null').get() as {
                n: number
              }
            ).n,
          ),
        },
        gaps,
        gap_count: total,
        progress: [...progress],
        vault: await describeVault(parts),
        rollbacks: describeRollbacks(parts),
      }
    },

    'sync.now': async ({ home }) => {
      const refs = parts.homes.refs()
      if (home !== undefined && !refs.some((ref) => ref.path === home))
        throw new RepriseError(
          'not_found',
          `home: ${home} is not read`,
          null,
          refs.map((ref) => ref.path),
        )
      const totals = await acts.sync(home ?? null)
      return {
        ...totals,
        unreadable: [...unreadableFiles(parts.index()), ...unreadableOf(parts.index(), null, 100_000)],
      }
    },

    'search.run': ({ text, runtime, run, limit, cursor }) =>
      querySearch(parts.index(), {
        text,
        runtime: runtime ?? null,
        run: run === undefined ? null : parts.index().findRun(parsePoint(run).run).key,
        limit: limit ?? 50,
        offset: cursor === undefined ? 0 : asOffset(cursor),
      }),

    'health.gaps': ({ limit }) => listGaps(parts, limit ?? 200),
    'health.unreadable': ({ limit }) => {
      const total = parts.index().sql('select count(*) as n from unreadable').get() as { n: number }
      return { unreadable: unreadableOf(parts.index(), null, limit ?? 200), total: Number(total.n) }
    },
    'health.facts': () => ({
      facts: [...parts.adapters.values()].flatMap((adapter) =>
        adapter.facts.map((fact) => ({ runtime: adapter.runtime, ...fact, versions: [...fact.versions] })),
      ),
    }),

    'settings.get': () => parts.settings.read(),
    'settings.set': async (change) => {
      const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
      if (change.collection_overrides !== undefined)
        Object.assign(given, { collection_overrides: checkOverrides(parts, change.collection_overrides) })
      const levels = [change.collection, ...(change.collection_overrides ?? []).map(({ level }) => level)]
      // A key is made when the first original is to be kept, and not before: its place may ask a person to unlock something.
      if (levels.includes('originals')) await parts.vault.prepare()
      const settings = await parts.settings.write(given)
      await parts.worker.call('collect', settings)
      return settings
    },

    'store.check': async () => {
      const result = await parts.worker.call('check')
      parts.damage.replace(result.damaged)
      return { ...result, note: NOT_CHECKED }
    },
    'store.reindex': async () => {
      const { sessions, events, seconds } = await acts.reindex()
      return { runs: sessions, events, seconds }
    },
  }) satisfies SomeHandlers

const NOT_CHECKED =
  'the index (index.db) is derived from the store and the homes and is not part of this check; `reprise reindex` builds it anew'

const describeVault = async ({ vault, log }: Parts): Promise<Status['vault']> => {
  try {
    const { keyStore, why, objects } = await vault.state()
    const locked = keyStore === 'none' && objects > 0
    // Before there is a vault nothing is amiss; its key will lie with the others unless the system's key store answers then.
    if (keyStore === 'none' && !locked) return { key_store: 'file', note: why, objects }
    return { key_store: keyStore, note: keyStore === 'file' ? FILE_KEY : why, objects }
  } catch (error) {
    log('warn', 'vault', { message: (error as Error).message })
    return { key_store: 'none', note: (error as Error).message, objects: 0 }
  }
}

const FILE_KEY =
  'its key is a file that only your account can read: no key store of the system answered when it was made'

/** Paths as they are compared: absolute, without a final separator. Throws `wrong_usage` naming the entry. */
const checkOverrides = (
  { surroundings }: Parts,
  overrides: readonly CollectionOverride[],
): readonly CollectionOverride[] => {
  const seen = new Set<string>()
  return overrides.map((override, n) => {
    const typed = override.path.trim().replace(/^~(?=$|[\\/])/, surroundings.userHome)
    if (!path.isAbsolute(typed))
      throw new RepriseError(
        'wrong_usage',
        `collection_overrides.${n}.path: ${JSON.stringify(override.path)} is no absolute path`,
        'begin it with / or ~',
      )
    const place = path.resolve(typed)
    if (seen.has(`${override.of} ${place}`))
      throw new RepriseError('wrong_usage', `collection_overrides.${n}.path: ${place} is named twice`)
    seen.add(`${override.of} ${place}`)
    return { ...override, path: place }
  })
}

/** Gaps that stand before all others. */
const FIRST: ReadonlySet<string> = new Set(['watch_exhausted', 'settings_damaged', 'store_damaged'])

/** Gaps on record, and those that follow from counts in the index. */
const listGaps = (parts: Parts, limit: number): { gaps: Gap[]; total: number } => {
  const index = parts.index()
  const recorded = index.sql('select * from gaps order by at desc').all() as Gap[]
  const at = parts.now().toISOString()
  const derived: Gap[] = []
  const add = (gap: Omit<Gap, 'at' | 'path'>): void => {
    derived.push({ path: null, at, ...gap })
  }
  for (const row of index
    .sql(
      `select runs.id as id, runs.home as home, runs.unreadable as n from runs where runs.unreadable > 0 order by sort_at desc`,
    )
    .all() as { id: string; home: string; n: number }[])
    add({
      id: `unreadable_line:${row.id}`,
      kind: 'unreadable_line',
      home: row.home,
      run: row.id,
      count: row.n,
      message: `${row.n} unreadable ${row.n === 1 ? 'line' : 'lines'} in ${row.id}`,
      hint: 'listed under Health with line and byte; everything else of the session is shown',
    })
  for (const row of index
    .sql(`select id, home, unknown_records as records from runs where unknown_records <> '{}' order by sort_at desc`)
    .all() as { id: string; home: string; records: string }[]) {
    const records = JSON.parse(row.records) as Record<string, number>
    const count = Object.values(records).reduce((sum, n) => sum + n, 0)
    add({
      id: `unknown_record:${row.id}`,
      kind: 'unknown_record',
      home: row.home,
      run: row.id,
      count,
      message: `${count} records of kinds this version does not know in ${row.id}: ${Object.keys(records).join(', ')}`,
      hint: 'they are kept as they are',
    })
  }
  for (const row of index
    .sql(
      `select id, home, source_state as state, json_extract(meta, '$.typed_only') as typed,
         json_extract(meta, '$.lines_from') as lines_from from runs where source_state <> 'present' order by sort_at desc`,
    )
    .all() as {
    id: string
    home: string
    state: 'shrank' | 'vanished'
    typed: number | null
    lines_from: string | null
  }[]) {
    const what = row.lines_from === null ? `the session file of ${row.id}` : `the session of ${row.id}`
    add({
      id: `source:${row.id}`,
      kind: row.state === 'shrank' ? 'source_shrank' : 'source_vanished',
      home: row.home,
      run: row.id,
      count: 1,
      message:
        row.state === 'shrank'
          ? `the agent rewrote ${what}`
          : row.typed === 1
            ? `${what} was gone before it was read; only the typed prompts are left`
            : `${what} is gone`,
      hint: row.typed === 1 ? 'the prompts are kept and shown' : 'what was read before is kept and shown',
    })
  }
  for (const home of parts.homes.list()) {
    const sessions = index
      .sql(
        "select json_extract(meta, '$.folder') as folder, workspace as cwd from runs where home = ? and folder is not null",
      )
      .all(home.id) as { folder: string; cwd: string | null }[]
    for (const [folder, cwds] of parts.adapters.get(home.runtime)?.findMixedFolders(sessions) ?? [])
      derived.push({
        id: `mixed_folder:${home.id}:${folder}`,
        kind: 'mixed_folder',
        home: home.id,
        run: null,
        path: folder,
        at,
        count: cwds.length,
        message: `${folder} holds sessions of ${cwds.length} directories: ${cwds.join(', ')}`,
        hint: 'the agent names folders by a rule that gives different directories the same name; its memory there may be mixed',
      })
  }
  const damaged = parts.settings.damage()
  if (damaged !== null)
    derived.unshift({
      id: 'settings_damaged',
      kind: 'settings_damaged',
      home: null,
      run: null,
      path: parts.paths.settings,
      at,
      count: 1,
      message: `the settings could not be read (${damaged}); defaults are in use, also for what is collected`,
      hint: 'the damaged file lies beside it; set what you need again',
    })
  for (const [n, message] of parts.damage.list().entries())
    derived.unshift({
      id: `store_damaged:${n}`,
      kind: 'store_damaged',
      home: null,
      run: /\br_[0-9a-f]{12}\b/.exec(message)?.[0] ?? null,
      path: null,
      at,
      count: 1,
      message,
      hint: 'the rest is intact and shown; `reprise check` names everything that is damaged',
    })
  const watching = parts.homes.list().flatMap((home) => {
    const state = parts.homes.watchState(home.id)
    return state.why === null ? [] : [{ home, state }]
  })
  for (const { home, state } of watching)
    derived.unshift({
      id: `watch:${home.id}`,
      kind: 'watch_exhausted',
      home: home.id,
      run: null,
      path: home.path,
      at,
      count: state.wanted - state.watched,
      message: `watching ${state.watched} of ${state.wanted} places of ${home.path}`,
      hint: state.why,
    })
  const gaps = [
    ...parts.stalled(),
    ...derived.filter(({ kind }) => FIRST.has(kind)),
    ...recorded.map((gap) => ({ ...gap, count: Number(gap.count) })),
    ...derived.filter(({ kind }) => !FIRST.has(kind)),
  ]
  return { gaps: gaps.slice(0, limit), total: gaps.length }
}

const watchLimit = (): number | null => {
  try {
    return Number(fs.readFileSync('/proc/sys/fs/inotify/max_user_watches', 'utf8')) || null
  } catch {
    return null
  }
}

const asOffset = (cursor: string): number => {
  if (!/^\d{1,9}$/.test(cursor)) throw new RepriseError('wrong_usage', 'cursor: not one of ours', 'search again')
  return Number(cursor)
}

/** The last rollback that is not itself the taking back of one, and what is open. */
const describeRollbacks = (parts: Parts) => {
  const all = parts.rollbacks()
  const last = all.find(({ state, undo_of }) => (state === 'applied' || state === 'undone') && undo_of === null)
  return {
    last:
      last === undefined
        ? null
        : { id: last.id, at: last.at, undone: last.state === 'undone', paths: last.paths.length },
    open: all.flatMap(({ id, state }) => (state === 'waiting' || state === 'interrupted' ? [{ id, state }] : [])),
  }
}
