import path from 'node:path'
import type { ManifestSetting } from '../../../../contract/index.ts'
import type { StartFlags } from './flags.ts'
import { type JsonRead, type JsonReading, parseJsonObject, readJsonObject } from './json-file.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

export type LayerName = 'managed' | 'flag' | 'main local' | 'local' | 'project' | 'user'

/** One settings object and where it comes from. Layers are kept highest first. */
export interface SettingsLayer {
  readonly name: LayerName
  /** Path, or `flag:--settings`. */
  readonly origin: string
  readonly value: Readonly<Record<string, unknown>>
}

export interface SettingsRequest {
  readonly reading: JsonReading
  readonly flags: StartFlags
  readonly managedDir: string
  readonly configDir: string
  readonly cwd: string
  /** Main work tree; null outside git. */
  readonly main: string | null
  readonly ancestors: readonly string[]
  readonly sources: { readonly user: boolean; readonly project: boolean; readonly local: boolean }
  readonly whySourcesOff: string
}

export interface ResolvedSettings {
  /** Highest first. */
  readonly layers: readonly SettingsLayer[]
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string | null; readonly message: string }[]
}

export function readSettings(request: SettingsRequest): ResolvedSettings {
  const { reading, cwd, configDir } = request
  const layers: SettingsLayer[] = []
  const sources: Source[] = []
  const problems: { path: string | null; message: string }[] = []

  const take = (file: string, name: LayerName, scope: string, on: boolean, whyOff: string): void => {
    const read = readJsonObject(reading, file, 'object')
    const source = settingsSource(file, scope, read, on, whyOff)
    if (source === null) return
    if (read.state === 'unreadable' || read.state === 'invalid') problems.push({ path: file, message: read.why })
    const wrong = read.state === 'ok' ? wrongType(read.value) : null
    if (wrong !== null) {
      problems.push({ path: file, message: wrong })
      sources.push({ ...source, status: 'not_loaded', reason: `the runtime refuses the whole file: ${wrong}` })
      return
    }
    sources.push(source)
    if (read.state === 'ok' && on) layers.push({ name, origin: file, value: read.value })
  }

  // Drop-ins beat the managed file and each other in name order, later ones first here because layers run from the highest down.
  for (const file of [...managedFiles(request)].reverse()) take(file, 'managed', 'managed', true, '')
  const given = request.flags.values('--settings')
  for (const [at, text] of given.entries())
    readSettingsFlag(request, text, at === given.length - 1, layers, sources, problems)
  const { user, project, local } = request.sources
  const off = request.whySourcesOff
  const mainLocal = path.join(request.main ?? cwd, '.claude', 'settings.local.json')
  const ownLocal = path.join(cwd, '.claude', 'settings.local.json')
  if (request.main !== null && mainLocal !== ownLocal) take(mainLocal, 'main local', 'local', local, off)
  take(ownLocal, 'local', 'local', local, off)
  take(path.join(cwd, '.claude', 'settings.json'), 'project', 'project', project, off)
  take(path.join(configDir, 'settings.json'), 'user', 'user', user, off)

  // Names that look as if they counted.
  const noPlace =
    'settings are read from the start directory, and local ones also from the main work tree, never from a parent folder'
  take(
    path.join(configDir, 'settings.local.json'),
    'user',
    'user',
    false,
    'there is no local settings file at user level',
  )
  for (const directory of request.ancestors) {
    if (directory === cwd || path.join(directory, '.claude') === configDir) continue
    take(path.join(directory, '.claude', 'settings.json'), 'project', 'parent folder', false, noPlace)
    const file = path.join(directory, '.claude', 'settings.local.json')
    if (file !== mainLocal) take(file, 'local', 'parent folder', false, noPlace)
  }
  return { layers, sources, problems }
}

function managedFiles({ reading, managedDir }: SettingsRequest): readonly string[] {
  const folder = path.join(managedDir, 'managed-settings.d')
  const found = reading.disk.list(folder)
  const names =
    found.state === 'ok' ? found.entries.filter((entry) => entry.kind !== 'directory').map((entry) => entry.name) : []
  const dropIns = names.filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort()
  return [path.join(managedDir, 'managed-settings.json'), ...dropIns.map((name) => path.join(folder, name))]
}

function readSettingsFlag(
  request: SettingsRequest,
  text: string,
  isLast: boolean,
  layers: SettingsLayer[],
  sources: Source[],
  problems: { path: string | null; message: string }[],
): void {
  const inline = text.trimStart().startsWith('{')
  const file = inline ? null : path.resolve(request.cwd, text)
  const read: JsonRead =
    file === null ? { ...parseJsonObject(text), raw: Buffer.from(text, 'utf8') } : readJsonObject(request.reading, file)
  const reason =
    read.state === 'ok'
      ? isLast
        ? null
        : 'given again: the last --settings wins'
      : `the runtime does not start: ${read.state === 'missing' ? 'the settings file does not exist' : read.why}`
  if (read.state !== 'ok') problems.push({ path: file, message: `--settings: ${reason}` })
  const draft = {
    scope: 'flag',
    kind: 'settings' as const,
    rule: `--settings beats user, project and local (${VERIFIED_VERSION})`,
    reason,
  }
  const status = read.state === 'ok' && isLast ? ('loaded' as const) : ('not_loaded' as const)
  sources.push(
    file === null
      ? makeSource({ ...draft, path: null, uri: 'flag:--settings', status, classification: 'secret', ...rawOf(read) })
      : makeSource({ ...draft, path: file, status, ...rawOf(read) }),
  )
  if (read.state === 'ok' && isLast) layers.push({ name: 'flag', origin: file ?? 'flag:--settings', value: read.value })
}

const rawOf = (read: JsonRead): { readonly raw?: Uint8Array } => ('raw' in read ? { raw: read.raw } : {})

function settingsSource(file: string, scope: string, read: JsonRead, on: boolean, whyOff: string): Source | null {
  const draft = {
    path: file,
    scope,
    kind: 'settings' as const,
    rule: `merged key by key (${VERIFIED_VERSION})`,
    ...rawOf(read),
  }
  switch (read.state) {
    case 'missing':
      return null
    case 'unreadable':
      return makeSource({ ...draft, status: 'unknown', reason: read.why })
    case 'invalid':
      return makeSource({ ...draft, status: 'not_loaded', reason: `the runtime refuses the whole file: ${read.why}` })
    case 'ok':
      return makeSource({ ...draft, status: on ? 'loaded' : 'not_loaded', reason: on ? null : whyOff })
  }
}

/** Keys of a wrong type for which 2.1.332 was seen to refuse the whole file. Its schema knows more; those are not known here. */
function wrongType(value: Readonly<Record<string, unknown>>): string | null {
  const { env, cleanupPeriodDays, permissions } = value
  if (env !== undefined && !isObject(env)) return 'env is no object'
  if (cleanupPeriodDays !== undefined && typeof cleanupPeriodDays !== 'number') return 'cleanupPeriodDays is no number'
  if (permissions !== undefined) {
    if (!isObject(permissions)) return 'permissions is no object'
    for (const key of ['allow', 'ask', 'deny']) {
      if (permissions[key] !== undefined && !Array.isArray(permissions[key])) return `permissions.${key} is no list`
    }
  }
  return null
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Leaf values of one layer by dotted key; a key that holds a dot itself stands in quotes. */
export function flatten(value: Readonly<Record<string, unknown>>): ReadonlyMap<string, Json> {
  const leaves = new Map<string, Json>()
  const walk = (object: Readonly<Record<string, unknown>>, prefix: string): void => {
    for (const [key, inner] of Object.entries(object)) {
      const name = prefix + (key.includes('.') || key === '' ? JSON.stringify(key) : key)
      if (isObject(inner) && Object.keys(inner).length > 0) walk(inner, `${name}.`)
      else leaves.set(name, inner as Json)
    }
  }
  walk(value, '')
  return leaves
}

/** Objects whose entries belong together by name, not by position in a hierarchy. */
const BY_NAME = /^(env|enabledPlugins|extraKnownMarketplaces|mcpServers|modelOverrides)\./

/**
 * The rule for one key (B19). Lists are joined, scalars replaced, entries of named objects taken by name. Seen with 2.1.332 for the keys of
 * `permissions`, `hooks`, `claudeMdExcludes`, `env`, `enabledPlugins`; documented only for `fallbackModel`.
 */
export function ruleFor(key: string, values: readonly unknown[]): ManifestSetting['rule'] {
  if (key === 'fallbackModel') return 'replace'
  if (key === 'permissions.deny') return 'deny_wins'
  if (values.every((value) => Array.isArray(value))) return 'union'
  if (values.some((value) => Array.isArray(value) || isObject(value)) && values.length > 1) return 'unknown'
  return BY_NAME.test(key) ? 'by_name' : 'replace'
}

export type Hide = (value: string) => string

/** Names under which a value is a secret by nature. */
const SECRET_NAME = /(api[_-]?key|token|secret|password|passwd|credentials?|authorization|private[_-]?key)$/i

const holdsSecret = (key: string): boolean =>
  key.startsWith('env.') || /(^|\.)headers\./.test(key) || SECRET_NAME.test(key)

/** Every effective key with the source that won and those that lost. `hide` gives the keyed digest of a value, or the word `hidden`. */
export function mergeSettings(layers: readonly SettingsLayer[], hide: Hide): Readonly<Record<string, ManifestSetting>> {
  const byKey = new Map<string, { readonly origin: string; readonly value: Json }[]>()
  for (const layer of layers) {
    for (const [key, value] of flatten(layer.value)) {
      const list = byKey.get(key) ?? []
      list.push({ origin: layer.origin, value })
      byKey.set(key, list)
    }
  }
  const merged: Record<string, ManifestSetting> = {}
  for (const key of [...byKey.keys()].sort()) {
    const entries = byKey.get(key) ?? []
    const [winner] = entries
    if (winner === undefined) continue
    const rule = ruleFor(
      key,
      entries.map((entry) => entry.value),
    )
    const shown = (value: Json): { value: Json } | { value_ref: string } =>
      holdsSecret(key)
        ? { value_ref: `secret:settings:${hide(typeof value === 'string' ? value : JSON.stringify(value))}` }
        : { value }
    if (rule === 'union' || rule === 'deny_wins') {
      merged[key] = {
        ...shown(joinLists(entries.map((entry) => entry.value))),
        source: winner.origin,
        merged_from: entries.map((entry) => entry.origin),
        overridden: [],
        rule,
      }
    } else {
      merged[key] = {
        ...shown(winner.value),
        source: winner.origin,
        merged_from: [winner.origin],
        overridden: entries.slice(1).map((entry) => ({ ...shown(entry.value), source: entry.origin })),
        rule,
      }
    }
  }
  return merged
}

/** Lists from the lowest layer up, equal entries once. */
function joinLists(lists: readonly Json[]): Json[] {
  const joined: Json[] = []
  const seen = new Set<string>()
  for (const list of [...lists].reverse()) {
    if (!Array.isArray(list)) continue
    for (const entry of list) {
      const key = JSON.stringify(entry)
      if (seen.has(key)) continue
      seen.add(key)
      joined.push(entry)
    }
  }
  return joined
}

/** The highest layer's value of one key of the first level. */
export function scalarOf(
  layers: readonly SettingsLayer[],
  key: string,
): { readonly value: unknown; readonly origin: string } | null {
  for (const layer of layers)
    if (layer.value[key] !== undefined) return { value: layer.value[key], origin: layer.origin }
  return null
}

/** Entries of a list key over all layers, highest layer first. */
export function listOf(
  layers: readonly SettingsLayer[],
  ...keys: readonly string[]
): readonly { readonly entry: unknown; readonly layer: SettingsLayer }[] {
  return layers.flatMap((layer) => {
    let value: unknown = layer.value
    for (const key of keys) value = isObject(value) ? value[key] : undefined
    return Array.isArray(value) ? value.map((entry: unknown) => ({ entry, layer })) : []
  })
}

/** Strings of an object key over all layers by name, the highest layer winning. */
export function namedOf(
  layers: readonly SettingsLayer[],
  key: string,
): ReadonlyMap<string, { readonly value: unknown; readonly origin: string }> {
  const found = new Map<string, { value: unknown; origin: string }>()
  for (const layer of layers) {
    const object = layer.value[key]
    if (!isObject(object)) continue
    for (const [name, value] of Object.entries(object))
      if (!found.has(name)) found.set(name, { value, origin: layer.origin })
  }
  return found
}
