import { readdirSync, readFileSync } from 'node:fs'
import { codeOf } from './scan-changes.ts'

/** Failures after which further watches would fail too, wherever they are. */
const exhaustedCodes = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'])

export function isExhausted(error: unknown): boolean {
  return exhaustedCodes.has(codeOf(error))
}

/** What went wrong and what to do about it, one sentence each (B23). `limit` is `max_user_watches`, where there is one. */
export function explainWatchFailure(error: unknown, platform: NodeJS.Platform, limit: number | null): string {
  const code = codeOf(error)
  if (code === 'ENOSPC' && platform === 'linux') {
    const now = limit === null ? '' : ` (fs.inotify.max_user_watches is ${limit})`
    const better = Math.max(524_288, (limit ?? 0) * 2)
    return `The system allows no more file watches for this user${now}. To raise the limit: sudo sysctl fs.inotify.max_user_watches=${better}; to keep it, put that setting into /etc/sysctl.d/60-inotify.conf.`
  }
  if (code === 'EMFILE' || code === 'ENFILE') {
    const instances = platform === 'linux' ? ', or sudo sysctl fs.inotify.max_user_instances=512' : ''
    return `Too many files are open. Close other programs that watch files, or raise the limit: ulimit -n 8192 before Reprise starts${instances}.`
  }
  if (code === 'ENOMEM') return 'The system has no memory left for more file watches. Close other programs.'
  if (code === 'EACCES' || code === 'EPERM')
    return 'Reprise may not read some folders. Give your user the right to read and enter them.'
  return `Watching failed: ${error instanceof Error ? error.message : String(error)}.`
}

/** `max_user_watches`, shared by everything the user runs; null where the system has no such limit. */
export function readWatchLimit(systemRoot = ''): number | null {
  try {
    const value = Number(readFileSync(`${systemRoot}/proc/sys/fs/inotify/max_user_watches`, 'utf8').trim())
    return Number.isSafeInteger(value) ? value : null
  } catch {
    return null // not Linux
  }
}

/** Inotify watches a process really holds, by its fdinfo; null where that cannot be told. */
export function countInotifyWatches(pid: number | 'self' = 'self'): number | null {
  try {
    let count = 0
    for (const fd of readdirSync(`/proc/${pid}/fdinfo`)) {
      let text: string
      try {
        text = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'utf8')
      } catch {
        continue // closed meanwhile
      }
      for (const line of text.split('\n')) if (line.startsWith('inotify ')) count += 1
    }
    return count
  } catch {
    return null
  }
}
