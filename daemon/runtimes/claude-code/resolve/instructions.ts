import path from 'node:path'
import { isInside } from '../../shared/disk.ts'
import { type InstructionFile, type InstructionGroup, labels, openInstructionReader } from './instruction-files.ts'
import {
  agentsFiles,
  ancestorsOf,
  boundToPaths,
  type InstructionPlaces,
  type InstructionSwitches,
} from './instruction-places.ts'
import type { ResolvedMemory } from './memory.ts'
import { findNestedConfiguration } from './nested.ts'
import { fileUri, makeSource, type Source, SourceList, VERIFIED_VERSION } from './sources.ts'

export interface ResolvedInstructions {
  /** In the order in which they enter the context. */
  readonly loaded: readonly Source[]
  /** In the order in which one touch would bring them in. */
  readonly lazy: readonly Source[]
  readonly leftOut: readonly Source[]
  readonly nestedSkillDirs: readonly string[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

export function resolveInstructions(
  places: InstructionPlaces,
  switches: InstructionSwitches,
  memory: ResolvedMemory,
): ResolvedInstructions {
  const { disk, cwd, configDir, managedDir } = places
  const leftOut = new SourceList()
  const reader = (externalApproved: boolean, misses: SourceList) =>
    openInstructionReader({
      disk,
      cwd,
      userHome: places.userHome,
      externalApproved,
      excludes: switches.excludes,
      leftOut: misses,
    })
  const start = reader(switches.externalApproved, leftOut)
  // What comes in later is judged without the approval, whether it was given or not.
  const lazyReader = () => reader(false, leftOut)
  const loaded: Source[] = []
  const userPathRules: Source[] = []
  const projectPathRules: Source[] = []
  let projectFiles = 0

  /** Takes what enters now and keeps what its paths bind for later. */
  const take = (
    files: readonly InstructionFile[],
    base: string,
    later: Source[] | null,
    reachableLater: ReadonlySet<string | null> | null = null,
  ): void => {
    for (const { source, patterns } of files) {
      if (patterns === null || source.kind === 'instructions') loaded.push(source)
      else if (later === null)
        leftOut.add({
          ...source,
          status: 'not_loaded',
          reason: 'bound to paths, and rules of added directories are never matched',
        })
      else if (reachableLater !== null && !reachableLater.has(source.path))
        leftOut.add({
          ...source,
          status: 'not_loaded',
          reason: 'bound to paths and outside the start directory: the approval counts only at start',
        })
      else later.push(boundToPaths(source, base, patterns))
    }
  }
  /** Files whose front matter cannot bind them: CLAUDE.md and everything it imports. */
  const takeAll = (files: readonly InstructionFile[]): number => {
    for (const { source } of files) loaded.push(source)
    return files.length
  }

  // 1. Managed
  takeAll(start.readFile(path.join(managedDir, 'CLAUDE.md'), 'Managed', 'instructions'))
  if (switches.managedText !== null) {
    // Only trimmed: comments in it stay.
    const text = switches.managedText.text.trim()
    if (text !== '') {
      loaded.push(
        makeSource({
          path: '<managed-settings>',
          uri: `${fileUri(switches.managedText.file)}#claudeMd`,
          scope: 'managed',
          kind: 'instructions',
          status: 'loaded',
          label: labels.Managed,
          rule: `claudeMd of the managed settings; the last file that sets it wins (${VERIFIED_VERSION})`,
          text,
        }),
      )
    }
  }
  take(start.readRules(path.join(managedDir, '.claude', 'rules'), 'Managed'), cwd, userPathRules)

  // 2. User
  const userFile = path.join(configDir, 'CLAUDE.md')
  if (switches.user) {
    takeAll(start.readFile(userFile, 'User', 'instructions'))
    take(start.readRules(path.join(configDir, 'rules'), 'User'), cwd, userPathRules)
  }

  // 3. Ancestors, outermost first
  const ancestors = ancestorsOf(cwd)
  const useAgentsFile =
    switches.agentsFileOff === null && switches.project && !hasOwnInstructions(places, switches, ancestors)
  for (const directory of ancestors) {
    const scope = scopeOf(directory, places)
    const shared = switches.project && !inMainBehindWorktree(directory, places)
    if (shared) {
      projectFiles += takeAll(start.readFile(path.join(directory, 'CLAUDE.md'), 'Project', 'instructions', scope))
      projectFiles += takeAll(
        start.readFile(path.join(directory, '.claude', 'CLAUDE.md'), 'Project', 'instructions', scope),
      )
      const rules = path.join(directory, '.claude', 'rules')
      const found = start.readRules(rules, 'Project', scope)
      take(
        found,
        directory,
        projectPathRules,
        switches.externalApproved ? pathsOf(lazyReader().readRules(rules, 'Project', scope)) : null,
      )
      if (useAgentsFile && directory !== cwd) {
        for (const name of agentsFiles(directory)) takeAll(start.readFile(name, 'Project', 'instructions', scope))
      }
    }
    if (switches.local)
      takeAll(start.readFile(path.join(directory, 'CLAUDE.local.md'), 'Local', 'instructions', 'local'))
  }

  // 4. Directories given with --add-dir
  if (switches.addedDirsCount) {
    for (const directory of places.addedDirs) {
      if (switches.project) {
        takeAll(start.readFile(path.join(directory, 'CLAUDE.md'), 'Project', 'instructions', 'added directory'))
        takeAll(
          start.readFile(path.join(directory, '.claude', 'CLAUDE.md'), 'Project', 'instructions', 'added directory'),
        )
        take(start.readRules(path.join(directory, '.claude', 'rules'), 'Project', 'added directory'), directory, null)
      }
      if (switches.local)
        takeAll(start.readFile(path.join(directory, 'CLAUDE.local.md'), 'Local', 'instructions', 'local'))
    }
  }

  // The fallback files of the start directory itself come after those of added directories.
  if (useAgentsFile) {
    for (const name of agentsFiles(cwd)) takeAll(start.readFile(name, 'Project', 'instructions', 'project'))
  }

  noteWhatHasNoPlace(places, switches, ancestors, useAgentsFile, projectFiles > 0, leftOut)

  // 5. Automatic memory
  if (memory.index !== null) {
    if (memory.index.status === 'loaded') loaded.push(memory.index)
    else leftOut.add(memory.index)
  }

  const nested = findNestedConfiguration(places, switches, lazyReader, useAgentsFile)
  for (const source of nested.leftOut) leftOut.add(source)
  const lazy = [...userPathRules, ...nested.lazy, ...projectPathRules]
  for (const topic of memory.topics) {
    if (topic.status === 'lazy') lazy.push(topic)
    else leftOut.add(topic)
  }
  if (switches.allOff !== null) {
    const off = switches.allOff
    const silent = (source: Source): Source => ({
      ...source,
      status: 'not_loaded',
      reason: off,
      lazy: null,
      trigger: null,
    })
    for (const source of [...loaded, ...lazy]) leftOut.add(silent(source))
    return { loaded: [], lazy: [], leftOut: leftOut.all(), nestedSkillDirs: nested.skillDirs, unknown: nested.unknown }
  }
  return {
    loaded,
    lazy: unique(lazy, new Set(loaded.map((source) => source.uri))),
    leftOut: leftOut.all(),
    nestedSkillDirs: nested.skillDirs,
    unknown: nested.unknown,
  }
}

function scopeOf(directory: string, places: InstructionPlaces): string {
  if (directory === places.cwd) return 'project'
  return places.repository !== null && isInside(directory, places.repository.top) ? 'project' : 'parent folder'
}

/** A linked work tree inside its main checkout does not load the main checkout's shared files a second time. */
function inMainBehindWorktree(directory: string, { repository }: InstructionPlaces): boolean {
  if (repository === null || repository.top === repository.main || !isInside(repository.top, repository.main))
    return false
  return isInside(directory, repository.main) && !isInside(directory, repository.top)
}

/**
 * Whether a Project or Local instruction file with text stands anywhere in the walk. A CLAUDE.local.md counts even while local files are
 * switched off; an excluded file does not count (2.1.332).
 */
function hasOwnInstructions(
  places: InstructionPlaces,
  switches: InstructionSwitches,
  ancestors: readonly string[],
): boolean {
  const probe = openInstructionReader({
    disk: places.disk,
    cwd: places.cwd,
    userHome: places.userHome,
    externalApproved: false,
    excludes: switches.excludes,
    leftOut: new SourceList(),
  })
  // What is loaded as a user file is none of the project's.
  if (switches.user) probe.readFile(path.join(places.configDir, 'CLAUDE.md'), 'User', 'instructions')
  return ancestors.some((directory) => {
    const shared = inMainBehindWorktree(directory, places)
      ? []
      : [path.join(directory, 'CLAUDE.md'), path.join(directory, '.claude', 'CLAUDE.md')]
    return [...shared, path.join(directory, 'CLAUDE.local.md')].some(
      (file) => probe.readFile(file, 'Project', 'instructions').length > 0,
    )
  })
}

/** Files that look as if they counted and do not: each is listed with its reason. */
function noteWhatHasNoPlace(
  places: InstructionPlaces,
  switches: InstructionSwitches,
  ancestors: readonly string[],
  useAgentsFile: boolean,
  hasProjectFiles: boolean,
  leftOut: SourceList,
): void {
  const { disk, configDir } = places
  const note = (file: string, scope: string, reason: string, kind: Source['kind'] = 'instructions'): void => {
    const found = disk.read(file)
    if (found.state === 'missing' || found.state === 'directory') return
    leftOut.add(
      makeSource({
        path: file,
        scope,
        kind,
        status: 'not_loaded',
        reason,
        ...(found.state === 'ok' ? { raw: found.bytes } : {}),
      }),
    )
  }
  const noteRules = (directory: string, scope: string, group: InstructionGroup, reason: string): void => {
    const idle = openInstructionReader({
      disk,
      cwd: places.cwd,
      userHome: places.userHome,
      externalApproved: true,
      excludes: [],
      leftOut: new SourceList(),
    })
    for (const { source } of idle.readRules(directory, group, scope))
      leftOut.add({ ...source, status: 'not_loaded', reason })
  }
  note(path.join(configDir, 'CLAUDE.local.md'), 'user', 'there is no local file at user level')
  const sourceOff = (name: string): string => `the start flags leave out the setting source "${name}"`
  if (!switches.user) {
    note(path.join(configDir, 'CLAUDE.md'), 'user', sourceOff('user'))
    noteRules(path.join(configDir, 'rules'), 'user', 'User', sourceOff('user'))
  }
  for (const directory of ancestors) {
    const scope = scopeOf(directory, places)
    const behind = inMainBehindWorktree(directory, places)
    if (behind || !switches.project) {
      const reason = behind
        ? 'belongs to the main checkout around this linked work tree, which has its own copy'
        : sourceOff('project')
      note(path.join(directory, 'CLAUDE.md'), scope, reason)
      if (path.join(directory, '.claude') !== configDir) {
        note(path.join(directory, '.claude', 'CLAUDE.md'), scope, reason)
        noteRules(path.join(directory, '.claude', 'rules'), scope, 'Project', reason)
      }
    }
    if (!switches.local) note(path.join(directory, 'CLAUDE.local.md'), 'local', sourceOff('local'))
    if (!ancestors.includes(path.join(directory, '.claude'))) {
      note(
        path.join(directory, '.claude', 'CLAUDE.local.md'),
        'local',
        'only a CLAUDE.local.md directly in a directory of the walk counts, not one in its .claude folder',
      )
    }
    for (const name of ['claude.md', 'Claude.md', 'CLAUDE.MD']) {
      const file = path.join(directory, name)
      if (disk.realPath(file) === file) note(file, scope, 'file names are case sensitive: only CLAUDE.md is read')
    }
    if (!useAgentsFile || behind) {
      const why =
        switches.agentsFileOff ??
        (!switches.project
          ? sourceOff('project')
          : behind
            ? 'belongs to the main checkout around this linked work tree'
            : null) ??
        `AGENTS.md is read only while no CLAUDE.md or CLAUDE.local.md with text stands in the walk${hasProjectFiles ? '' : ' (a CLAUDE.local.md counts even when local files are off)'}`
      for (const file of agentsFiles(directory)) note(file, scope, why)
    }
  }
  for (const directory of places.addedDirs) {
    if (switches.addedDirsCount) {
      for (const file of agentsFiles(directory))
        note(file, 'added directory', 'AGENTS.md of added directories is not read')
      continue
    }
    const why = 'instructions of added directories are read only with CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD=1'
    for (const name of ['CLAUDE.md', '.claude/CLAUDE.md', 'CLAUDE.local.md'])
      note(path.join(directory, name), 'added directory', why)
    noteRules(path.join(directory, '.claude', 'rules'), 'added directory', 'Project', why)
  }
}

const pathsOf = (files: readonly InstructionFile[]): ReadonlySet<string | null> =>
  new Set(files.map(({ source }) => source.path))

function unique(sources: readonly Source[], loaded: ReadonlySet<string>): readonly Source[] {
  const seen = new Set(loaded)
  return sources.filter((source) => {
    if (seen.has(source.uri)) return false
    seen.add(source.uri)
    return true
  })
}
