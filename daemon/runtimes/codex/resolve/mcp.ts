import path from 'node:path'
import canonicalize from 'canonicalize'
import type { ManifestMcpServer } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { lineOfKey, type Reading, readJsonFile } from './config-file.ts'
import { type ConfigLayer, type Layers, mergedTables, type Problem } from './layers.ts'
import type { Plugin } from './plugins.ts'
import { makeSource, type Source } from './sources.ts'
import { at, byBytes, type Hide, isTable, type Table, textOf, textsOf, toTable, withoutCredentials } from './values.ts'

export interface ResolvedMcp {
  readonly servers: readonly ManifestMcpServer[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  /** Environment variables that servers take their secrets from. */
  readonly variables: readonly string[]
}

/** Servers of all layers, merged key by key under one name; a layer must say whole what it says (0.171.0). */
export function resolveMcp(reading: Reading, layers: Layers, plugins: readonly Plugin[], hide: Hide): ResolvedMcp {
  const problems = layers.active.flatMap((layer) => incomplete(reading, layer))
  const sources: Source[] = []
  const variables = new Set<string>()
  const servers: ManifestMcpServer[] = []
  const merged = mergedTables(layers.active, 'mcp_servers')
  for (const [name, { table, layers: from }] of merged) {
    const [winner] = from
    if (winner === undefined) continue
    for (const variable of variablesOf(table)) variables.add(variable)
    const off = table.enabled === false ? `switched off (enabled = false, ${originOf(from, name, 'enabled')})` : null
    servers.push({
      ...describeServer(name, table, hide),
      source: winner.origin,
      scope: winner.name === 'flags' ? 'flag' : winner.name,
      status: off === null ? 'active' : 'disabled',
      reason: off,
      merged_from: from.map((layer) => layer.origin),
    })
  }
  for (const layer of layers.all) {
    const tables = at(layer.value, 'mcp_servers')
    if (layer.disabled === null || !isTable(tables)) continue
    for (const [name, table] of Object.entries(tables))
      servers.push({
        ...describeServer(name, isTable(table) ? (table as Table) : {}, hide),
        source: layer.origin,
        scope: layer.name,
        status: 'disabled',
        reason: layer.disabled,
      })
  }
  for (const plugin of plugins) {
    if (plugin.root === null) continue
    const file = path.join(plugin.root, '.mcp.json')
    const read = readJsonFile(reading, file)
    if (read.state === 'missing') continue
    const off = plugin.active ? null : 'its plugin is not in force'
    const draft = { path: file, scope: 'plugin', kind: 'mcp' as const, ...('raw' in read ? { raw: read.raw } : {}) }
    if (read.state !== 'ok') {
      sources.push(makeSource({ ...draft, status: 'unknown', reason: read.why }))
      continue
    }
    sources.push(makeSource({ ...draft, status: off === null ? 'loaded' : 'not_loaded', reason: off }))
    const tables = isTable(read.value.mcpServers) ? read.value.mcpServers : read.value
    for (const [name, table] of Object.entries(tables)) {
      const beaten = merged.has(name)
      servers.push({
        ...describeServer(name, isTable(table) ? toTable(table) : {}, hide),
        source: file,
        scope: 'plugin',
        status: off !== null ? 'disabled' : beaten ? 'shadowed' : 'active',
        reason: off ?? (beaten ? 'the configuration names a server of the same name' : null),
      })
    }
  }
  return {
    servers: servers.sort((a, b) => byBytes(a.name, b.name)),
    sources,
    problems,
    variables: [...variables].sort(),
  }
}

const originOf = (layers: readonly ConfigLayer[], ...keys: readonly string[]): string =>
  layers.find((layer) => at(layer.value, 'mcp_servers', ...keys) !== undefined)?.origin ?? 'unknown'

const ONLY_STDIO = ['args', 'env', 'env_vars', 'cwd']
const ONLY_HTTP = ['bearer_token_env_var', 'http_headers', 'env_http_headers']

/** What makes one layer invalid, and with it the whole configuration. */
function incomplete(reading: Reading, layer: ConfigLayer): readonly Problem[] {
  const tables = at(layer.value, 'mcp_servers')
  if (!isTable(tables)) return []
  return Object.entries(tables).flatMap(([name, table]): Problem[] => {
    const why = isTable(table) ? wrong(table) : 'it is no table'
    if (why === null) return []
    const read = layer.folder === null ? null : reading.disk.read(layer.origin)
    const line = read?.state === 'ok' ? lineOfKey(read.bytes.toString('utf8'), 'mcp_servers', name) : null
    const place = line === null ? '' : `line ${line}: `
    return [
      {
        path: layer.folder === null ? null : layer.origin,
        message: `${place}mcp_servers.${name}: ${why}; each layer must hold it whole, and the program does not start`,
      },
    ]
  })
}

function wrong(table: Readonly<Record<string, unknown>>): string | null {
  const hasCommand = textOf(table.command) !== null
  const hasUrl = textOf(table.url) !== null
  if (!hasCommand && !hasUrl) return 'neither command nor url stands here'
  if (hasCommand && hasUrl) return 'command and url exclude each other'
  const stray = (hasCommand ? ONLY_HTTP : ONLY_STDIO).find((key) => table[key] !== undefined)
  if (stray !== undefined) return `${stray} does not go with ${hasCommand ? 'command' : 'url'}`
  return table.bearer_token === undefined ? null : 'bearer_token is not taken; bearer_token_env_var names a variable'
}

function variablesOf(table: Table): readonly string[] {
  const headers = at(table, 'env_http_headers')
  const bearer = textOf(table.bearer_token_env_var)
  return [
    ...(bearer === null ? [] : [bearer]),
    ...textsOf(table.env_vars),
    ...(isTable(headers) ? Object.values(headers).filter((each): each is string => typeof each === 'string') : []),
  ]
}

type Description = Pick<
  ManifestMcpServer,
  'name' | 'transport' | 'command' | 'url' | 'package_version' | 'digest' | 'tools'
>

/** Values of `env` and of headers are secrets: they appear as keyed digests and enter the digest in that form. */
function describeServer(name: string, table: Table, hide: Hide): Description {
  const command = textOf(table.command)
  const url = textOf(table.url)
  const args = textsOf(table.args)
  const env = hidden(table.env, hide)
  const headers = hidden(table.http_headers, hide)
  const shownUrl = url === null ? null : withoutCredentials(url)
  const filters = {
    ...(Array.isArray(table.enabled_tools) ? { enabled_tools: textsOf(table.enabled_tools) } : {}),
    ...(Array.isArray(table.disabled_tools) ? { disabled_tools: textsOf(table.disabled_tools) } : {}),
    ...(table.required === true ? { required: true } : {}),
  }
  const digested = { ...table, env, http_headers: headers, ...(url === null ? {} : { url: hide(url) }) }
  const described = {
    name,
    transport: url === null ? 'stdio' : 'streamable_http',
    command,
    url: shownUrl,
    package_version: packageVersion(command, args),
    digest: bytesDigest(canonicalize(digested) ?? ''),
    // Known only once the server runs.
    tools: null,
    args,
    env,
    headers,
    ...filters,
  }
  return described
}

function hidden(values: unknown, hide: Hide): readonly { readonly name: string; readonly digest: string }[] {
  if (!isTable(values)) return []
  return Object.entries(values)
    .map(([name, value]) => ({ name, digest: hide(typeof value === 'string' ? value : JSON.stringify(value)) }))
    .sort((a, b) => byBytes(a.name, b.name))
}

/** The version a package runner is told to start, such as `npx -y server@1.2.3`; null when it is left open. */
function packageVersion(command: string | null, args: readonly string[]): string | null {
  if (command === null || !/^(npx|npm|pnpm|bunx|yarn|uvx|pipx)(\.cmd)?$/.test(path.basename(command))) return null
  for (const word of args) {
    const found = /^@?[^@\s]+(?:@|==)(\d[\w.+-]*)$/.exec(word)
    if (found) return found[1] ?? null
  }
  return null
}
