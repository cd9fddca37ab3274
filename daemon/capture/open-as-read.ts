import { linesFrom, type RuntimeAdapter, type SessionUnit, SourceBusy } from '../runtimes/adapter.ts'
import { type FileRow, fingerprintOf } from './file-rows.ts'
import type { OpenSession, SessionSources } from './open-session.ts'
import { comparePrefix } from './prefix.ts'

/** A session that still begins with what was read of it, or why it is not to be had. */
export type AsRead = OpenSession | { readonly why: string; readonly busy: boolean }

/** Opens a session for what the index says of its places: only what was read there may be shown from them. Throws nothing. */
export const openAsRead = (
  sources: SessionSources,
  adapter: Pick<RuntimeAdapter, 'writeLines'>,
  unit: SessionUnit,
  file: FileRow,
): AsRead => {
  let source: OpenSession
  try {
    source = sources.open(unit, adapter)
  } catch (error) {
    if (error instanceof SourceBusy) return { why: 'it is being written to; look again in a moment', busy: true }
    const { code, message } = error as NodeJS.ErrnoException
    return { why: code === 'ENOENT' ? 'it is gone' : `it cannot be read now: ${message}`, busy: false }
  }
  if (file.offset === 0 || isAsRead(source, unit, file)) return source
  source.close()
  return { why: 'it is another by now', busy: false }
}

/** The unit of a row of the index, with the state of the session that was read: one that is open in this state need not be written out. */
export const withStamp = (unit: SessionUnit, { size, mtime }: Pick<FileRow, 'size' | 'mtime'>): SessionUnit =>
  linesFrom(unit) === null || size < 0 ? unit : { ...unit, stamp: { size, mtime } }

const isAsRead = (source: OpenSession, unit: SessionUnit, file: FileRow): boolean => {
  const key = `${file.offset} ${file.prefix}`
  const fixed = linesFrom(unit) !== null
  // What was written out does not change any more: one look at all of it is enough.
  if (fixed && seen.get(source.content) === key) return true
  const change = comparePrefix(source.fd, fingerprintOf(file))
  if (change !== 'same' && change !== 'grew') return false
  if (fixed) seen.set(source.content, key)
  return true
}
const seen = new WeakMap<object, string>()
