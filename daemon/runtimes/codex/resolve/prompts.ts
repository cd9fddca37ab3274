import path from 'node:path'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { readFrontMatter } from '../../shared/front-matter.ts'
import type { StartFlags } from './flags.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { byBytes, textOf } from './values.ts'

/** `<home>/prompts/*.md`: typed by name in the interactive program, not read by `exec` (0.171.0). */
export function resolvePrompts(
  disk: Disk,
  home: string,
  flags: StartFlags,
): { readonly commands: readonly ManifestCapability[]; readonly sources: readonly Source[] } {
  const folder = path.join(home, 'prompts')
  const names = disk.names(folder)
  if (names === null || 'why' in names) return { commands: [], sources: [] }
  const off = flags.command === 'exec' ? 'exec does not read prompts' : null
  const commands: ManifestCapability[] = []
  const sources: Source[] = []
  for (const { name } of [...names].sort((a, b) => byBytes(a.name, b.name))) {
    const file = path.join(folder, name)
    const read = name.endsWith('.md') ? disk.read(file) : null
    if (read?.state !== 'ok') continue
    sources.push(
      makeSource({
        path: file,
        scope: 'user',
        kind: 'command',
        status: off === null ? 'lazy' : 'not_loaded',
        reason: off,
        trigger: off === null ? 'it is typed by name' : null,
        rule: `typed by name in the interactive program (${VERIFIED_VERSION})`,
        raw: read.bytes,
      }),
    )
    const { keys } = readFrontMatter(read.bytes.toString('utf8'))
    commands.push({
      name: path.basename(name, '.md'),
      version: null,
      digest: bytesDigest(read.bytes),
      source: 'user',
      status: off === null ? 'active' : 'disabled',
      reason: off,
      description: textOf(keys.description),
      used: null,
      path: file,
    })
  }
  return { commands, sources }
}
