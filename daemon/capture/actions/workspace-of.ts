import fs from 'node:fs'
import path from 'node:path'
import type { WorkspaceLooks, WorkspacePlace } from '../workspaces/look.ts'

export type WorkspaceOf =
  | { readonly state: 'there'; readonly place: WorkspacePlace }
  | { readonly state: 'refused'; readonly place: WorkspacePlace; readonly why: string }
  | { readonly state: 'gone'; readonly place: WorkspacePlace }

/**
 * The workspace a directory belongs to: the repository it lies in, so that runs in its folders share one, unless that may not be captured;
 * then the directory itself.
 */
export function workspaceOf(looks: Pick<WorkspaceLooks, 'refuse' | 'identify'>, directory: string): WorkspaceOf {
  const own = looks.identify(directory)
  if (!fs.statSync(own.path, { throwIfNoEntry: false })?.isDirectory()) return { state: 'gone', place: own }
  const top = topOfRepository(own.path)
  for (const candidate of top === null || top === own.path ? [own.path] : [top, own.path])
    if (looks.refuse(candidate) === null) return { state: 'there', place: looks.identify(candidate) }
  return { state: 'refused', place: own, why: looks.refuse(own.path) ?? '' }
}

function topOfRepository(directory: string): string | null {
  for (let at = directory; ; at = path.dirname(at)) {
    if (fs.lstatSync(path.join(at, '.git'), { throwIfNoEntry: false }) !== undefined) return at
    if (path.dirname(at) === at) return null
  }
}
