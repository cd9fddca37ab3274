import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a killed process can leave in the repository, and how it goes away again (B05: no temporary pack survives a killed capture). */
export interface Leftovers {
  readonly temporaryPacks: number
  readonly keeps: number
  readonly locks: number
  readonly crashReports: number
}

const PID_FILE = 'reprise-writer.pid'

/** Remembers the fast-import process, so that the next start can wait for one that outlived its daemon. */
export function noteWriter(gitDir: string, pid: number | undefined): void {
  const path = join(gitDir, PID_FILE)
  if (pid === undefined) rmSync(path, { force: true })
  else writeFileSync(path, `${pid}\n`, { mode: 0o600 })
}

/** Waits until the writer of an earlier daemon has ended; it does so by itself, as its input is closed. False: still there. */
export async function awaitOldWriter(gitDir: string, milliseconds = 5000): Promise<boolean> {
  const path = join(gitDir, PID_FILE)
  const pid = existsSync(path) ? Number(readFileSync(path, 'latin1')) : 0
  for (let waited = 0; isFastImport(pid); waited += 20) {
    if (waited >= milliseconds) return false
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  rmSync(path, { force: true })
  return true
}

/** Process ids are used again; where `/proc` tells the command, another program of the same id is not waited for. */
function isFastImport(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 2) return false
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
    return command.includes('fast-import')
  } catch {
    return existsSync(`/proc/${process.pid}`) === false
  }
}

export function clearTemporaryPacks(gitDir: string): number {
  let removed = 0
  const folders = [join(gitDir, 'objects', 'pack'), join(gitDir, 'objects')]
  for (const folder of folders) {
    for (const name of listOf(folder)) {
      if (!/^\.?tmp[_-]/.test(name)) continue
      rmSync(join(folder, name), { force: true, recursive: true })
      removed += 1
    }
  }
  return removed
}

/** Clears everything a crash left. Only for the one writer, before it starts anything. */
export function clearLeftovers(gitDir: string): Leftovers {
  const temporaryPacks = clearTemporaryPacks(gitDir)
  let keeps = 0
  let locks = 0
  let crashReports = 0
  const packs = join(gitDir, 'objects', 'pack')
  for (const name of listOf(packs)) {
    // fast-import marks its packs until it ends; a mark of a dead one would keep them out of maintenance for ever.
    // One that was killed between making the mark and writing into it leaves an empty one, and the same pack could never be made again.
    if (!name.endsWith('.keep') || !/^(fast-import|$)/.test(readFileSync(join(packs, name), 'latin1'))) continue
    rmSync(join(packs, name))
    keeps += 1
  }
  for (const name of listOf(gitDir)) {
    if (name.startsWith('fast_import_crash_')) {
      rmSync(join(gitDir, name))
      crashReports += 1
    } else if (name.endsWith('.lock')) {
      rmSync(join(gitDir, name))
      locks += 1
    }
  }
  const pending = [join(gitDir, 'refs')]
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const name of listOf(folder)) {
      const path = join(folder, name)
      if (statSync(path).isDirectory()) pending.push(path)
      else if (name.endsWith('.lock')) {
        rmSync(path)
        locks += 1
      }
    }
  }
  return { temporaryPacks, keeps, locks, crashReports }
}

function listOf(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
