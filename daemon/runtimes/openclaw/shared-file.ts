import path from 'node:path'
import type { SharedFile } from '../shared/shared-file.ts'

/** The program keeps its own marks and a token it made in `openclaw.json` (2026.9.6). */
export function sharedFile(home: string, file: string): SharedFile | null {
  if (file !== path.join(home, 'openclaw.json')) return null
  return {
    path: file,
    rule: { state: [['meta'], ['wizard'], ['gateway', 'auth', 'token'], ['gateway', 'auth', 'password']] },
    why: "the program's own marks, and credentials",
  }
}
