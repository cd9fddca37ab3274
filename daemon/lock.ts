import fs from 'node:fs'
import { DatabaseSync } from '@photostructure/sqlite'
import { RepriseError } from '../contract/index.ts'

export interface WriterLock {
  release(): void
}

/**
 * One writer per data directory. The lock is the operating system's own lock on a small SQLite file: it is gone the moment its
 * holder is, however it ended, so there is nothing stale to judge and no pid that could have been reused.
 */
export const takeWriterLock = (file: string): WriterLock => {
  fs.closeSync(fs.openSync(file, 'a', 0o600))
  const db = new DatabaseSync(file)
  try {
    db.exec('pragma busy_timeout = 0; pragma journal_mode = delete; pragma locking_mode = exclusive; begin exclusive')
  } catch (error) {
    db.close()
    const { message } = error as Error
    if (!/locked|busy/i.test(message))
      throw new RepriseError(
        'refused',
        `${file} cannot be written: ${message}`,
        'check the permissions of the data directory and the room on its disk',
      )
    throw new RepriseError(
      'store_busy',
      `another Reprise is using this data directory (${message})`,
      'stop it with `reprise stop`, or use another directory with REPRISE_HOME',
    )
  }
  return {
    release: () => {
      if (db.isOpen) db.close()
    },
  }
}
