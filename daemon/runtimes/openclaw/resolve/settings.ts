import type { ManifestSetting } from '../../../../contract/index.ts'
import { at, dotted, isObject, type Json, type Leaf, type Lost, type Tree } from './config-tree.ts'
import { isSecretKey, isSecretName } from './secret-names.ts'

export type Hide = (value: string) => string

/** Defaults of 2026.9.6 that bear on what is resolved here; the vendor's table holds more. */
const DEFAULTS: Readonly<Record<string, Json>> = {
  'agents.defaults.bootstrapMaxChars': 20_000,
  'agents.defaults.bootstrapTotalMaxChars': 60_000,
  'agents.defaults.contextInjection': 'always',
  'agents.defaults.skipBootstrap': false,
  'agents.defaults.sandbox.mode': 'off',
  'session.dmScope': 'main',
  'session.groupScope': 'per-group',
  'tools.toolSearch': true,
}

/** Every effective key with the source that won and those that lost: files, includes, flags, defaults. */
export function flattenSettings(tree: Tree, hide: Hide): Record<string, ManifestSetting> {
  const settings: Record<string, ManifestSetting> = {}
  const walk = (found: Tree, keys: readonly string[], lost: readonly Lost[]): void => {
    if (found.type === 'branch' && found.entries.size > 0) {
      let first = true
      for (const [key, inner] of found.entries) {
        walk(inner, [...keys, key], first ? [...lost, ...found.overridden] : [])
        first = false
      }
      return
    }
    if (keys.length === 0) return
    const one: Leaf =
      found.type === 'leaf'
        ? found
        : {
            type: 'leaf',
            value: {},
            origin: found.origin,
            mergedFrom: [found.origin],
            overridden: found.overridden,
            variables: [],
          }
    const name = dotted(keys)
    const known = DEFAULTS[name]
    const show = shower(keys, one, hide)
    settings[name] = {
      ...show(one.value),
      source: one.origin,
      merged_from: [...one.mergedFrom],
      overridden: [
        ...[...one.overridden, ...lost].map((each) => ({ ...show(each.value), source: each.source })),
        ...(known === undefined ? [] : [{ value: known, source: 'default' }]),
      ],
      rule: one.mergedFrom.length > 1 ? 'union' : isByName(keys) ? 'by_name' : 'replace',
      ...(one.variables.length > 0 ? { variables: [...one.variables] } : {}),
    }
  }
  walk(tree, [], [])
  for (const [name, value] of Object.entries(DEFAULTS)) {
    const isSet = name in settings || Object.keys(settings).some((key) => key.startsWith(`${name}.`))
    if (!isSet) settings[name] = { value, source: 'default', merged_from: ['default'], overridden: [], rule: 'replace' }
  }
  return Object.fromEntries(Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1)))
}

type Shown = { value: Json } | { value_ref: string }

function shower(keys: readonly string[], one: Leaf, hide: Hide): (value: Json) => Shown {
  const isHidden = isSecretKey(keys) || one.variables.some(isSecretName)
  return (value) =>
    isHidden || holdsSecret(value)
      ? { value_ref: `secret:settings:${hide(typeof value === 'string' ? value : JSON.stringify(value))}` }
      : { value }
}

/** A list of objects is one value; one secret in it hides it whole. */
function holdsSecret(value: Json): boolean {
  if (Array.isArray(value)) return value.some(holdsSecret)
  if (!isObject(value)) return false
  return Object.entries(value).some(
    ([key, inner]) =>
      (isSecretName(key) && inner !== null && inner !== '') ||
      key === 'headers' ||
      key === 'env' ||
      holdsSecret(inner as Json),
  )
}

/** Objects whose entries belong together by name. */
const isByName = (keys: readonly string[]): boolean =>
  (keys[0] === 'agents' && keys[1] === 'entries') ||
  (keys[0] === 'mcp' && keys[1] === 'servers') ||
  (keys[0] === 'models' && keys[1] === 'providers') ||
  (keys[1] === 'entries' && (keys[0] === 'plugins' || keys[0] === 'skills')) ||
  (keys[0] === 'env' && keys[1] === 'vars')

/** A value for one agent, with what it won over: the agent's entry, then the defaults of all agents, then the runtime's own. */
export interface Effective {
  readonly value: Json
  readonly source: string
  readonly overridden: readonly Lost[]
}

export function effective(candidates: readonly (Effective | null)[]): Effective | null {
  const [winner, ...rest] = candidates.filter((one): one is Effective => one !== null)
  if (winner === undefined) return null
  return {
    ...winner,
    overridden: [
      ...winner.overridden,
      ...rest.flatMap((one) => [{ value: one.value, source: one.source }, ...one.overridden]),
    ],
  }
}

export function candidate(tree: Tree, keys: readonly string[]): Effective | null {
  const found = at(tree, ...keys)
  if (found === null || found.type !== 'leaf') return null
  return { value: found.value, source: `${found.origin}#${dotted(keys)}`, overridden: found.overridden }
}

export const byDefault = (value: Json): Effective => ({ value, source: 'default', overridden: [] })

export const asSetting = (one: Effective): ManifestSetting => ({
  value: one.value,
  source: one.source,
  merged_from: [one.source],
  overridden: one.overridden.map((each) => ({ value: each.value, source: each.source })),
  rule: 'replace',
})
