import type { Drift } from '../../contract/drift.ts'
import type { ClickedPath, RollbackDoor } from './address.ts'

/** Back to before a change of configuration: only the files it changed, or all of the home where it names none. Null: nothing is known before it. */
export function driftDoor({ before, changes, workspace, home_path, runtime }: Drift): RollbackDoor | null {
  if (before === null) return null
  const only = [...new Set(changes.flatMap(({ path }) => (path === null ? [] : [path])))]
  return { target: before, only: only.map((path): ClickedPath => ({ path })), of: workspace ?? home_path, runtime }
}
