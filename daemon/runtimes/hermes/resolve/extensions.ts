import fs from 'node:fs'
import path from 'node:path'
import canonicalize from 'canonicalize'
import type { ManifestCapability, ManifestMcpServer } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { asList, asName, asNames, asRow, asText, type Row } from '../../shared/fields.ts'
import { withoutCredentials } from '../infer-manifest.ts'
import { parseYaml } from './config-file.ts'
import { type Environment, isOn } from './environment.ts'
import type { StartFlags } from './flags.ts'
import { type Layer, namedOf, referencesIn, settingOf, substitute } from './settings.ts'
import { listOf } from './skills.ts'
import { makeSource, type Source } from './sources.ts'

export interface ExtensionRequest {
  readonly disk: Disk
  readonly home: string
  readonly layers: readonly Layer[]
  readonly environment: Environment
  readonly flags: StartFlags
  /** Null, or why plugins, servers and hooks are off. */
  readonly off: string | null
  readonly hide: (value: string) => string
}

type Problem = { readonly path: string; readonly message: string }

/** `mcp_servers` of the configuration (runtime page 4.3: documented and from source, not run). */
export function resolveMcp({ layers, environment, off, hide }: ExtensionRequest): {
  readonly servers: readonly ManifestMcpServer[]
  readonly problems: readonly Problem[]
} {
  const problems: Problem[] = []
  const servers: ManifestMcpServer[] = []
  for (const [name, { value, origin, lost }] of namedOf(layers, 'mcp_servers')) {
    const config = asRow(value)
    if (config === null) {
      problems.push({ path: origin, message: `mcp_servers.${name} is no mapping` })
      continue
    }
    const command = asName(config.command)
    const url = asText(config.url)
    const hidden = (entries: unknown): readonly { name: string; digest: string }[] =>
      Object.entries(asRow(entries) ?? {})
        .map(([key, inner]) => ({ name: key, digest: hide(substitute(String(inner), environment)) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
    const env = hidden(config.env)
    const headers = hidden(config.headers)
    const tools = asRow(config.tools)
    const why = off ?? (config.enabled === false ? 'enabled is false' : null)
    servers.push({
      name,
      transport: url === null ? 'stdio' : (asName(config.transport) ?? 'http'),
      command,
      url: url === null ? null : withoutCredentials(substitute(url, environment)),
      package_version: null,
      digest: bytesDigest(canonicalize({ ...config, env, headers }) ?? ''),
      source: origin,
      scope: 'user',
      status: why === null ? 'active' : 'disabled',
      reason: why,
      tools: null,
      args: asNames(config.args),
      env,
      headers,
      tool_prefix: `mcp_${plainName(name)}_`,
      include: listOf(tools?.include),
      exclude: listOf(tools?.exclude),
      ...(lost.length === 0 ? {} : { overridden: lost }),
    })
  }
  return { servers, problems }
}

/** Characters outside letters, digits and `_` become `_` in the names of tools. */
const plainName = (name: string): string => name.replace(/[^A-Za-z0-9_]/g, '_')

/** `<home>/plugins/<name>`; only those in `plugins.enabled` are loaded (runtime page 10.1, 0.20.0). */
export function resolvePlugins({ disk, home, layers, off }: ExtensionRequest): {
  readonly plugins: readonly ManifestCapability[]
  readonly sources: readonly Source[]
} {
  const enabled = listOf(settingOf(layers, 'plugins.enabled')?.value)
  const folder = path.join(home, 'plugins')
  const listing = disk.list(folder)
  const names =
    listing.state === 'ok'
      ? listing.entries
          .filter(({ name, kind }) => kind !== 'file' && !name.startsWith('.') && !name.startsWith('__'))
          .map(({ name }) => name)
      : []
  const plugins: ManifestCapability[] = []
  const sources: Source[] = []
  const add = (
    name: string,
    declared: Row | null,
    digest: ReturnType<typeof bytesDigest> | null,
    missing: boolean,
  ): void => {
    const isOn = enabled.includes(name) || (declared !== null && enabled.includes(asText(declared.name) ?? ''))
    const reason = missing
      ? 'plugins.enabled names it and it is not in the plugins folder (it may come with the program)'
      : (off ?? (isOn ? null : 'plugins.enabled does not name it'))
    plugins.push({
      name,
      version: versionOf(declared?.version),
      digest,
      source: missing ? (settingOf(layers, 'plugins.enabled')?.origin ?? folder) : path.join(folder, name),
      status: missing ? 'unknown' : reason === null ? 'active' : 'disabled',
      reason,
      description: asName(declared?.description),
      used: null,
    })
  }
  for (const name of [...names].sort()) {
    const parts = ['plugin.yaml', '__init__.py'].flatMap((file) => {
      const at = path.join(folder, name, file)
      const found = disk.read(at)
      if (found.state !== 'ok') return []
      const isActive = off === null && enabled.includes(name)
      sources.push(
        makeSource({
          path: at,
          scope: 'user',
          kind: 'plugin',
          status: isActive ? 'loaded' : 'not_loaded',
          reason: isActive ? null : (off ?? 'plugins.enabled does not name it'),
          raw: found.bytes,
        }),
      )
      return [{ file, bytes: found.bytes }]
    })
    const yaml = parts.find(({ file }) => file === 'plugin.yaml')
    const declared = yaml === undefined ? null : parseYaml(yaml.bytes.toString('utf8'))
    const digest =
      parts.length === 0
        ? null
        : bytesDigest(canonicalize(parts.map(({ file, bytes }) => ({ file, digest: bytesDigest(bytes) }))) ?? '')
    add(name, declared !== null && 'value' in declared ? declared.value : null, digest, false)
  }
  for (const name of enabled) if (!plugins.some((plugin) => plugin.name === name)) add(name, null, null, true)
  return { plugins, sources }
}

/**
 * Shell hooks of the configuration with their approvals, and hooks of the messaging gateway (runtime page 10.2). An approval holds for one
 * event and command and remembers when the script was last changed (0.20.0).
 */
export function resolveHooks({ disk, home, layers, environment, flags, off, hide }: ExtensionRequest): {
  readonly hooks: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly approvedBy: string | null
} {
  const hooks: ManifestCapability[] = []
  const sources: Source[] = []
  const problems: Problem[] = []
  const approvedBy = flags.has('--accept-hooks')
    ? '--accept-hooks'
    : isOn(environment.get('HERMES_ACCEPT_HOOKS'))
      ? 'HERMES_ACCEPT_HOOKS'
      : settingOf(layers, 'hooks_auto_accept')?.value === true
        ? 'hooks_auto_accept'
        : null
  const allowlist = readAllowlist(disk, path.join(home, 'shell-hooks-allowlist.json'), sources, problems)
  for (const [event, { value, origin }] of namedOf(layers, 'hooks')) {
    for (const item of asList(value)) {
      const hook = asRow(item)
      const command = asName(hook?.command)
      if (hook === null || command === null) {
        problems.push({ path: origin, message: `hooks.${event} holds an entry without a command` })
        continue
      }
      const approval = allowlist.find((one) => one.event === event && one.command === command)
      const changed = approval === undefined ? false : wasChanged(command, asText(approval.script_mtime_at_approval))
      const reason =
        off ??
        (approvedBy !== null || approval !== undefined
          ? null
          : 'it was not approved: without a terminal to ask in it is left out')
      const matcher = asName(hook.matcher)
      hooks.push({
        name: matcher === null ? event : `${event} ${matcher}`,
        version: null,
        digest: bytesDigest(canonicalize({ event, ...hook }) ?? ''),
        source: origin,
        status: reason === null ? 'active' : off !== null ? 'disabled' : 'unknown',
        reason: reason ?? (changed ? 'its script was changed after it was approved' : null),
        description: command,
        used: null,
        approved_by: approval !== undefined ? 'shell-hooks-allowlist.json' : approvedBy,
        refers_to: referencesIn(command).map((name) => ({ name, digest: hide(environment.get(name)?.value ?? '') })),
        ...(approval === undefined ? {} : { script_changed_since_approval: changed }),
      })
    }
  }
  const folder = path.join(home, 'hooks')
  const listing = disk.list(folder)
  for (const { name, kind } of listing.state === 'ok' ? listing.entries : []) {
    if (kind === 'file' || name.startsWith('.')) continue
    const why = off ?? 'it runs in the messaging gateway only (source)'
    for (const file of ['HOOK.yaml', 'handler.py']) {
      const at = path.join(folder, name, file)
      const found = disk.read(at)
      if (found.state !== 'ok') continue
      sources.push(
        makeSource({ path: at, scope: 'user', kind: 'hook', status: 'not_loaded', reason: why, raw: found.bytes }),
      )
      if (file !== 'HOOK.yaml') continue
      const declared = parseYaml(found.bytes.toString('utf8'))
      hooks.push({
        name: `gateway ${name}`,
        version: null,
        digest: bytesDigest(found.bytes),
        source: at,
        status: off === null ? 'unknown' : 'disabled',
        reason: why,
        description: 'value' in declared ? asName(declared.value.description) : null,
        used: null,
        events: 'value' in declared ? asNames(declared.value.events) : [],
      })
    }
  }
  return {
    hooks: hooks.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0)),
    sources,
    problems,
    approvedBy,
  }
}

function readAllowlist(disk: Disk, file: string, sources: Source[], problems: Problem[]): readonly Row[] {
  const found = disk.read(file)
  if (found.state !== 'ok') {
    if (found.state !== 'missing')
      problems.push({ path: file, message: 'it cannot be read: approvals of hooks are not known' })
    return []
  }
  sources.push(makeSource({ path: file, scope: 'user', kind: 'state', status: 'loaded', raw: found.bytes }))
  try {
    return asList(asRow(JSON.parse(found.bytes.toString('utf8')))?.approvals)
      .map(asRow)
      .filter((row) => row !== null)
  } catch {
    problems.push({ path: file, message: 'not valid JSON: approvals of hooks are not known' })
    return []
  }
}

/** Whether the script of a command has another time than when it was approved; a command that names no file cannot tell. */
function wasChanged(command: string, approved: string | null): boolean {
  if (approved === null) return false
  const script = command.split(/\s+/).find((word) => path.isAbsolute(word))
  const stats = script === undefined ? undefined : fs.statSync(script, { throwIfNoEntry: false })
  return stats !== undefined && Math.abs(stats.mtimeMs - Date.parse(approved)) >= 1000
}

const versionOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null
