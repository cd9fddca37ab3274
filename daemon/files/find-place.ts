import path from 'node:path'
import { RepriseError } from '../../contract/index.ts'
import { withBesideFiles } from '../manifest/complete/beside-files.ts'
import type { KnownHome, Parts } from '../parts.ts'
import { isInside } from '../runtimes/shared/disk.ts'
import { type FilePlace, placesOf, resolveFor, workspacesOf } from './steering-files.ts'

/**
 * The place of one file. Only what steers an agent can be looked at and written this way: files of the home, of a workspace its runs were in,
 * those a resolution names, and those with a history.
 */
export function findPlace(parts: Parts, home: KnownHome, given: string, workspaceGiven?: string): FilePlace {
  if (!path.isAbsolute(given) || given.includes('\0'))
    throw new RepriseError('wrong_usage', `path: ${given} is no absolute path`)
  const file = path.normalize(given)
  if (file.split(path.sep).includes('.git'))
    throw new RepriseError('refused', `${file} belongs to Git`, 'nothing in a `.git` folder is ever written')
  const workspaces = workspacesOf(parts, home)
  const workspace =
    workspaceGiven ?? workspaces.filter((one) => isInside(file, one)).sort((a, b) => b.length - a.length)[0] ?? null
  const { body } = resolveFor(parts, home, workspace)
  const named = placesOf(home, workspace, { body: withBesideFiles(body, parts.surroundings) }).get(file)
  if (named) return named
  const known =
    isInside(file, home.path) ||
    (workspace !== null && isInside(file, workspace)) ||
    parts.index().sql('select 1 from file_versions where home = ? and path = ? limit 1').get(home.id, file) !==
      undefined
  if (!known)
    throw new RepriseError(
      'not_found',
      `${file} is no file of ${home.path}`,
      'it is in neither the home nor a workspace its runs were in, and no start reads it',
    )
  return { home, path: file, workspace, source: null }
}
