import type { ManifestSetting } from '../../../../contract/index.ts'
import type { Disk } from '../../shared/disk.ts'
import { asRow, type Row } from '../../shared/fields.ts'
import { withoutCredentials } from '../infer-manifest.ts'
import { readConfig } from './config-file.ts'
import type { Environment } from './environment.ts'
import { makeSource, type Source } from './sources.ts'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

export interface Layer {
  readonly scope: 'managed' | 'user'
  readonly origin: string
  readonly value: Row
}

export interface Settings {
  /** Highest first. */
  readonly layers: readonly Layer[]
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string; readonly message: string }[]
  /** The runtime would go on with its defaults, and why. */
  readonly onDefaults: string | null
}

/** The managed file beats the user's, leaf by leaf (runtime page 4.1, 0.20.0). `ignoreUser`: why the user's is not read; null when it is. */
export function readSettings(disk: Disk, managed: string, user: string, ignoreUser: string | null): Settings {
  const layers: Layer[] = []
  const sources: Source[] = []
  const problems: { path: string; message: string }[] = []
  let onDefaults: string | null = null
  const take = (file: string, scope: 'managed' | 'user', off: string | null): void => {
    const read = readConfig(disk, file)
    if (read.state === 'missing') return
    const draft = {
      path: file,
      scope,
      kind: 'settings' as const,
      rule: 'managed > user, leaf by leaf (0.20.0)',
      // It may name keys in the open; they are covered wherever its text is shown.
      raw: 'raw' in read ? read.raw : null,
    }
    if (off !== null) {
      sources.push(makeSource({ ...draft, status: 'not_loaded', reason: off }))
      return
    }
    if (read.state === 'ok') {
      sources.push(makeSource({ ...draft, status: 'loaded' }))
      layers.push({ scope, origin: file, value: read.value })
      return
    }
    const why =
      read.state === 'broken'
        ? `${read.why}: the runtime goes on with its defaults and puts a copy beside it`
        : read.why
    if (read.state === 'broken') onDefaults = file
    problems.push({ path: file, message: why })
    sources.push(makeSource({ ...draft, status: read.state === 'broken' ? 'not_loaded' : 'unknown', reason: why }))
  }
  take(managed, 'managed', null)
  take(user, 'user', ignoreUser)
  return { layers, sources, problems, onDefaults }
}

/** The value of a dotted key, the highest layer's. */
export function settingOf(
  layers: readonly Layer[],
  key: string,
): { readonly value: unknown; readonly origin: string } | null {
  for (const { value, origin } of layers) {
    let found: unknown = value
    for (const step of key.split('.')) found = asRow(found)?.[step]
    if (found !== undefined) return { value: found, origin }
  }
  return null
}

/** A mapping over all layers, its entries by name, the highest layer's winning. */
export function namedOf(
  layers: readonly Layer[],
  key: string,
): ReadonlyMap<string, { readonly value: unknown; readonly origin: string; readonly lost: readonly string[] }> {
  const found = new Map<string, { value: unknown; origin: string; lost: string[] }>()
  for (const layer of layers) {
    const entries = asRow(settingOf([layer], key)?.value)
    for (const [name, value] of Object.entries(entries ?? {})) {
      const known = found.get(name)
      if (known === undefined) found.set(name, { value, origin: layer.origin, lost: [] })
      else known.lost.push(layer.origin)
    }
  }
  return found
}

const REFERENCE = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}/g

export const referencesIn = (text: string): readonly string[] =>
  [...text.matchAll(REFERENCE)].map((found) => found[1] ?? '')

/** `${NAME}` and `${env:NAME}` in a value; an unset name stays as it is written (0.20.0). */
export const substitute = (text: string, environment: Environment): string =>
  text.replace(REFERENCE, (written, name: string) => environment.get(name)?.value ?? written)

/** Names under which a value is a secret by nature. */
const SECRET = /(api[_-]?key|token|secret|password|passwd|credentials?|authorization|private[_-]?key)$/i
const holdsSecret = (key: string): boolean =>
  SECRET.test(key) || /(^|\.)headers\./.test(key) || /^mcp_servers\..*\.env\./.test(key)

/** Every effective key with the source that won and those that lost. A value that refers to a variable is shown as it is written. */
export function mergeSettings(
  layers: readonly Layer[],
  environment: Environment,
  hide: (value: string) => string,
): { readonly settings: Readonly<Record<string, ManifestSetting>>; readonly referred: ReadonlySet<string> } {
  const byKey = new Map<string, { readonly origin: string; readonly value: Json }[]>()
  for (const layer of layers) {
    for (const [key, value] of leavesOf(layer.value)) {
      const list = byKey.get(key) ?? []
      list.push({ origin: layer.origin, value })
      byKey.set(key, list)
    }
  }
  const referred = new Set<string>()
  const shown = (key: string, value: Json): { value: Json } | { value_ref: string } => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const names = referencesIn(text)
    for (const name of names) referred.add(name)
    if (holdsSecret(key) && text !== '' && !isOnlyReference(text)) return { value_ref: `secret:settings:${hide(text)}` }
    return { value: typeof value === 'string' && /^\w+:\/\//.test(value) ? withoutCredentials(value) : value }
  }
  const settings: Record<string, ManifestSetting> = {}
  for (const key of [...byKey.keys()].sort()) {
    const entries = byKey.get(key) ?? []
    const [winner, ...lost] = entries
    if (winner === undefined) continue
    const names = typeof winner.value === 'string' ? referencesIn(winner.value) : []
    settings[key] = {
      ...shown(key, winner.value),
      source: winner.origin,
      merged_from: [winner.origin],
      overridden: lost.map((entry) => ({ ...shown(key, entry.value), source: entry.origin })),
      rule: 'replace',
      ...(names.length === 0
        ? {}
        : {
            refers_to: names.map((name) => {
              const variable = environment.get(name)
              return { name, source: variable?.source ?? null, digest: variable === null ? null : hide(variable.value) }
            }),
          }),
    }
  }
  return { settings, referred }
}

const isOnlyReference = (text: string): boolean => /^\$\{(env:)?[A-Za-z_][A-Za-z0-9_]*\}$/.test(text)

/** Leaf values by dotted key; a key that holds a dot itself stands in quotes. */
function leavesOf(value: Row): ReadonlyMap<string, Json> {
  const leaves = new Map<string, Json>()
  const walk = (object: Row, prefix: string): void => {
    for (const [key, inner] of Object.entries(object)) {
      const name = prefix + (key.includes('.') || key === '' ? JSON.stringify(key) : key)
      const row = asRow(inner)
      if (row !== null && Object.keys(row).length > 0) walk(row, `${name}.`)
      // Dates and other values YAML makes have a form in JSON.
      else leaves.set(name, JSON.parse(JSON.stringify(inner ?? null)) as Json)
    }
  }
  walk(value, '')
  return leaves
}
