import fs from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import type { Database } from './database.ts'
import { createTables, INDEX_VERSION } from './schema.ts'

export interface OpenedIndex {
  readonly db: Database
  /** `new`: nothing was there. `rebuilt`: another version or damaged; the old file stands aside under `setAside`. */
  readonly state: 'kept' | 'new' | 'rebuilt'
  readonly setAside: string | null
}

const PRAGMAS =
  'pragma journal_mode = wal; pragma synchronous = normal; pragma temp_store = memory; pragma busy_timeout = 5000;'
/** Pages the writer keeps: 32 MB; the log is merged at 64 MB. Readers stay at SQLite's 2 MB, for the idle daemon's sake. */
const WRITER_CACHE = 'pragma cache_size = -32768; pragma wal_autocheckpoint = 16000;'

export const indexPath = (dataDir: string): string => path.join(dataDir, 'index.db')

/** Opens the index for writing, making it anew where it is missing, damaged or of another version. */
export const openIndex = (dataDir: string, now: () => Date): OpenedIndex => {
  const file = indexPath(dataDir)
  const existed = fs.existsSync(file)
  if (existed) {
    const kept = openKept(file)
    if (kept) return { db: kept, state: 'kept', setAside: null }
    const setAside = `${file}.set-aside-${now().toISOString().replaceAll(':', '')}`
    for (const end of ['', '-wal', '-shm']) if (fs.existsSync(file + end)) fs.renameSync(file + end, setAside + end)
    return { db: openFresh(file), state: 'rebuilt', setAside }
  }
  return { db: openFresh(file), state: 'new', setAside: null }
}

/** A second connection that cannot write. Null until the writer has made the file. */
export const openIndexReader = (dataDir: string): Database => {
  const db = new DatabaseSync(indexPath(dataDir), { readOnly: true })
  db.exec('pragma busy_timeout = 5000; pragma query_only = 1')
  return db
}

const openFresh = (file: string): Database => {
  const db = new DatabaseSync(file)
  db.exec(PRAGMAS + WRITER_CACHE)
  createTables(db)
  fs.chmodSync(file, 0o600)
  return db
}

const openKept = (file: string): Database | null => {
  let db: Database | null = null
  try {
    db = new DatabaseSync(file)
    db.exec(PRAGMAS + WRITER_CACHE)
    const row = db.prepare("select value from meta where key = 'version'").get()
    if (row?.value === String(INDEX_VERSION)) return db
  } catch {
    // Not a database, or torn: derived, so it is set aside and built again.
  }
  db?.close()
  return null
}
