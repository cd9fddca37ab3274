import fs from 'node:fs'

/** Paths are bytes, carried as latin1. Node encodes strings as UTF-8, so only those that are plain ASCII may go to it as they are. */
export const asPath = (latin1: string): string | Buffer => (isAscii(latin1) ? latin1 : Buffer.from(latin1, 'latin1'))

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is meant
const ASCII = /^[\x00-\x7f]*$/
export const isAscii = (text: string): boolean => ASCII.test(text)

/** An ordinary string as the bytes of its UTF-8 form. */
export const toLatin1 = (text: string): string => (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1'))

/** What a person reads; bytes that are no UTF-8 become replacement characters. */
export const toShown = (latin1: string): string =>
  isAscii(latin1) ? latin1 : Buffer.from(latin1, 'latin1').toString('utf8')

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants
const O_NOATIME = process.platform === 'linux' ? fs.constants.O_NOATIME : 0

/** Opens without following a link, waiting for a pipe, or (where it is ours) leaving a trace in the access time. */
export function openQuietly(path: string | Buffer): number {
  try {
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOATIME)
  } catch (error) {
    if (O_NOATIME === 0 || (error as NodeJS.ErrnoException).code !== 'EPERM') throw error
    return fs.openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  }
}

/** Content of a small regular file; null when there is none, when it is something else, larger, or may not be read. */
export function readSmall(latin1: string, most: number): Buffer | null {
  let fd: number
  try {
    fd = openQuietly(asPath(latin1))
  } catch {
    return null
  }
  try {
    const stat = fs.fstatSync(fd)
    if (!stat.isFile() || stat.size > most) return null
    return fs.readFileSync(fd)
  } catch {
    return null
  } finally {
    fs.closeSync(fd)
  }
}
