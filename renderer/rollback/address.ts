import type { ChosenPath, RollbackArea, RollbackScope } from '../../contract/rollback.ts'
import type { RuntimeName } from '../../contract/run.ts'

/** One file that was clicked, or one key of it. */
export interface ClickedPath {
  readonly path: string
  readonly key?: string
}

export interface RollbackDoor {
  readonly target: string
  readonly scope?: readonly RollbackArea[]
  readonly only?: readonly ClickedPath[]
  readonly of?: string
  readonly runtime?: RuntimeName
}

/** Only a part of a file goes back: one key, or some of its changes. */
export type Part = { readonly key: string } | { readonly hunks: readonly number[] }
export type Parts = ReadonlyMap<string, Part>

/** What the address of the page says. `undo` names a rollback to be taken back, `last` the last one that is not. */
export interface Asked {
  readonly target: string | null
  readonly undo: string | null
  readonly areas: readonly RollbackArea[]
  readonly only: readonly string[]
  readonly parts: Parts
  readonly of: string | null
  readonly runtime: RuntimeName | null
}

const areaNames: readonly RollbackArea[] = ['home', 'project', 'workspace']
const runtimeNames: readonly RuntimeName[] = ['claude-code', 'codex', 'openclaw', 'hermes', 'native', 'command']

/** The page on which everything that goes back is looked at first. */
export function rollbackPath({ target, scope = [], only = [], of, runtime }: RollbackDoor): string {
  const parts = new Map(only.flatMap(({ path, key }) => (key === undefined ? [] : [[path, { key }] as const])))
  return `/rollback?${queryOf({
    target,
    undo: null,
    areas: scope,
    only: [...new Set(only.map(({ path }) => path))],
    parts,
    of: of ?? null,
    runtime: runtime ?? null,
  })}`
}

export const undoPath = (id: string | null) => `/rollback?undo=${encodeURIComponent(id ?? 'last')}`
export const receiptPath = (id: string) => `/rollbacks/${encodeURIComponent(id)}`

export function queryOf({ target, undo, areas, only, parts, of, runtime }: Asked): string {
  const query = new URLSearchParams()
  if (target !== null) query.set('target', target)
  if (undo !== null) query.set('undo', undo)
  if (areas.length > 0) query.set('scope', areas.join(','))
  for (const path of only) query.append('only', path)
  for (const [path, part] of parts) query.append('part', writePart(path, part))
  if (of !== null) query.set('of', of)
  if (runtime !== null) query.set('runtime', runtime)
  return query.toString()
}

export function readAsked(search: string): Asked {
  const query = new URLSearchParams(search)
  const said = (query.get('scope') ?? '').split(',')
  const text = (name: string) => {
    const value = query.get(name)
    return value === null || value === '' ? null : value
  }
  return {
    target: text('target'),
    undo: text('undo'),
    areas: areaNames.filter((area) => said.includes(area)),
    only: query.getAll('only').filter((path) => path !== ''),
    parts: new Map(query.getAll('part').flatMap(readPart)),
    of: text('of'),
    runtime: runtimeNames.find((name) => name === query.get('runtime')) ?? null,
  }
}

/** A path may hold any character: its `%` and `#` are covered, so that the first `#` ends it. */
const writePart = (path: string, part: Part) =>
  `${path.replaceAll('%', '%25').replaceAll('#', '%23')}#${'key' in part ? `key:${part.key}` : `hunks:${part.hunks.join(',')}`}`

function readPart(text: string): readonly (readonly [string, Part])[] {
  const at = text.indexOf('#')
  if (at < 0) return []
  const path = text.slice(0, at).replaceAll('%23', '#').replaceAll('%25', '%')
  const said = text.slice(at + 1)
  if (said.startsWith('key:')) return [[path, { key: said.slice(4) }]]
  if (!said.startsWith('hunks:')) return []
  const hunks = said
    .slice(6)
    .split(',')
    .map(Number)
    .filter((n) => Number.isInteger(n) && n > 0)
  return [[path, { hunks }]]
}

/** What is asked for when the page opens, before a part of a file was chosen. */
export function baseScope({ areas, only }: Pick<Asked, 'areas' | 'only'>): RollbackScope {
  if (areas.length === 0) return only.length === 0 ? {} : { only: only.map((path) => ({ path })) }
  return Object.fromEntries(areas.map((area) => [area, true]))
}

/** The same paths by name, so that some of them can be narrowed to a part. */
export const narrowedScope = (
  paths: readonly { readonly path: string; readonly path_bytes?: string | undefined }[],
  parts: Parts,
): RollbackScope => ({
  only: paths.map(({ path, path_bytes }): ChosenPath => {
    const part = parts.get(path)
    return {
      path,
      ...(path_bytes === undefined ? {} : { path_bytes }),
      ...(part === undefined ? {} : 'key' in part ? { key: part.key } : { hunks: [...part.hunks] }),
    }
  }),
})
