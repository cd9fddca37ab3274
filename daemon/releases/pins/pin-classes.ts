import type { PinClass, RuntimeName } from '../../../contract/index.ts'
import { realPath } from '../../homes.ts'
import { isInside } from '../../runtimes/shared/disk.ts'

/** A start that is about to be made. */
export interface Start {
  readonly runtime: RuntimeName | null
  readonly workspace: string
  readonly branch: string | null
}

/**
 * Whether a start belongs to a class: everything the class names must hold. A branch that is not known may be the one: a pin that is required
 * rather holds once too often.
 */
export function belongsTo(start: Start, { runtime, workspace, branch }: PinClass): boolean {
  if (runtime !== undefined && start.runtime !== null && runtime !== start.runtime) return false
  if (workspace !== undefined && !isInside(realPath(start.workspace), realPath(workspace))) return false
  if (branch === undefined || start.branch === null) return true
  return branch.endsWith('*') ? start.branch.startsWith(branch.slice(0, -1)) : start.branch === branch
}
