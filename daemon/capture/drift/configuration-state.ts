import type { ManifestBody } from '../../../contract/index.ts'
import { canonicalBytes, digestOfJson } from '../../manifest/canonical.ts'

/** One thing that is configured, as two looks at it are told apart. */
export interface StateItem {
  /** File it stands in, or null where it is in none. */
  readonly path: string | null
  /** `content`, or what in the file: a key, `mcp server x`, `skill x`. */
  readonly what: string
  readonly group: StateGroup
  /** Short and fit to be shown; secrets stand in a body only as references. */
  readonly shown: string
  /** What decides whether it changed. */
  readonly mark: string
}

export type StateGroup =
  | 'instructions'
  | 'memory'
  | 'files'
  | 'settings'
  | 'mcp servers'
  | 'hooks'
  | 'skills'
  | 'plugins'
  | 'agents'
  | 'commands'
  | 'deny rules'
  | 'other rules'
  | 'trust'
  | 'model'

export interface ConfigurationState {
  readonly items: ReadonlyMap<string, StateItem>
  /** Equal in two looks exactly when nothing that is configured differs. */
  readonly fingerprint: string
  /** Things of a group that are in force. */
  readonly counts: Readonly<Partial<Record<StateGroup, number>>>
  /** Files that could not be understood: perhaps just being written (B17). */
  readonly unreadable: readonly string[]
}

/** Bookkeeping of the agents changes with every start and is no configuration; what it sets appears among the settings. */
const BOOKKEEPING = new Set(['state', 'environment', 'flag'])
const SHOWN = 300
/** Files that are taken apart; of others nothing can be torn. */
const PARSED = new Set(['settings', 'mcp', 'state', 'plugin', 'hook'])
const BROKEN = /\b(?:not|no) valid (?:JSON5?|TOML|YAML)\b/
const RULES = /^permissions\.(allow|ask|deny)$/

/**
 * What a resolved configuration says, without all that differs between two looks although nobody changed anything: times, the commit and
 * its work tree, environment, credentials that renew themselves.
 */
export function readState(body: ManifestBody): ConfigurationState {
  const items = new Map<string, StateItem>()
  const counts: Partial<Record<StateGroup, number>> = {}
  const unreadable: string[] = []
  const add = (item: StateItem, inForce: boolean): void => {
    items.set(`${item.path ?? ''}\0${item.what}`, item)
    if (inForce) counts[item.group] = (counts[item.group] ?? 0) + 1
  }
  const text = (value: unknown): string => {
    const whole = typeof value === 'string' ? value : JSON.stringify(value)
    return whole.length > SHOWN ? `${whole.slice(0, SHOWN)}…` : whole
  }

  for (const source of body.instructions.sources) {
    const { path, uri, kind, status, reason, digest, bytes, classification } = source
    // Credentials renew themselves. Any other file that holds a secret is configuration all the same.
    if (path === null || (kind === 'state' && classification === 'secret')) continue
    if (PARSED.has(kind) && (status === 'unknown' || (status === 'not_loaded' && BROKEN.test(reason ?? ''))))
      unreadable.push(path)
    if (BOOKKEEPING.has(kind)) continue
    const group = kind === 'memory' ? 'memory' : instructive.has(kind) ? 'instructions' : 'files'
    const how = status === 'loaded' ? '' : `, ${status.replace('_', ' ')}${reason === null ? '' : `: ${reason}`}`
    add(
      {
        path,
        what: 'content',
        group,
        shown: `${bytes ?? '?'} bytes, ${(digest ?? 'unknown').replace('sha256:', '').slice(0, 8)}${how}`,
        mark: JSON.stringify([uri, digest, status, reason]),
      },
      status === 'loaded',
    )
  }
  for (const { path, digest, bytes } of body.context.memory)
    if (!items.has(`${path}\0content`))
      add({ path, what: 'content', group: 'memory', shown: `${bytes ?? '?'} bytes`, mark: digest ?? '' }, true)
  for (const [key, setting] of Object.entries(body.settings)) {
    // Told rule by rule, with the file of each: the joined list differs in every workspace that adds rules of its own.
    if (RULES.test(key)) continue
    const value = setting.value_ref ?? setting.value ?? null
    add(
      {
        path: fileOf(setting.source),
        what: key,
        group: 'settings',
        shown: text(value),
        mark: canonicalBytes(value).toString(),
      },
      true,
    )
  }
  const { skills, plugins, hooks, agents, commands, mcp_servers } = body.capabilities
  for (const [group, what, list] of [
    ['skills', 'skill', skills],
    ['plugins', 'plugin', plugins],
    ['hooks', 'hook', hooks],
    ['agents', 'agent', agents],
    ['commands', 'command', commands],
  ] as const)
    for (const { name, version, digest, source, status, reason } of list)
      add(
        {
          path: fileOf(source),
          what: `${what} ${name}`,
          group,
          shown: [status, version, reason].filter((part) => part !== null).join(', '),
          mark: JSON.stringify([version, digest, status]),
        },
        status === 'active',
      )
  for (const { name, transport, command, url, digest, source, scope, status, reason, package_version } of mcp_servers)
    add(
      {
        path: fileOf(source),
        what: `mcp server ${name}`,
        group: 'mcp servers',
        shown: [status, scope, transport, url ?? command, package_version, reason]
          .filter((part) => part !== null && part !== undefined)
          .join(', '),
        mark: JSON.stringify([digest, scope, status, reason, package_version]),
      },
      status === 'active',
    )
  for (const { path, digest, bytes, mode } of body.capabilities.files ?? [])
    add(
      {
        path,
        what: 'content',
        group: 'skills',
        shown: `${bytes} bytes, ${digest.replace('sha256:', '').slice(0, 8)}`,
        mark: JSON.stringify([digest, mode]),
      },
      false,
    )
  const { permissions, trust } = body.policy
  for (const kind of ['allow', 'ask', 'deny'] as const)
    for (const entry of permissions[kind])
      add(
        {
          path: fileOf(entry.source),
          what: `${kind} ${entry.rule}`,
          group: kind === 'deny' ? 'deny rules' : 'other rules',
          shown: 'ignored' in entry && typeof entry.ignored === 'string' ? `ignored: ${entry.ignored}` : 'in force',
          mark: JSON.stringify([kind, 'ignored' in entry ? entry.ignored : null]),
        },
        true,
      )
  if (trust.trusted !== null)
    add(
      {
        path: fileOf(trust.source ?? ''),
        what: 'trust',
        group: 'trust',
        shown: trust.trusted ? 'trusted' : 'not trusted',
        mark: String(trust.trusted),
      },
      trust.trusted,
    )
  const { model, reasoning, endpoint_profile } = body.execution
  for (const [what, value] of Object.entries({ model, reasoning, endpoint: endpoint_profile }))
    if (value !== null) add({ path: null, what, group: 'model', shown: text(value), mark: value }, true)

  const marks = [...items].map(([key, { mark }]) => [key, mark]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))
  return { items, fingerprint: digestOfJson(marks), counts, unreadable }
}

const instructive = new Set(['instructions', 'rule', 'import'])

/** `file:///…#key` and `/path#key` name the file; anything else names none. */
function fileOf(source: string): string | null {
  const plain = source.startsWith('file://') ? decodeURIComponent(new URL(source).pathname) : source
  const file = plain.split('#')[0] ?? ''
  return /^([A-Za-z]:)?[\\/]/.test(file) ? file : null
}
