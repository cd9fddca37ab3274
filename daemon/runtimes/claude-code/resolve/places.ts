import path from 'node:path'
import type { ResolveRequest } from '../../adapter.ts'
import type { Disk } from '../../shared/disk.ts'

/** Where the runtime keeps its managed files: the two other platforms are documented only. */
export function managedDirectory(platform: NodeJS.Platform): string {
  switch (platform) {
    case 'darwin':
      return '/Library/Application Support/ClaudeCode'
    case 'win32':
      return 'C:\\Program Files\\ClaudeCode'
    default:
      return '/etc/claude-code'
  }
}

/** With a configuration directory of its own the state file lies in it, otherwise beside `~/.claude`. */
export function stateFilePath({ home, surroundings }: Pick<ResolveRequest, 'home' | 'surroundings'>): string {
  const usual = path.join(surroundings.userHome, '.claude')
  const moved = surroundings.env.CLAUDE_CONFIG_DIR !== undefined || path.resolve(home) !== usual
  return moved ? path.join(home, '.claude.json') : path.join(surroundings.userHome, '.claude.json')
}

/** Every character outside `[A-Za-z0-9]` becomes `-`, one for each UTF-16 unit. */
export const projectKey = (directory: string): string => directory.replace(/[^A-Za-z0-9]/g, '-')

const LONGEST_KEY = 200

export type MemoryDirectory = { readonly path: string } | { readonly path: null; readonly why: string }

/** Memory belongs to the main work tree: all work trees and subdirectories share it. */
export function memoryDirectory(
  disk: Disk,
  configDir: string,
  main: string,
  env: (name: string) => string | null,
): MemoryDirectory {
  const projects = path.join(configDir, 'projects')
  const named = env('CLAUDE_CODE_PROJECT_DIR_NAME')
  if (named !== null && env('CLAUDE_CONFIG_DIR') !== null) return { path: path.join(projects, named, 'memory') }
  const key = projectKey(main)
  if (key.length <= LONGEST_KEY) return { path: path.join(projects, key, 'memory') }
  const listing = disk.list(projects)
  const start = `${key.slice(0, LONGEST_KEY)}-`
  const matching = listing.state === 'ok' ? listing.entries.filter((entry) => entry.name.startsWith(start)) : []
  if (matching.length === 1 && matching[0]) return { path: path.join(projects, matching[0].name, 'memory') }
  return {
    path: null,
    why: `the project key is longer than ${LONGEST_KEY} characters and ends in a hash; ${matching.length} folders begin like it`,
  }
}
