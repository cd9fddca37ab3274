import path from 'node:path'
import canonicalize from 'canonicalize'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { type JsonReading, readJsonObject } from './json-file.ts'
import type { Plugin } from './plugins.ts'
import { isObject, type SettingsLayer } from './settings.ts'
import { makeSource, type Source } from './sources.ts'

export interface HookRequest {
  readonly reading: JsonReading
  /** Highest first. */
  readonly layers: readonly SettingsLayer[]
  readonly plugins: readonly Plugin[]
  /** Null, or why only managed hooks run. */
  readonly off: string | null
}

export interface ResolvedHooks {
  readonly hooks: readonly ManifestCapability[]
  readonly sources: readonly Source[]
}

/** Hooks of all sources run together, the same command once; those of the managed settings stand by themselves (2.1.332). */
export function resolveHooks(request: HookRequest): ResolvedHooks {
  const { layers } = request
  const hooks: ManifestCapability[] = []
  const sources: Source[] = []
  const managedOnly = layers.find((layer) => layer.name === 'managed' && layer.value.allowManagedHooksOnly === true)
  const allOff = layers.find((layer) => layer.value.disableAllHooks === true)
  const offFor = (isManaged: boolean): string | null => {
    if (isManaged) return allOff?.name === 'managed' ? `disableAllHooks in ${allOff.origin}` : null
    if (managedOnly) return `allowManagedHooksOnly in ${managedOnly.origin}`
    if (allOff) return `disableAllHooks in ${allOff.origin}`
    return request.off
  }
  const seen = new Map<string, string>()
  const take = (events: unknown, origin: string, isManaged: boolean, off: string | null): void => {
    for (const { event, matcher, hook } of eachHook(events)) {
      const digest = bytesDigest(canonicalize({ event, matcher, hook }) ?? '')
      const twin = isManaged ? undefined : seen.get(digest)
      if (off === null && twin === undefined && !isManaged) seen.set(digest, origin)
      hooks.push({
        name: matcher === '' ? event : `${event} ${matcher}`,
        version: null,
        digest,
        source: origin,
        status: off !== null ? 'disabled' : twin !== undefined ? 'shadowed' : 'active',
        reason: off ?? (twin !== undefined ? `the same hook of ${twin} runs once` : null),
        description: summary(hook),
        used: null,
        type: typeof hook.type === 'string' ? hook.type : null,
      })
    }
  }
  for (const layer of layers) {
    const isManaged = layer.name === 'managed'
    take(layer.value.hooks, layer.origin, isManaged, offFor(isManaged))
  }
  for (const plugin of request.plugins) {
    if (plugin.root === null) continue
    const off = plugin.active ? offFor(false) : 'its plugin is not enabled'
    const file = path.join(plugin.root, 'hooks', 'hooks.json')
    const read = readJsonObject(request.reading, file)
    if (read.state !== 'missing') {
      sources.push(
        makeSource({
          path: file,
          scope: 'plugin',
          kind: 'hook',
          status: read.state !== 'ok' ? 'unknown' : off === null ? 'loaded' : 'not_loaded',
          reason: read.state !== 'ok' ? read.why : off,
          ...('raw' in read ? { raw: read.raw } : {}),
        }),
      )
      if (read.state === 'ok') take(read.value.hooks ?? read.value, file, false, off)
    }
    take(plugin.manifest.hooks, path.join(plugin.root, '.claude-plugin', 'plugin.json'), false, off)
  }
  return { hooks, sources }
}

function* eachHook(
  events: unknown,
): Generator<{ readonly event: string; readonly matcher: string; readonly hook: Readonly<Record<string, unknown>> }> {
  if (!isObject(events)) return
  for (const [event, groups] of Object.entries(events)) {
    if (!Array.isArray(groups)) continue
    for (const group of groups) {
      if (!isObject(group) || !Array.isArray(group.hooks)) continue
      const matcher = typeof group.matcher === 'string' ? group.matcher : ''
      for (const hook of group.hooks) if (isObject(hook)) yield { event, matcher, hook }
    }
  }
}

function summary(hook: Readonly<Record<string, unknown>>): string | null {
  for (const key of ['command', 'url', 'prompt']) if (typeof hook[key] === 'string') return hook[key]
  return null
}
