import path from 'node:path'
import type { SharedFile } from '../shared/shared-file.ts'

/** Trust of folders, and notices a person has seen, stand in `config.toml` between what is configured (0.171.0). */
export function sharedFile(home: string, file: string): SharedFile | null {
  if (file !== path.join(home, 'config.toml')) return null
  return {
    path: file,
    rule: { state: [['projects'], ['notice']] },
    why: 'trust is decided by a person, and notices were seen',
  }
}
