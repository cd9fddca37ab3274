import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { type Reading, readJsonFile } from './config-file.ts'
import { type ConfigLayer, mergedTables } from './layers.ts'
import { feature } from './settings.ts'
import { makeSource, type Source } from './sources.ts'
import { byBytes, textOf } from './values.ts'

export interface Plugin {
  /** `name@market`. */
  readonly id: string
  readonly shortName: string
  /** Folder its parts load from; null when none is there. */
  readonly root: string | null
  readonly active: boolean
  readonly capability: ManifestCapability
}

export interface ResolvedPlugins {
  readonly plugins: readonly Plugin[]
  readonly sources: readonly Source[]
}

/** `[plugins."name@market"]` with its content below `<home>/plugins/cache/<market>/<name>/<version>` (0.171.0). */
export function resolvePlugins(reading: Reading, home: string, layers: readonly ConfigLayer[]): ResolvedPlugins {
  const sources: Source[] = []
  const wanted = feature(layers, 'plugins')
  const allOff = wanted.on ? null : `the feature plugins is off in ${wanted.origin}`
  const plugins: Plugin[] = []
  const declared = mergedTables(layers, 'plugins')
  for (const [id, { table, layers: from }] of declared) {
    const split = id.lastIndexOf('@')
    const shortName = split > 0 ? id.slice(0, split) : id
    const market = split > 0 ? id.slice(split + 1) : ''
    const folder = path.join(home, 'plugins', 'cache', market, shortName)
    const version = versionIn(reading, folder)
    const root = version === null ? null : path.join(folder, version)
    const off =
      table.enabled === false
        ? `switched off in ${from[0]?.origin}`
        : root === null
          ? `enabled, but ${folder} holds no copy of it`
          : allOff
    const manifest = root === null ? null : readManifest(reading, root, off, sources)
    plugins.push({
      id,
      shortName,
      root,
      active: off === null,
      capability: {
        name: id,
        version: manifest?.version ?? version,
        digest: manifest?.digest ?? null,
        source: from[0]?.origin ?? '',
        status: off === null ? 'active' : 'disabled',
        reason: off,
        description: manifest?.description ?? null,
        used: null,
        path: root,
      },
    })
  }
  return { plugins: plugins.sort((a, b) => byBytes(a.id, b.id)), sources }
}

/** `local` before any number, then the highest number (0.171.0). */
function versionIn({ disk }: Reading, folder: string): string | null {
  const names = disk.names(folder)
  if (names === null || 'why' in names) return null
  const versions = names
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map((entry) => entry.name)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  return versions.includes('local') ? 'local' : (versions.at(-1) ?? null)
}

function readManifest(
  reading: Reading,
  root: string,
  off: string | null,
  sources: Source[],
): { readonly version: string | null; readonly description: string | null; readonly digest: string } | null {
  for (const folder of ['.codex-plugin', '.claude-plugin', '.cursor-plugin']) {
    const file = path.join(root, folder, 'plugin.json')
    const read = readJsonFile(reading, file)
    if (read.state === 'missing') continue
    const draft = { path: file, scope: 'plugin', kind: 'plugin' as const, ...('raw' in read ? { raw: read.raw } : {}) }
    if (read.state !== 'ok') {
      sources.push(makeSource({ ...draft, status: 'unknown', reason: read.why }))
      return null
    }
    sources.push(makeSource({ ...draft, status: off === null ? 'loaded' : 'not_loaded', reason: off }))
    return {
      version: textOf(read.value.version),
      description: textOf(read.value.description),
      digest: bytesDigest(read.raw),
    }
  }
  return null
}
