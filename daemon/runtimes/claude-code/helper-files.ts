import path from 'node:path'

/** Files Claude Code writes beside its configuration that are none themselves (2.1.332: copies of `.claude.json` it found torn or replaced). */
export function helperFile(_home: string, file: string): string | null {
  const name = path.basename(file)
  if (/^\.claude\.json\.(backup|corrupted)(\.\d+)?$/.test(name)) return 'a copy the program made of its state file'
  if (/\.(tmp|lock)(\.|$)/.test(name)) return 'a temporary file of a write'
  return null
}
