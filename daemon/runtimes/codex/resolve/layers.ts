import path from 'node:path'
import { type Disk, isInside } from '../../shared/disk.ts'
import type { Repository } from '../../shared/repo.ts'
import { type ConfigRead, lineOfKey, type Reading, readTomlFile } from './config-file.ts'
import { withAbsolutePaths } from './config-paths.ts'
import { flagTable, type StartFlags } from './flags.ts'
import { directoriesDown } from './places.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { readTrust, type Trust, whyNotTrusted } from './trust.ts'
import { at, isTable, layerVersion, type Table, textsOf, toTable } from './values.ts'

export type LayerName = 'managed' | 'flags' | 'project' | 'profile' | 'user' | 'system'

/** One configuration layer. */
export interface ConfigLayer {
  readonly name: LayerName
  /** Path of its file, or `flag:--config`. */
  readonly origin: string
  /** Folder that holds what belongs to the layer beside its file: hooks, rules, agent roles; null for flags. */
  readonly folder: string | null
  /** The table as the program takes it: keys a project may not set are out. */
  readonly value: Table
  /** As the program computes it. */
  readonly version: string
  readonly disabled: string | null
  /** Keys that stand in the file and are not taken, with their values. */
  readonly ignored: Table
  /** In a linked work tree: the folder of the main checkout that hooks are taken from instead (0.171.0). */
  readonly hooksFrom: string | null
}

export interface Problem {
  readonly path: string | null
  readonly message: string
}

export interface Layers {
  /** All of them, highest first, disabled ones too. */
  readonly all: readonly ConfigLayer[]
  /** Those in force, highest first. */
  readonly active: readonly ConfigLayer[]
  readonly projectRoot: string
  /** From the project root down to the start directory. */
  readonly projectDirs: readonly string[]
  readonly rootMarkers: readonly string[]
  readonly trust: Trust
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
}

export interface LayersRequest {
  readonly reading: Reading
  readonly flags: StartFlags
  readonly home: string
  readonly userHome: string
  readonly cwd: string
  readonly repository: Repository | null
}

/** Keys a project layer may not set (0.171.0). */
const NOT_IN_PROJECTS: ReadonlySet<string> = new Set([
  'openai_base_url',
  'chatgpt_base_url',
  'apps_mcp_product_sku',
  'model_provider',
  'model_providers',
  'notify',
  'profile',
  'profiles',
  'experimental_realtime_webrtc_call_base_url',
  'experimental_realtime_ws_base_url',
  'otel',
])

const RULE = `tables are merged key by key, lists and single values replaced whole (${VERIFIED_VERSION})`

export function readLayers({ reading, flags, home, userHome, cwd, repository }: LayersRequest): Layers {
  const { disk, systemDir } = reading
  const sources: Source[] = []
  const problems: Problem[] = []
  const seen = { reading, sources, problems, userHome, cwd }

  const managed = fileLayer(seen, 'managed', path.join(systemDir, 'managed_config.toml'), 'managed')
  const session = sessionLayer(seen, flags)
  const profile = profileLayer(seen, flags, home)
  const userFile = path.join(home, 'config.toml')
  const user = flags.has('--ignore-user-config')
    ? leftOutUser(reading, userFile, sources)
    : (fileLayer(seen, 'user', userFile, 'user') ?? emptyLayer('user', userFile))
  checkProfileKeys(user, flags, problems)
  const systemFile = path.join(systemDir, 'config.toml')
  const system = fileLayer(seen, 'system', systemFile, 'system') ?? emptyLayer('system', systemFile)

  const above = [session, profile, user, system].filter((layer) => layer !== null)
  const rootMarkers = markersOf(above)
  const projectRoot = findProjectRoot(disk, cwd, rootMarkers)
  const projectDirs = directoriesDown(projectRoot, cwd)
  const table = readTrust(above, disk, projectRoot, repository)
  const realHome = disk.realPath(home) ?? home
  const projects = projectDirs.flatMap((directory) => {
    const folder = path.join(directory, '.codex')
    // The directory that is CODEX_HOME is the user's, wherever it lies.
    if (!disk.isDirectory(folder) || (disk.realPath(folder) ?? folder) === realHome) return []
    return [projectLayer(seen, folder, table.of(directory), mainCheckoutFolder(repository, folder))]
  })
  const all = [managed, session, ...projects.reverse(), profile, user, system].filter((layer) => layer !== null)
  return {
    all,
    active: all.filter((layer) => layer.disabled === null),
    projectRoot,
    projectDirs,
    rootMarkers,
    trust: table.of(cwd),
    sources,
    problems,
  }
}

interface Seen {
  readonly reading: Reading
  readonly sources: Source[]
  readonly problems: Problem[]
  readonly userHome: string
  readonly cwd: string
}

function makeLayer(
  name: LayerName,
  origin: string,
  parsed: Readonly<Record<string, unknown>>,
  places: { readonly userHome: string; readonly cwd: string },
  more: Partial<ConfigLayer> = {},
): ConfigLayer {
  const raw = withAbsolutePaths(parsed, name === 'flags' ? places.cwd : path.dirname(origin), places.userHome)
  return {
    name,
    origin,
    folder: name === 'flags' ? null : path.dirname(origin),
    value: toTable(raw),
    version: layerVersion(raw),
    disabled: null,
    ignored: {},
    hooksFrom: null,
    ...more,
  }
}

const emptyLayer = (name: LayerName, origin: string): ConfigLayer =>
  makeLayer(name, origin, {}, { userHome: '/', cwd: '/' })

/** A layer of a file that counts whenever it is there; null when it is not. */
function fileLayer(seen: Seen, name: LayerName, file: string, scope: string): ConfigLayer | null {
  const read = readTomlFile(seen.reading, file)
  const source = layerSource(file, scope, read, null)
  if (source === null) return null
  if (read.state !== 'ok') {
    seen.sources.push(source)
    if ('why' in read) seen.problems.push({ path: file, message: `the program does not start: ${read.why}` })
    return emptyLayer(name, file)
  }
  const layer = makeLayer(name, file, read.value, seen)
  seen.sources.push({ ...source, extra: { layer: name, layer_version: layer.version } })
  return layer
}

function layerSource(file: string, scope: string, read: ConfigRead, off: string | null): Source | null {
  const draft = {
    path: file,
    scope,
    kind: 'settings' as const,
    rule: RULE,
    ...('raw' in read ? { raw: read.raw } : {}),
  }
  switch (read.state) {
    case 'missing':
      return null
    case 'unreadable':
      return makeSource({ ...draft, status: 'unknown', reason: read.why })
    case 'invalid':
      return makeSource({
        ...draft,
        status: 'not_loaded',
        reason: off ?? `the program does not start with it: ${read.why}`,
      })
    case 'ok':
      return makeSource({ ...draft, status: off === null ? 'loaded' : 'not_loaded', reason: off })
  }
}

function sessionLayer(seen: Seen, flags: StartFlags): ConfigLayer | null {
  const { raw, problems: wrong } = flagTable(flags)
  for (const message of wrong) seen.problems.push({ path: null, message })
  if (Object.keys(raw).length === 0) return null
  const layer = makeLayer('flags', 'flag:--config', raw, seen)
  const words = ['--config', '--enable', '--disable'].flatMap((name) => flags.values(name))
  seen.sources.push(
    makeSource({
      path: null,
      uri: 'flag:--config',
      scope: 'flag',
      kind: 'flag',
      status: 'loaded',
      raw: Buffer.from(words.join('\n'), 'utf8'),
      rule: RULE,
      // Values may be secrets; they stand among the settings, covered.
      classification: 'secret',
      extra: { layer: 'flags', layer_version: layer.version },
    }),
  )
  return layer
}

const PROFILE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/** A profile that is named and has no file is ignored without a word (0.171.0). */
function profileLayer(seen: Seen, flags: StartFlags, home: string): ConfigLayer | null {
  const names = flags.values('--profile')
  const name = names.at(-1)
  if (names.length > 1)
    seen.problems.push({ path: null, message: '--profile is given more than once; the program does not start' })
  if (name === undefined) return null
  if (!PROFILE_NAME.test(name)) {
    seen.problems.push({ path: null, message: `--profile ${name} is no plain name; the program does not start` })
    return null
  }
  return fileLayer(seen, 'profile', path.join(home, `${name}.config.toml`), 'profile')
}

function leftOutUser(reading: Reading, file: string, sources: Source[]): ConfigLayer {
  const source = layerSource(file, 'user', readTomlFile(reading, file), '--ignore-user-config leaves it out')
  if (source !== null) sources.push(source)
  return emptyLayer('user', file)
}

function checkProfileKeys(user: ConfigLayer, flags: StartFlags, problems: Problem[]): void {
  if (at(user.value, 'profile') !== undefined)
    problems.push({ path: user.origin, message: 'the key profile is no longer taken; the program does not start' })
  const name = flags.value('--profile')
  if (name !== null && at(user.value, 'profiles', name) !== undefined)
    problems.push({
      path: user.origin,
      message: `[profiles.${name}] and --profile ${name} exclude each other; the program does not start`,
    })
}

/** Hooks of a linked work tree are those of the main checkout's own files, whatever the work tree holds. */
function mainCheckoutFolder(repository: Repository | null, folder: string): string | null {
  if (repository === null || repository.main === repository.top || !isInside(folder, repository.top)) return null
  return path.join(repository.main, path.relative(repository.top, folder))
}

/** The layer's table with the hooks of the main checkout in place of its own. */
function withHooksOf(reading: Reading, folder: string, table: Record<string, unknown>): Record<string, unknown> {
  const { hooks: _own, ...rest } = table
  const read = readTomlFile(reading, path.join(folder, 'config.toml'))
  return read.state === 'ok' && read.value.hooks !== undefined ? { ...rest, hooks: read.value.hooks } : rest
}

function projectLayer(seen: Seen, folder: string, trust: Trust, hooksFrom: string | null): ConfigLayer {
  const file = path.join(folder, 'config.toml')
  const off = whyNotTrusted(trust)
  const read = readTomlFile(seen.reading, file)
  const source = layerSource(file, 'project', read, off)
  if (read.state !== 'ok') {
    if (source !== null) seen.sources.push(source)
    if (off === null && 'why' in read)
      seen.problems.push({ path: file, message: `the program does not start: ${read.why}` })
    const table = hooksFrom === null ? {} : withHooksOf(seen.reading, hooksFrom, {})
    return makeLayer('project', file, table, seen, { disabled: off, hooksFrom })
  }
  const taken: Record<string, unknown> = {}
  const ignored: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(read.value)) (NOT_IN_PROJECTS.has(key) ? ignored : taken)[key] = value
  const table = hooksFrom === null ? taken : withHooksOf(seen.reading, hooksFrom, taken)
  const layer = makeLayer('project', file, table, seen, { disabled: off, ignored: toTable(ignored), hooksFrom })
  const ignoredKeys = Object.keys(ignored)
  if (source !== null)
    seen.sources.push({
      ...source,
      extra: {
        layer: 'project',
        layer_version: layer.version,
        ...(ignoredKeys.length === 0 ? {} : { ignored_keys: ignoredKeys }),
      },
    })
  if (off === null && ignoredKeys.length > 0) {
    const line = lineOfKey(read.raw.toString('utf8'), ignoredKeys[0] ?? '')
    seen.problems.push({
      path: file,
      message: `${line === null ? '' : `line ${line}: `}a project may not set ${ignoredKeys.join(', ')}; the program ignores ${ignoredKeys.length === 1 ? 'it' : 'them'}`,
    })
  }
  return layer
}

/** Markers set by a project show up as effective and are not used to find it (0.171.0). */
function markersOf(layers: readonly ConfigLayer[]): readonly string[] {
  for (const { value } of layers) {
    const markers = at(value, 'project_root_markers')
    if (Array.isArray(markers)) return textsOf(markers)
  }
  return ['.git']
}

/** The nearest ancestor that holds a marker; without any, or with an empty list, the start directory itself. */
function findProjectRoot(disk: Disk, cwd: string, markers: readonly string[]): string {
  if (markers.length === 0) return cwd
  for (let directory = cwd; ; directory = path.dirname(directory)) {
    if (markers.some((marker) => disk.exists(path.join(directory, marker)))) return directory
    if (path.dirname(directory) === directory) return cwd
  }
}

/** Names under a table over all layers in force, with the merged table of each: keys of higher layers win. */
export function mergedTables(layers: readonly ConfigLayer[], key: string): ReadonlyMap<string, MergedTable> {
  const found = new Map<string, { table: Record<string, Table[string]>; layers: ConfigLayer[] }>()
  for (const layer of [...layers].reverse()) {
    const tables = at(layer.value, key)
    if (!isTable(tables)) continue
    for (const [name, value] of Object.entries(tables)) {
      const known = found.get(name) ?? { table: {}, layers: [] }
      known.table = mergeTables(known.table, isTable(value) ? (value as Table) : {})
      known.layers.unshift(layer)
      found.set(name, known)
    }
  }
  return found
}

export interface MergedTable {
  readonly table: Table
  /** Layers that say something of it, highest first. */
  readonly layers: readonly ConfigLayer[]
}

export function mergeTables(lower: Table, higher: Table): Record<string, Table[string]> {
  const merged: Record<string, Table[string]> = { ...lower }
  for (const [key, value] of Object.entries(higher)) {
    const below = Object.hasOwn(merged, key) ? merged[key] : undefined
    merged[key] = isTable(value) && isTable(below) ? mergeTables(below as Table, value as Table) : value
  }
  return merged
}
