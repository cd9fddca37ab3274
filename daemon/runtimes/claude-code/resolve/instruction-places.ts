import path from 'node:path'
import type { Disk } from '../../shared/disk.ts'
import { type Source, VERIFIED_VERSION } from './sources.ts'

export interface InstructionPlaces {
  readonly disk: Disk
  /** Real path of the start directory. */
  readonly cwd: string
  readonly userHome: string
  readonly configDir: string
  readonly managedDir: string
  /** Work tree that holds `cwd`, and the main one of its repository; null outside git. */
  readonly repository: { readonly top: string; readonly main: string } | null
  readonly addedDirs: readonly string[]
}

export interface InstructionSwitches {
  readonly user: boolean
  readonly project: boolean
  readonly local: boolean
  /** Null, or why no instruction file enters at all. */
  readonly allOff: string | null
  readonly addedDirsCount: boolean
  readonly externalApproved: boolean
  readonly excludes: readonly string[]
  /** Null, or why the fallback to AGENTS.md is off. */
  readonly agentsFileOff: string | null
  /** `claudeMd` of the managed settings, and the file that holds it. */
  readonly managedText: { readonly text: string; readonly file: string } | null
}

export function boundToPaths(source: Source, base: string, patterns: readonly string[]): Source {
  return {
    ...source,
    status: 'lazy',
    trigger: `a file that matches ${patterns.join(', ')} below ${base} is read, written or edited`,
    lazy: { when: 'paths', base, patterns },
    rule: `path rule: gitignore-like patterns relative to the folder that holds .claude (${VERIFIED_VERSION})`,
  }
}

/** From `/` down to and including `cwd`; the walk does not stop at the repository. */
export function ancestorsOf(cwd: string): readonly string[] {
  const found: string[] = []
  for (let folder = cwd; ; folder = path.dirname(folder)) {
    found.unshift(folder)
    if (path.dirname(folder) === folder) return found
  }
}

export const agentsFiles = (directory: string): readonly string[] => [
  path.join(directory, 'AGENTS.md'),
  path.join(directory, '.claude', 'AGENTS.md'),
]
