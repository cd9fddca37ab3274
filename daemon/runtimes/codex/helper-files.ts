import path from 'node:path'

/**
 * Files of a home that Codex writes for itself (0.171.0): databases that are caches of the sessions, locks, links that live as long as a
 * process, what was typed. None of them changes what a run is given.
 */
export function helperFile(home: string, file: string): string | null {
  const name = path.basename(file)
  const [top = ''] = path.relative(home, file).split(/[\\/]/)
  if (/\.sqlite(-shm|-wal|-journal)?$/.test(name)) return 'a database the program rebuilds from its sessions'
  if (name.endsWith('.lock') || top === 'thread-writer-locks') return 'a lock'
  if (top === 'tmp' || top === '.tmp' || top === 'shell_snapshots') return 'a temporary file of a running process'
  if (/\.(tmp|bak)(\.|$)/.test(name) || name.startsWith('.tmp')) return 'a temporary file of a write'
  switch (name) {
    case 'installation_id':
      return 'the number of this installation'
    case 'version.json':
    case '.sandbox_migration':
    case 'models_cache.json':
      return 'a note of the program to itself'
    case 'history.jsonl':
    case 'session_index.jsonl':
      return 'a list of what was typed or named'
    default:
      return null
  }
}
