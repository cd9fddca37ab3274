import path from 'node:path'
import type { InstructionReader } from './instruction-files.ts'
import { agentsFiles, boundToPaths, type InstructionPlaces, type InstructionSwitches } from './instruction-places.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

/** A walk below the start directory looks at this many names and then says what it left out. */
export const MOST_NAMES = 20_000

export interface NestedConfiguration {
  readonly lazy: readonly Source[]
  readonly leftOut: readonly Source[]
  /** `.claude/skills` folders below the start directory. */
  readonly skillDirs: readonly string[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

/**
 * Configuration below the start directory, which comes in when a file beside or below it is touched. Breadth first, so that the bound
 * cuts off the deepest folders; `node_modules` come last (the runtime reads them as well), `.git` never (nothing is edited there).
 */
export function findNestedConfiguration(
  places: InstructionPlaces,
  switches: InstructionSwitches,
  openReader: () => InstructionReader,
  useAgentsFile: boolean,
): NestedConfiguration {
  const { disk, cwd } = places
  const unknown: { field: string; why: string }[] = []
  if (cwd === places.userHome || path.dirname(cwd) === cwd) {
    unknown.push({
      field: 'instructions.sources',
      why: `${cwd} is a home or root directory; instruction files below it were not searched`,
    })
    return { lazy: [], leftOut: [], skillDirs: [], unknown }
  }
  const found: string[] = []
  const skillDirs: string[] = []
  const late: string[] = []
  let queue = [cwd]
  let names = 0
  let unread = 0
  let firstUnread = ''
  while (queue.length > 0) {
    const next: string[] = []
    for (const directory of queue) {
      if (names > MOST_NAMES) {
        unread += 1
        firstUnread ||= directory
        continue
      }
      const listing = disk.list(directory)
      if (listing.state === 'unreadable')
        unknown.push({ field: 'instructions.sources', why: `${directory}: ${listing.why}` })
      if (listing.state !== 'ok') continue
      names += listing.entries.length
      let holds = false
      for (const entry of listing.entries) {
        const isFolder = entry.kind === 'directory' || (entry.kind === 'link' && entry.name === '.claude')
        if (entry.name === 'CLAUDE.md' || entry.name === 'CLAUDE.local.md' || entry.name === 'AGENTS.md') holds = true
        else if (entry.name === '.claude' && isFolder) {
          holds = true
          if (directory !== cwd && disk.isDirectory(path.join(directory, '.claude', 'skills'))) {
            skillDirs.push(path.join(directory, '.claude', 'skills'))
          }
        } else if (entry.kind === 'directory' && entry.name !== '.git' && entry.nameBytes === null) {
          if (entry.name === 'node_modules') late.push(path.join(directory, entry.name))
          else next.push(path.join(directory, entry.name))
        }
      }
      if (holds && directory !== cwd) found.push(directory)
    }
    queue = next.length > 0 ? next : late.splice(0)
  }
  if (unread > 0) {
    unknown.push({
      field: 'instructions.sources',
      why: `instruction files below ${unread} folders were not searched (first: ${firstUnread}); the search stops after ${MOST_NAMES} names`,
    })
  }

  const lazy: Source[] = []
  const leftOut: Source[] = []
  for (const directory of found.sort(byDepth)) {
    // Each touch is a pass of its own, so that an earlier folder does not hide what a later one imports.
    const reader = openReader()
    const isBelow = (source: Source): Source => ({
      ...source,
      status: 'lazy',
      trigger: `a file below ${directory} is read, written or edited`,
      lazy: { when: 'directory', directory },
      rule: `nested instructions come in when a file beside or below them is touched (${VERIFIED_VERSION})`,
    })
    if (switches.project) {
      for (const name of ['CLAUDE.md', '.claude/CLAUDE.md']) {
        for (const { source } of reader.readFile(path.join(directory, name), 'Project', 'instructions', 'path'))
          lazy.push(isBelow(source))
      }
    }
    if (switches.local) {
      for (const { source } of reader.readFile(
        path.join(directory, 'CLAUDE.local.md'),
        'Local',
        'instructions',
        'path',
      ))
        lazy.push(isBelow(source))
    }
    if (switches.project) {
      const rules = reader.readRules(path.join(directory, '.claude', 'rules'), 'Project', 'path')
      for (const { source, patterns } of rules) if (patterns === null) lazy.push(isBelow(source))
      for (const { source, patterns } of rules)
        if (patterns !== null) lazy.push(boundToPaths(source, directory, patterns))
      for (const file of agentsFiles(directory)) {
        if (!useAgentsFile) {
          if (disk.exists(file)) {
            leftOut.push(
              makeSource({
                path: file,
                scope: 'path',
                kind: 'instructions',
                status: 'not_loaded',
                reason: 'AGENTS.md is read only while no CLAUDE.md or CLAUDE.local.md with text stands in the walk',
              }),
            )
          }
        } else if (path.dirname(file) === directory) {
          for (const { source } of reader.readFile(file, 'Project', 'instructions', 'path')) {
            lazy.push({
              ...isBelow(source),
              label: null,
              trigger: `a file in ${directory} is read`,
              rule: `AGENTS.md of a nested folder arrives as a message of its own (${VERIFIED_VERSION})`,
            })
          }
        }
      }
    }
  }
  return { lazy, leftOut, skillDirs, unknown }
}

const byDepth = (a: string, b: string): number =>
  a.split(path.sep).length - b.split(path.sep).length || (a < b ? -1 : a > b ? 1 : 0)
