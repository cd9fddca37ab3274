import fs from 'node:fs'
import path from 'node:path'
import { type CollectionLevel, type CollectionOverride, collectionLevels, type Settings } from '../../contract/index.ts'

/** Plain data: it goes to the index worker as it is. */
export type CollectionRules = Pick<
  Settings,
  'collection' | 'collection_overrides' | 'capture_workspaces' | 'workspace_budget' | 'workspace_excludes'
>

/** Where something stands that may be kept. */
export interface CollectedPlace {
  readonly home: string
  /** Directories it belongs to; none when no record names one. */
  readonly workspaces: readonly string[]
}

/** How much of texts is kept at a place (R78). */
export type Collection = (place: CollectedPlace) => CollectionLevel

/**
 * The level of a directory is that of the longest path it lies in, else that of the longest path its home lies in, else the general one. What
 * belongs to several directories gets the least of their levels: where nothing is to be kept, nothing is.
 */
export const collectionBy = ({ collection, collection_overrides: overrides = [] }: CollectionRules): Collection => {
  const rulesOf = (of: CollectionOverride['of']) =>
    overrides
      .filter((rule) => rule.of === of)
      .flatMap(({ path: given, level }) => [...new Set([given, realOf(given)])].map((place) => ({ place, level })))
      .sort((a, b) => b.place.length - a.place.length)
  const homes = rulesOf('home')
  const workspaces = rulesOf('workspace')
  const find = (rules: typeof homes, place: string) => rules.find((rule) => isWithin(place, rule.place))?.level
  return ({ home, workspaces: places }) => {
    const general = find(homes, home) ?? collection
    const levels = places.map((place) => find(workspaces, place) ?? general)
    return collectionLevels.find((level) => levels.includes(level)) ?? general
  }
}

const isWithin = (place: string, outer: string): boolean => {
  const prefix = outer.endsWith(path.sep) ? outer : `${outer}${path.sep}`
  return place === outer || `${place}${path.sep}` === prefix || place.startsWith(prefix)
}

const realOf = (given: string): string => {
  try {
    return fs.realpathSync(given)
  } catch {
    return given
  }
}
