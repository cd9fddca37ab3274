import { agentIdOf } from './agent-id.ts'
import { at, type Branch, branch, branchesAt, isObject, type Json, plant, type Tree, valueAt } from './config-tree.ts'

export interface Migrated {
  readonly tree: Tree
  readonly warnings: readonly string[]
  /** Agent that the older form marked with `default: true`: it keeps owning what it owned. */
  readonly markedDefault: string | null
  /** What is wrong with the roster, so that no run starts. */
  readonly refused: readonly string[]
}

/** Older shapes as the runtime reads them in memory; the file stays as it is until `doctor --fix` or a gateway start (2026.9.6). */
export function migrate(tree: Tree): Migrated {
  const agents = at(tree, 'agents')
  if (tree.type !== 'branch' || agents?.type !== 'branch')
    return { tree, warnings: [], markedDefault: null, refused: [] }
  const warnings: string[] = []
  const entries = new Map(agents.entries)
  const list = agents.entries.get('list')
  const fromOlder = list?.type === 'leaf' && !entries.has('entries') ? fromList(list.value, list.origin) : null
  if (fromOlder !== null) {
    entries.delete('list')
    entries.set('entries', branch(fromOlder, list?.origin ?? agents.origin))
    warnings.push('agents.list was read as agents.entries; the file still has the older form')
  }
  const roster = entries.get('entries')
  if (roster?.type !== 'branch') return { tree, warnings, markedDefault: null, refused: [] }
  const marked = [...roster.entries].filter(([, entry]) => valueAt(entry, 'default') === true).map(([id]) => id)
  const isExplicit = valueAt(tree, 'agents', 'ownership') === 'explicit'
  const refused: string[] = []
  if (marked.length > 1)
    refused.push(`agents.entries: at most one agent may be marked with default: true (${marked.join(', ')})`)
  else if (roster.entries.size > 1 && !isExplicit && marked.length === 0)
    refused.push(
      'agents.ownership: several agents need ownership "explicit", or one of them the older mark default: true',
    )
  if (marked.length > 0) warnings.push('agents.entries.*.default is an older form; it was read and left out')
  entries.set('entries', {
    ...roster,
    entries: new Map([...roster.entries].map(([id, entry]) => [id, withoutDefault(entry)])),
  })
  const changed: Branch = { ...agents, entries }
  return {
    tree: { ...tree, entries: new Map([...tree.entries, ['agents', changed]]) },
    warnings,
    markedDefault: !isExplicit && marked.length === 1 ? agentIdOf(marked[0] ?? '') : null,
    refused,
  }
}

/** Null when some entry has no name, an odd one, or one that is there twice: such a list is not read at all. */
function fromList(list: Json, origin: string): Map<string, Tree> | null {
  if (!Array.isArray(list)) return null
  const entries = new Map<string, Tree>()
  for (const one of list) {
    if (!isObject(one)) return null
    const { id, ...config } = one
    if (typeof id !== 'string' || agentIdOf(id) !== id || entries.has(id)) return null
    entries.set(id, plant(config as Json, origin))
  }
  return entries
}

function withoutDefault(entry: Tree): Tree {
  if (entry.type !== 'branch' || !entry.entries.has('default')) return entry
  const entries = new Map(entry.entries)
  entries.delete('default')
  return { ...entry, entries }
}

/** Bindings may only name agents that are there. */
export function checkBindings(tree: Tree): readonly string[] {
  const given = valueAt(tree, 'bindings')
  const ids = new Set([...branchesAt(tree, 'agents', 'entries').keys()].map(agentIdOf))
  if (ids.size === 0) ids.add('main')
  return (Array.isArray(given) ? given : []).flatMap((one, index) =>
    isObject(one) && typeof one.agentId === 'string' && !ids.has(agentIdOf(one.agentId))
      ? [`bindings[${index}].agentId: there is no agent ${one.agentId}`]
      : [],
  )
}
