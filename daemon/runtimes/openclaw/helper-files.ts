import path from 'node:path'

/** Folders of the state directory whose content the program makes again or only keeps for itself (runtime page 3.2, 2026.9.6). */
const own: Readonly<Record<string, string>> = {
  backups: 'files a repair moved away',
  tmp: 'locks of running programs',
  cache: 'can be made again',
  logs: 'a log',
  media: 'received media',
  completions: 'can be made again',
  'delivery-queue-media': 'attachments on their way out',
  'plugin-skills': 'links to the skills of loaded plugins, renewed at every run',
  'session-sqlite-migration-runs': 'the record of an import',
}

/** Files OpenClaw writes beside its configuration that are none themselves: their coming and going changes nothing in force (B18). */
export function helperFile(home: string, file: string): string | null {
  const name = path.basename(file)
  if (/\.bak(\.\d+)?$/.test(name)) return 'a backup the program made before a write of its own'
  if (/\.last-good$/.test(name)) return 'a copy of the configuration of the last good start'
  if (/\.rejected\.[^/\\]+$/.test(name)) return 'a write of the configuration that was refused'
  if (/\.clobbered\.[^/\\]+$/.test(name)) return 'a configuration that was replaced from outside'
  if (name === 'config-journal-fingerprint.key') return 'a key of the journal of writes'
  if (/\.sqlite(-(wal|shm|journal))?$/.test(name)) return 'a database of the program'
  if (/\.(tmp|lock)(\.|$)/.test(name)) return 'a temporary file of a write'
  const inside = path.relative(home, file).split(path.sep)
  const folder = inside[0] ?? ''
  if (inside.length > 1 && Object.hasOwn(own, folder)) return own[folder] ?? null
  if (folder === 'agents' && (inside[2] === 'sessions' || inside[2] === 'session-sqlite-import-archive'))
    return 'a session, no configuration'
  return null
}
