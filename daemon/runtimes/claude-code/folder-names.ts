/**
 * Names of session folders below `projects/` (runtime page 5.1, 2.1.332): each UTF-16 unit of the working directory outside
 * `[A-Za-z0-9]` becomes `-`. The mapping is lossy, so a name is only ever a hint; the directory itself stands in the rows (B14).
 */
const LONGEST = 200

export interface FolderName {
  /** The whole name, or its first 200 characters when the program appends a hash that is not known to us. */
  readonly name: string
  readonly exact: boolean
}

export function folderNameOf(cwd: string): FolderName {
  const name = cwd.replace(/[^A-Za-z0-9]/g, '-')
  return name.length > LONGEST ? { name: name.slice(0, LONGEST), exact: false } : { name, exact: true }
}

/** Whether sessions of `cwd` may lie in the folder. */
export function mayHold(folder: string, cwd: string): boolean {
  const { name, exact } = folderNameOf(cwd)
  return exact ? folder === name : folder.startsWith(`${name}-`)
}

/** Folders in which sessions of several directories lie together: their memory may be mixed as well (B14). */
export function findMixedFolders(
  sessions: Iterable<{ readonly folder: string; readonly cwd: string | null }>,
): ReadonlyMap<string, readonly string[]> {
  const directories = new Map<string, Set<string>>()
  for (const { folder, cwd } of sessions) {
    if (cwd === null) continue
    const known = directories.get(folder)
    if (known === undefined) directories.set(folder, new Set([cwd]))
    else known.add(cwd)
  }
  const mixed = new Map<string, readonly string[]>()
  for (const [folder, cwds] of directories) if (cwds.size > 1) mixed.set(folder, [...cwds].sort())
  return mixed
}
