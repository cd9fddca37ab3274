import path from 'node:path'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import type { Layers } from './layers.ts'
import { makeSource, type Source } from './sources.ts'

/** Files outside the program's own configuration that shape what its commands do: the shell's start files and git's (0.171.0). */
const SHELL_AND_GIT = [
  '.gitconfig',
  '.config/git/config',
  '.config/git/ignore',
  '.bash_profile',
  '.bash_login',
  '.profile',
  '.bashrc',
  '.zshrc',
  '.zprofile',
  '.zshenv',
]
const SYSTEM = ['/etc/gitconfig', '/etc/bash.bashrc', '/etc/profile']

export function outsideFiles(disk: Disk, userHome: string): ManifestBody['external'] {
  const files = [...SHELL_AND_GIT.map((name) => path.join(userHome, name)), ...SYSTEM]
  return files.flatMap((file): ManifestBody['external'] => {
    const found = disk.read(file)
    if (found.state === 'missing' || found.state === 'directory') return []
    const kind = file.includes('git') ? 'git configuration' : 'shell start file'
    if (found.state === 'ok')
      return [{ kind, name: file, state: 'receipt', digest: bytesDigest(found.bytes), reason: 'digest only' }]
    const reason = found.state === 'unreadable' ? found.why : 'too large'
    return [{ kind, name: file, state: 'not_captured', digest: null, reason }]
  })
}

/** Files that look as if they counted, and files that are probed and whose effect was not exercised. */
export function sideSources(disk: Disk, home: string, layers: Layers): readonly Source[] {
  const sources: Source[] = []
  const note = (file: string, scope: string, status: 'unknown' | 'not_loaded', reason: string): void => {
    const found = disk.read(file)
    if (found.state === 'ok')
      sources.push(makeSource({ path: file, scope, kind: 'settings', status, reason, raw: found.bytes }))
  }
  note(path.join(home, 'environments.toml'), 'user', 'unknown', 'remote executors: probed at start, not exercised')
  note(path.join(home, 'config.override.toml'), 'user', 'not_loaded', 'no such file is read in this version')
  for (const directory of layers.projectDirs)
    note(
      path.join(directory, '.codex', 'config.override.toml'),
      'project',
      'not_loaded',
      'no such file is read in this version',
    )
  return sources
}
