import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { HomeDescription, Surroundings } from '../adapter.ts'
import { findProgram } from './program.ts'

/** What the home says of itself. No setting is known by which Codex deletes sessions (0.171.0), so no retention is told. */
export function describeHome(home: string, surroundings: Surroundings): HomeDescription {
  const { state, reason } = stateOf(home)
  const programVersion = findProgram(home, surroundings)?.version ?? null
  const live = state === 'ok' ? readLive(home, surroundings) : []
  return { state, reason, programVersion, retention: null, live }
}

function stateOf(home: string): { state: HomeDescription['state']; reason: string | null } {
  try {
    if (!statSync(home).isDirectory()) return { state: 'unreadable', reason: `${home} is no directory` }
    const names = readdirSync(home)
    if (names.length === 0) return { state: 'empty', reason: 'the directory is empty' }
    if (!names.includes('sessions') && !names.includes('archived_sessions'))
      return { state: 'empty', reason: 'no session was written here yet' }
    return { state: 'ok', reason: null }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code === 'ENOENT') return { state: 'missing', reason: 'there is no such directory' }
    return { state: 'unreadable', reason: error instanceof Error ? error.message : String(error) }
  }
}

/**
 * Threads that a process holds: `thread-writer-locks/<thread>.lock` is locked while it does, and stays behind when the process is killed
 * (0.171.0). Only Linux says who holds a lock; elsewhere nothing can be told.
 */
function readLive(home: string, { platform, systemRoot }: Surroundings): HomeDescription['live'] {
  const holders = platform === 'linux' ? readLocks(`${systemRoot}/proc/locks`) : null
  if (holders === null) return []
  const directory = join(home, 'thread-writer-locks')
  const live: HomeDescription['live'][number][] = []
  for (const name of namesIn(directory)) {
    const session = /^([0-9a-f-]{36})\.lock$/.exec(name)?.[1]
    if (session === undefined) continue
    try {
      const pid = holders.get(statSync(join(directory, name)).ino)
      if (pid !== undefined) live.push({ session, pid, cwd: null, version: null })
    } catch {
      // It was let go of between the two looks.
    }
  }
  return live
}

/** Holders of whole-file locks by the number of the file: `3: FLOCK  ADVISORY  WRITE 27824 fe:00:2933057 0 EOF`. */
function readLocks(file: string): ReadonlyMap<number, number> | null {
  try {
    const holders = new Map<number, number>()
    for (const line of readFileSync(file, 'utf8').split('\n')) {
      const found = /^\d+: FLOCK\s+\S+\s+WRITE\s+(\d+)\s+\S+:(\d+)\s/.exec(line)
      if (found !== null) holders.set(Number(found[2]), Number(found[1]))
    }
    return holders
  } catch {
    return null
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort()
  } catch {
    return []
  }
}
