import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { COPY_FOLDER } from '../runtimes/shared/sqlite-home.ts'
import { WRITTEN_NAME } from './open-session.ts'

/**
 * Removes what a crash left of sessions being read: files whose name was not taken away yet (Windows keeps it while they are open) in our
 * own folder, and copies of databases of processes that are gone. Only for the one writer, before it opens any.
 */
export const clearLeftovers = (folder: string, temporary: string = os.tmpdir()): number =>
  removeAll(folder, (name) => name.startsWith(WRITTEN_NAME)) + removeAll(temporary, isOrphanedCopy)

const isOrphanedCopy = (name: string): boolean => {
  if (!name.startsWith(COPY_FOLDER)) return false
  const pid = Number.parseInt(name.slice(COPY_FOLDER.length), 10)
  if (!Number.isInteger(pid) || pid < 2) return false
  try {
    process.kill(pid, 0)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

const removeAll = (folder: string, isLeftover: (name: string) => boolean): number => {
  let removed = 0
  for (const name of namesIn(folder)) {
    if (!isLeftover(name)) continue
    try {
      fs.rmSync(path.join(folder, name), { recursive: true })
      removed++
    } catch {
      // Another user's, in a folder that all users share.
    }
  }
  return removed
}

const namesIn = (folder: string): readonly string[] => {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}
