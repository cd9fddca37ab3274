import { type Digest, type Drift, isDigest, type ManifestBody } from '../../../contract/index.ts'
import { type Database, inTransaction, statements } from '../../store/index/database.ts'
import type { Store } from '../../store/store.ts'
import { readState } from './configuration-state.ts'
import { type DriftWords, wordsOf } from './drift-words.ts'
import { saveVersions, type VersionFiles, versionFilesOf } from './version-rows.ts'

/** How a place of a home was last seen. */
export interface SeenPlace {
  readonly manifest: Digest
  readonly fingerprint: string
  readonly program: string | null
  readonly seenAt: string
}

export interface DriftRecords {
  /** Brings what the store holds into an index that was made anew. */
  load(): Promise<void>
  last(home: string, workspace: string | null): SeenPlace | null
  /** Nothing changed: only the time of the look. */
  touch(home: string, workspace: string | null, at: string): void
  /** Durable in the store before it is in the index. */
  add(drift: Drift, place: SeenPlace, body: ManifestBody): Promise<void>
  /** Nothing worth an entry: the place is as another entry of the same look says. */
  replace(home: string, workspace: string | null, place: SeenPlace): void
  /** Another place of the home has told the same change since then. */
  toldSince(home: string, since: string, path: string | null, what: string, after: string | null): boolean
  /** When a file was last seen with a content, before it had another one. */
  seenBefore(home: string, file: string, digest: string): string | null
}

export const createDriftRecords = (db: Database, store: Store): DriftRecords => {
  const sql = statements(db)

  const savePlace = (home: string, workspace: string | null, place: SeenPlace): void => {
    sql(
      `insert into configurations (home, workspace, manifest, fingerprint, program, seen_at) values (?, ?, ?, ?, ?, ?)
       on conflict (home, workspace) do update set manifest = excluded.manifest, fingerprint = excluded.fingerprint, program = excluded.program, seen_at = excluded.seen_at`,
    ).run(home, workspace ?? '', place.manifest, place.fingerprint, place.program, place.seenAt)
  }

  const saveDrift = (drift: Drift, words: readonly DriftWords[]): void => {
    const known = sql('select 1 from drifts where id = ?').get(drift.id)
    if (known !== undefined) return
    sql('insert into drifts (id, home, runtime, workspace, at, kind, alert, doc) values (?, ?, ?, ?, ?, ?, ?, ?)').run(
      drift.id,
      drift.home,
      drift.runtime,
      drift.workspace,
      drift.at,
      drift.kind,
      drift.alert,
      JSON.stringify(drift),
    )
    for (const [path, what, text] of words) {
      const made = sql('insert into drift_words (drift, path, what, text) values (?, ?, ?, ?)').run(
        drift.id,
        path,
        what,
        text,
      )
      sql('insert into drifts_found (rowid, text) values (?, ?)').run(made.lastInsertRowid, text)
    }
  }

  const saveFiles = (home: string, files: ReadonlyMap<string, string>, at: string): void => {
    for (const [file, digest] of files)
      sql(
        `insert into file_states (home, path, mark, seen_at) values (?, ?, ?, ?)
         on conflict (home, path, mark) do update set seen_at = max(seen_at, excluded.seen_at)`,
      ).run(home, file, digest, at)
  }

  return {
    async load() {
      const known = sql('select count(*) as n from drifts').get() as { n: number }
      if (Number(known.n) > 0) return
      const all: Drift[] = []
      for await (const drift of store.configuration.list()) all.push(drift)
      all.sort((a, b) => (a.at < b.at ? -1 : 1))
      const words = new Map<string, readonly DriftWords[]>()
      const places = new Map<string, { drift: Drift; place: SeenPlace }>()
      const files: { home: string; at: string; files: ReadonlyMap<string, string> }[] = []
      const versions: { drift: Drift; files: VersionFiles }[] = []
      for (const drift of all) {
        if (!isDigest(drift.after)) continue
        const manifest = await store.manifests.get(drift.after).catch(() => null)
        words.set(drift.id, await wordsOf(drift, manifest, store.texts))
        if (!manifest) continue
        versions.push({ drift, files: versionFilesOf(manifest) })
        files.push({ home: drift.home, at: drift.at, files: filesOf(manifest) })
        places.set(`${drift.home}\0${drift.workspace ?? ''}`, {
          drift,
          place: {
            manifest: drift.after,
            fingerprint: readState(manifest).fingerprint,
            program: programOf(manifest),
            seenAt: drift.at,
          },
        })
      }
      inTransaction(db, () => {
        for (const drift of all) saveDrift(drift, words.get(drift.id) ?? [])
        for (const { drift, place } of places.values()) savePlace(drift.home, drift.workspace, place)
        for (const one of files) saveFiles(one.home, one.files, one.at)
        for (const { drift, files } of versions) saveVersions(sql, drift, files)
      })
    },
    last(home, workspace) {
      const row = sql(
        'select manifest, fingerprint, program, seen_at from configurations where home = ? and workspace = ?',
      ).get(home, workspace ?? '') as
        | { manifest: Digest; fingerprint: string; program: string | null; seen_at: string }
        | undefined
      if (!row) return null
      return { manifest: row.manifest, fingerprint: row.fingerprint, program: row.program, seenAt: row.seen_at }
    },
    touch(home, workspace, at) {
      sql('update configurations set seen_at = ? where home = ? and workspace = ?').run(at, home, workspace ?? '')
    },
    async add(drift, place, body) {
      await store.configuration.append(drift)
      const words = await wordsOf(drift, body, store.texts)
      inTransaction(db, () => {
        saveDrift(drift, words)
        savePlace(drift.home, drift.workspace, place)
        saveFiles(drift.home, filesOf(body), drift.at)
        saveVersions(sql, drift, versionFilesOf(body))
      })
    },
    replace: savePlace,
    toldSince(home, since, path, what, after) {
      const row = sql(
        `select 1 from drifts, json_each(drifts.doc, '$.changes') as change where drifts.home = ? and drifts.at >= ?
           and json_extract(change.value, '$.path') is ? and json_extract(change.value, '$.what') = ? and json_extract(change.value, '$.after') is ? limit 1`,
      ).get(home, since, path, what, after)
      return row !== undefined
    },
    seenBefore(home, file, digest) {
      const row = sql('select seen_at from file_states where home = ? and path = ? and mark = ?').get(
        home,
        file,
        digest,
      ) as { seen_at: string } | undefined
      return row?.seen_at ?? null
    },
  }
}

/** Files a configuration was read from, with their digests. */
export const filesOf = (body: ManifestBody): ReadonlyMap<string, string> =>
  new Map([
    ...body.instructions.sources.flatMap(({ path, digest, kind, classification }) =>
      path === null || digest === null || kind === 'state' || classification === 'secret'
        ? []
        : [[path, digest] as const],
    ),
    ...(body.capabilities.files ?? []).map(({ path, digest }) => [path, digest] as const),
  ])

export const programOf = (body: ManifestBody): string | null => body.execution.program?.version ?? null
