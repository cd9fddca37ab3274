import type { Progress } from '../../contract/home.ts'

interface Share {
  /** Null while it is not known how much there is. */
  readonly percent: number | null
  readonly searchable: number
}

/** How far reading history is, over all homes; null when nothing is being read. Shares are of bytes, which do not lie about large files. */
export function importShare(progress: readonly Progress[]): Share | null {
  const active = progress.filter((entry) => entry.phase !== 'idle')
  if (active.length === 0) return null
  const done = active.reduce((sum, entry) => sum + entry.bytes_done, 0)
  const total = active.reduce((sum, entry) => sum + entry.bytes_total, 0)
  const searchable = Math.min(...active.map((entry) => entry.searchable))
  // Never 100 while something is still being done.
  return {
    percent: total === 0 ? null : Math.min(99, Math.floor((done / total) * 100)),
    searchable: Math.floor(searchable * 100),
  }
}
