import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { ManifestBody } from '../../../contract/index.ts'
import { isCredentialFile } from '../../secrets/credential-files.ts'

/** Beyond these a folder is not carried along; what is left out is named in the manifest. */
export interface BesideLimits {
  readonly fileBytes: number
  readonly folderBytes: number
  readonly folderFiles: number
  readonly depth: number
}
export const BESIDE_LIMITS: BesideLimits = {
  fileBytes: 2 * 1024 * 1024,
  folderBytes: 16 * 1024 * 1024,
  folderFiles: 500,
  depth: 8,
}
/** Fetched and built things: they come back by installing them again. */
const FETCHED = new Set(['node_modules', '.git', '__pycache__', '.venv', 'venv', 'target', 'dist', '.cache'])

type BesideFile = NonNullable<ManifestBody['capabilities']['files']>[number]

/**
 * A body with what behaviour rests on beside its sources (R1: a rollback brings back behaviour, not only words): the other files of skill, hook
 * and plugin folders, the scripts that hooks call, and the mode of every source that is a file.
 */
export function withBesideFiles(
  body: ManifestBody,
  place: { readonly userHome: string },
  limits: BesideLimits = BESIDE_LIMITS,
): ManifestBody {
  const sources = body.instructions.sources.map((source) => {
    const mode = source.path === null || source.digest === null ? null : modeOf(source.path)
    return mode === null ? source : { ...source, mode }
  })
  const known = new Set(sources.flatMap((source) => (source.path === null ? [] : [source.path])))
  const files = new Map<string, BesideFile>()
  const leftOut = new Map<string, string>()
  const take = (file: string, of: string): number => {
    if (known.has(file) || files.has(file) || leftOut.has(file)) return 0
    if (isCredentialFile(file)) leftOut.set(file, 'a credential: never copied')
    else {
      const read = digestOf(file, limits.fileBytes)
      if (typeof read === 'string') leftOut.set(file, read)
      else {
        files.set(file, { path: file, ...read, of })
        return read.bytes
      }
    }
    return 0
  }
  const folders = foldersOf(body)
  for (const [folder, of] of folders) {
    // A folder inside another one belongs to the inner one only.
    const budget = { bytes: limits.folderBytes, files: limits.folderFiles }
    walk(folder, 0, (file) => {
      if (budget.files <= 0 || budget.bytes <= 0)
        return leftOut.set(folder, 'the folder is larger than is kept') && false
      budget.files -= 1
      budget.bytes -= take(file, of)
      return true
    })
  }
  for (const { source, description } of body.capabilities.hooks) {
    if (description === null) continue
    for (const script of scriptsOf(description, body.execution.cwd, place.userHome)) take(script, source)
  }
  const sorted = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1))
  return {
    ...body,
    instructions: { ...body.instructions, sources },
    capabilities: {
      ...body.capabilities,
      ...(sorted.length === 0 ? {} : { files: sorted }),
      ...(leftOut.size === 0 ? {} : { files_left_out: [...leftOut].map(([file, why]) => ({ path: file, why })) }),
    },
  }

  function walk(folder: string, depth: number, visit: (file: string) => boolean): boolean {
    let entries: fs.Dirent[]
    try {
      entries = fs.readdirSync(folder, { withFileTypes: true })
    } catch {
      return true
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const file = path.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (FETCHED.has(entry.name) || folders.has(file)) continue
        if (depth >= limits.depth) leftOut.set(file, 'deeper than is looked')
        else if (!walk(file, depth + 1, visit)) return false
      } else if (entry.isSymbolicLink()) leftOut.set(file, 'a link; what it leads to is not carried along')
      else if (entry.isFile() && !known.has(file) && !visit(file)) return false
    }
    return true
  }
}

/** Folders whose files belong together, by the file that makes them one. */
function foldersOf(body: ManifestBody): ReadonlyMap<string, string> {
  const folders = new Map<string, string>()
  for (const { path: file, kind, uri, digest } of body.instructions.sources) {
    if (file === null || digest === null) continue
    const name = path.basename(file)
    if ((kind === 'skill' && name === 'SKILL.md') || (kind === 'hook' && name === 'HOOK.md'))
      folders.set(path.dirname(file), uri)
    // A plugin keeps its own manifest, in most runtimes in a folder of its own.
    if (kind === 'plugin' && /plugin\.json$/.test(name)) {
      const folder = path.dirname(file)
      folders.set(/^\.\w+-plugin$/.test(path.basename(folder)) ? path.dirname(folder) : folder, uri)
    }
  }
  return folders
}

/** Files a command names, as its shell would find them. */
function scriptsOf(command: string, cwd: string | null, userHome: string): readonly string[] {
  const words = command.match(/"[^"]*"|'[^']*'|[^\s;&|<>]+/g) ?? []
  return words.flatMap((word) => {
    const plain = word
      .replace(/^["']|["']$/g, '')
      .replace(/^~(?=\/)/, userHome)
      .replace(/^\$(?:HOME|\{HOME\})(?=\/)/, userHome)
      .replace(/^"?\$(?:CLAUDE_PROJECT_DIR|\{CLAUDE_PROJECT_DIR\})"?(?=\/)/, cwd ?? '')
    if (!plain.includes('/') || /[$`*?{]/.test(plain)) return []
    const file = path.isAbsolute(plain) ? plain : cwd === null ? null : path.join(cwd, plain)
    // Programs of the system come with it.
    if (file === null || /^\/(?:usr|bin|sbin|opt|etc|System|Library|nix)\//.test(file)) return []
    return fs.statSync(file, { throwIfNoEntry: false })?.isFile() ? [path.normalize(file)] : []
  })
}

function modeOf(file: string): number | null {
  try {
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    return stat?.isFile() ? stat.mode & 0o7777 : null
  } catch {
    return null
  }
}

/** Read again only when size, time or inode differ: a look at a home with hundreds of skills costs a `stat` each. */
const digests = new Map<string, string>()
const MOST_KNOWN = 50_000

function digestOf(
  file: string,
  largest: number,
): { readonly digest: string; readonly bytes: number; readonly mode: number } | string {
  try {
    const stat = fs.statSync(file, { throwIfNoEntry: false })
    if (!stat?.isFile()) return 'not there any more'
    if (stat.size > largest) return `${stat.size} bytes, more than is kept of such a file`
    const key = `${file}\0${stat.size}\0${stat.mtimeMs}\0${stat.ctimeMs}\0${stat.ino}`
    let digest = digests.get(key)
    if (digest === undefined) {
      digest = `sha256:${createHash('sha256').update(fs.readFileSync(file)).digest('hex')}`
      if (digests.size >= MOST_KNOWN) digests.clear()
      digests.set(key, digest)
    }
    return { digest, bytes: stat.size, mode: stat.mode & 0o7777 }
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
}
