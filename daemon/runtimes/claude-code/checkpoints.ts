import { asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'

/** One tracked file of a checkpoint. */
export interface Backup {
  /** As the record names it: relative to the directory of the session, or absolute. */
  readonly tracked: string
  /** Absolute as far as the record tells (versions before 2.1 keep no folder). */
  readonly path: string
  readonly version: number | null
  /** Name of the copy below `file-history/<session>/`; null when the file did not exist, or when the record is not understood. */
  readonly name: string | null
  readonly existed: boolean
  readonly at: string | null
}

/** Files a `file-history-snapshot` or `file-history-delta` row tracks (runtime page 5.2, 2.1.332; wild fixtures, 2.0). */
export function backupsOf(row: Row): readonly Backup[] {
  if (row.type === 'file-history-delta') return [backupOf(asText(row.trackingPath) ?? 'a file', asRow(row.backup))]
  const tracked = asRow(asRow(row.snapshot)?.trackedFileBackups) ?? {}
  return Object.entries(tracked).map(([path, backup]) => backupOf(path, asRow(backup)))
}

function backupOf(tracked: string, backup: Row | null): Backup {
  const folder = asName(backup?.realParentDir)
  const last = tracked.split(/[\\/]/).pop() ?? tracked
  return {
    tracked,
    path: folder === null ? tracked : `${folder}/${last}`,
    version: asNumber(backup?.version),
    // Only a name, never a way to another folder.
    name: asName(backup?.backupFileName)?.split(/[\\/]/).pop() ?? null,
    existed: backup?.backupFileName !== null,
    at: asText(backup?.backupTime),
  }
}
