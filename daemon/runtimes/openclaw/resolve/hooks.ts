import path from 'node:path'
import picomatch from 'picomatch'
import type { ManifestCapability } from '../../../../contract/index.ts'
import { bytesDigest, type Disk, isInside } from '../../shared/disk.ts'
import { readFrontMatter } from '../../shared/front-matter.ts'
import { BOOTSTRAP_FILES } from './bootstrap.ts'
import { branchesAt, namesAt, type Tree, toJson, valueAt } from './config-tree.ts'
import type { Places } from './places.ts'
import { makeSource, type Problem, type Source, type Unknown } from './sources.ts'
import type { Start } from './start.ts'

export interface ResolvedHooks {
  readonly hooks: readonly ManifestCapability[]
  readonly sources: readonly Source[]
  readonly unknown: readonly Unknown[]
  readonly problems: readonly Problem[]
  /** Files that the `bootstrap-extra-files` hook adds, absolute; empty where the hook has no effect. */
  readonly extraFiles: readonly string[]
  /** The same files, where the hook has no effect, with the reason. */
  readonly extraNotLoaded: { readonly files: readonly string[]; readonly why: string }
}

const EXTRA_FILES = 'bootstrap-extra-files'
const LOCAL = 'the hook works through the gateway and had no effect in embedded runs (2026.9.6)'
const MOST_WALKED = 20_000

export function resolveHooks(
  disk: Disk,
  tree: Tree,
  places: Places,
  start: Start,
  workspace: string | null,
): ResolvedHooks {
  const hooks: ManifestCapability[] = []
  const sources: Source[] = []
  const unknown: Unknown[] = []
  const problems: Problem[] = []
  const allOff = valueAt(tree, 'hooks', 'internal', 'enabled') === false ? 'hooks.internal.enabled is false' : null
  const entries = branchesAt(tree, 'hooks', 'internal', 'entries')
  const offOf = (name: string): string | null =>
    allOff ??
    (valueAt(tree, 'hooks', 'internal', 'entries', name, 'enabled') === false ? `its entry is disabled` : null)

  const folders = [
    ...(namesAt(tree, 'hooks', 'internal', 'load', 'extraDirs') ?? []).map(places.expand),
    path.join(places.startDir, 'hooks'),
    ...(workspace === null ? [] : [path.join(workspace, 'hooks')]),
  ]
  const seen = new Set<string>()
  for (const folder of folders) {
    const names = disk.names(folder)
    if (!Array.isArray(names)) continue
    for (const name of names.map((entry) => entry.name).sort()) {
      const file = path.join(folder, name, 'HOOK.md')
      const read = disk.read(file)
      if (read.state !== 'ok') continue
      const { keys } = readFrontMatter(read.bytes.toString('utf8'))
      const id = typeof keys.name === 'string' ? keys.name : name
      const isOwn = workspace !== null && isInside(folder, workspace)
      const isOn = valueAt(tree, 'hooks', 'internal', 'entries', id, 'enabled') === true
      const reason =
        offOf(id) ??
        (isOwn && !isOn ? 'hooks of a workspace run only when their entry enables them (documented)' : null)
      seen.add(id)
      sources.push(
        makeSource({
          path: file,
          scope: isOwn ? 'workspace' : 'managed',
          kind: 'hook',
          status: reason === null ? 'loaded' : 'not_loaded',
          reason,
          raw: read.bytes,
        }),
      )
      hooks.push({
        name: id,
        version: null,
        digest: bytesDigest(read.bytes),
        source: folder,
        status: reason === null ? 'active' : 'disabled',
        reason,
        description: typeof keys.description === 'string' ? keys.description : null,
        used: null,
        path: file,
      })
      if (reason === null && JSON.stringify(keys.metadata ?? '').includes('agent:bootstrap'))
        unknown.push({
          field: 'instructions',
          why: `the hook ${id} may rewrite the list of bootstrap files; hooks are not run here`,
        })
    }
  }
  for (const [name, entry] of entries) {
    if (seen.has(name)) continue
    const reason = offOf(name) ?? (name === EXTRA_FILES && start.surface !== 'gateway' ? LOCAL : null)
    hooks.push({
      name,
      version: null,
      digest: bytesDigest(JSON.stringify(toJson(entry))),
      source: entry.origin,
      status: reason === null ? 'active' : 'disabled',
      reason,
      description: null,
      used: null,
    })
  }

  const patterns = ['paths', 'patterns', 'files']
    .map((key) => namesAt(tree, 'hooks', 'internal', 'entries', EXTRA_FILES, key))
    .find((list) => list !== null && list.length > 0)
  const none = { files: [], why: '' }
  if (!patterns || workspace === null || offOf(EXTRA_FILES) !== null)
    return { hooks, sources, unknown, problems, extraFiles: [], extraNotLoaded: none }
  const files = expandPatterns(disk, workspace, patterns, problems, unknown)
  return start.surface === 'gateway'
    ? { hooks, sources, unknown, problems, extraFiles: files, extraNotLoaded: none }
    : { hooks, sources, unknown, problems, extraFiles: [], extraNotLoaded: { files, why: LOCAL } }
}

/** Only files with the base name of a bootstrap file, and only inside the workspace. */
function expandPatterns(
  disk: Disk,
  workspace: string,
  patterns: readonly string[],
  problems: Problem[],
  unknown: Unknown[],
): readonly string[] {
  const files = new Set<string>()
  const isPattern = (pattern: string): boolean => /[?*{}]/.test(pattern)
  const walked = patterns.some(isPattern) ? walk(disk, workspace, unknown) : []
  for (const pattern of patterns.map((one) => one.trim())) {
    const matches = picomatch(pattern.replace(/^\.\//, ''))
    const found = isPattern(pattern) ? walked.filter((name) => matches(name)) : [pattern]
    for (const name of found) {
      const file = path.resolve(workspace, name)
      if (!isInside(file, workspace))
        problems.push({ path: file, message: `${EXTRA_FILES}: ${pattern} leads out of the workspace` })
      else if (BOOTSTRAP_FILES.some((each) => each === path.basename(file))) files.add(file)
      else
        problems.push({ path: file, message: `${EXTRA_FILES}: ${path.basename(file)} is no name of a bootstrap file` })
    }
  }
  return [...files]
}

function walk(disk: Disk, workspace: string, unknown: Unknown[]): readonly string[] {
  const found: string[] = []
  const queue = ['']
  let entries = 0
  for (const folder of queue) {
    const names = disk.names(path.join(workspace, folder))
    if (!Array.isArray(names)) continue
    for (const entry of names) {
      entries += 1
      const name = path.posix.join(folder, entry.name)
      if (entry.isDirectory()) {
        if (entry.name !== '.git') queue.push(name)
      } else found.push(name)
    }
    if (entries > MOST_WALKED) {
      unknown.push({
        field: 'instructions',
        why: `${EXTRA_FILES}: the workspace holds more than ${MOST_WALKED} files; not all were compared with the patterns`,
      })
      break
    }
  }
  return found
}
