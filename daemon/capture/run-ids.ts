import crypto, { createHash } from 'node:crypto'
import { asHomeId, asRunId, type HomeId, type RunId, type RuntimeName } from '../../contract/index.ts'

const short = (...parts: readonly string[]): string =>
  createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 12)

/** The same home has the same id on every machine start and after every rebuild. `path` is the home's real path. */
export const homeIdOf = (runtime: RuntimeName, path: string): HomeId => asHomeId(`h_${short('home', runtime, path)}`)

/** A run is one session as its runtime identifies it, within its home. */
export const runIdOf = (home: HomeId, session: string): RunId => asRunId(`r_${short('run', home, session)}`)

/** 48 bits of a digest, as an integer SQLite and JavaScript both hold exactly. A collision costs one needless comparison. */
export const shortKey = (text: string): number => Number.parseInt(digestOnce(text).slice(0, 12), 16)

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The same for the id of a row; most are UUIDs, which are as good as random already. */
export const rowKey = (id: string): number => {
  if (!UUID.test(id)) return shortKey(id)
  return (Number.parseInt(id.slice(0, 8), 16) * 65_599 + Number.parseInt(id.slice(24), 16)) % 2 ** 48
}

/** `crypto.hash` (Node 20.12) costs half of a hash object; Electron's Node 18 does not have it. */
const digestOnce: (text: string) => string =
  'hash' in crypto
    ? (text) => crypto.hash('sha1', text, 'hex')
    : (text) => createHash('sha1').update(text).digest('hex')
