import fs from 'node:fs'
import path from 'node:path'
import type { Egress } from './secrets/egress.ts'

export type LogLevel = 'info' | 'warn' | 'error'
/** Facts about the daemon's own work: counts, paths, codes. Never a word of a session or of a file. */
export type Log = (
  level: LogLevel,
  what: string,
  facts?: Readonly<Record<string, string | number | boolean | null>>,
) => void

/** Of one fact; cut after it is covered, so that no half of a secret stays unrecognised. */
const LONGEST = 500
const LIMIT = 4 * 1024 * 1024
const KEPT = 3

/** JSON lines, 0600, turned over at 4 MB with three old files kept. Every line goes through `gate`: a message of an error may quote a file. */
export const openLog = (file: string, now: () => Date, gate: Pick<Egress, 'value'>): Log => {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 })
  let size = fs.existsSync(file) ? fs.statSync(file).size : 0
  const turnOver = (): void => {
    for (let n = KEPT; n > 0; n--) {
      const from = n === 1 ? file : `${file}.${n - 1}`
      if (fs.existsSync(from)) fs.renameSync(from, `${file}.${n}`)
    }
    size = 0
  }
  return (level, what, facts = {}) => {
    const covered = gate.value({ at: now().toISOString(), level, what, ...facts })
    const line = `${JSON.stringify(covered, (_, fact) => (typeof fact === 'string' ? fact.slice(0, LONGEST) : fact))}\n`
    try {
      if (size + line.length > LIMIT) turnOver()
      fs.appendFileSync(file, line, { mode: 0o600 })
      size += line.length
    } catch {
      // A full disk must not stop the daemon because it could not write about it.
    }
  }
}
