/** What a file of a session folder is, as its name tells (2026.9.6, source; `.reset.` also in the wild). */
export interface SessionFile {
  readonly session: string
  readonly kind: 'live' | 'reset' | 'deleted' | 'backup' | 'checkpoint' | 'imported' | 'trajectory'
  /** Name without what a compression or an import added: one archive may lie in the folder and in the database under this name. */
  readonly name: string
  /** Time the name holds, as it is written there; null when it holds none. */
  readonly stamp: string | null
}

/** `2026-01-16T11-32-46.167Z`, with a generation of 32 hex digits behind it when the database wrote it. */
const STAMP = '[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9-]+(?:\\.[0-9]{3})?Z(?:\\.[0-9a-f]{32})?'
const ARCHIVED = new RegExp(`^(.+)\\.jsonl\\.(reset|deleted|bak)\\.(${STAMP})$`)
const CHECKPOINT = /^(.+)\.checkpoint\.([0-9a-f-]{36})\.jsonl$/i
const REPAIRED = /^(.+)\.jsonl\.pre-doctor-[a-z-]+-repair-(.+)\.bak$/
const MOVED = /^(.+?)\.(?:imported-([0-9]+)|migrated(?:\.[0-9]+)?)$/

const kinds = { reset: 'reset', deleted: 'deleted', bak: 'backup' } as const

/** Null for a file that holds no session: the index, locks, pointers, temporary files. */
export function readFileName(name: string): SessionFile | null {
  const plain = name.endsWith('.zst') ? name.slice(0, -'.zst'.length) : name
  const moved = MOVED.exec(plain)
  if (moved?.[1] !== undefined) {
    const inner = readFileName(moved[1])
    if (inner === null) return null
    // What a reset or a deletion set aside stays that when the import moved it; only a live file becomes an imported one.
    const kind = inner.kind === 'live' ? 'imported' : inner.kind
    return { ...inner, kind, stamp: inner.stamp ?? moved[2] ?? null }
  }
  const archived = ARCHIVED.exec(plain)
  if (archived !== null) {
    const [, session = '', reason = '', stamp = ''] = archived
    if (session.endsWith('.trajectory')) return null
    return { session, kind: kinds[reason as keyof typeof kinds], name: plain, stamp }
  }
  const repaired = REPAIRED.exec(plain)
  if (repaired?.[1] !== undefined)
    return { session: repaired[1], kind: 'backup', name: plain, stamp: repaired[2] ?? null }
  const checkpoint = CHECKPOINT.exec(plain)
  if (checkpoint?.[1] !== undefined)
    return { session: checkpoint[1], kind: 'checkpoint', name: plain, stamp: checkpoint[2] ?? null }
  if (plain.endsWith('.trajectory.jsonl'))
    return { session: plain.slice(0, -'.trajectory.jsonl'.length), kind: 'trajectory', name: plain, stamp: null }
  if (plain.endsWith('.jsonl'))
    return { session: plain.slice(0, -'.jsonl'.length), kind: 'live', name: plain, stamp: null }
  return null
}

/** Names that look like a copy of a session and are none of the known kinds: they are told of, never passed over. */
export const looksLikeSession = (name: string): boolean =>
  name.includes('.jsonl') && !/\.(lock|tmp)$/.test(name) && !name.startsWith('.')
