import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { lineOfKey, type Reading, readTomlFile } from './config-file.ts'
import type { ConfigLayer, Layers, Problem } from './layers.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { at, byBytes, isTable, textOf, toTable } from './values.ts'

export interface ResolvedRoles {
  readonly agents: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * Agent roles: `agents/**.toml` beside the files of the system, user and project layers, and `[agents.<name>]` tables; of equal names the
 * nearest counts (0.171.0).
 */
export function resolveRoles(reading: Reading, layers: Layers): ResolvedRoles {
  const sources: Source[] = []
  const problems: Problem[] = []
  const unknown: { field: string; why: string }[] = []
  const agents: ManifestCapability[] = []
  const winners = new Map<string, string>()
  for (const layer of layers.all) {
    const tables = at(layer.value, 'agents')
    if (isTable(tables))
      for (const [name, table] of Object.entries(tables)) if (isTable(table)) takeTable(name, table, layer)
    if (layer.folder !== null && layer.name !== 'profile' && layer.name !== 'managed')
      readFolder(path.join(layer.folder, 'agents'), layer)
  }

  function readFolder(folder: string, layer: ConfigLayer): void {
    const listing = reading.disk.list(folder)
    if (listing.state === 'unreadable') unknown.push({ field: 'capabilities.agents', why: `${folder}: ${listing.why}` })
    if (listing.state !== 'ok') return
    for (const { name, kind } of [...listing.entries].sort((a, b) => byBytes(a.name, b.name))) {
      if (kind === 'directory') readFolder(path.join(folder, name), layer)
      else if (name.endsWith('.toml')) readRole(path.join(folder, name), layer)
    }
  }

  function takeTable(name: string, table: Readonly<Record<string, unknown>>, layer: ConfigLayer): void {
    const winner = winners.get(name)
    const reason = layer.disabled ?? (winner === undefined ? null : `${winner} has the same name`)
    if (reason === null) winners.set(name, layer.origin)
    const file = textOf(table.config_file)
    agents.push({
      name,
      version: null,
      digest: bytesDigest(JSON.stringify(toTable(table))),
      source: layer.name,
      status: reason === null ? 'active' : layer.disabled === null ? 'shadowed' : 'disabled',
      reason,
      description: textOf(table.description),
      used: null,
      path: file ?? layer.origin,
    })
  }

  function readRole(file: string, layer: ConfigLayer): void {
    const read = readTomlFile(reading, file)
    if (read.state === 'missing') return
    const draft = {
      path: file,
      scope: layer.name,
      kind: 'agent' as const,
      rule: `name, description and developer_instructions; the nearest of equal names wins (${VERIFIED_VERSION})`,
      ...('raw' in read ? { raw: read.raw } : {}),
    }
    if (read.state === 'unreadable') {
      sources.push(makeSource({ ...draft, status: 'unknown', reason: read.why }))
      return
    }
    const keys = read.state === 'ok' ? read.value : {}
    const name = textOf(keys.name) || path.basename(file, '.toml')
    const description = textOf(keys.description)
    const wrong = read.state === 'invalid' ? read.why : missing(keys, read.raw.toString('utf8'))
    const winner = winners.get(name)
    const reason =
      layer.disabled ??
      (wrong === null ? null : `no role: ${wrong}`) ??
      (winner === undefined ? null : `${winner} has the same name`)
    if (reason === null) winners.set(name, file)
    if (wrong !== null && layer.disabled === null) problems.push({ path: file, message: wrong })
    sources.push(
      makeSource({
        ...draft,
        status: reason === null ? 'lazy' : 'not_loaded',
        reason,
        trigger:
          reason === null ? 'the agent is started; until then only its name and description are in the context' : null,
      }),
    )
    agents.push({
      name,
      version: null,
      digest: bytesDigest(read.raw),
      source: layer.name,
      status: reason === null ? 'active' : layer.disabled === null && wrong === null ? 'shadowed' : 'disabled',
      reason,
      description,
      used: null,
      path: file,
    })
  }
  return { agents: agents.sort((a, b) => byBytes(a.name, b.name)), sources, problems, unknown }
}

function missing(keys: Readonly<Record<string, unknown>>, text: string): string | null {
  for (const key of ['name', 'description', 'developer_instructions']) {
    if ((textOf(keys[key]) ?? '').trim() !== '') continue
    const line = lineOfKey(text, key)
    return line === null ? `${key} is missing` : `line ${line}: ${key} is empty or no text`
  }
  return null
}
