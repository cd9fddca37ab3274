import path from 'node:path'
import { type Digest, isDigest, type ManifestBody, type RollbackArea } from '../../contract/index.ts'

/** A file that a manifest names, as it was then. */
export interface ConfigurationFile {
  readonly path: string
  readonly digest: Digest | null
  /** Permissions, where they are known. */
  readonly mode: number | null
  readonly kind: string
  readonly reason: string | null
}

/** Every file behind a manifest: what enters the context, what sets something, and what lies in the folders of skills, hooks and plugins. */
export function filesOf(body: ManifestBody): ReadonlyMap<string, ConfigurationFile> {
  const files = new Map<string, ConfigurationFile>()
  for (const { path: file, digest, kind, reason, path_bytes } of body.instructions.sources) {
    if (file === null || path_bytes !== undefined || files.has(file)) continue
    files.set(file, { path: file, digest: asDigest(digest), mode: null, kind, reason })
  }
  for (const { path: file, digest, mode } of body.capabilities.files ?? [])
    if (!files.has(file)) files.set(file, { path: file, digest: asDigest(digest), mode, kind: 'beside', reason: null })
  for (const { path: file, digest } of body.context.memory)
    if (!files.has(file))
      files.set(file, { path: file, digest: asDigest(digest), mode: null, kind: 'memory', reason: null })
  return files
}

const asDigest = (digest: string | null): Digest | null => (digest !== null && isDigest(digest) ? digest : null)

/** Home and workspace as they really lie on the disk, so that paths below them can be told by their beginning. */
export interface Areas {
  readonly home: string
  readonly workspace: string | null
  /** Folder of the user, for files an agent keeps beside its home. */
  readonly userHome: string
}

export interface Place {
  readonly area: RollbackArea
  /** No folder below this one may be a link. */
  readonly root: string
}

/** Where a file of configuration belongs; null: neither to the home nor to the workspace, so it is not ours to change. */
export function placeOf(file: string, { home, workspace, userHome }: Areas): Place | null {
  if (isBelow(file, home)) return { area: 'home', root: home }
  if (workspace !== null) {
    if (isBelow(file, workspace)) return { area: 'project', root: workspace }
    // Agents read the folders above a workspace too, up to its repository.
    const folder = path.dirname(file)
    if (isBelow(workspace, folder) && isBelow(folder, userHome) && folder !== userHome)
      return { area: 'project', root: folder }
  }
  // Beside the home (`~/.claude.json`), never deeper in the user's folder.
  if (path.dirname(file) === path.dirname(home)) return { area: 'home', root: path.dirname(file) }
  return null
}

export const isBelow = (file: string, folder: string): boolean =>
  file.startsWith(folder.endsWith('/') ? folder : `${folder}/`)
