import path from 'node:path'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { labels } from './instruction-files.ts'
import { readInstructionText } from './markdown.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

const MOST_LINES = 200
const MOST_CHARACTERS = 25_000

/**
 * The paragraph the runtime puts under a cut index. Its wording is the vendor's and changes, so that ours stands for it: whoever reads
 * the text from a session record covers the vendor's paragraph with `coverMemoryNotice` before digesting it.
 */
export const MEMORY_NOTICE = '> WARNING: MEMORY.md is longer than the runtime loads; the rest was cut off.'

export function coverMemoryNotice(text: string): string {
  return text.replace(/\n\n> WARNING: MEMORY\.md is [^\n]*$/, `\n\n${MEMORY_NOTICE}`)
}

export interface CutMemory {
  readonly text: string
  readonly truncated: { readonly at: number; readonly unit: string } | null
}

/** Cuts an index as 2.1.332 does: 200 lines or 25,000 UTF-16 units, whichever comes first, at a line end where there is one. */
export function cutMemory(text: string): CutMemory {
  const lines = text.split('\n')
  const tooManyLines = lines.length > MOST_LINES
  if (!tooManyLines && text.length <= MOST_CHARACTERS) return { text, truncated: null }
  let kept = tooManyLines ? lines.slice(0, MOST_LINES).join('\n') : text
  let truncated = { at: MOST_LINES, unit: 'lines' }
  if (kept.length > MOST_CHARACTERS) {
    const lineEnd = kept.lastIndexOf('\n', MOST_CHARACTERS)
    kept = kept.slice(0, lineEnd > 0 ? lineEnd : MOST_CHARACTERS)
    truncated = { at: kept.length, unit: 'characters' }
  }
  return { text: `${kept}\n\n${MEMORY_NOTICE}`, truncated }
}

export interface MemoryFile {
  readonly path: string
  readonly digest: string | null
  readonly bytes: number | null
  readonly truncated: { readonly at: number; readonly unit: string } | null
  /** Memory belongs to this machine and is never repository configuration (R29, R30). */
  readonly local_to_machine: true
}

export interface ResolvedMemory {
  readonly index: Source | null
  readonly topics: readonly Source[]
  readonly files: readonly MemoryFile[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/** `whyOff`: null when automatic memory is on. Its files are listed all the same. */
export function readMemory(disk: Disk, directory: string, whyOff: string | null): ResolvedMemory {
  const topics: Source[] = []
  const files: MemoryFile[] = []
  const unknown: { field: string; why: string }[] = []
  let index: Source | null = null
  const visited = new Set<string>()

  const walk = (folder: string): void => {
    const real = disk.realPath(folder)
    if (real === null || visited.has(real)) return
    visited.add(real)
    const found = disk.list(folder)
    if (found.state === 'unreadable') unknown.push({ field: 'context.memory', why: `${folder}: ${found.why}` })
    if (found.state !== 'ok') return
    for (const entry of [...found.entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name)
      if (entry.kind === 'directory') {
        walk(file)
        continue
      }
      const read = disk.read(file)
      const draft = {
        path: file,
        scope: 'memory',
        kind: 'memory' as const,
        ...(entry.nameBytes ? { pathBytes: entry.nameBytes } : {}),
      }
      if (read.state !== 'ok') {
        const why =
          read.state === 'too_large'
            ? `larger than 4 MiB (${read.size} bytes)`
            : read.state === 'unreadable'
              ? read.why
              : `it is ${read.state}`
        topics.push(makeSource({ ...draft, status: 'unknown', reason: why }))
        files.push({ path: file, digest: null, bytes: null, truncated: null, local_to_machine: true })
        continue
      }
      let truncated: MemoryFile['truncated'] = null
      if (file === path.join(directory, 'MEMORY.md')) {
        const cut = cutMemory(readInstructionText(read.bytes).text)
        truncated = cut.truncated
        const empty = cut.text === ''
        index = makeSource({
          ...draft,
          raw: read.bytes,
          status: whyOff === null && !empty ? 'loaded' : 'not_loaded',
          reason: whyOff ?? (empty ? 'empty file' : null),
          label: labels.AutoMem,
          rule: `automatic memory index, first ${MOST_LINES} lines or ${MOST_CHARACTERS} characters (${VERIFIED_VERSION})`,
          text: empty ? null : cut.text,
          truncated,
        })
      } else {
        topics.push(
          makeSource({
            ...draft,
            raw: read.bytes,
            status: whyOff === null ? 'lazy' : 'not_loaded',
            reason: whyOff ?? 'only MEMORY.md enters the context at start; imports in it are not followed',
            trigger: whyOff === null ? 'the model reads it' : null,
          }),
        )
      }
      files.push({ path: file, digest: bytesDigest(read.bytes), bytes: read.size, truncated, local_to_machine: true })
    }
  }
  walk(directory)
  return { index, topics, files, unknown }
}
