import type { Drift, ManifestBody } from '../../../contract/index.ts'
import { versionId } from '../../files/version-id.ts'
import { isCredentialFile } from '../../secrets/credential-files.ts'
import type { Statement } from '../../store/index/database.ts'

/** Every file of a manifest that can have a history, with digest and size: credentials never, what holds a secret all the same. */
export function versionFilesOf(body: ManifestBody): VersionFiles {
  const files = new Map<string, VersionFile>()
  for (const { path, digest, bytes, kind } of body.instructions.sources)
    if (path !== null && digest !== null && !isCredentialFile(path))
      files.set(path, { digest, bytes, bookkeeping: kind === 'state' })
  for (const { path, digest, bytes } of body.context.memory)
    if (digest !== null && !files.has(path)) files.set(path, { digest, bytes, bookkeeping: false })
  for (const { path, digest, bytes } of body.capabilities.files ?? [])
    files.set(path, { digest, bytes, bookkeeping: false })
  return files
}

export type VersionFiles = ReadonlyMap<string, VersionFile>
export interface VersionFile {
  readonly digest: string
  readonly bytes: number | null
  /** The agent counts and notes things in it: a new content alone is no version. */
  readonly bookkeeping: boolean
}

/** Writes a row for every file that is another one than at the change before. Drifts come oldest first. */
export function saveVersions(sql: (text: string) => Statement, drift: Drift, files: VersionFiles): void {
  const changed = new Set(drift.changes.flatMap(({ path }) => (path === null ? [] : [path])))
  const save = (path: string, digest: string | null, bytes: number | null): void => {
    const last = sql(
      'select digest, at from file_versions where home = ? and path = ? and at <= ? order by at desc limit 1',
    ).get(drift.home, path, drift.at) as { digest: string | null } | undefined
    if (last === undefined ? digest === null : last.digest === digest) return
    sql(
      'insert or ignore into file_versions (id, home, path, at, digest, bytes, drift, manifest) values (?, ?, ?, ?, ?, ?, ?, ?)',
    ).run(versionId(path, drift.at, digest), drift.home, path, drift.at, digest, bytes, drift.id, drift.after)
  }
  for (const [path, { digest, bytes, bookkeeping }] of files)
    if (!bookkeeping || changed.has(path)) save(path, digest, bytes)
  for (const { path, what } of drift.changes)
    if (path !== null && what === 'gone' && !files.has(path)) save(path, null, null)
}
