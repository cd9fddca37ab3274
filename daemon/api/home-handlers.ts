import fs from 'node:fs'
import path from 'node:path'
import { type Home, type Looked, RepriseError, runtimeNames, type Settings } from '../../contract/index.ts'
import { homeIdOf } from '../capture/run-ids.ts'
import { realPath } from '../homes.ts'
import type { KnownHome, Parts } from '../parts.ts'
import type { SomeHandlers } from './handlers.ts'

const DAY = 24 * 3600 * 1000
/** "Soon" for sessions that the agent itself is about to delete (B13). */
const SOON_DAYS = 2

export const createHomeHandlers = (
  parts: Parts,
  sync: (home: string | null) => Promise<{ sessions: number; events: number; seconds: number }>,
) => {
  const saveHome = async (
    runtime: Settings['homes'][number]['runtime'],
    dir: string,
    watch: boolean,
  ): Promise<void> => {
    const { homes } = parts.settings.read()
    const id = homeIdOf(runtime, realPath(dir))
    await parts.settings.write({
      homes: [
        ...homes.filter((home) => homeIdOf(home.runtime, realPath(home.path)) !== id),
        { runtime, path: dir, watch },
      ],
    })
    parts.homes.refresh()
  }
  return {
    'homes.watch': async ({ runtime, path: given }) => {
      const dir = path.resolve(given)
      const adapter = parts.adapters.get(runtime)
      if (!adapter) throw new RepriseError('refused', `${runtime} cannot be read yet`, 'claude-code can')
      const description = adapter.describeHome(dir, parts.surroundings)
      if (description.state === 'missing')
        throw new RepriseError(
          'not_found',
          `path: ${dir} is not there`,
          'give the directory the agent keeps its configuration and sessions in',
        )
      await saveHome(runtime, dir, true)
      const home = parts.homes.list().find((one) => one.id === homeIdOf(runtime, realPath(dir)))
      if (!home) throw new RepriseError('internal', `${dir} was not added`)
      void sync(home.path).catch((error: Error) => parts.log('error', 'sync failed', { message: error.message }))
      return { home: describeHome(parts, home) }
    },

    'homes.forget': async ({ path: given }) => {
      const dir = realPath(path.resolve(given))
      const homes = parts.homes.list().filter((home) => home.path === dir)
      if (homes.length === 0)
        throw new RepriseError(
          'not_found',
          `path: ${dir} is not read`,
          'see `reprise status` for the homes that are',
          parts.homes.list().map((home) => home.path),
        )
      for (const home of homes) await saveHome(home.runtime, home.path, false)
      return { forgotten: homes.map((home) => home.path) }
    },

    'folders.complete': ({ prefix }) => ({ folders: completeFolder(prefix, parts.surroundings.userHome) }),
  } satisfies SomeHandlers
}

export const describeHome = (parts: Parts, home: KnownHome): Home => {
  const description = parts.adapters.get(home.runtime)?.describeHome(home.path, parts.surroundings)
  const counts = parts
    .index()
    .sql(
      `select count(*) as sessions, coalesce(sum(runs.unreadable), 0) as unreadable, coalesce(sum(case when files.ino = 0 then files.offset else files.size end), 0) as bytes, max(runs.sort_at) as newest
       from runs left join files on files.run = runs.key where runs.home = ?`,
    )
    .get(home.id) as { sessions: number; unreadable: number; bytes: number; newest: string | null }
  const version = parts
    .index()
    .sql(
      'select runtime_version as version from runs where home = ? and runtime_version is not null order by sort_at desc limit 1',
    )
    .get(home.id) as { version: string } | undefined
  const files = parts
    .index()
    .sql("select coalesce(sum(count), 0) as n from gaps where home = ? and kind = 'unreadable_file'")
    .get(home.id) as { n: number }
  const read = parts.index().sql('select read_at from homes where id = ?').get(home.id) as
    | { read_at: string | null }
    | undefined
  const watching = parts.homes.watchState(home.id)
  return {
    id: home.id,
    runtime: home.runtime,
    path: home.path,
    found_by: home.foundBy,
    version: description?.programVersion ?? version?.version ?? null,
    version_from: description?.programVersion ? 'program' : version ? 'sessions' : 'unknown',
    state: description?.state ?? 'unreadable',
    reason: description?.reason ?? null,
    watched: watching.wanted > 0,
    watching,
    sessions: Number(counts.sessions),
    unreadable: Number(counts.unreadable) + Number(files.n),
    bytes: Math.max(0, Number(counts.bytes)),
    retention: description?.retention
      ? { ...description.retention, expiring_soon: expiringSoon(parts, home.id, description.retention.days) }
      : null,
    last_read_at: read?.read_at ?? null,
  }
}

const expiringSoon = (parts: Parts, home: string, days: number | null): number => {
  if (days === null) return 0
  const before = parts.now().getTime() - (days - SOON_DAYS) * DAY
  const row = parts
    .index()
    .sql(
      "select count(*) as n from files join runs on runs.key = files.run where runs.home = ? and files.state = 'present' and files.mtime < ?",
    )
    .get(home, before) as { n: number }
  return Number(row.n)
}

/** Where each runtime was looked for. One without an adapter is named as not supported yet, so that it is never taken for absent. */
export const describeLooked = (parts: Parts): Looked[] =>
  runtimeNames
    .filter((runtime) => runtime !== 'native' && runtime !== 'command')
    .map((runtime) => {
      const candidates = parts.adapters.get(runtime)?.findHomes(parts.surroundings)
      return {
        runtime,
        places: candidates?.map(({ path: place }) => place) ?? [],
        found: candidates?.filter(({ exists }) => exists).length ?? 0,
        supported: candidates !== undefined,
      }
    })

const completeFolder = (prefix: string, userHome: string): string[] => {
  const typed = prefix.startsWith('~/') ? path.join(userHome, prefix.slice(2)) : prefix
  if (!path.isAbsolute(typed)) return []
  const dir = typed.endsWith(path.sep) ? typed : path.dirname(typed)
  const start = typed.endsWith(path.sep) ? '' : path.basename(typed)
  try {
    return fs
      .readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && entry.name.startsWith(start))
      .slice(0, 200)
      .map((entry) => path.join(dir, entry.name))
      .sort()
  } catch {
    return []
  }
}
