import path from 'node:path'
import type { Disk } from './disk.ts'
import { isInside } from './disk.ts'

export interface Repository {
  /** Top of the work tree that holds the start directory. */
  readonly top: string
  /** Top of the main work tree: the same, unless the start directory lies in a linked one. */
  readonly main: string
  readonly gitDir: string
  readonly commonDir: string
  readonly sha: string | null
  readonly branch: string | null
  /** Name of the linked work tree; null in the main one. */
  readonly worktree: string | null
  readonly submodules: readonly { readonly path: string; readonly sha: string }[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * Finds the repository by reading its small files. No git runs here: an untrusted repository's configuration must never execute, and a
 * resolution has 20 ms.
 */
export function findRepository(disk: Disk, cwd: string): Repository | null {
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    const dotGit = path.join(folder, '.git')
    if (disk.exists(dotGit)) {
      const gitDir = disk.isDirectory(dotGit) ? dotGit : gitFile(disk, dotGit)
      // A `.git` that is neither is no repository for git either, and the search goes on.
      if (gitDir !== null && disk.exists(path.join(gitDir, 'HEAD'))) return readRepository(disk, folder, gitDir)
    }
    if (path.dirname(folder) === folder) return null
  }
}

function gitFile(disk: Disk, file: string): string | null {
  const found = /^gitdir: (.+?)\s*$/.exec(textOf(disk, file) ?? '')
  return found?.[1] === undefined ? null : path.resolve(path.dirname(file), found[1])
}

function readRepository(disk: Disk, top: string, gitDir: string): Repository {
  const unknown: { field: string; why: string }[] = []
  const common = textOf(disk, path.join(gitDir, 'commondir'))?.trim()
  const commonDir = common ? path.resolve(gitDir, common) : gitDir
  // A submodule's git directory has no `commondir`; it is a repository of its own with its own main work tree.
  const linked = commonDir !== gitDir
  const main = linked && path.basename(commonDir) === '.git' ? path.dirname(disk.realPath(commonDir) ?? commonDir) : top
  if (linked && main === top)
    unknown.push({
      field: 'execution.repo.worktree',
      why: 'the main work tree of this linked work tree could not be found',
    })

  const head = textOf(disk, path.join(gitDir, 'HEAD'))?.trim() ?? ''
  const ref = /^ref: (.+)$/.exec(head)?.[1] ?? null
  let sha: string | null = null
  if (ref === null) sha = isSha(head) ? head : null
  else sha = resolveRef(disk, gitDir, commonDir, ref)
  if (sha === null) unknown.push({ field: 'execution.repo.sha', why: shaReason(disk, commonDir, ref) })
  return {
    top,
    main,
    gitDir,
    commonDir,
    sha,
    branch: ref?.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null,
    worktree: linked ? path.basename(gitDir) : null,
    submodules: submodules(disk, top, unknown),
    unknown,
  }
}

function shaReason(disk: Disk, commonDir: string, ref: string | null): string {
  if (disk.exists(path.join(commonDir, 'reftable')))
    return 'the repository keeps its refs in a reftable, which is not read here'
  return ref === null ? 'HEAD holds neither a ref nor an object id' : `${ref} does not exist yet`
}

function resolveRef(disk: Disk, gitDir: string, commonDir: string, ref: string): string | null {
  let name = ref
  for (let hop = 0; hop < 5; hop += 1) {
    const loose = (textOf(disk, path.join(gitDir, name)) ?? textOf(disk, path.join(commonDir, name)))?.trim()
    if (loose === undefined) break
    const next = /^ref: (.+)$/.exec(loose)?.[1]
    if (next === undefined) return isSha(loose) ? loose : null
    name = next
  }
  for (const line of (textOf(disk, path.join(commonDir, 'packed-refs')) ?? '').split('\n')) {
    const [sha = '', packed] = line.split(' ')
    if (packed === name && isSha(sha)) return sha
  }
  return null
}

/** Submodules named in `.gitmodules`, with the commit that is checked out. */
function submodules(
  disk: Disk,
  top: string,
  unknown: { field: string; why: string }[],
): { path: string; sha: string }[] {
  const text = textOf(disk, path.join(top, '.gitmodules'))
  if (text === null) return []
  const found: { path: string; sha: string }[] = []
  for (const match of text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)) {
    const place = (match[1] ?? '').replace(/^"(.*)"$/, '$1')
    const root = path.resolve(top, place)
    if (!isInside(root, top)) {
      unknown.push({ field: 'execution.repo.submodules', why: `${place} leads out of the repository` })
      continue
    }
    const dotGit = path.join(root, '.git')
    const gitDir = disk.isDirectory(dotGit) ? dotGit : gitFile(disk, dotGit)
    const head = gitDir === null ? null : (textOf(disk, path.join(gitDir, 'HEAD'))?.trim() ?? null)
    const ref = head === null ? null : /^ref: (.+)$/.exec(head)?.[1]
    const sha =
      gitDir === null || head === null ? null : ref ? resolveRef(disk, gitDir, gitDir, ref) : isSha(head) ? head : null
    if (sha === null) unknown.push({ field: 'execution.repo.submodules', why: `${place} is not checked out` })
    else found.push({ path: place, sha })
  }
  return found
}

const isSha = (text: string): boolean => /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(text)

function textOf(disk: Disk, file: string): string | null {
  const found = disk.read(file)
  return found.state === 'ok' ? found.bytes.toString('utf8') : null
}
