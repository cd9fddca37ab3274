import type { RollbackArea, RollbackPlan } from '../../contract/index.ts'
import type { Change } from './apply.ts'
import type { BytePath } from './disk.ts'

type Lists = Pick<RollbackPlan, 'writes' | 'deletes' | 'kept' | 'conflicts' | 'not_restorable'>

/** A part of a plan: what people see of it, and what would be done for each path. */
export interface Planned extends Lists {
  /** By path, as it stands in the lists. A path may be changed only if it is here. */
  readonly changes: ReadonlyMap<string, PlannedChange>
}

export interface PlannedChange {
  readonly area: RollbackArea
  readonly key: string | null
  readonly change: Change
  /** Texts of both sides, for looking at it and for taking single hunks; null: not shown, and why. */
  readonly texts: { readonly disk: string | null; readonly target: string | null; readonly why: string | null }
}

export class PlanBuilder {
  readonly writes: Lists['writes'] = []
  readonly deletes: Lists['deletes'] = []
  readonly kept: Lists['kept'] = []
  readonly conflicts: Lists['conflicts'] = []
  readonly not_restorable: Lists['not_restorable'] = []
  readonly changes = new Map<string, PlannedChange>()

  build(): Planned {
    const { writes, deletes, kept, conflicts, not_restorable, changes } = this
    return { writes, deletes, kept, conflicts, not_restorable, changes }
  }
}

/** How a path stands in the contract: as text, and its bytes where the text does not say them. */
export function shownPath(at: BytePath): { readonly path: string; readonly path_bytes?: string } {
  const bytes = Buffer.from(at, 'latin1')
  const path = bytes.toString('utf8')
  return Buffer.from(path, 'utf8').equals(bytes) ? { path } : { path, path_bytes: bytes.toString('base64') }
}
