import { agentIdOf } from './agent-id.ts'
import { at, type Branch, branch, isObject, type Json, plant, type Tree } from './config-tree.ts'

export interface Migrated {
  readonly tree: Tree
  readonly warnings: readonly string[]
  /** Agent that the older form marked with `default: true`: it keeps owning what it owned. */
  readonly markedDefault: string | null
}

/** Older shapes as the runtime reads them in memory; the file stays as it is until `doctor --fix` or a gateway start (2026.9.6). */
export function migrate(tree: Tree): Migrated {
  if (tree.type !== 'branch') return { tree, warnings: [], markedDefault: null }
  const agents = at(tree, 'agents')
  if (agents?.type !== 'branch') return { tree, warnings: [], markedDefault: null }
  const warnings: string[] = []
  const list = agents.entries.get('list')
  let roster = agents.entries.get('entries')
  const rest = new Map(agents.entries)
  if (list?.type === 'leaf' && Array.isArray(list.value)) {
    rest.delete('list')
    if (roster === undefined) {
      roster = branch(fromList(list.value, list.origin, warnings), list.origin)
      warnings.push('agents.list was read as agents.entries; the file still has the older form')
    } else warnings.push('agents.list was ignored: agents.entries is there')
  }
  let markedDefault: string | null = null
  if (roster?.type === 'branch') {
    const marked = [...roster.entries].filter(([, entry]) => at(entry, 'default')?.type === 'leaf' && isMarked(entry))
    const isExplicit = isText(agents.entries.get('ownership'), 'explicit')
    if (!isExplicit && marked.length === 1) markedDefault = agentIdOf(marked[0]?.[0] ?? '')
    if (marked.length > 0) warnings.push('agents.entries.*.default is an older form; it was read and left out')
    roster = { ...roster, entries: new Map([...roster.entries].map(([id, entry]) => [id, withoutDefault(entry)])) }
    rest.set('entries', roster)
  }
  const changed: Branch = { ...agents, entries: rest }
  return { tree: { ...tree, entries: new Map([...tree.entries, ['agents', changed]]) }, warnings, markedDefault }
}

function fromList(list: readonly Json[], origin: string, warnings: string[]): Map<string, Tree> {
  const entries = new Map<string, Tree>()
  for (const [index, one] of list.entries()) {
    if (!isObject(one)) {
      warnings.push(`agents.list[${index}] is no object and was left out`)
      continue
    }
    const { id, ...config } = one
    const wanted = agentIdOf(typeof id === 'string' && id.trim() !== '' ? id : 'agent')
    let name = wanted
    for (let n = 2; entries.has(name); n += 1) name = `${wanted}-${n}`
    entries.set(name, plant(config as Json, origin))
  }
  return entries
}

const isMarked = (entry: Tree): boolean => {
  const found = at(entry, 'default')
  return found?.type === 'leaf' && found.value === true
}

const isText = (tree: Tree | undefined, text: string): boolean => tree?.type === 'leaf' && tree.value === text

function withoutDefault(entry: Tree): Tree {
  if (entry.type !== 'branch' || !entry.entries.has('default')) return entry
  const entries = new Map(entry.entries)
  entries.delete('default')
  return { ...entry, entries }
}
