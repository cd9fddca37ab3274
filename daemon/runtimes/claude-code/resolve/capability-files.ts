import path from 'node:path'
import type { Digest } from '../../../../contract/index.ts'
import { bytesDigest, type Disk } from '../../shared/disk.ts'
import { readFrontMatter } from '../../shared/front-matter.ts'

/** One place where skills, commands, agents and output styles are looked for. */
export interface CapabilityRoot {
  readonly scope: 'managed' | 'user' | 'project' | 'added directory' | 'plugin'
  readonly directory: string
  readonly off: string | null
  readonly prefix: string
}

export interface FoundCapability {
  readonly name: string
  readonly file: string
  readonly root: CapabilityRoot
  readonly keys: Readonly<Record<string, unknown>>
  readonly digest: Digest | null
  readonly raw: Uint8Array
  /** What stands for the description of a skill or command that has none. */
  readonly firstLine: string | null
}

/** A skill folder with more files or bytes than this is digested by its SKILL.md alone, and said so. */
const MOST_SKILL_FILES = 300

export function findSkills(
  disk: Disk,
  directory: string,
  root: CapabilityRoot,
  unknown: { field: string; why: string }[],
): FoundCapability[] {
  const listing = disk.list(directory)
  if (listing.state === 'unreadable')
    unknown.push({ field: 'capabilities.skills', why: `${directory}: ${listing.why}` })
  if (listing.state !== 'ok') return []
  return listing.entries.flatMap((entry): FoundCapability[] => {
    const folder = path.join(directory, entry.name)
    const file = path.join(folder, 'SKILL.md')
    const found = disk.read(file)
    if (found.state === 'unreadable') unknown.push({ field: 'capabilities.skills', why: `${file}: ${found.why}` })
    if (found.state !== 'ok') return []
    const { keys, body } = readFrontMatter(found.bytes.toString('utf8'))
    return [
      {
        name: root.prefix + entry.name,
        file,
        root,
        keys,
        raw: found.bytes,
        firstLine: firstLineOf(body),
        digest: folderDigest(disk, folder, unknown),
      },
    ]
  })
}

/** Over all files of the folder, so that a changed script below a skill shows. */
function folderDigest(disk: Disk, folder: string, unknown: { field: string; why: string }[]): Digest | null {
  const parts: string[] = []
  let files = 0
  const visited = new Set<string>()
  const walk = (directory: string, prefix: string): void => {
    const real = disk.realPath(directory)
    if (real === null || visited.has(real)) return
    visited.add(real)
    const listing = disk.list(directory)
    if (listing.state !== 'ok') return
    for (const entry of [...listing.entries].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const place = path.join(directory, entry.name)
      if (disk.isDirectory(place)) {
        walk(place, `${prefix}${entry.name}/`)
        continue
      }
      files += 1
      if (files > MOST_SKILL_FILES) continue
      const found = disk.read(place)
      parts.push(`${prefix}${entry.name}\0${found.state === 'ok' ? bytesDigest(found.bytes) : found.state}\0`)
    }
  }
  walk(folder, '')
  if (files > MOST_SKILL_FILES) {
    unknown.push({
      field: 'capabilities.skills',
      why: `${folder} holds ${files} files; its digest covers ${MOST_SKILL_FILES} of them`,
    })
  }
  return parts.length === 0 ? null : bytesDigest(parts.join(''))
}

export function findMarkdown(
  disk: Disk,
  directory: string,
  root: CapabilityRoot,
  unknown: { field: string; why: string }[],
): FoundCapability[] {
  const found: FoundCapability[] = []
  const visited = new Set<string>()
  const walk = (folder: string, prefix: string): void => {
    const real = disk.realPath(folder)
    if (real === null || visited.has(real)) return
    visited.add(real)
    const listing = disk.list(folder)
    if (listing.state === 'unreadable') unknown.push({ field: 'capabilities', why: `${folder}: ${listing.why}` })
    if (listing.state !== 'ok') return
    for (const entry of listing.entries) {
      const place = path.join(folder, entry.name)
      if (disk.isDirectory(place)) {
        walk(place, `${prefix}${entry.name}:`)
        continue
      }
      if (!entry.name.endsWith('.md')) continue
      const read = disk.read(place)
      if (read.state === 'unreadable') unknown.push({ field: 'capabilities', why: `${place}: ${read.why}` })
      if (read.state !== 'ok') continue
      const { keys, body } = readFrontMatter(read.bytes.toString('utf8'))
      const own = directory.endsWith('agents') || directory.endsWith('output-styles') ? keys.name : undefined
      const name = typeof own === 'string' ? own : prefix + entry.name.slice(0, -3)
      found.push({
        name: root.prefix + name,
        file: place,
        root,
        keys,
        raw: read.bytes,
        digest: bytesDigest(read.bytes),
        firstLine: firstLineOf(body),
      })
    }
  }
  walk(directory, '')
  return found
}

const firstLineOf = (body: string): string | null =>
  body
    .split('\n')
    .map((line) => line.trim())
    .find((line) => line !== '') ?? null
