import path from 'node:path'
import { type ManifestBody, type PinPart, RepriseError } from '../../../contract/index.ts'

/** What a body says of one part of a pin. `value` null: it has none, or nobody could look. */
export interface FoundPart {
  readonly value: string | null
  /** Why it is not known; null when it is. */
  readonly unknown: string | null
  /** The next start may take another one, whatever it is now. */
  readonly floats: boolean
  readonly there: boolean
}

const nothing: FoundPart = { value: null, unknown: null, floats: false, there: false }

export function findPart(body: ManifestBody, part: Pick<PinPart, 'kind' | 'name'>): FoundPart {
  const whyUnknown = (field: string): string | null => body.unknown.find((one) => one.field === field)?.why ?? null
  switch (part.kind) {
    case 'manifest':
      return nothing
    case 'binary': {
      const { runtime_digest: digest, runtime_version: ran, program } = body.execution
      const value = digest ?? program?.version ?? ran
      const unknown = value === null ? (whyUnknown('execution.runtime_digest') ?? 'no program was found') : null
      return { value, unknown, floats: false, there: value !== null }
    }
    case 'model': {
      const { model } = body.execution
      const unknown = model === null ? (whyUnknown('execution.model') ?? 'no file and no flag names a model') : null
      return { value: model, unknown, floats: false, there: model !== null }
    }
    case 'plugin': {
      const plugin = body.capabilities.plugins.find(
        ({ name }) => name === part.name || name.split('@')[0] === part.name,
      )
      if (!plugin) return nothing
      const value = plugin.status === 'active' ? (plugin.digest ?? plugin.version) : `${plugin.status}`
      const unknown = value === null ? 'neither version nor digest of the plugin could be told' : null
      return { value, unknown, floats: false, there: true }
    }
    case 'mcp_package': {
      const server = body.capabilities.mcp_servers.find(
        ({ name, status }) => name === part.name && status !== 'shadowed',
      )
      if (!server) return nothing
      const value = server.package_version
      const unknown = value === null ? `no package stands behind ${part.name}, or its version cannot be told` : null
      return { value, unknown, floats: server.package_floating === true, there: true }
    }
    case 'file': {
      const source = sourceOf(body, part.name)
      if (!source) return nothing
      const unknown = source.digest === null ? 'only its name is known' : null
      return { value: source.digest, unknown, floats: false, there: true }
    }
  }
}

function sourceOf(body: ManifestBody, name: string): { readonly path: string; readonly digest: string | null } | null {
  const wanted = path.isAbsolute(name) || body.execution.cwd === null ? name : path.join(body.execution.cwd, name)
  for (const source of body.instructions.sources)
    if (source.path === wanted && source.digest !== null) return { path: source.path, digest: source.digest }
  const beside = body.capabilities.files?.find((file) => file.path === wanted)
  return beside ? { path: beside.path, digest: beside.digest } : null
}

/** Parts with the values the manifest has for them; without any, the whole manifest. */
export function fillParts(
  body: ManifestBody,
  digest: string,
  asked: readonly PinPart[] | undefined,
): readonly PinPart[] {
  if (asked === undefined || asked.length === 0) return [{ kind: 'manifest', name: '', value: digest }]
  return asked.map((part) => {
    if (part.kind === 'manifest') return { kind: 'manifest', name: '', value: digest }
    const found = findPart(body, part)
    if (part.value !== null) return part
    if (found.value === null)
      throw new RepriseError(
        found.there || part.name === '' ? 'refused' : 'not_found',
        `${part.kind}${part.name === '' ? '' : ` ${part.name}`}: ${found.unknown ?? 'the manifest has no such part'}`,
        'a part can be pinned only to what is known of it',
        found.there ? [] : candidatesOf(body, part.kind),
      )
    const name = part.kind === 'file' ? (sourceOf(body, part.name)?.path ?? part.name) : part.name
    return { kind: part.kind, name, value: found.value }
  })
}

function candidatesOf({ capabilities, instructions }: ManifestBody, kind: PinPart['kind']): string[] {
  if (kind === 'plugin') return capabilities.plugins.map(({ name }) => name)
  if (kind === 'mcp_package') return capabilities.mcp_servers.map(({ name }) => name)
  if (kind !== 'file') return []
  return instructions.sources.flatMap((source) => (source.path !== null && source.digest !== null ? [source.path] : []))
}
