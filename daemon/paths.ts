import { createHash } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import envPaths from 'env-paths'
import { RepriseError } from '../contract/index.ts'

/** Where everything of one data directory lies. */
export interface DataPaths {
  readonly dir: string
  readonly socket: string
  readonly lock: string
  /** `{pid, version, contract, nonce, socket, startedAt}`, written when the daemon listens. */
  readonly info: string
  readonly log: string
  readonly settings: string
  /** Redirects a browser to the loopback address without putting the token on a command line. */
  readonly page: string
  /** Port and key of the loopback listener while one is wanted, 0600. */
  readonly loopback: string
}

/** Longest path a Unix socket can be bound to on Linux (108 bytes with the final NUL); macOS allows 103. */
const SOCKET_LIMIT = process.platform === 'darwin' ? 103 : 107

export const dataDirectory = (env: NodeJS.ProcessEnv): string =>
  path.resolve(env.REPRISE_HOME || envPaths('reprise', { suffix: '' }).data)

/** Makes the directory (0700) and says where things are. Refuses a directory that another user could have prepared. */
export const prepareData = (env: NodeJS.ProcessEnv): DataPaths => {
  const dir = dataDirectory(env)
  makeFolder(dir)
  const stat = fs.statSync(dir)
  if (process.getuid && stat.uid !== process.getuid())
    throw new RepriseError('refused', `${dir} belongs to another user`, 'choose another directory with REPRISE_HOME')
  if ((stat.mode & 0o077) !== 0) fs.chmodSync(dir, 0o700)
  return {
    dir,
    socket: socketPath(dir),
    lock: path.join(dir, 'writer.lock'),
    info: path.join(dir, 'daemon.json'),
    log: path.join(dir, 'logs', 'daemon.log'),
    settings: path.join(dir, 'settings.json'),
    page: path.join(dir, 'open.html'),
    loopback: path.join(dir, 'loopback.json'),
  }
}

const socketPath = (dir: string): string => {
  if (process.platform === 'win32') return `\\\\.\\pipe\\reprise-${shortHash(dir)}`
  const plain = path.join(dir, 'daemon.sock')
  if (Buffer.byteLength(plain) <= SOCKET_LIMIT) return plain
  const folder = path.join(os.tmpdir(), `reprise-${process.getuid?.() ?? 'user'}`)
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 })
  const stat = fs.lstatSync(folder)
  if (!stat.isDirectory() || (process.getuid && stat.uid !== process.getuid()) || (stat.mode & 0o077) !== 0)
    throw new RepriseError('refused', `${folder} is not a private folder of this user`, 'choose a shorter REPRISE_HOME')
  return path.join(folder, `${shortHash(dir)}.sock`)
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 12)

/**
 * Makes a folder and what is missing above it, one by one: where a parent takes no folders at all (`/proc`), Node's own recursive way
 * tries for ever.
 */
const makeFolder = (dir: string): void => {
  if (fs.existsSync(dir)) return
  if (path.dirname(dir) !== dir) makeFolder(path.dirname(dir))
  try {
    fs.mkdirSync(dir, { mode: 0o700 })
  } catch (error) {
    const { code = 'EIO' } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    throw new RepriseError('refused', `${dir} cannot be made (${code})`, 'choose another directory with REPRISE_HOME')
  }
}
