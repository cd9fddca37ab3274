import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { Digest, Drift, ManifestBody, RuntimeName } from '../../../contract/index.ts'
import { withBesideFiles } from '../../manifest/complete/beside-files.ts'
import { type CompletionParts, completeBody } from '../../manifest/complete/complete-body.ts'
import { redactBody } from '../../manifest/redact-body.ts'
import { scanSources } from '../../manifest/scan-sources.ts'
import { withChecks } from '../../manifest/with-checks.ts'
import type { Resolution, RuntimeAdapter, Surroundings } from '../../runtimes/adapter.ts'
import type { Redactor } from '../../secrets/redactor.ts'
import { type Database, statements } from '../../store/index/database.ts'
import type { Store } from '../../store/store.ts'
import type { Collection } from '../collection.ts'
import type { KeepOriginals } from '../keep-originals.ts'
import type { KeepRawFiles } from '../keep-raw-files.ts'
import { keepTexts } from '../keep-texts.ts'
import { homeIdOf } from '../run-ids.ts'
import { attributeChange, type OwnEdit } from './attribute-change.ts'
import { type ConfigurationState, readState } from './configuration-state.ts'
import { type Change, changeKey, findAlert, listChanges, nameChanges, toDriftChange } from './describe-change.ts'
import { createDriftRecords, filesOf, type SeenPlace } from './drift-records.ts'
import { latestChange, type PathStamps, stampPaths } from './path-stamps.ts'
import { versionFilesOf } from './version-rows.ts'

interface Place {
  readonly home: string
  readonly homeId: string
  readonly runtime: RuntimeName
  /** Null: the home alone, looked at first, so that what concerns all workspaces is told once. */
  readonly workspace: string | null
  /** Changes told already in the same round. */
  readonly told: Set<string>
  /** Stamps of paths looked at already in the same round. */
  readonly seen: Map<string, string>
}

interface Unsettled {
  readonly fingerprint: string
  readonly since: number
  readonly due: number
  readonly place: Place
}

export interface ConfigurationWatch {
  /** Looks at a home and the workspaces its runs were in, soon. */
  ask(home: { readonly runtime: RuntimeName; readonly path: string }): void
  /** A file was written by Reprise: the change that is found next is told as that. */
  noteEdit(edit: OwnEdit): void
  /** Does one small step; false when nothing is due. */
  step(): Promise<boolean>
  /** Milliseconds until something is due; null when nothing waits. */
  dueIn(): number | null
  /** Nothing asked for is left. */
  readonly idle: boolean
  /** The last step did more than compare stamps. */
  readonly resolved: boolean
}

export interface ConfigurationWatchParts {
  readonly db: Database
  readonly store: Store
  readonly redactor: Redactor
  readonly adapters: ReadonlyMap<RuntimeName, RuntimeAdapter>
  readonly surroundings: Surroundings
  readonly completion: CompletionParts
  readonly collection: Collection
  readonly originals: KeepOriginals
  readonly rawFiles: KeepRawFiles
  readonly tell: (drift: Drift) => void
  readonly fault: (what: string, error: unknown) => void
}

/** Edits of our own that are remembered: a look follows each within seconds. */
const MOST_EDITS = 1000
/** Two looks this far apart must agree before a change counts: files are often written in several steps, or torn (B17). */
const SETTLE_MS = 300
/** A file that cannot be understood may become whole again; after this time its state is told as it is. */
const TORN_MS = 5_000
/** What keeps changing all the time is told in the state it has then. */
const RESTLESS_MS = 15_000
/** Workspaces whose last run is older are looked at when a run starts in them again. */
const RECENT_DAYS = 30

/** Notices what changes in configuration outside of starts (drift), and keeps each state as a manifest. */
export const createConfigurationWatch = (parts: ConfigurationWatchParts): ConfigurationWatch => {
  const { db, store, redactor, adapters, surroundings, completion } = parts
  const { now } = surroundings
  const sql = statements(db)
  const records = createDriftRecords(db, store)
  const queue: Place[] = []
  const stamps = new Map<string, PathStamps>()
  const unsettled = new Map<string, Unsettled>()
  const ownEdits: OwnEdit[] = []
  let loaded = false
  let resolved = false

  const keyOf = ({ homeId, workspace }: Place): string => `${homeId}\0${workspace ?? ''}`

  const placesOf = (runtime: RuntimeName, home: string): readonly Place[] => {
    const homeId = homeIdOf(runtime, home)
    const since = new Date(now().getTime() - RECENT_DAYS * 86_400_000).toISOString()
    const rows = sql(
      'select workspace, max(sort_at) as last from runs where home = ? and workspace is not null and sort_at >= ? group by workspace order by last desc',
    ).all(homeId, since) as { workspace: string }[]
    const told = new Set<string>()
    const seen = new Map<string, string>()
    const workspaces = [...new Set(rows.map(({ workspace }) => workspace))].filter(
      (workspace) => workspace !== home && isDirectory(workspace),
    )
    return [null, ...workspaces].map((workspace) => ({ home, homeId, runtime, workspace, told, seen }))
  }

  const resolve = (place: Place, adapter: RuntimeAdapter): Resolution => {
    const found = adapter.resolve({
      home: place.home,
      cwd: place.workspace ?? place.home,
      flags: [],
      surroundings,
      version: adapter.findProgram(place.home, surroundings)?.version ?? null,
      keyed: redactor.keyed,
    })
    return { ...found, body: withBesideFiles(found.body, surroundings) }
  }

  const freeze = async (adapter: RuntimeAdapter, place: Place, resolution: Resolution) => {
    const whole = await completeBody(completion, adapter, place.home, resolution.body, 'now')
    const texts = resolution.body.instructions.sources.flatMap(({ uri, text_digest }) => {
      const text = resolution.texts.get(uri)?.text
      return text_digest === null || typeof text !== 'string' ? [] : [{ digest: text_digest as Digest, text }]
    })
    const where = { home: place.home, workspaces: place.workspace === null ? [] : [place.workspace] }
    await keepTexts(parts, where, texts)
    await parts.rawFiles.manifest(where, whole, (uri) => resolution.texts.get(uri)?.raw ?? null)
    const scanned = scanSources(whole, ({ uri }) => resolution.texts.get(uri), redactor)
    return store.manifests.put(withChecks(redactBody(scanned, redactor), redactor).body)
  }

  /** True: the place is as told. False: it must be looked at again a little later. */
  const lookAt = async (place: Place): Promise<boolean> => {
    const adapter = adapters.get(place.runtime)
    if (!adapter) return true
    const key = keyOf(place)
    const last = records.last(place.homeId, place.workspace)
    if (last && !unsettled.has(key) && stamps.get(key)?.changed(place.seen) === false) {
      records.touch(place.homeId, place.workspace, now().toISOString())
      return true
    }
    // A home that is away says nothing of its configuration: it is missing, which its state tells (unknown is not absent).
    if (!isDirectory(place.home)) return true
    resolved = true
    const resolution = resolve(place, adapter)
    const before = last === null ? null : readState(await manifestOf(last))
    const body = redactBody(resolution.body, redactor)
    const state = readState(body)
    const program = adapter.findProgram(place.home, surroundings)?.version ?? null
    if (last && before && state.fingerprint === last.fingerprint && program === last.program) {
      unsettled.delete(key)
      stamps.set(key, stampPaths(body))
      records.touch(place.homeId, place.workspace, now().toISOString())
      return true
    }
    if (last !== null && !hasSettled(place, state, before)) return false
    unsettled.delete(key)
    const manifest = await freeze(adapter, place, resolution)
    const seen: SeenPlace = {
      manifest: manifest.integrity.manifest_digest as Digest,
      fingerprint: state.fingerprint,
      program,
      seenAt: now().toISOString(),
    }
    stamps.set(key, stampPaths(body))
    if (last === null || before === null) await records.add(firstSeen(place, seen), seen, manifest)
    else await record(place, adapter, { before, after: state, last, seen, body: manifest })
    return true
  }

  const hasSettled = (place: Place, state: ConfigurationState, before: ConfigurationState | null): boolean => {
    const key = keyOf(place)
    const at = now().getTime()
    const waiting = unsettled.get(key)
    const torn = state.unreadable.filter((file) => !before?.unreadable.includes(file))
    const since = waiting?.since ?? at
    // However long others go on rewriting it, half a file is never what is configured.
    if (torn.every((file) => isStill(file, at))) {
      if (at - since >= RESTLESS_MS) return true
      if (waiting?.fingerprint === state.fingerprint && at >= waiting.due) return true
    }
    unsettled.set(key, { fingerprint: state.fingerprint, since, due: at + SETTLE_MS, place })
    return false
  }

  const manifestOf = async ({ manifest }: SeenPlace): Promise<ManifestBody> => {
    const found = await store.manifests.get(manifest)
    if (!found) throw new Error(`manifest ${manifest} is not in the store`)
    return found
  }

  const record = async (
    place: Place,
    adapter: RuntimeAdapter,
    look: {
      readonly before: ConfigurationState
      readonly after: ConfigurationState
      readonly last: SeenPlace
      readonly seen: SeenPlace
      readonly body: ManifestBody
    },
  ): Promise<void> => {
    const { before, after, last, seen, body } = look
    const all = listChanges(before, after)
    // An index that was made anew has forgotten that this place followed what another one told.
    const toldBefore = (change: Change): boolean => {
      const { path: file, what, after: is } = toDriftChange(change, () => null)
      return records.toldSince(place.homeId, last.seenAt, file, what, cover(is))
    }
    const news = all.filter((change) => !place.told.has(changeKey(change)) && !toldBefore(change))
    const versionKey = `program\0${last.program}\0${seen.program}`
    const updated = last.program !== seen.program && last.program !== null && seen.program !== null
    const isNewUpdate = updated && !place.told.has(versionKey)
    place.told.add(versionKey)
    for (const change of all) place.told.add(changeKey(change))
    if (news.length === 0 && !isNewUpdate) {
      records.replace(place.homeId, place.workspace, seen)
      return
    }
    const files = [...new Set(news.flatMap(({ item }) => (item.path === null ? [] : [item.path])))]
    const touched = latestChange(files)
    const at = touched !== null && touched > last.seenAt && touched <= seen.seenAt ? touched : seen.seenAt
    const digests = filesOf(body)
    const written = versionFilesOf(body)
    const sameAs = ({ item }: Change): string | null => {
      const digest = item.path === null ? undefined : digests.get(item.path)
      return digest === undefined || item.path === null ? null : records.seenBefore(place.homeId, item.path, digest)
    }
    const title = updated
      ? `${last.program} → ${seen.program}${news.length === 0 ? '' : `, ${nameChanges(news)}`}`
      : nameChanges(news)
    const drift: Drift = {
      id: idOf(place, at, last.manifest, seen.manifest),
      at,
      home: place.homeId,
      home_path: place.home,
      runtime: place.runtime,
      workspace: place.workspace,
      kind: updated ? 'update' : 'configuration',
      title: redactor.redact(title).text,
      changes: news.map((change) => {
        const { before: was, after: is, ...rest } = toDriftChange(change, sameAs)
        return { ...rest, before: cover(was), after: cover(is) }
      }),
      writer: attributeChange(sql, {
        home: place.homeId,
        workspace: place.workspace,
        changes: news,
        window: { from: last.seenAt, to: seen.seenAt },
        versions: { before: last.program, after: seen.program },
        away: Date.parse(last.seenAt) < startedAt,
        ownEdit: (file) =>
          ownEdits.find((edit) => edit.path === file && edit.digest === (written.get(file)?.digest ?? null)) ?? null,
      }),
      alert: findAlert(before, after),
      helpers: helpersOf(adapter, place.home, files, last.seenAt),
      before: last.manifest,
      after: seen.manifest,
    }
    await records.add(drift, seen, body)
    parts.tell(drift)
  }

  const startedAt = now().getTime()
  const cover = (text: string | null): string | null => (text === null ? null : redactor.redact(text).text)

  const firstSeen = (place: Place, seen: SeenPlace): Drift => ({
    id: idOf(place, seen.seenAt, null, seen.manifest),
    at: seen.seenAt,
    home: place.homeId,
    home_path: place.home,
    runtime: place.runtime,
    workspace: place.workspace,
    kind: 'first_seen',
    title: 'first seen',
    changes: [],
    writer: { who: 'unknown', run: null, seq: null, why: 'nobody looked before' },
    alert: null,
    helpers: [],
    before: null,
    after: seen.manifest,
  })

  const take = (): Place | null => {
    const at = now().getTime()
    for (const [, { due, place }] of unsettled) if (due <= at) return place
    return queue.shift() ?? null
  }

  return {
    noteEdit(edit) {
      ownEdits.push(edit)
      if (ownEdits.length > MOST_EDITS) ownEdits.splice(0, ownEdits.length - MOST_EDITS)
    },
    ask({ runtime, path: home }) {
      if (!adapters.has(runtime)) return
      const homeId = homeIdOf(runtime, home)
      for (let at = queue.length - 1; at >= 0; at -= 1) if (queue[at]?.homeId === homeId) queue.splice(at, 1)
      queue.push(...placesOf(runtime, home))
    },
    async step() {
      if (!loaded) {
        loaded = true
        await records.load()
        return true
      }
      resolved = false
      const place = take()
      if (!place) return false
      try {
        await lookAt(place)
      } catch (error) {
        unsettled.delete(keyOf(place))
        parts.fault(`the configuration of ${place.workspace ?? place.home} could not be looked at`, error)
      }
      return true
    },
    dueIn() {
      if (queue.length > 0) return 0
      const due = [...unsettled.values()].map((one) => one.due)
      return due.length === 0 ? null : Math.max(0, Math.min(...due) - now().getTime())
    },
    get resolved() {
      return resolved
    },
    get idle() {
      return queue.length === 0 && unsettled.size === 0
    },
  }
}

const idOf = (place: Place, at: string, before: string | null, after: string): string =>
  `d_${createHash('sha256')
    .update([place.homeId, place.workspace ?? '', at, before ?? '', after].join('\0'))
    .digest('hex')
    .slice(0, 12)}`

/** Copies and left-overs that an updater or a repair wrote at the same time (B18): told with the change, not as changes. */
function helpersOf(
  adapter: RuntimeAdapter,
  home: string,
  files: readonly string[],
  since: string,
): { path: string; why: string }[] {
  const folders = new Set([home, path.dirname(home), ...files.map((file) => path.dirname(file))])
  const found: { path: string; why: string }[] = []
  for (const folder of folders) {
    let names: string[]
    try {
      names = fs.readdirSync(folder)
    } catch {
      continue
    }
    for (const name of names) {
      const file = path.join(folder, name)
      const why = adapter.helperFile(home, file)
      if (why === null) continue
      const stat = fs.statSync(file, { throwIfNoEntry: false })
      if (stat?.isFile() && stat.mtime.toISOString() >= since) found.push({ path: file, why })
    }
  }
  return found.sort((a, b) => (a.path < b.path ? -1 : 1))
}

const isStill = (file: string, at: number): boolean =>
  at - (fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= TORN_MS

function isDirectory(folder: string): boolean {
  return fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() ?? false
}
