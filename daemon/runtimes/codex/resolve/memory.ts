import path from 'node:path'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import type { ConfigLayer } from './layers.ts'
import { feature, settingOf } from './settings.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'
import { trimmed } from './values.ts'

const LONGEST = 10_000
const SUMMARY = 'memory_summary.md'

export interface MemoryFile {
  readonly path: string
  readonly digest: string | null
  readonly bytes: number | null
  readonly truncated: { readonly at: number; readonly unit: string } | null
  /** Memory belongs to this machine and is never repository configuration (R29, R30). */
  readonly local_to_machine: true
}

export interface ResolvedMemory {
  /** The summary, when it enters the context. */
  readonly summary: Source | null
  readonly others: readonly Source[]
  readonly files: readonly MemoryFile[]
  readonly enabled: boolean
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * A summary of more than 10,000 bytes keeps its first and last 5,000, with a note of how many tokens (bytes / 4, rounded up) fell out
 * (0.171.0).
 */
export function cutSummary(text: string): { readonly text: string; readonly truncated: MemoryFile['truncated'] } {
  const bytes = Buffer.from(text, 'utf8')
  if (bytes.length <= LONGEST) return { text, truncated: null }
  let head = LONGEST / 2
  while (isInsideCharacter(bytes[head])) head -= 1
  let tail = bytes.length - LONGEST / 2
  while (isInsideCharacter(bytes[tail])) tail += 1
  const tokens = Math.ceil((tail - head) / 4)
  return {
    text: `${bytes.toString('utf8', 0, head)}…${tokens} tokens truncated…${bytes.toString('utf8', tail)}`,
    truncated: { at: head, unit: 'bytes' },
  }
}

const isInsideCharacter = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

export function readMemory(disk: Disk, home: string, layers: readonly ConfigLayer[]): ResolvedMemory {
  const wanted = feature(layers, 'memories')
  const used = settingOf(layers, 'memories', 'use_memories')
  const off = !wanted.on
    ? wanted.origin === null
      ? 'the feature memories is off by default'
      : `the feature memories is off in ${wanted.origin}`
    : used?.value === false
      ? `memories.use_memories is false in ${used.layer.origin}`
      : null
  const others: Source[] = []
  const files: MemoryFile[] = []
  const unknown: { field: string; why: string }[] = []
  let summary: Source | null = null
  const root = path.join(home, 'memories')

  const walk = (folder: string): void => {
    const listing = disk.list(folder)
    if (listing.state === 'unreadable') unknown.push({ field: 'context.memory', why: `${folder}: ${listing.why}` })
    if (listing.state !== 'ok') return
    for (const entry of [...listing.entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name)
      // The program keeps its memory under version control of its own.
      if (entry.kind === 'directory') {
        if (entry.name !== '.git') walk(file)
        continue
      }
      const read = disk.read(file)
      const draft = { path: file, scope: 'memory', kind: 'memory' as const }
      if (read.state !== 'ok') {
        const why = read.state === 'unreadable' ? read.why : `it is ${read.state.replace('_', ' ')}`
        others.push(makeSource({ ...draft, status: 'unknown', reason: why }))
        files.push({ path: file, digest: null, bytes: null, truncated: null, local_to_machine: true })
        continue
      }
      let truncated: MemoryFile['truncated'] = null
      if (file === path.join(root, SUMMARY)) {
        const cut = cutSummary(trimmed(read.bytes.toString('utf8')))
        const reason = off ?? (cut.text === '' ? 'blank' : null)
        const source = makeSource({
          ...draft,
          raw: read.bytes,
          label: 'memory summary',
          rule: `trimmed, ${LONGEST} bytes at most, between markers in a developer part (${VERIFIED_VERSION})`,
          status: reason === null ? 'loaded' : 'not_loaded',
          reason,
          text: reason === null ? cut.text : null,
          truncated: reason === null ? cut.truncated : null,
        })
        if (reason === null) {
          summary = source
          truncated = cut.truncated
        } else others.push(source)
      } else
        others.push(
          makeSource({
            ...draft,
            raw: read.bytes,
            status: off === null ? 'lazy' : 'not_loaded',
            reason: off ?? `only ${SUMMARY} enters the context at start`,
            trigger: off === null ? 'the model reads it' : null,
          }),
        )
      files.push({ path: file, digest: bytesDigest(read.bytes), bytes: read.size, truncated, local_to_machine: true })
    }
  }
  walk(root)
  return { summary, others, files, enabled: off === null, unknown }
}
