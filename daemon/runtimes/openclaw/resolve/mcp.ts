import canonicalize from 'canonicalize'
import type { ManifestMcpServer } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import { branchesAt, isObject, type Tree, toJson } from './config-tree.ts'
import type { Hide } from './settings.ts'
import type { Problem } from './sources.ts'
import { serverRemovedBy, type ToolLayer } from './tools.ts'

const LONGEST_PREFIX = 30

/**
 * Servers of `mcp.servers`, with the prefix their tools get: `<server>__<tool>`, unsafe characters as `-`, case kept; names that become
 * equal get a number in the order of the file (2026.9.6).
 */
export function resolveMcp(
  tree: Tree,
  layers: readonly ToolLayer[],
  hide: Hide,
): { readonly servers: readonly ManifestMcpServer[]; readonly problems: readonly Problem[] } {
  const problems: Problem[] = []
  const taken = new Set<string>()
  const servers: ManifestMcpServer[] = []
  for (const [name, found] of branchesAt(tree, 'mcp', 'servers')) {
    const prefix = safeServerName(name, taken)
    const config = toJson(found)
    if (!isObject(config)) {
      problems.push({ path: found.origin, message: `mcp.servers.${name} is no object` })
      continue
    }
    const { command, url, transport, enabled, args } = config
    const removed = serverRemovedBy(layers, `${prefix}__`)
    const reason = enabled === false ? `mcp.servers.${name}.enabled is false` : null
    servers.push({
      name,
      transport: typeof transport === 'string' ? transport : typeof url === 'string' ? 'http' : 'stdio',
      command: typeof command === 'string' ? command : null,
      url: typeof url === 'string' ? withoutCredentials(url) : null,
      package_version: packageVersion(args),
      // Values of `env` and `headers` are secrets: they enter the digest as keyed digests.
      digest: bytesDigest(
        canonicalize({ ...config, env: hidden(config.env, hide), headers: hidden(config.headers, hide) }) ?? '',
      ),
      source: found.origin,
      scope: 'config',
      status: reason === null ? 'active' : 'disabled',
      reason,
      tools: null,
      tool_prefix: `${prefix}__`,
      ...(removed === null ? {} : { tools_removed_by: removed }),
    })
  }
  return { servers, problems }
}

export function safeServerName(name: string, taken: Set<string>): string {
  const plain = name.trim().replace(/[^A-Za-z0-9_-]/g, '-') || 'mcp'
  const base = (/^[A-Za-z]/.test(plain) ? plain : `mcp-${plain}`).slice(0, LONGEST_PREFIX)
  let safe = base
  for (let n = 2; taken.has(safe.toLowerCase()); n += 1) safe = `${base.slice(0, LONGEST_PREFIX - `-${n}`.length)}-${n}`
  taken.add(safe.toLowerCase())
  return safe
}

const hidden = (values: unknown, hide: Hide): Readonly<Record<string, string>> =>
  isObject(values)
    ? Object.fromEntries(
        Object.entries(values).map(([name, value]) => [
          name,
          hide(typeof value === 'string' ? value : JSON.stringify(value)),
        ]),
      )
    : {}

function packageVersion(args: unknown): string | null {
  if (!Array.isArray(args)) return null
  for (const arg of args) {
    const found = typeof arg === 'string' ? /^@?[^@\s]+@(\d[^\s]*)$/.exec(arg) : null
    if (found?.[1] !== undefined) return found[1]
  }
  return null
}

export function withoutCredentials(url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.username === '' && parsed.password === '' && parsed.search === '') return url
    parsed.username = ''
    parsed.password = ''
    parsed.search = ''
    return parsed.href
  } catch {
    return url
  }
}
