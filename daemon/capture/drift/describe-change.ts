import path from 'node:path'
import type { Drift } from '../../../contract/index.ts'
import type { ConfigurationState, StateGroup, StateItem } from './configuration-state.ts'

export interface Change {
  readonly item: StateItem
  readonly before: StateItem | null
  readonly after: StateItem | null
}

/** What differs between two looks. A file whose keys tell what changed in it is not listed once more as a file. */
export function listChanges(before: ConfigurationState, after: ConfigurationState): readonly Change[] {
  const changes: Change[] = []
  for (const key of new Set([...before.items.keys(), ...after.items.keys()])) {
    const was = before.items.get(key) ?? null
    const is = after.items.get(key) ?? null
    if (was?.mark === is?.mark) continue
    const item = is ?? was
    if (item) changes.push({ item, before: was, after: is })
  }
  const values = new Set(
    changes.flatMap(({ item, before: was, after: is }) => (item.group === 'settings' ? [pair(was, is)] : [])),
  )
  const explained = new Set(changes.filter(({ item }) => item.what !== 'content').map(({ item }) => item.path))
  return changes.filter(({ item, before: was, after: is }) =>
    // The model follows from a setting that is told itself.
    item.group === 'model'
      ? !values.has(pair(was, is))
      : item.what !== 'content' || item.group !== 'files' || was === null || is === null || !explained.has(item.path),
  )
}

const pair = (before: StateItem | null, after: StateItem | null): string =>
  JSON.stringify([before?.shown ?? null, after?.shown ?? null])

export const changeKey = ({ item, before, after }: Change): string =>
  JSON.stringify([item.path, item.what, before?.mark ?? null, after?.mark ?? null])

/** Losing all of one of these is seldom meant, and nobody hears of it (B17). */
const ALERTS: readonly (readonly [StateGroup, string])[] = [
  ['mcp servers', 'MCP servers'],
  ['deny rules', 'deny rules'],
  ['hooks', 'hooks'],
  ['instructions', 'instruction files'],
  ['skills', 'skills'],
  ['plugins', 'plugins'],
]

export function findAlert(before: ConfigurationState, after: ConfigurationState): string | null {
  const lost = ALERTS.flatMap(([group, name]) => {
    const was = before.counts[group] ?? 0
    const is = after.counts[group] ?? 0
    const most = is === 0 ? was >= 1 : was - is >= 2 && is * 2 <= was
    return most && was > is ? [`${name} ${was} → ${is}`] : []
  })
  const torn = after.unreadable.filter((file) => !before.unreadable.includes(file))
  return [...lost, ...torn.map((file) => `${path.basename(file)} cannot be read`)].join(', ') || null
}

/** One line for the timeline: what changed, by file where that is shorter. */
export function nameChanges(changes: readonly Change[]): string {
  const [first] = changes
  if (!first) return 'nothing changed'
  const files = [...new Set(changes.map(({ item }) => item.path))]
  const one = files.length === 1 ? files[0] : undefined
  if (changes.length === 1) return sentence(first)
  if (one !== undefined && one !== null) {
    const keys = changes.filter(({ item }) => item.what !== 'content')
    return `${path.basename(one)}: ${count(keys.length || changes.length, 'change')}${keys.length > 0 ? ` (${few(keys.map(({ item }) => item.what))})` : ''}`
  }
  return `${count(changes.length, 'change')} in ${few(files.map((file) => (file === null ? 'no file' : path.basename(file))))}`
}

function sentence({ item, before, after }: Change): string {
  const where = item.path === null ? '' : path.basename(item.path)
  const did = before === null ? (item.what === 'content' ? 'appeared' : 'added') : after === null ? 'gone' : 'changed'
  if (item.what === 'content') return `${where} ${did}`
  return where === '' ? `${item.what} ${did}` : `${item.what} ${did} in ${where}`
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? '' : 's'}`
const few = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`

export const toDriftChange = (
  { item, before, after }: Change,
  sameAs: (change: Change) => string | null,
): Drift['changes'][number] => ({
  path: item.path,
  what: item.what === 'content' ? (before === null ? 'appeared' : after === null ? 'gone' : 'content') : item.what,
  before: before?.shown ?? null,
  after: after?.shown ?? null,
  same_as: sameAs({ item, before, after }),
})
