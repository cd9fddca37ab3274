import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { branchesAt, isObject, namesAt, type Tree, valueAt } from './config-tree.ts'
import type { Places } from './places.ts'
import { makeSource, type Source, type Unknown } from './sources.ts'

export interface ResolvedPlugins {
  readonly plugins: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly Unknown[]
}

const MANIFEST = 'openclaw.plugin.json'

interface FoundPlugin {
  readonly id: string
  readonly folder: string | null
  readonly version: string | null
  readonly manifest: Buffer | null
  readonly from: string
}

/** Installed and configured plugins with their versions; nothing of them is run, so that what they register stays unknown. */
export function resolvePlugins(disk: Disk, tree: Tree, places: Places, program: string | null): ResolvedPlugins {
  const unknown: Unknown[] = []
  const found = new Map<string, FoundPlugin>()
  const take = (folder: string, from: string): void => {
    const one = readPlugin(disk, folder, from)
    if (one !== null && !found.has(one.id)) found.set(one.id, one)
  }
  for (const given of namesAt(tree, 'plugins', 'load', 'paths') ?? []) {
    const folder = places.expand(given)
    const known = found.size
    take(folder, 'plugins.load.paths')
    if (found.size === known)
      unknown.push({
        field: 'capabilities.plugins',
        why: `plugins.load.paths names ${folder}, where no ${MANIFEST} can be read`,
      })
  }
  for (const folder of ['extensions', path.join('npm', 'projects')]) {
    const names = disk.names(path.join(places.startDir, folder))
    if (!Array.isArray(names)) continue
    for (const { name } of [...names].sort((a, b) => (a.name < b.name ? -1 : 1)))
      take(path.join(places.startDir, folder, name), folder)
  }
  for (const id of branchesAt(tree, 'plugins', 'entries').keys()) {
    if (found.has(id)) continue
    found.set(id, { id, folder: null, version: null, manifest: null, from: 'plugins.entries' })
  }

  const allow = namesAt(tree, 'plugins', 'allow')
  const deny = namesAt(tree, 'plugins', 'deny') ?? []
  const allOff = valueAt(tree, 'plugins', 'enabled') === false
  const sources: Source[] = []
  const plugins = [...found.values()].map((one): ManifestCapability => {
    const enabled = valueAt(tree, 'plugins', 'entries', one.id, 'enabled')
    const reason = allOff
      ? 'plugins.enabled is false'
      : deny.includes(one.id)
        ? 'plugins.deny names it'
        : allow !== null && allow.length > 0 && !allow.includes(one.id)
          ? 'plugins.allow does not name it'
          : enabled === false
            ? `plugins.entries.${one.id}.enabled is false`
            : null
    if (one.folder !== null && one.manifest !== null)
      sources.push(
        makeSource({
          path: path.join(one.folder, MANIFEST),
          scope: one.from,
          kind: 'plugin',
          status: reason === null ? 'loaded' : 'not_loaded',
          reason,
          raw: one.manifest,
        }),
      )
    const isOurs = one.folder === null
    return {
      name: one.id,
      version: one.version,
      digest: one.manifest === null ? null : bytesDigest(one.manifest),
      source: one.from,
      status: reason !== null ? 'disabled' : isOurs && enabled !== true ? 'unknown' : 'active',
      reason: reason ?? (isOurs ? 'only its entry is known: it is bundled with the program, or missing' : null),
      description: null,
      used: null,
      ...(one.folder === null ? {} : { path: one.folder }),
    }
  })
  unknown.push({
    field: 'capabilities.plugins',
    why: `which of the plugins bundled with the program load is known only to the running agent${program === null ? ', and the program was not found' : ''}`,
  })
  return { plugins, sources, unknown }
}

function readPlugin(disk: Disk, folder: string, from: string): FoundPlugin | null {
  const read = disk.read(path.join(folder, MANIFEST))
  if (read.state !== 'ok') return null
  const manifest = parse(read.bytes)
  const pkg = disk.read(path.join(folder, 'package.json'))
  const own = pkg.state === 'ok' ? parse(pkg.bytes) : {}
  const id = manifest.id ?? own.name
  const version = own.version ?? manifest.version
  return {
    id: typeof id === 'string' ? id : path.basename(folder),
    folder,
    version: typeof version === 'string' ? version : null,
    manifest: read.bytes,
    from,
  }
}

function parse(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}
