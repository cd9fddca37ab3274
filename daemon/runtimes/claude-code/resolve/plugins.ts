import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import type { StartFlags } from './flags.ts'
import { type JsonReading, readJsonObject } from './json-file.ts'
import { isObject, namedOf, type SettingsLayer } from './settings.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

export interface Plugin {
  /** `name@marketplace`, or `name@inline` for `--plugin-dir`. */
  readonly id: string
  readonly shortName: string
  /** Folder its parts load from; null for built-in plugins and those whose folder is not known. */
  readonly root: string | null
  readonly active: boolean
  readonly manifest: Readonly<Record<string, unknown>>
  readonly capability: ManifestCapability
}

export interface PluginRequest {
  readonly reading: JsonReading
  readonly disk: Disk
  readonly flags: StartFlags
  readonly configDir: string
  readonly cwd: string
  readonly main: string
  readonly layers: readonly SettingsLayer[]
  /** Null, or why no installed plugin loads. */
  readonly off: string | null
}

export interface ResolvedPlugins {
  readonly plugins: readonly Plugin[]
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string | null; readonly message: string }[]
}

export const AGENTS_FILE_PLUGIN = 'cc-plugin-agents-md@builtin'

interface Place {
  readonly root: string
  readonly version: string | null
  readonly how: string
}

export function resolvePlugins(request: PluginRequest): ResolvedPlugins {
  const { reading, configDir, layers } = request
  const sources: Source[] = []
  const problems: { path: string | null; message: string }[] = []
  const readList = (name: string): Readonly<Record<string, unknown>> => {
    const file = path.join(configDir, 'plugins', name)
    const read = readJsonObject(reading, file)
    if (read.state === 'missing') return {}
    const draft = { path: file, scope: 'user', kind: 'plugin' as const, ...('raw' in read ? { raw: read.raw } : {}) }
    if (read.state === 'ok') {
      sources.push(makeSource({ ...draft, status: 'loaded' }))
      return read.value
    }
    problems.push({ path: file, message: read.why })
    sources.push(makeSource({ ...draft, status: 'unknown', reason: read.why }))
    return {}
  }
  const installed = readList('installed_plugins.json')
  const markets = readList('known_marketplaces.json')
  const installs = isObject(installed.plugins) ? installed.plugins : {}
  const enabled = namedOf(layers, 'enabledPlugins')

  const plugins: Plugin[] = []
  for (const id of new Set([...enabled.keys(), ...Object.keys(installs)])) {
    const setting = enabled.get(id)
    const [shortName = id, market = ''] = splitId(id)
    if (market === 'builtin') {
      plugins.push(builtIn(id, shortName, setting))
      continue
    }
    const place = livePlace(request, markets[market], shortName) ?? cachedPlace(request, installs[id])
    const off =
      setting === undefined
        ? 'installed, but no settings file enables it'
        : setting.value === false
          ? `switched off in ${setting.origin}`
          : place === null
            ? 'enabled, but neither an installed copy nor a directory marketplace holds it'
            : request.off
    plugins.push(
      describePlugin(
        request,
        sources,
        problems,
        id,
        shortName,
        place,
        off,
        setting?.origin ?? path.join(configDir, 'plugins', 'installed_plugins.json'),
      ),
    )
  }
  if (!enabled.has(AGENTS_FILE_PLUGIN))
    plugins.push(builtIn(AGENTS_FILE_PLUGIN, splitId(AGENTS_FILE_PLUGIN)[0] ?? '', undefined))
  for (const given of request.flags.values('--plugin-dir')) {
    const root = path.resolve(request.cwd, given)
    const name = path.basename(root)
    const place = request.disk.isDirectory(root) ? { root, version: null, how: 'flag:--plugin-dir' } : null
    plugins.push(
      describePlugin(
        request,
        sources,
        problems,
        `${name}@inline`,
        name,
        place,
        place === null ? 'no folder (archives are not opened here)' : null,
        'flag:--plugin-dir',
      ),
    )
  }
  return { plugins, sources, problems }
}

function splitId(id: string): readonly string[] {
  const at = id.lastIndexOf('@')
  return at > 0 ? [id.slice(0, at), id.slice(at + 1)] : [id]
}

function builtIn(
  id: string,
  shortName: string,
  setting: { readonly value: unknown; readonly origin: string } | undefined,
): Plugin {
  const active = setting?.value !== false
  return {
    id,
    shortName,
    root: null,
    active,
    manifest: {},
    capability: {
      name: id,
      version: null,
      digest: null,
      source: setting?.origin ?? 'built into the runtime',
      status: active ? 'active' : 'disabled',
      reason: active ? null : `switched off in ${setting?.origin}`,
      description: null,
      used: null,
    },
  }
}

/** A plugin of a directory marketplace is loaded from that directory as it is now, not from the copy made at install time (2.1.332). */
function livePlace({ reading }: PluginRequest, market: unknown, shortName: string): Place | null {
  if (!isObject(market) || !isObject(market.source) || market.source.source !== 'directory') return null
  const root = market.source.path
  if (typeof root !== 'string') return null
  const read = readJsonObject(reading, path.join(root, '.claude-plugin', 'marketplace.json'))
  const list = read.state === 'ok' && Array.isArray(read.value.plugins) ? read.value.plugins : []
  const entry = list.find((each) => isObject(each) && each.name === shortName)
  if (!isObject(entry) || typeof entry.source !== 'string') return null
  const base =
    read.state === 'ok' && isObject(read.value.metadata) && typeof read.value.metadata.pluginRoot === 'string'
      ? read.value.metadata.pluginRoot
      : '.'
  return {
    root: path.resolve(root, base, entry.source),
    version: typeof entry.version === 'string' ? entry.version : null,
    how: 'live from a directory marketplace',
  }
}

function cachedPlace({ cwd, main }: PluginRequest, installs: unknown): Place | null {
  if (!Array.isArray(installs)) return null
  const entries = installs.filter(isObject)
  const entry =
    entries.find((each) => each.projectPath === cwd || each.projectPath === main) ??
    entries.find((each) => each.projectPath === undefined)
  if (entry === undefined || typeof entry.installPath !== 'string') return null
  return {
    root: entry.installPath,
    version: typeof entry.version === 'string' ? entry.version : null,
    how: 'from the installed copy',
  }
}

function describePlugin(
  request: PluginRequest,
  sources: Source[],
  problems: { path: string | null; message: string }[],
  id: string,
  shortName: string,
  place: Place | null,
  off: string | null,
  source: string,
): Plugin {
  const file = place === null ? null : path.join(place.root, '.claude-plugin', 'plugin.json')
  const read = file === null ? null : readJsonObject(request.reading, file)
  const manifest = read?.state === 'ok' ? read.value : {}
  const version = typeof manifest.version === 'string' ? manifest.version : (place?.version ?? null)
  if (file !== null && read !== null && read.state !== 'missing') {
    if (read.state !== 'ok') problems.push({ path: file, message: read.why })
    sources.push(
      makeSource({
        path: file,
        scope: 'plugin',
        kind: 'plugin',
        status: read.state !== 'ok' ? 'unknown' : off === null ? 'loaded' : 'not_loaded',
        reason: read.state !== 'ok' ? read.why : off,
        rule: `${place?.how} (${VERIFIED_VERSION})`,
        ...('raw' in read ? { raw: read.raw } : {}),
      }),
    )
  }
  if (place !== null) {
    const own = path.join(place.root, 'CLAUDE.md')
    const found = request.disk.read(own)
    if (found.state === 'ok') {
      sources.push(
        makeSource({
          path: own,
          scope: 'plugin',
          kind: 'instructions',
          status: 'not_loaded',
          reason: "a plugin's CLAUDE.md is not loaded",
          raw: found.bytes,
        }),
      )
    }
  }
  return {
    id,
    shortName: typeof manifest.name === 'string' ? manifest.name : shortName,
    root: place?.root ?? null,
    active: off === null,
    manifest,
    capability: {
      name: id,
      version,
      digest: read?.state === 'ok' ? bytesDigest(read.raw) : null,
      source,
      status: off === null ? 'active' : 'disabled',
      reason: off,
      description: typeof manifest.description === 'string' ? manifest.description : null,
      used: null,
      root: place?.root ?? null,
      loaded_from: place?.how ?? null,
    },
  }
}
