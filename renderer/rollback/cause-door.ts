import type { Cause, Comparison } from '../../contract/compare.ts'
import type { Manifest } from '../../contract/manifest.ts'
import type { ClickedPath, RollbackDoor } from './address.ts'

type Sides = { readonly a: Manifest | undefined; readonly b: Manifest | undefined }

/**
 * Only what one cause rests on, back to how A had it: the files of its sources, and one key where it is a setting. Null where it rests
 * on no file, as for a model or a server elsewhere.
 */
export function causeDoor(cause: Cause, { a, b }: Pick<Comparison, 'a' | 'b'>, manifests: Sides): RollbackDoor | null {
  const only = new Map<string, ClickedPath>()
  const add = (clicked: ClickedPath | null) => {
    if (clicked !== null) only.set(`${clicked.path}\0${clicked.key ?? ''}`, clicked)
  }
  if (cause.class !== 'configuration') return null
  for (const { ref, side } of cause.evidence) {
    if (ref?.type === 'source') add(fileOf(ref.uri))
    if (ref?.type === 'field' && side !== 'both') add(behindField(ref.path, manifests[side]))
  }
  for (const path of cause.fields) {
    add(behindField(path, manifests.b))
    add(behindField(path, manifests.a))
  }
  if (only.size === 0) return null
  return {
    target: a.run !== null && a.stretch === 1 ? a.run : a.manifest,
    only: [...only.values()],
    ...(b.workspace === null ? {} : { of: b.workspace }),
    runtime: a.runtime,
  }
}

function fileOf(uri: string): ClickedPath | null {
  if (!uri.startsWith('file://')) return null
  try {
    return { path: decodeURIComponent(new URL(uri).pathname) }
  } catch {
    return null // not an address
  }
}

const isFile = (source: unknown): source is string =>
  typeof source === 'string' && /^(?:\/|[A-Za-z]:[\\/])/.test(source)

/** `settings[permissions.deny]`, `capabilities.mcp_servers[tickets].version`: the file the manifest names as its source. */
function behindField(field: string, manifest: Manifest | undefined): ClickedPath | null {
  if (manifest === undefined) return null
  const setting = /^settings\[(.+?)\](?:\.|$)/.exec(field)?.[1]
  if (setting !== undefined) {
    const source = manifest.settings[setting]?.source
    return isFile(source) ? { path: source, key: setting } : null
  }
  const [, list, name] = /^capabilities\.(\w+)\[(.+?)\](?:\.|$)/.exec(field) ?? []
  if (list !== undefined) {
    const items = Object.entries(manifest.capabilities).find(([key]) => key === list)?.[1]
    if (!Array.isArray(items)) return null
    for (const item of items)
      if (typeof item === 'object' && item !== null && 'name' in item && item.name === name && 'source' in item)
        return isFile(item.source) ? { path: item.source } : null
    return null
  }
  const source = /^instructions\.sources\[(.+?)\](?:\.|$)/.exec(field)?.[1]
  const found = manifest.instructions.sources.find(({ uri, path }) => uri === source || path === source)
  return found?.path == null ? null : { path: found.path }
}
