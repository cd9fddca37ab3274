import path from 'node:path'
import type { ManifestBody } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { makeSource, type Source } from './sources.ts'

/** Files outside the runtime's own configuration that shape what its tools do: the shell's start files and git's (traced with 2.1.332). */
const SHELL_AND_GIT = [
  '.gitconfig',
  '.config/git/config',
  '.config/git/ignore',
  '.config/git/attributes',
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
    if (found.state !== 'ok')
      return [
        {
          kind,
          name: file,
          state: 'not_captured',
          digest: null,
          reason: found.state === 'unreadable' ? found.why : 'too large',
        },
      ]
    return [{ kind, name: file, state: 'receipt', digest: bytesDigest(found.bytes), reason: 'digest only' }]
  })
}

/** Credential files: that they are there, and nothing more. */
export function credentialSources(disk: Disk, configDir: string, userHome: string): readonly Source[] {
  const files = [
    path.join(configDir, '.credentials.json'),
    path.join(userHome, '.config', 'anthropic', 'active_config'),
    path.join(userHome, '.config', 'anthropic', 'configs', 'default.json'),
  ]
  return files
    .filter((file) => disk.exists(file))
    .map((file) =>
      makeSource({
        path: file,
        scope: 'user',
        kind: 'state',
        status: 'loaded',
        reason: 'credentials: never read, by design',
        classification: 'secret',
      }),
    )
}

/** Further configuration files whose effect was not exercised. */
export function unexercisedSources(disk: Disk, configDir: string, cwd: string): readonly Source[] {
  const sources: Source[] = []
  const note = (file: string, scope: string, why: string): void => {
    const found = disk.read(file)
    if (found.state === 'missing' || found.state === 'directory') return
    sources.push(
      makeSource({
        path: file,
        scope,
        kind: 'state',
        status: 'unknown',
        reason: why,
        ...(found.state === 'ok' ? { raw: found.bytes } : {}),
      }),
    )
  }
  note(path.join(configDir, 'keybindings.json'), 'user', 'read by interactive sessions')
  note(path.join(cwd, '.claude', 'scheduled_tasks.json'), 'project', 'probed at start; what it does was not exercised')
  for (const [base, scope] of [
    [configDir, 'user'],
    [path.join(cwd, '.claude'), 'project'],
  ] as const) {
    for (const folder of ['workflows', ...(scope === 'user' ? ['themes'] : [])]) {
      const listing = disk.list(path.join(base, folder))
      if (listing.state !== 'ok') continue
      for (const entry of listing.entries)
        note(
          path.join(base, folder, entry.name),
          scope,
          `${folder} are probed at start; what they do was not exercised`,
        )
    }
  }
  return sources
}
