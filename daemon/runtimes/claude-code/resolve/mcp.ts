import path from 'node:path'
import canonicalize from 'canonicalize'
import type { ManifestMcpServer } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import type { StartFlags } from './flags.ts'
import { type JsonReading, parseJsonObject, readJsonObject } from './json-file.ts'
import type { Plugin } from './plugins.ts'
import { type Hide, isObject, listOf, type SettingsLayer } from './settings.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import type { StateFile } from './state-file.ts'

export interface McpRequest {
  readonly reading: JsonReading
  readonly flags: StartFlags
  readonly managedDir: string
  readonly cwd: string
  /** Outermost first. */
  readonly ancestors: readonly string[]
  readonly state: StateFile
  readonly layers: readonly SettingsLayer[]
  readonly plugins: readonly Plugin[]
  readonly sources: { readonly user: boolean; readonly project: boolean; readonly local: boolean }
  readonly whySourcesOff: string
  /** Null, or why no server starts but those of the command line. */
  readonly off: string | null
  readonly hide: Hide
}

export interface ResolvedMcp {
  readonly servers: readonly ManifestMcpServer[]
  readonly sources: readonly Source[]
  readonly problems: readonly { readonly path: string | null; readonly message: string }[]
  /** Environment variables that server definitions refer to as `${NAME}`. */
  readonly variables: readonly string[]
}

interface Declared {
  readonly name: string
  readonly config: Readonly<Record<string, unknown>>
  /** As the runtime names it: `local`, `project`, `user`, `dynamic`, `managed`, `plugin`. */
  readonly scope: string
  readonly origin: string
  readonly off: string | null
}

export function resolveMcp(request: McpRequest): ResolvedMcp {
  const { reading, state, ancestors, flags, layers } = request
  const declared: Declared[] = []
  const sources: Source[] = []
  const problems: { path: string | null; message: string }[] = []

  const take = (servers: unknown, scope: string, origin: string, off: string | null): void => {
    if (!isObject(servers)) return
    for (const [name, config] of Object.entries(servers)) {
      if (isObject(config)) declared.push({ name, config, scope, origin, off })
      else problems.push({ path: origin, message: `the MCP server ${name} is no object` })
    }
  }
  const takeFile = (file: string, scope: string, off: string | null, plain = false): boolean => {
    const read = readJsonObject(reading, file)
    if (read.state === 'missing') return false
    const draft = { path: file, scope, kind: 'mcp' as const, ...('raw' in read ? { raw: read.raw } : {}) }
    if (read.state !== 'ok') {
      problems.push({ path: file, message: read.why })
      sources.push(
        makeSource({ ...draft, status: read.state === 'invalid' ? 'not_loaded' : 'unknown', reason: read.why }),
      )
      return true
    }
    sources.push(
      makeSource({
        ...draft,
        status: off === null ? 'loaded' : 'not_loaded',
        reason: off,
        rule: `local > project (nearest) > user, by name (${VERIFIED_VERSION})`,
      }),
    )
    take(read.value.mcpServers ?? (plain ? read.value : undefined), scope, file, off)
    return true
  }

  // The command line: `--mcp-config` takes files and JSON texts.
  for (const text of flags.values('--mcp-config')) {
    if (text.trimStart().startsWith('{')) {
      const parsed = parseJsonObject(text)
      sources.push(
        makeSource({
          path: null,
          uri: 'flag:--mcp-config',
          scope: 'flag',
          kind: 'mcp',
          status: parsed.state === 'ok' ? 'loaded' : 'not_loaded',
          reason: parsed.state === 'ok' ? null : parsed.why,
          classification: 'secret',
        }),
      )
      if (parsed.state === 'ok') take(parsed.value.mcpServers, 'dynamic', 'flag:--mcp-config', null)
      else problems.push({ path: null, message: `--mcp-config: ${parsed.why}` })
    } else if (!takeFile(path.resolve(request.cwd, text), 'dynamic', null)) {
      problems.push({ path: path.resolve(request.cwd, text), message: '--mcp-config: the file does not exist' })
    }
  }
  const managedFile = path.join(request.managedDir, 'managed-mcp.json')
  const exclusive = takeFile(managedFile, 'managed', null)
  const narrowed = exclusive
    ? `${managedFile} is exclusive: all other servers disappear`
    : flags.has('--strict-mcp-config')
      ? '--strict-mcp-config leaves only the servers of the command line'
      : request.off
  const offFor = (on: boolean): string | null => narrowed ?? (on ? null : request.whySourcesOff)

  take(state.project.mcpServers, 'local', state.path, offFor(request.sources.local))
  for (const directory of [...ancestors].reverse())
    takeFile(path.join(directory, '.mcp.json'), 'project', offFor(request.sources.project))
  take(state.userServers, 'user', state.path, offFor(request.sources.user))
  for (const plugin of request.plugins) {
    if (plugin.root === null) continue
    const off = plugin.active ? narrowed : 'its plugin is not enabled'
    const file = path.join(plugin.root, '.mcp.json')
    const before = declared.length
    takeFile(file, 'plugin', off, true)
    const inline = plugin.manifest.mcpServers
    if (isObject(inline)) take(inline, 'plugin', path.join(plugin.root, '.claude-plugin', 'plugin.json'), off)
    else if (typeof inline === 'string') takeFile(path.resolve(plugin.root, inline), 'plugin', off, true)
    for (let at = before; at < declared.length; at += 1) {
      const one = declared[at]
      if (one) declared[at] = { ...one, name: `plugin:${plugin.shortName}:${one.name}` }
    }
  }

  const disabled = new Map<string, string>()
  for (const { entry, layer } of listOf(layers, 'disabledMcpjsonServers'))
    if (typeof entry === 'string') disabled.set(`project\0${entry}`, `disabledMcpjsonServers in ${layer.origin}`)
  for (const key of ['disabledMcpjsonServers', 'disabledMcpServers'] as const) {
    const list = state.project[key]
    if (!Array.isArray(list)) continue
    for (const name of list)
      if (typeof name === 'string')
        disabled.set(key === 'disabledMcpServers' ? `*\0${name}` : `project\0${name}`, `${key} in ${state.path}`)
  }
  for (const { entry, layer } of listOf(layers, 'deniedMcpServers')) {
    if (layer.name === 'managed' && isObject(entry) && typeof entry.serverName === 'string')
      disabled.set(`*\0${entry.serverName}`, `deniedMcpServers in ${layer.origin} (documented)`)
  }

  const winners = new Map<string, Declared>()
  const variables = new Set<string>()
  const servers = declared.map((one): ManifestMcpServer => {
    const off = one.off ?? disabled.get(`${one.scope}\0${one.name}`) ?? disabled.get(`*\0${one.name}`) ?? null
    const winner = winners.get(one.name)
    if (off === null && winner === undefined) winners.set(one.name, one)
    const status = off !== null ? 'disabled' : winner !== undefined ? 'shadowed' : 'active'
    const reason = off ?? (winner !== undefined ? `the server of the same name in ${winner.origin} wins` : null)
    for (const match of JSON.stringify(one.config).matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g))
      variables.add(match[1] ?? '')
    return { ...describeServer(one, request.hide), status, reason }
  })
  return { servers, sources, problems, variables: [...variables].sort() }
}

type Description = Pick<
  ManifestMcpServer,
  'name' | 'transport' | 'command' | 'url' | 'package_version' | 'digest' | 'source' | 'scope' | 'tools'
>

/** Values of `env` and `headers` are secrets: they appear as keyed digests and enter the digest in that form. */
function describeServer({ name, config, scope, origin }: Declared, hide: Hide): Description {
  const command = typeof config.command === 'string' ? config.command : null
  const url = typeof config.url === 'string' ? config.url : null
  const args = Array.isArray(config.args) ? config.args.filter((each) => typeof each === 'string') : []
  const env = hidden(config.env, hide)
  const headers = hidden(config.headers, hide)
  const digest = bytesDigest(canonicalize({ ...config, env, headers }) ?? '')
  return {
    name,
    transport: typeof config.type === 'string' ? config.type : url !== null ? 'http' : 'stdio',
    command,
    url: url === null ? null : withoutCredentials(url),
    package_version: packageVersion(command, args),
    digest,
    source: origin,
    scope,
    // Known only once the server runs.
    tools: null,
    args,
    env,
    headers,
  } as Description
}

function hidden(values: unknown, hide: Hide): readonly { readonly name: string; readonly digest: string }[] {
  if (!isObject(values)) return []
  return Object.entries(values)
    .map(([name, value]) => ({ name, digest: hide(typeof value === 'string' ? value : JSON.stringify(value)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

export function withoutCredentials(url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.username === '' && parsed.password === '' && parsed.search === '') return url
    parsed.username = ''
    parsed.password = ''
    return parsed.search === '' ? parsed.href : `${parsed.href.slice(0, parsed.href.indexOf('?'))}?…`
  } catch {
    return url.replace(/\/\/[^/@]*@/, '//').replace(/\?.*$/, '?…')
  }
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
