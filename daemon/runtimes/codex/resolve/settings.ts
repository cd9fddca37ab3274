import type { ManifestSetting } from '../../../../contract/index.ts'
import { type ConfigLayer, mergeTables } from './layers.ts'
import { at, type Hide, isTable, type Json, type Table, withoutCredentials } from './values.ts'

/** Tables whose entries belong together by name, not by position. */
const BY_NAME =
  /^(mcp_servers|model_providers|projects|plugins|marketplaces|features|profiles|agents|shell_environment_policy\.set|hooks\.state|notice|desktop)\./

/** Names under which a value is a secret by nature. */
const SECRET_NAME = /(api[_-]?key|token|secret|password|passwd|credentials?|authorization|private[_-]?key)"?$/i
/** Variables and header values of servers and commands. */
const SECRET_PLACE = /(^|\.)(env|http_headers|headers|query_params)\.|^shell_environment_policy\.set\./
/** The name of a variable that holds a secret is none itself. */
const NAMES_ONLY = /(env_key|env_var|_env|env_http_headers\.[^.]+)$/
/** Counts and limits, whatever their name ends in. */
const isCovered = (key: string, value: Json): boolean =>
  typeof value !== 'boolean' &&
  typeof value !== 'number' &&
  (SECRET_PLACE.test(key) || SECRET_NAME.test(key)) &&
  !NAMES_ONLY.test(key)

/**
 * Every effective key with the layer that won and those that lost. Tables are merged key by key, lists and single values replaced whole;
 * hooks of all layers add up (0.171.0). Values of layers that are not in force, and keys a project may not set, stand among those that
 * lost, with the reason.
 *
 * @param layers all of them, highest first.
 */
export function mergeSettings(layers: readonly ConfigLayer[], hide: Hide): Readonly<Record<string, ManifestSetting>> {
  const active = layers.filter((layer) => layer.disabled === null)
  const effective = [...active].reverse().reduce<Table>((lower, { value }) => mergeTables(lower, value), {})
  const merged: Record<string, ManifestSetting> = {}
  for (const keys of leafPaths(effective, [])) {
    const key = dotted(keys)
    const entries = active.flatMap((layer) => found(layer, layer.value, keys))
    const [winner] = entries
    if (winner === undefined) continue
    const lost = layers.flatMap((layer) =>
      layer.disabled !== null
        ? found(layer, layer.value, keys).map((entry) => ({ ...entry, ignored: layer.disabled }))
        : found(layer, layer.ignored, keys).map((entry) => ({ ...entry, ignored: 'a project may not set this key' })),
    )
    const shown = (value: Json): { value: Json } | { value_ref: string } => cover(key, value, hide)
    const ignored = lost.map(({ value, origin, ignored: why }) => ({ ...shown(value), source: origin, ignored: why }))
    if (keys[0] === 'hooks' && keys[1] !== 'state' && entries.every(({ value }) => Array.isArray(value))) {
      merged[key] = {
        ...shown([...entries].reverse().flatMap(({ value }) => (Array.isArray(value) ? value : []))),
        source: winner.origin,
        merged_from: entries.map(({ origin }) => origin),
        overridden: ignored,
        rule: 'union',
      }
      continue
    }
    merged[key] = {
      ...shown(winner.value),
      source: winner.origin,
      merged_from: [winner.origin],
      overridden: [...entries.slice(1).map(({ value, origin }) => ({ ...shown(value), source: origin })), ...ignored],
      rule: BY_NAME.test(key) ? 'by_name' : 'replace',
    }
  }
  return Object.fromEntries(Object.entries(merged).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
}

function* leafPaths(table: Table, above: readonly string[]): Generator<readonly string[]> {
  for (const [key, value] of Object.entries(table)) {
    const keys = [...above, key]
    if (isTable(value) && Object.keys(value).length > 0) yield* leafPaths(value as Table, keys)
    else yield keys
  }
}

function found(
  layer: ConfigLayer,
  table: Table,
  keys: readonly string[],
): readonly { readonly value: Json; readonly origin: string }[] {
  const value = at(table, ...keys)
  return value === undefined ? [] : [{ value: value as Json, origin: layer.origin }]
}

/** A key that holds a dot itself stands in quotes. */
const dotted = (keys: readonly string[]): string =>
  keys.map((key) => (key.includes('.') || key === '' ? JSON.stringify(key) : key)).join('.')

function cover(key: string, value: Json, hide: Hide): { value: Json } | { value_ref: string } {
  if (isCovered(key, value))
    return { value_ref: `secret:settings:${hide(typeof value === 'string' ? value : JSON.stringify(value))}` }
  return { value: withinLists(key, value, hide) }
}

/** Secrets inside lists and tables that stand as one value. */
function withinLists(key: string, value: Json, hide: Hide): Json {
  if (typeof value === 'string') return /(^|[._])(url|endpoint)$/.test(key) ? withoutCredentials(value) : value
  if (Array.isArray(value)) return value.map((each) => withinLists(key, each, hide))
  if (!isTable(value)) return value
  return Object.fromEntries(
    Object.entries(value as Table).map(([name, inner]) => {
      const inside = `${key}.${name}`
      const shown = isCovered(inside, inner)
        ? `secret:settings:${hide(String(inner))}`
        : withinLists(inside, inner, hide)
      return [name, shown]
    }),
  )
}

/** The value in force of one key, from the highest layer that sets it. */
export function settingOf(
  layers: readonly ConfigLayer[],
  ...keys: readonly string[]
): { readonly value: Json; readonly layer: ConfigLayer } | null {
  for (const layer of layers) {
    const value = at(layer.value, ...keys)
    if (value !== undefined) return { value: value as Json, layer }
  }
  return null
}

export function textSetting(layers: readonly ConfigLayer[], ...keys: readonly string[]): string | null {
  const found = settingOf(layers, ...keys)
  return typeof found?.value === 'string' ? found.value : null
}

/** Features that bear on what is resolved here, with what they are when nothing sets them (0.171.0). */
const FEATURE_DEFAULTS = { hooks: true, memories: false, plugins: true } as const

export interface Feature {
  readonly on: boolean
  /** Layer that says so; null for the default. */
  readonly origin: string | null
}

export function feature(layers: readonly ConfigLayer[], name: keyof typeof FEATURE_DEFAULTS): Feature {
  const found = settingOf(layers, 'features', name)
  return typeof found?.value === 'boolean'
    ? { on: found.value, origin: found.layer.origin }
    : { on: FEATURE_DEFAULTS[name], origin: null }
}
