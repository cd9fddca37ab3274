import fs from 'node:fs'
import path from 'node:path'
import type { ManifestBody } from '../../../contract/index.ts'
import type { Surroundings } from '../../runtimes/adapter.ts'

type Server = ManifestBody['capabilities']['mcp_servers'][number]

/** What lies behind the command of a server, as far as the disk tells without starting it. */
interface ServerPackage {
  readonly version: string | null
  readonly from: string
  /** The command leaves the version open: the next start may bring another. */
  readonly floating: boolean
}

const RUNNERS = /^(npx|bunx|pnpx|pnpm|npm|yarn|bun)$/

/**
 * The package of an MCP server and its version (R32): from the word `name@1.2.3` of a package runner, from the runner's cache where it is
 * left open, or from the nearest `package.json` of a script. Nothing is started and nothing is asked over the network.
 */
export function findServerPackage(server: Server, { userHome, platform, env }: Surroundings): ServerPackage | null {
  if (server.command === null) return null
  const args = Array.isArray(server.args) ? server.args.filter((each): each is string => typeof each === 'string') : []
  const program = path.basename(server.command).replace(/\.(cmd|exe)$/i, '')
  if (RUNNERS.test(program)) {
    const word = args.find((each) => /^(@[^/\s]+\/)?[a-z0-9][\w.-]*(@[^\s]+)?$/i.test(each) && !isVerb(each))
    if (word === undefined) return null
    const [, name = word, wanted] = /^(@?[^@]+)(?:@(.+))?$/.exec(word) ?? []
    if (wanted !== undefined && /^\d+\.\d+\.\d+/.test(wanted))
      return { version: wanted, from: `the command names ${name}@${wanted}`, floating: false }
    const cache =
      env.npm_config_cache ??
      path.join(
        platform === 'win32' ? (env.LOCALAPPDATA ?? userHome) : userHome,
        platform === 'win32' ? 'npm-cache' : '.npm',
      )
    const cached = newestInCache(path.join(cache, '_npx'), name)
    return cached === null
      ? { version: null, from: `the command leaves the version of ${name} open`, floating: true }
      : {
          version: cached,
          from: `the package runner has ${name}@${cached}; the command leaves it open`,
          floating: true,
        }
  }
  if (program === 'uvx' || program === 'pipx') {
    const pinned = args.map((each) => /^([\w.-]+)==([\w.+-]+)$/.exec(each)).find((match) => match !== null)
    return pinned
      ? { version: pinned[2] ?? null, from: `the command names ${pinned[1]}==${pinned[2]}`, floating: false }
      : { version: null, from: 'the command leaves the version open', floating: true }
  }
  const script = [server.command, ...args].find((each) => path.isAbsolute(each) && /\.[cm]?[jt]s$/.test(each))
  const start = script ?? (path.isAbsolute(server.command) ? server.command : null)
  if (start === null) return null
  const about = nearestPackage(start)
  return about === null ? null : { version: about.version, from: about.file, floating: false }
}

/** Words of the runners themselves. */
const isVerb = (word: string): boolean => ['exec', 'dlx', 'run', 'x'].includes(word)

/** Of several cached copies the newest by time: it is the one a start would most likely take. */
function newestInCache(folder: string, name: string): string | null {
  let best: { readonly version: string; readonly time: number } | null = null
  let names: string[]
  try {
    names = fs.readdirSync(folder)
  } catch {
    return null
  }
  for (const entry of names) {
    const file = path.join(folder, entry, 'node_modules', name, 'package.json')
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    if (!stat) continue
    const version = versionOf(file)
    if (version !== null && (best === null || stat.mtimeMs > best.time)) best = { version, time: stat.mtimeMs }
  }
  return best?.version ?? null
}

function nearestPackage(script: string): { readonly version: string; readonly file: string } | null {
  for (let at = path.dirname(script); ; at = path.dirname(at)) {
    const file = path.join(at, 'package.json')
    const version = versionOf(file)
    if (version !== null) return { version, file }
    if (path.dirname(at) === at) return null
  }
}

function versionOf(file: string): string | null {
  try {
    const about: unknown = JSON.parse(fs.readFileSync(file, 'utf8'))
    const version = typeof about === 'object' && about !== null && 'version' in about ? about.version : null
    return typeof version === 'string' ? version : null
  } catch {
    return null
  }
}

/** How a runtime names the tools of a server, for finding them among the tools a session recorded. */
const prefixes: Readonly<Record<string, (server: string) => string>> = {
  'claude-code': (server) => `mcp__${server.replaceAll(/[^A-Za-z0-9_-]/g, '_')}__`,
  codex: (server) => `mcp__${server}__`,
  openclaw: (server) => `${server.replaceAll(/[^A-Za-z0-9_-]/g, '-')}__`,
  hermes: (server) => `mcp_${server.replaceAll(/[^A-Za-z0-9_]/g, '_')}_`,
}

/** Tools of a server that the session's own record shows, with the digests of their schemas; null when it shows none. */
export function toolsOfServer(body: ManifestBody, server: Server): Server['tools'] {
  if (server.tools !== null) return server.tools
  const prefix = prefixes[body.execution.runtime]?.(server.name)
  if (prefix === undefined) return null
  const found = body.capabilities.tools.flatMap(({ name, schema_digest }) =>
    name.startsWith(prefix) && schema_digest !== null ? [{ name, schema_digest }] : [],
  )
  return found.length === 0 ? null : found
}
