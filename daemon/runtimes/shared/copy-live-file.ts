import fs from 'node:fs'

type Read = (fd: number, into: Buffer, offset: number, length: number, position: null) => number

const STEP = 1024 * 1024

/**
 * Copies a file that somebody else may be writing to, as far as it goes when it is opened; it ends earlier where the file is cut meanwhile.
 * Not `fs.copyFileSync`: that asks the kernel again and again, for ever, for the rest of a file that became shorter (seen with a
 * write-ahead log that its owner truncated).
 */
export function copyLiveFile(from: string, to: string, read: Read = fs.readSync): void {
  const source = fs.openSync(from, 'r')
  try {
    const target = fs.openSync(to, 'wx', 0o600)
    try {
      let left = fs.fstatSync(source).size
      const piece = Buffer.alloc(Math.min(STEP, Math.max(left, 1)))
      while (left > 0) {
        const got = read(source, piece, 0, Math.min(piece.length, left), null)
        if (got === 0) return
        fs.writeSync(target, piece, 0, got)
        left -= got
      }
    } finally {
      fs.closeSync(target)
    }
  } finally {
    fs.closeSync(source)
  }
}
