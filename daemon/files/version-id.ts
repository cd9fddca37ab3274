import { createHash } from 'node:crypto'

/** Id of a state of a file: the same whenever and by whom it is worked out, so that names given to it last. `digest` null: the file went. */
export function versionId(path: string, at: string, digest: string | null): string {
  const hash = createHash('sha256').update([path, at, digest ?? 'gone'].join('\0'))
  return `v_${hash.digest('hex').slice(0, 12)}`
}

export const VERSION_ID = /^v_[0-9a-f]{12}$/
