import { createHash } from 'node:crypto'
import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { type Reading, readJsonFile } from './config-file.ts'
import type { StartFlags } from './flags.ts'
import type { ConfigLayer, Layers, Problem } from './layers.ts'
import type { Plugin } from './plugins.ts'
import { feature } from './settings.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { at, byBytes, isTable, type Json, textOf, toJson } from './values.ts'

export interface HooksRequest {
  readonly reading: Reading
  readonly flags: StartFlags
  readonly layers: Layers
  readonly plugins: readonly Plugin[]
}

export interface ResolvedHooks {
  /** In the order the program lists them. */
  readonly hooks: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly problems: readonly Problem[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** Events in the order the program goes through them; those without matcher ignore one that is set (0.171.0). */
const EVENTS: readonly { readonly name: string; readonly matcher: boolean; readonly timeout: number }[] = [
  { name: 'PreModelRequest', matcher: false, timeout: 600 },
  { name: 'PostModelRequest', matcher: false, timeout: 600 },
  { name: 'PreToolUse', matcher: true, timeout: 600 },
  { name: 'PermissionRequest', matcher: true, timeout: 600 },
  { name: 'PostToolUse', matcher: true, timeout: 600 },
  { name: 'PreCompact', matcher: true, timeout: 600 },
  { name: 'PostCompact', matcher: true, timeout: 600 },
  { name: 'SessionStart', matcher: true, timeout: 600 },
  { name: 'SessionEnd', matcher: false, timeout: 1 },
  { name: 'UserPromptSubmit', matcher: false, timeout: 600 },
  { name: 'SubagentStart', matcher: true, timeout: 600 },
  { name: 'SubagentStop', matcher: true, timeout: 600 },
  { name: 'Stop', matcher: false, timeout: 600 },
  { name: 'Interrupt', matcher: false, timeout: 1 },
]
const TYPES: ReadonlySet<string> = new Set(['command', 'mcp_tool', 'prompt', 'agent'])
const NOT_YET: ReadonlySet<string> = new Set(['prompt', 'agent'])

/** Where a layer's hooks are defined. */
interface Place {
  readonly file: string
  /** The file as it stands in the key of a hook, where that is not its path. */
  readonly name?: string
  readonly scope: string
  readonly managed: boolean
  readonly off: string | null
  readonly events: Readonly<Record<string, unknown>>
}

/** Hooks of all layers add up, the lowest layer first; within one, `hooks.json` before the configuration file (0.171.0). */
export function resolveHooks(request: HooksRequest): ResolvedHooks {
  const { layers, flags } = request
  const sources: Source[] = []
  const problems: Problem[] = []
  const unknown: { field: string; why: string }[] = []
  const wanted = feature(layers.active, 'hooks')
  const allOff = wanted.on ? null : `the feature hooks is off in ${wanted.origin}`
  const bypass = flags.has('--dangerously-bypass-hook-trust')
  const states = hookStates(layers.active)
  const hooks: ManifestCapability[] = []
  for (const place of places(request, sources, problems)) {
    for (const one of definitions(place, problems)) {
      const state = states.get(one.key)
      const elsewhere = place.off ?? allOff
      // What is off as a whole is never asked for its approval.
      const trust = elsewhere !== null ? null : place.managed ? 'managed' : judge(one, place, state?.hash)
      if (trust === 'unknown') {
        const why =
          one.hash === null
            ? `the hash of a hook of type ${one.type} is not known here`
            : 'the second half of the hash of a plugin hook covers all files of the plugin in a way that is not known here'
        unknown.push({ field: `capabilities.hooks ${one.key}`, why })
      }
      const off =
        elsewhere ??
        (state?.enabled === false && !place.managed ? `hooks.state in ${state.origin} switches it off` : null) ??
        (bypass || (trust !== 'untrusted' && trust !== 'modified') ? null : whyUntrusted(trust))
      hooks.push({
        name: one.matcher === null || one.matcher === '' ? one.event : `${one.event} ${one.matcher}`,
        version: null,
        digest: one.hash ?? digestOf(toJson(one.handler)),
        source: place.file,
        status: off !== null ? 'disabled' : trust === 'unknown' ? 'unknown' : 'active',
        reason: off ?? (trust === 'unknown' ? 'whether it is trusted is not known' : null),
        description: one.command,
        used: null,
        key: one.key,
        scope: place.scope,
        type: one.type,
        trust,
        matcher: one.matcher,
        timeout: one.timeout,
        enabled: state?.enabled !== false,
      })
    }
  }
  return { hooks, sources, problems, unknown }
}

/** The hash of a plugin's hook goes on, after a slash, with one over all files of the plugin (0.171.0). */
function judge(
  one: Definition,
  place: Place,
  approved: string | undefined,
): 'trusted' | 'untrusted' | 'modified' | 'unknown' {
  if (approved === undefined) return 'untrusted'
  if (one.hash === null) return 'unknown'
  if (place.scope !== 'plugin') return approved === one.hash ? 'trusted' : 'modified'
  return approved.startsWith(`${one.hash}/`) ? 'unknown' : 'modified'
}

const whyUntrusted = (trust: 'untrusted' | 'modified'): string =>
  trust === 'untrusted'
    ? 'present, not applied: untrusted (nobody approved this hook)'
    : 'present, not applied: it was changed since it was approved'

function places(request: HooksRequest, sources: Source[], problems: Problem[]): readonly Place[] {
  const { layers, plugins } = request
  const lowFirst = [...layers.all].reverse()
  return [
    ...lowFirst.flatMap((layer) => layerPlaces(request, layer, sources, problems)),
    ...plugins.flatMap((plugin): Place[] => {
      if (plugin.root === null) return []
      const file = path.join(plugin.root, 'hooks', 'hooks.json')
      const off = plugin.active ? null : 'its plugin is not in force'
      const events = readHooksFile(request.reading, file, 'plugin', off, sources, problems)
      const name = `${plugin.id}:hooks/hooks.json`
      return events === null ? [] : [{ file, name, scope: 'plugin', managed: false, off, events }]
    }),
  ]
}

function layerPlaces(
  request: HooksRequest,
  layer: ConfigLayer,
  sources: Source[],
  problems: Problem[],
): readonly Place[] {
  const managed = layer.name === 'system' || layer.name === 'managed'
  const scope = layer.name === 'flags' ? 'flag' : layer.name
  const base = { scope, managed, off: layer.disabled }
  if (layer.folder === null) {
    const events = at(layer.value, 'hooks')
    return isTable(events) ? [{ ...base, file: '/<session-flags>/config.toml', events }] : []
  }
  const folder = layer.hooksFrom ?? layer.folder
  const file = path.join(folder, path.basename(layer.origin))
  const found: Place[] = []
  // The folder of a profile and of the managed file is that of another layer, whose hooks.json it is.
  if (layer.name !== 'profile' && layer.name !== 'managed') {
    const json = path.join(folder, 'hooks.json')
    const events = readHooksFile(request.reading, json, scope, layer.disabled, sources, problems)
    if (events !== null) found.push({ ...base, file: json, events })
  }
  const events = at(layer.value, 'hooks')
  if (isTable(events)) found.push({ ...base, file, events })
  if (layer.hooksFrom !== null) leftInWorktree(request.reading, layer.folder, layer.hooksFrom, scope, sources)
  const [json, toml] = found
  if (json !== undefined && toml !== undefined && layer.disabled === null && hasGroups(json) && hasGroups(toml))
    problems.push({
      path: json.file,
      message: `hooks stand here and in ${toml.file}: both count, and the program warns of it`,
    })
  return found
}

const hasGroups = (place: Place): boolean => Object.keys(place.events).some((key) => key !== 'state')

function leftInWorktree(reading: Reading, folder: string, used: string, scope: string, sources: Source[]): void {
  const file = path.join(folder, 'hooks.json')
  const read = reading.disk.read(file)
  if (read.state !== 'ok') return
  const reason = `in a linked work tree hooks come from the main checkout (${used})`
  sources.push(makeSource({ path: file, scope, kind: 'hook', status: 'not_loaded', reason, raw: read.bytes }))
}

/** Null when the file is missing or refused whole. */
function readHooksFile(
  reading: Reading,
  file: string,
  scope: string,
  off: string | null,
  sources: Source[],
  problems: Problem[],
): Readonly<Record<string, unknown>> | null {
  const read = readJsonFile(reading, file)
  if (read.state === 'missing') return null
  const draft = {
    path: file,
    scope,
    kind: 'hook' as const,
    rule: `hooks of all layers add up (${VERIFIED_VERSION})`,
    ...('raw' in read ? { raw: read.raw } : {}),
  }
  if (read.state === 'unreadable') {
    sources.push(makeSource({ ...draft, status: 'unknown', reason: read.why }))
    return null
  }
  const why = read.state === 'invalid' ? read.why : refusal(read.value)
  sources.push(
    makeSource({
      ...draft,
      status: off === null && why === null ? 'loaded' : 'not_loaded',
      reason: off ?? (why === null ? null : `the program refuses the whole file: ${why}`),
    }),
  )
  if (why !== null) {
    if (off === null) problems.push({ path: file, message: `the program refuses the whole file: ${why}` })
    return null
  }
  const events = read.state === 'ok' ? read.value.hooks : null
  return isTable(events) ? events : {}
}

/** What makes the program refuse a hooks file (0.171.0); its schema knows more, which is not known here. */
function refusal(value: Readonly<Record<string, unknown>>): string | null {
  const stray = Object.keys(value).find((key) => key !== 'hooks' && key !== 'description')
  if (stray !== undefined) return `${stray} is not expected; hooks stand under "hooks"`
  if (value.hooks !== undefined && !isTable(value.hooks)) return 'hooks is no object'
  for (const { handler } of eachHandler(isTable(value.hooks) ? value.hooks : {}))
    if (!TYPES.has(String(handler.type))) return `no type of hook is called ${String(handler.type)}`
  return null
}

function* eachHandler(events: Readonly<Record<string, unknown>>): Generator<{
  readonly event: (typeof EVENTS)[number]
  readonly group: number
  readonly index: number
  readonly matcher: string | null
  readonly handler: Readonly<Record<string, unknown>>
}> {
  for (const event of EVENTS) {
    const groups = events[event.name]
    if (!Array.isArray(groups)) continue
    for (const [group, each] of groups.entries()) {
      if (!isTable(each) || !Array.isArray(each.hooks)) continue
      const matcher = event.matcher ? textOf(each.matcher) : null
      for (const [index, handler] of each.hooks.entries())
        if (isTable(handler)) yield { event, group, index, matcher, handler }
    }
  }
}

interface Definition {
  readonly key: string
  readonly event: string
  readonly matcher: string | null
  readonly type: string
  readonly command: string | null
  readonly timeout: number
  /** As the program computes it; null for a type whose form is not known. */
  readonly hash: string | null
  readonly handler: Readonly<Record<string, unknown>>
}

function definitions(place: Place, problems: Problem[]): readonly Definition[] {
  return [...eachHandler(place.events)].flatMap(({ event, group, index, matcher, handler }): Definition[] => {
    const warn = (why: string): [] => {
      if (place.off === null) problems.push({ path: place.file, message: `${event.name}: ${why}` })
      return []
    }
    const type = textOf(handler.type) ?? ''
    if (NOT_YET.has(type)) return warn(`hooks of type ${type} are not supported yet and are skipped`)
    if (type === 'command' && (textOf(handler.command) ?? '').trim() === '') return warn('an empty command is skipped')
    if (matcher !== null && !isUsable(matcher))
      return warn('its matcher is no regular expression; the group is skipped')
    const given = toJson(handler.timeout ?? null)
    const timeout = Math.max(1, typeof given === 'number' ? given : event.timeout)
    const snake = event.name.replace(/(?!^)[A-Z]/g, '_$&').toLowerCase()
    return [
      {
        key: `${place.name ?? place.file}:${snake}:${group}:${index}`,
        event: event.name,
        matcher,
        type,
        command: textOf(handler.command) ?? textOf(handler.tool),
        timeout,
        hash: type === 'command' ? commandHash(snake, matcher, handler, timeout) : null,
        handler,
      },
    ]
  })
}

/** `*` and the empty text match everything. */
function isUsable(matcher: string): boolean {
  if (matcher === '' || matcher === '*') return true
  try {
    new RegExp(matcher)
    return true
  } catch {
    // The program's regular expressions know forms that these do not, such as `(?i)`.
    return /\(\?[a-z-]+[:)]/.test(matcher)
  }
}

/** The hash a trust entry holds: compact JSON with sorted keys over event, matcher and command, not over the script behind it (0.171.0). */
function commandHash(
  event: string,
  matcher: string | null,
  handler: Readonly<Record<string, unknown>>,
  timeout: number,
): string {
  const status = textOf(handler.statusMessage)
  const hook: Json = {
    async: handler.async === true,
    command: textOf(handler.command) ?? '',
    timeout,
    type: 'command',
    ...(status === null ? {} : { statusMessage: status }),
  }
  return digestOf({ event_name: event, hooks: [hook], ...(matcher === null ? {} : { matcher }) })
}

const digestOf = (value: Json): string => `sha256:${createHash('sha256').update(sorted(value)).digest('hex')}`

function sorted(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(sorted).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const keys = Object.keys(value).sort(byBytes)
  return `{${keys.map((key) => `${JSON.stringify(key)}:${sorted(value[key] ?? null)}`).join(',')}}`
}

interface HookState {
  readonly hash: string | undefined
  readonly enabled: boolean | undefined
  readonly origin: string
}

/** `[hooks.state]` of user layers and flags; a project cannot approve its own hooks (0.171.0). Merged key by key. */
function hookStates(layers: readonly ConfigLayer[]): ReadonlyMap<string, HookState> {
  const found = new Map<string, HookState>()
  for (const layer of [...layers].reverse()) {
    if (layer.name === 'project') continue
    const states = at(layer.value, 'hooks', 'state')
    if (!isTable(states)) continue
    for (const [key, state] of Object.entries(states)) {
      if (!isTable(state)) continue
      const known = found.get(key)
      found.set(key, {
        hash: textOf(state.trusted_hash) ?? known?.hash,
        enabled: typeof state.enabled === 'boolean' ? state.enabled : known?.enabled,
        origin: layer.origin,
      })
    }
  }
  return found
}
