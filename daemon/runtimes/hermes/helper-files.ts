import path from 'node:path'

/** Folders below a home that the program fills by itself (runtime page 3.1, 12). */
const FOLDERS: Readonly<Record<string, string>> = {
  backups: 'a copy the program makes before it updates or migrates',
  'state-snapshots': 'a quick snapshot of the program',
  checkpoints: "the program's own store of file checkpoints",
  cache: 'a cache of the program',
  logs: 'a log of the program',
  audio_cache: 'a cache of the program',
  image_cache: 'a cache of the program',
  sandboxes: 'a sandbox of the program',
  pairing: 'pairing state of the messaging gateway',
}

/** Files Hermes writes in or beside its configuration that are none themselves (B18). */
export function helperFile(home: string, file: string): string | null {
  const [folder] = path.relative(home, file).split(path.sep)
  const inFolder = folder === undefined ? undefined : FOLDERS[folder]
  if (inFolder !== undefined) return inFolder
  const name = path.basename(file)
  if (/^config\.yaml\.corrupt\..+\.bak$/.test(name))
    return 'a copy the program made of a configuration it could not read'
  if (/^(MEMORY|USER)\.md\.bak\.\d+$/.test(name))
    return 'a copy the program made of a memory file somebody else had changed'
  if (name === '.skills_prompt_snapshot.json') return 'a cache of the skills index'
  if (name === '.bundled_manifest') return "the program's record of the skills it came with"
  if (/^state\.db-(wal|shm|journal)$/.test(name)) return 'part of the session database'
  if (/\.(lock|tmp)$/.test(name) || /^\.mem_/.test(name)) return 'a lock or a temporary file of a write'
  return null
}
