import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { type AgentFile, type ManifestSource, RepriseError, type RuntimeName } from '../../contract/index.ts'
import { realPath } from '../homes.ts'
import type { KnownHome, Parts } from '../parts.ts'
import type { Resolution } from '../runtimes/adapter.ts'
import { isInside } from '../runtimes/shared/disk.ts'
import { isCredentialFile } from '../secrets/credential-files.ts'
import { formatOf } from './structured/format.ts'
import { LARGEST_EDITABLE, readTextForm } from './text-form.ts'

/** Whatever stands at a path of a home or workspace. */
export type OnDisk =
  | { readonly state: 'file'; readonly bytes: Buffer; readonly digest: string; readonly stat: fs.Stats }
  | { readonly state: 'large'; readonly stat: fs.Stats }
  | { readonly state: 'missing' }
  | { readonly state: 'other'; readonly why: string }

export function findHome(parts: Pick<Parts, 'homes'>, given: string): KnownHome {
  const known = parts.homes.list()
  const real = realPath(path.resolve(given))
  const found = known.find(({ id, path: place }) => id === given || place === real)
  if (found) return found
  throw new RepriseError(
    'not_found',
    `home: ${given} is not read`,
    'see `reprise status` for the homes that are',
    known.map((home) => home.path),
  )
}

/** Directories the runs of a home were in and that are still there, the newest first. */
export function workspacesOf(parts: Pick<Parts, 'index'>, home: KnownHome): readonly string[] {
  const rows = parts
    .index()
    .sql(
      'select workspace, max(sort_at) as last from runs where home = ? and workspace is not null group by workspace order by last desc',
    )
    .all(home.id) as { workspace: string }[]
  return rows
    .map(({ workspace }) => workspace)
    .filter((folder) => folder !== home.path && fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory())
}

export function resolveFor(
  parts: Pick<Parts, 'adapters' | 'surroundings' | 'redactor'>,
  home: KnownHome,
  workspace: string | null,
  options: { readonly overlay?: ReadonlyMap<string, Uint8Array>; readonly flags?: readonly string[] } = {},
): Resolution {
  const adapter = parts.adapters.get(home.runtime)
  if (!adapter) throw new RepriseError('refused', `${home.runtime} cannot be resolved yet`)
  return adapter.resolve({
    home: home.path,
    cwd: workspace ?? home.path,
    flags: options.flags ?? [],
    surroundings: parts.surroundings,
    version: adapter.findProgram(home.path, parts.surroundings)?.version ?? null,
    keyed: parts.redactor.keyed,
    ...(options.overlay === undefined ? {} : { overlay: options.overlay }),
  })
}

export function readOnDisk(file: string): OnDisk {
  try {
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    if (stat === undefined) return { state: 'missing' }
    if (!stat.isFile()) return { state: 'other', why: stat.isDirectory() ? 'a folder stands there' : 'not a file' }
    if (stat.size > LARGEST_EDITABLE) return { state: 'large', stat }
    const bytes = fs.readFileSync(file)
    return { state: 'file', bytes, digest: `sha256:${createHash('sha256').update(bytes).digest('hex')}`, stat }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'ENOTDIR') return { state: 'missing' }
    return { state: 'other', why: code === 'EACCES' ? 'no permission to read it' : `cannot be read (${code})` }
  }
}

/** The link a path is, or goes through below its home or workspace; null when it is none. */
export function linkOf(
  file: string,
  roots: readonly string[],
): { readonly link: string; readonly target: string } | null {
  const root = roots.filter((one) => isInside(file, one)).sort((a, b) => b.length - a.length)[0] ?? path.dirname(file)
  let here = file
  while (here.length > root.length) {
    if (fs.lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink()) {
      try {
        return { link: here, target: path.join(fs.realpathSync(here), path.relative(here, file)) }
      } catch {
        return { link: here, target: path.resolve(path.dirname(here), fs.readlinkSync(here)) }
      }
    }
    const above = path.dirname(here)
    if (above === here) break
    here = above
  }
  return null
}

/** A path, its place in a home, and what a resolution says of it. */
export interface FilePlace {
  readonly home: KnownHome
  readonly path: string
  readonly workspace: string | null
  readonly source: Pick<ManifestSource, 'kind' | 'scope' | 'status' | 'reason'> | null
}

/** What the sources of a resolution say of each file, one entry a file: what is loaded says more than what is not. */
export function placesOf(
  home: KnownHome,
  workspace: string | null,
  { body }: Pick<Resolution, 'body'>,
): ReadonlyMap<string, FilePlace> {
  const order = { loaded: 3, lazy: 2, unknown: 1, not_loaded: 0 }
  const places = new Map<string, FilePlace>()
  for (const source of body.instructions.sources) {
    if (source.path === null || source.path_bytes !== undefined) continue
    const before = places.get(source.path)?.source
    if (before && order[before.status] >= order[source.status]) continue
    const { kind, scope, status, reason } = source
    places.set(source.path, { home, path: source.path, workspace, source: { kind, scope, status, reason } })
  }
  for (const { path: file } of body.context.memory)
    if (!places.has(file)) {
      const source = { kind: 'memory' as const, scope: 'user', status: 'loaded' as const, reason: null }
      places.set(file, { home, path: file, workspace, source })
    }
  for (const { path: file, of } of body.capabilities.files ?? [])
    if (!places.has(file)) {
      const source = { kind: 'skill' as const, scope: 'beside', status: 'lazy' as const, reason: `belongs to ${of}` }
      places.set(file, { home, path: file, workspace, source })
    }
  return places
}

export function describeFile(place: FilePlace, disk: OnDisk, versions: number, userHome: string): AgentFile {
  const { home, path: file, workspace, source } = place
  const area = areaOf(place, userHome)
  const credential = isCredentialFile(file)
  const link = linkOf(file, [home.path, ...(workspace === null ? [] : [workspace])])
  const format = formatFor(file, home.runtime, disk)
  const managed = isManaged(place)
  const note = credential
    ? 'a credential: never shown, copied or edited'
    : managed
      ? 'set by who administers this machine'
      : disk.state === 'large'
        ? 'over 4 MB: to be looked at only'
        : disk.state === 'other'
          ? disk.why
          : format === 'binary'
            ? 'not text: to be looked at only'
            : link !== null
              ? `a link: what is written goes to ${link.target}`
              : null
  const root = area === 'project' && workspace !== null ? workspace : home.path
  return {
    path: file,
    shown: isInside(file, root)
      ? path.relative(root, file)
      : isInside(file, userHome)
        ? `~/${path.relative(userHome, file)}`
        : file,
    area,
    kind: source?.kind ?? 'other',
    scope: source?.scope ?? (area === 'project' ? 'project' : 'user'),
    format,
    state: disk.state === 'missing' ? 'deleted' : (source?.status ?? 'unknown'),
    reason:
      source === null && disk.state !== 'missing' ? 'no start that was looked at reads it' : (source?.reason ?? null),
    digest: disk.state === 'file' && !credential ? disk.digest : null,
    bytes: disk.state === 'file' || disk.state === 'large' ? disk.stat.size : null,
    modified_at: disk.state === 'file' || disk.state === 'large' ? disk.stat.mtime.toISOString() : null,
    versions,
    editable: !credential && !managed && format !== 'binary' && (disk.state === 'file' || disk.state === 'missing'),
    note,
    link_target: link?.target ?? null,
  }
}

export function formatFor(file: string, runtime: RuntimeName, disk: OnDisk): AgentFile['format'] {
  return disk.state === 'file' && readTextForm(disk.bytes) === null ? 'binary' : formatOf(file, runtime)
}

export const isManaged = ({ source }: FilePlace): boolean =>
  source !== null && /^(managed|system|requirements|legacy_managed|policy)/i.test(source.scope)

function areaOf(place: FilePlace, userHome: string): AgentFile['area'] {
  const { home, path: file, workspace } = place
  if (isManaged(place)) return 'system'
  if (isInside(file, home.path)) return 'home'
  if (
    workspace !== null &&
    (isInside(file, workspace) || /project|local|repo|workspace/i.test(place.source?.scope ?? ''))
  )
    return 'project'
  return isInside(file, userHome) ? 'home' : workspace === null ? 'system' : 'project'
}

/** Whether somebody works with the home now. */
export function isRunning(parts: Pick<Parts, 'adapters' | 'surroundings'>, home: KnownHome): boolean {
  const live = parts.adapters.get(home.runtime)?.describeHome(home.path, parts.surroundings).live ?? []
  return live.some(({ pid }) => {
    try {
      process.kill(pid, 0)
      return true
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'EPERM'
    }
  })
}
