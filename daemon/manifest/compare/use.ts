import type { ManifestBody, UseDifference } from '../../../contract/index.ts'
import type { EventFact } from './events.ts'
import type { Cover } from './places.ts'

export type UseKind = UseDifference['kind']

export interface Used {
  readonly kind: UseKind
  readonly name: string
  readonly times: number
  readonly first: number
}

/** What a run used, from its events alone (R92, R94). */
export interface Use {
  readonly items: readonly Used[]
  find(kinds: readonly UseKind[], matches: (name: string) => boolean): Used | null
  /** The call that came last before an event: what brought a lazily loaded text in. */
  callBefore(seq: number): EventFact | null
  readonly last: number
  /** It changed files, as far as its record shows. */
  readonly changesFiles: boolean
}

export const collectUse = (events: readonly EventFact[]): Use => {
  const found = new Map<string, { kind: UseKind; name: string; times: number; first: number }>()
  const add = (kind: UseKind, name: string, seq: number): void => {
    if (name === '') return
    const key = `${kind}\0${name}`
    const known = found.get(key)
    if (known) known.times += 1
    else found.set(key, { kind, name, times: 1, first: seq })
  }
  for (const event of events) for (const [kind, name] of usesOf(event)) add(kind, name, event.seq)
  const items = [...found.values()]
  const calls = events.filter(({ kind }) => kind === 'tool')
  return {
    items,
    find: (kinds, matches) => items.find(({ kind, name }) => kinds.includes(kind) && matches(name)) ?? null,
    callBefore: (seq) => calls.findLast((call) => call.seq < seq) ?? null,
    last: events.at(-1)?.seq ?? 0,
    changesFiles: events.some(({ effects }) => effects.length > 0),
  }
}

/** Tools that bring in what was kept elsewhere: an index, a memory, the web. Searching files is not that. */
const RETRIEVES =
  /(^|_|\.)(web_?search|web_?fetch|memory_?(search|get|recall)|session_?search|recall|retrieve|retrieval)/i
const STARTS_AGENT = /^(agent|task|spawn_agent|sessions_spawn|delegate(_task)?)$/i

const usesOf = (event: EventFact): readonly (readonly [UseKind, string])[] => {
  const { kind, tool, summary } = event
  const uses: (readonly [UseKind, string])[] = []
  switch (kind) {
    case 'instructions':
    case 'rule':
    case 'memory':
    case 'skill':
    case 'plugin':
      uses.push([kind, summary])
      break
    case 'hook':
      uses.push(['hook', summary.split(': ')[0] ?? summary])
      break
    case 'denied':
      uses.push(['denied', tool ?? summary])
      break
    case 'prompt': {
      const command = /^\/[\w:-]+(?=\s|$)/.exec(summary)?.[0]
      if (command !== undefined) uses.push(['command', command.slice(1)])
      break
    }
    case 'tool':
      if (tool === null) break
      uses.push([mcpServerOf(tool) === null ? 'tool' : 'mcp tool', tool])
      if (RETRIEVES.test(tool)) uses.push(['retrieval', tool])
      if (event.subagent !== null || STARTS_AGENT.test(tool)) uses.push(['agent', summary])
      break
  }
  if (event.model !== null) uses.push(['model', event.model])
  return uses
}

/** `mcp__server__tool`, as the runtimes write it; a plugin's server is `plugin_<plugin>_<server>` there. */
export const mcpServerOf = (tool: string): string | null => /^mcp__(.+?)__/.exec(tool)?.[1] ?? null
export const mcpToolOf = (tool: string): string => tool.replace(/^mcp__.+?__/, '')
export const sameServer = (inTool: string, name: string): boolean =>
  inTool === name || inTool === name.replaceAll(/[^A-Za-z0-9_-]/g, '_')

/** What one side used and the other did not, or not as often first of all (R102). */
export const compareUse = (
  a: { readonly use: Use | null; readonly cover: Cover },
  b: { readonly use: Use | null; readonly cover: Cover },
): UseDifference[] => {
  if (a.use === null && b.use === null) return []
  const rows = new Map<string, { kind: UseKind; name: string; a: Used | null; b: Used | null }>()
  for (const item of a.use?.items ?? [])
    rows.set(`${item.kind}\0${a.cover(item.name)}`, { kind: item.kind, name: item.name, a: item, b: null })
  for (const item of b.use?.items ?? []) {
    const key = `${item.kind}\0${b.cover(item.name)}`
    const known = rows.get(key)
    if (known) known.b = item
    else rows.set(key, { kind: item.kind, name: item.name, a: null, b: item })
  }
  const times = (use: Use | null, item: Used | null): number | null => (use === null ? null : (item?.times ?? 0))
  return [...rows.values()]
    .map(({ kind, name, a: one, b: other }) => ({
      kind,
      name,
      a: times(a.use, one),
      b: times(b.use, other),
      first: { a: one?.first ?? null, b: other?.first ?? null },
    }))
    .sort((x, y) => oneSided(y) - oneSided(x) || (x.first.a ?? x.first.b ?? 0) - (y.first.a ?? y.first.b ?? 0))
}
const oneSided = ({ a, b }: UseDifference): number => (a !== null && b !== null && (a === 0) !== (b === 0) ? 1 : 0)

/** Named in a manifest that can know it; null when it cannot. */
export const isDeclared = (
  body: ManifestBody,
  kind: UseKind,
  name: string,
  unknown: (plain: string) => boolean,
): boolean | null => {
  const { capabilities, instructions, execution } = body
  const among = (list: readonly { readonly name: string }[], plain: string, matches = (one: string) => one === name) =>
    list.some((one) => matches(one.name)) ? true : unknown(plain) ? null : false
  switch (kind) {
    case 'instructions':
    case 'rule':
    case 'memory':
      return instructions.sources.some(({ path, uri }) => path === name || uri === name)
        ? true
        : unknown('instructions.sources')
          ? null
          : false
    case 'skill':
      return [...capabilities.skills, ...capabilities.commands].some((one) => one.name === name)
        ? true
        : // A runtime's own skills stand in no file.
          null
    case 'plugin':
      return among(capabilities.plugins, 'capabilities.plugins', (one) => one === name || one.startsWith(`${name}@`))
    case 'hook':
      return among(
        capabilities.hooks,
        'capabilities.hooks',
        (one) => one === name || name.startsWith(one.split(' ')[0] ?? one),
      )
    case 'tool':
      return among(capabilities.tools, 'capabilities.tools')
    case 'mcp tool': {
      if (capabilities.tools.some((one) => one.name === name)) return true
      const server = capabilities.mcp_servers.find((one) => sameServer(mcpServerOf(name) ?? '', one.name))
      if (server?.tools?.some((one) => one.name === mcpToolOf(name) || one.name === name)) return true
      return unknown('capabilities.tools') || server?.tools === null ? null : false
    }
    case 'model':
      return execution.model === null ? null : sameModel(execution.model, name)
    case 'agent':
    case 'command':
    case 'retrieval':
    case 'denied':
      return null
  }
}

/** `opus` and `claude-opus-5-5`, or a name with and without its date, mean the same. */
export const sameModel = (asked: string, served: string): boolean => {
  const [one, other] = [asked, served].map((name) =>
    name
      .toLowerCase()
      .replace(/^.*\//, '')
      .replace(/\[.*\]$/, ''),
  ) as [string, string]
  return one === other || one.startsWith(other) || other.startsWith(one) || other.split(/[-_.:@]/).includes(one)
}
