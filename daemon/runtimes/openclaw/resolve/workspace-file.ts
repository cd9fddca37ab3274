import fs from 'node:fs'
import type { Disk } from '../../shared/disk.ts'

/** What the runtime makes of one file of a workspace. */
export type WorkspaceFile =
  | { readonly state: 'text'; readonly raw: Buffer; readonly text: string }
  | { readonly state: 'missing' }
  /** `marker` is what the runtime puts in place of the text; null when its words are not known. */
  | {
      readonly state: 'unreadable'
      readonly marker: string | null
      readonly why: string
      readonly raw: Buffer | null
      readonly isLink?: boolean
    }

const LARGEST = 2 * 1024 * 1024

const unreadable = (said: string, why: string, raw: Buffer | null = null): WorkspaceFile & { state: 'unreadable' } => ({
  state: 'unreadable',
  marker: `[UNREADABLE: ${said}]`,
  why,
  raw,
})

/** Links and hard links are refused even when they stay in the workspace (2026.9.6). */
export function readWorkspaceFile(disk: Disk, file: string): WorkspaceFile {
  let found: fs.Stats | undefined
  try {
    found = fs.lstatSync(file, { throwIfNoEntry: false })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
    return code === 'ENOTDIR'
      ? { state: 'missing' }
      : { state: 'unreadable', marker: null, why: `cannot be read (${code})`, raw: null }
  }
  if (found === undefined) return { state: 'missing' }
  if (found.isSymbolicLink())
    return {
      ...unreadable(
        'symlink path component not allowed',
        'it is a symbolic link, which the runtime refuses even inside the workspace',
      ),
      isLink: true,
    }
  if (!found.isFile()) return unreadable('path does not have the required file type', 'it is no regular file')
  const read = disk.read(file, LARGEST)
  const raw = read.state === 'ok' ? read.bytes : null
  if (found.nlink > 1)
    return unreadable('path must not be hardlinked', 'it has a second name (hard link), which the runtime refuses', raw)
  if (read.state === 'too_large' || found.size > LARGEST)
    return unreadable(`File exceeds ${LARGEST} bytes`, `larger than 2 MiB (${found.size} bytes)`)
  if (read.state === 'missing') return { state: 'missing' }
  if (read.state !== 'ok')
    return {
      state: 'unreadable',
      marker: null,
      why: read.state === 'unreadable' ? read.why : `it is ${read.state}`,
      raw: null,
    }
  return { state: 'text', raw: read.bytes, text: read.bytes.toString('utf8') }
}

/** Names are compared byte for byte, also where the file system ignores case. */
export function hasExactName(disk: Disk, folder: string, name: string): boolean {
  const names = disk.names(folder)
  return Array.isArray(names) && names.some((entry) => entry.name === name)
}
