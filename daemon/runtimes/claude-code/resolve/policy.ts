import canonicalize from 'canonicalize'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest } from '../../shared/disk.ts'
import type { StartFlags } from './flags.ts'
import { isObject, listOf, type SettingsLayer } from './settings.ts'
import type { StateFile } from './state-file.ts'

export interface PolicyRequest {
  readonly layers: readonly SettingsLayer[]
  readonly flags: StartFlags
  readonly state: StateFile
  /** Key of the project in the state file. */
  readonly project: string
}

export interface ResolvedPolicy {
  readonly policy: ManifestBody['policy']
  readonly sandbox: ManifestBody['execution']['sandbox']
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

export function resolvePolicy({ layers, flags, state, project }: PolicyRequest): ResolvedPolicy {
  const unknown: { field: string; why: string }[] = []
  const trusted = state.known ? state.project.hasTrustDialogAccepted === true : null
  if (trusted === null) unknown.push({ field: 'policy.trust', why: `${state.path} could not be read` })
  const managedRulesOnly = layers.find(
    (layer) => layer.name === 'managed' && layer.value.allowManagedPermissionRulesOnly === true,
  )

  const rules = (kind: 'allow' | 'ask' | 'deny') =>
    listOf(layers, 'permissions', kind).flatMap(({ entry, layer }) => {
      if (typeof entry !== 'string') return []
      let ignored: string | null = null
      if (malformed(entry)) ignored = 'malformed rule: the runtime skips it'
      else if (managedRulesOnly && layer.name !== 'managed')
        ignored = `allowManagedPermissionRulesOnly in ${managedRulesOnly.origin} (documented)`
      // Only what lets something through needs trust; other project settings apply in untrusted folders too.
      else if (kind === 'allow' && layer.name === 'project' && trusted === false)
        ignored = `${project} has not been trusted`
      return [{ rule: entry, source: layer.origin, ignored }]
    })
  const ofFlag = (name: string, source: string) =>
    flags
      .values(name)
      .flatMap(splitTools)
      .map((rule) => ({ rule, source, ignored: null }))
  const fromState = Array.isArray(state.project.allowedTools)
    ? state.project.allowedTools
        .filter((each) => typeof each === 'string')
        .map((rule) => ({ rule, source: state.path, ignored: null }))
    : []
  const allow = [...ofFlag('--allowedTools', 'flag:--allowedTools'), ...rules('allow'), ...fromState]
  const ask = rules('ask').map(({ rule, source, ignored }) => ({ rule, source, ignored }))
  const deny = [...ofFlag('--disallowedTools', 'flag:--disallowedTools'), ...rules('deny')]

  const mode = permissionMode(layers, flags)
  if (mode === null) {
    unknown.push({
      field: 'policy.permissions.mode',
      why: 'neither a flag nor a setting names it; the default depends on how the agent is started',
    })
  }
  const managed = layers.filter((layer) => layer.name === 'managed')
  const permissions = { mode, allow, ask, deny }
  return {
    policy: {
      revision: bytesDigest(canonicalize({ permissions, trusted, managed: managed.map((layer) => layer.value) }) ?? ''),
      permissions,
      trust: { trusted, source: state.known ? `${state.path}#projects.${project}.hasTrustDialogAccepted` : null },
      managed: managed.map((layer) => layer.origin),
    },
    sandbox: readSandbox(layers),
    unknown,
  }
}

/** A rule is `Tool` or `Tool(content)` and ends with its closing parenthesis. */
const malformed = (rule: string): boolean => rule.includes('(') !== rule.endsWith(')')

/** `--allowedTools` takes commas or spaces between tools; both may stand inside parentheses. */
function splitTools(text: string): string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const character of text) {
    if (character === '(') depth += 1
    if (character === ')') depth -= 1
    if (depth <= 0 && (character === ',' || /\s/.test(character))) {
      if (part !== '') parts.push(part)
      part = ''
    } else part += character
  }
  if (part !== '') parts.push(part)
  return parts
}

function permissionMode(layers: readonly SettingsLayer[], flags: StartFlags): string | null {
  if (flags.has('--dangerously-skip-permissions')) return 'bypassPermissions'
  const flag = flags.value('--permission-mode')
  if (flag !== null) return flag
  for (const { value } of layers) {
    const permissions = value.permissions
    if (isObject(permissions) && typeof permissions.defaultMode === 'string') return permissions.defaultMode
  }
  return null
}

/** The profile as far as settings name one; without any the sandbox is off. */
function readSandbox(layers: readonly SettingsLayer[]): ManifestBody['execution']['sandbox'] {
  const find = (...keys: readonly string[]): unknown => {
    for (const layer of layers) {
      let value: unknown = layer.value.sandbox
      for (const key of keys) value = isObject(value) ? value[key] : undefined
      if (value !== undefined) return value
    }
    return undefined
  }
  const enabled = find('enabled')
  const domains = listOf(layers, 'sandbox', 'network', 'allowedDomains').map(({ entry }) => String(entry))
  return {
    mode: enabled === true ? 'sandbox' : enabled === false ? 'off' : null,
    network_policy: domains.length > 0 ? `allowed domains: ${domains.join(', ')}` : null,
  }
}
