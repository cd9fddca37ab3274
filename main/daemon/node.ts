import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * The Node that should run the daemon: the one the launcher names, else one on PATH that is new enough, else this program itself
 * (Electron as Node, 25 MB larger when idle).
 */
export function findNode(env: NodeJS.ProcessEnv): string {
  if (env.REPRISE_NODE && isExecutable(env.REPRISE_NODE)) return env.REPRISE_NODE
  const name = process.platform === 'win32' ? 'node.exe' : 'node'
  for (const folder of (env.PATH ?? '').split(delimiter).filter((each) => each !== '')) {
    const file = join(folder, name)
    if (isExecutable(file) && isNewEnough(file)) return file
  }
  return process.execPath
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function isNewEnough(file: string): boolean {
  const version = /^v(\d+)\.(\d+)/.exec(
    spawnSync(file, ['--version'], { encoding: 'utf8', timeout: 5000 }).stdout ?? '',
  )
  if (version === null) return false
  const [major, minor] = [Number(version[1]), Number(version[2])]
  return major > 20 || (major === 20 && minor >= 19)
}
