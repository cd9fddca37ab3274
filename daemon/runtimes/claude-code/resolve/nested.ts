import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import type { InstructionReader } from './instruction-files.ts'
import { agentsFiles, boundToPaths, type InstructionPlaces, type InstructionSwitches } from './instruction-places.ts'
import { makeSource, type Source, VERIFIED_VERSION } from './sources.ts'

/** A walk below the start directory looks at this many names and then says what it left out; at `node_modules` at far fewer. */
export const MOST_NAMES = 20_000
const MOST_NAMES_IN_MODULES = 1_000

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
  const search = searchBelow(disk, cwd)
  unknown.push(...search.unknown)
  const { found, skillDirs } = search

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

interface Search {
  /** Folders that hold something of the runtime's. */
  readonly found: string[]
  readonly skillDirs: string[]
  readonly unknown: readonly { readonly field: string; readonly why: string }[]
}

function searchBelow(disk: Disk, cwd: string): Search {
  const found: string[] = []
  const skillDirs: string[] = []
  const unknown: { field: string; why: string }[] = []
  const modules: string[] = []
  const note = (why: string): void => {
    unknown.push({ field: 'instructions.sources', why })
  }

  const walk = (starts: readonly string[], most: number, what: string): void => {
    let queue = [...starts]
    let names = 0
    let unread = 0
    let firstUnread = ''
    while (queue.length > 0) {
      const next: string[] = []
      // By name, so that the bound cuts at the same place on every file system.
      for (const directory of queue.sort()) {
        if (names > most) {
          unread += 1
          firstUnread ||= directory
          continue
        }
        const listing = disk.names(directory)
        if (listing === null) continue
        if ('why' in listing) {
          note(`${directory}: ${listing.why}`)
          continue
        }
        // One huge folder must not hide its neighbours.
        names += Math.min(listing.length, most / 10)
        let holds = false
        for (const entry of listing) {
          const { name } = entry
          if (name === 'CLAUDE.md' || name === 'CLAUDE.local.md' || name === 'AGENTS.md') holds = true
          else if (name === '.claude' && (entry.isDirectory() || entry.isSymbolicLink())) {
            holds = true
            const skills = path.join(directory, name, 'skills')
            if (directory !== cwd && disk.isDirectory(skills)) skillDirs.push(skills)
          } else if (!entry.isDirectory() || name === '.git') continue
          else if (name.includes('\uFFFD'))
            note(`${directory}: a folder whose name is not valid UTF-8 was not searched`)
          else if (name === 'node_modules' && what === 'folders') modules.push(below(directory, name))
          else next.push(below(directory, name))
        }
        if (holds && directory !== cwd) found.push(directory)
      }
      queue = next
    }
    if (unread > 0) {
      note(
        `instruction files below ${unread} ${what} were not searched (first: ${firstUnread}); the search stops after ${most} names`,
      )
    }
  }
  walk([cwd], MOST_NAMES, 'folders')
  walk(modules, MOST_NAMES_IN_MODULES, 'folders in node_modules')
  return { found, skillDirs, unknown }
}

const below = (directory: string, name: string): string =>
  (directory.endsWith(path.sep) ? directory : directory + path.sep) + name

const byDepth = (a: string, b: string): number =>
  a.split(path.sep).length - b.split(path.sep).length || (a < b ? -1 : a > b ? 1 : 0)
