import { createHash } from 'node:crypto'
import { asHomeId, asRunId, type HomeId, type RunId, type RuntimeName } from '../../contract/index.ts'

const short = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12)

/** The same home has the same id on every machine start and after every rebuild. `path` is the home's real path. */
export const homeIdOf = (runtime: RuntimeName, path: string): HomeId => asHomeId(`h_${short('home', runtime, path)}`)

/** A run is one session as its runtime identifies it, within its home. */
export const runIdOf = (home: HomeId, session: string): RunId => asRunId(`r_${short('run', home, session)}`)

/** 48 bits of a digest, as an integer SQLite and JavaScript both hold exactly. A collision costs one needless comparison. */
export const shortKey = (text: string): number => createHash('sha1').update(text).digest().readUIntBE(0, 6)
