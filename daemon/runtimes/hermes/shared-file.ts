import path from 'node:path'
import type { SharedFile } from '../shared/shared-file.ts'

/** `_config_version` drives migrations of the file: an older one would have them run again (0.20.0). */
export function sharedFile(home: string, file: string): SharedFile | null {
  if (file !== path.join(home, 'config.yaml')) return null
  return { path: file, rule: { state: [['_config_version']] }, why: 'it tells which migrations the file has seen' }
}
