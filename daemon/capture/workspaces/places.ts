import { createHash } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type { WorkspaceId } from '../../store/states.ts'
import { toLatin1 } from './bytes.ts'
import { fileSystemOf } from './file-systems.ts'

/** A directory agents work in. */
export interface WorkspacePlace {
  readonly id: WorkspaceId
  /** Real path, absolute, in the spelling of the disk. */
  readonly path: string
}

export interface Surroundings {
  readonly userHome: string
  /** Homes of agents. */
  readonly agentHomes: readonly string[]
  readonly dataFolder: string
  readonly platform: NodeJS.Platform
}

/** By real path; of a directory that is gone, by the real path of what is left above it. */
export function identifyWorkspace(given: string, platform: NodeJS.Platform): WorkspacePlace {
  const real = realPathOf(path.resolve(given))
  const hash = createHash('sha256')
    .update(toLatin1(workspaceKey(real, platform)), 'latin1')
    .digest('hex')
  return { id: `w_${hash.slice(0, 12)}` as WorkspaceId, path: real }
}

/** One key for all spellings of a directory (R29): `C:\p`, `c:/p/`, `\\?\C:\p` and `/mnt/c/p` of the same machine's WSL stay apart. */
export function workspaceKey(given: string, platform: NodeJS.Platform): string {
  if (platform !== 'win32') {
    const plain = given.length > 1 ? given.replace(/\/+$/, '') : given
    return platform === 'darwin' ? plain.normalize('NFC') : plain
  }
  let key = given.replace(/\//g, '\\')
  key = key.replace(/^\\\\[?.]\\UNC\\/i, '\\\\').replace(/^\\\\[?.]\\/, '')
  key = key.replace(/^\\\\wsl\.localhost\\/i, '\\\\wsl$\\')
  const root = /^(?:\\\\[^\\]+\\[^\\]+|[A-Za-z]:)/.exec(key)?.[0] ?? ''
  const rest = key.slice(root.length).replace(/\\+/g, '\\').replace(/\\$/, '')
  // Names below a Linux of WSL differ by case; the name of the machine does not.
  return /^\\\\wsl\$/i.test(root) ? root.toLowerCase() + rest : (root + rest).toLowerCase()
}

function realPathOf(absolute: string): string {
  const rest: string[] = []
  for (let at = absolute; ; at = path.dirname(at)) {
    try {
      return path.join(fs.realpathSync.native(at), ...rest)
    } catch {
      if (path.dirname(at) === at) return absolute
      rest.unshift(path.basename(at))
    }
  }
}

/** Folders at the top of a system; nobody works in one of them as a whole. */
const SYSTEM = new Set(
  'bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var Applications Library System Users Volumes cores private nix snap'.split(
    ' ',
  ),
)
const SYSTEM_WINDOWS = new Set([
  'windows',
  'users',
  'program files',
  'program files (x86)',
  'programdata',
  '$recycle.bin',
])
/** Used where the desktop does not say what they are called (`user-dirs.dirs`). */
const USUAL_FOLDERS = [
  'Desktop',
  'Documents',
  'Downloads',
  'Music',
  'Pictures',
  'Public',
  'Templates',
  'Videos',
  'Movies',
  'Library',
  'OneDrive',
  'Dropbox',
  'AppData',
]

/** Why a directory may not be a workspace (B05); null when it may. */
export function refuseWorkspace(given: string, around: Surroundings): string | null {
  const key = (name: string) => workspaceKey(name, around.platform)
  const separator = around.platform === 'win32' ? '\\' : '/'
  const real = realPathOf(path.resolve(given))
  const place = key(real)
  const holds = (inner: string): boolean =>
    inner === place || inner.startsWith(place.endsWith(separator) ? place : place + separator)
  const within = (outer: string): boolean => place === outer || place.startsWith(outer + separator)
  if (path.dirname(real) === real) return 'it is the root of a disk'
  const home = key(realPathOf(around.userHome))
  if (place === home) return 'it is your home folder'
  if (holds(home)) return 'your home folder lies in it'
  const data = key(realPathOf(around.dataFolder))
  if (holds(data)) return "Reprise's own data lies in it"
  if (within(data)) return "it lies in Reprise's own data"
  for (const agentHome of around.agentHomes) {
    const at = key(realPathOf(agentHome))
    if (place === at) return 'it is the home of an agent, whose configuration is captured by itself'
    if (holds(at)) return `the home of an agent lies in it: ${agentHome}`
  }
  if (real.split(/[\\/]/).includes('.git')) return 'it lies in a .git folder'
  const parent = path.dirname(real)
  if (path.dirname(parent) === parent) {
    const name = path.basename(real)
    if (around.platform === 'win32' ? SYSTEM_WINDOWS.has(name.toLowerCase()) : SYSTEM.has(name))
      return 'it is a folder of the system'
  }
  if (isDriveRoot(real, around.platform)) return 'it is the root of a mounted disk'
  if (key(parent) === home && !fs.existsSync(path.join(real, '.git'))) {
    const names = [...USUAL_FOLDERS, ...desktopFolders(around.userHome)]
    if (names.some((name) => key(path.join(realPathOf(around.userHome), name)) === place))
      return 'it is a collection of folders, not a project; start the agent in one of them'
  }
  if (around.platform === 'linux') {
    const system = fileSystemOf(toLatin1(real))
    if (system.kind === 'pseudo') return `it is a file system of the kernel (${system.name})`
  }
  return null
}

function isDriveRoot(real: string, platform: NodeJS.Platform): boolean {
  if (platform === 'win32') return false // `C:\` is the root of a disk above
  if (!/^\/(?:mnt\/[^/]+|media\/[^/]+(?:\/[^/]+)?|run\/media\/[^/]+\/[^/]+|Volumes\/[^/]+)$/.test(real)) return false
  if (/^\/mnt\/[a-z]$/.test(real)) return true // a Windows drive seen from WSL
  try {
    return fs.statSync(real).dev !== fs.statSync(path.dirname(real)).dev
  } catch {
    return false
  }
}

function desktopFolders(userHome: string): readonly string[] {
  try {
    const text = fs.readFileSync(path.join(userHome, '.config', 'user-dirs.dirs'), 'utf8')
    return [...text.matchAll(/^XDG_\w+_DIR="\$HOME\/([^"/]+)\/?"/gm)].map((found) => found[1] ?? '')
  } catch {
    return []
  }
}
