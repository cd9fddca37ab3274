import fs from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { copyLiveFile } from '../../../daemon/runtimes/shared/copy-live-file.ts'
import { temporaryDirectory } from '../../kit/temporary-directory.ts'

const directory = temporaryDirectory('copy-live')

it('ends where a file is cut while it is copied, and copies what was there when it grows', () => {
  const from = path.join(directory(), 'log')
  const content = Buffer.alloc(5 * 1024 * 1024, 'x')
  fs.writeFileSync(from, content)
  const whileCopying =
    (change: () => void) =>
    (fd: number, into: Buffer, offset: number, length: number, position: null): number => {
      const got = fs.readSync(fd, into, offset, length, position)
      change()
      return got
    }
  copyLiveFile(
    from,
    path.join(directory(), 'cut'),
    whileCopying(() => fs.truncateSync(from, 100)),
  )
  expect(fs.statSync(path.join(directory(), 'cut')).size).toBe(1024 * 1024)

  fs.writeFileSync(from, content)
  copyLiveFile(
    from,
    path.join(directory(), 'grown'),
    whileCopying(() => fs.appendFileSync(from, 'more')),
  )
  expect(fs.readFileSync(path.join(directory(), 'grown')).equals(content)).toBe(true)
  expect(() => copyLiveFile(from, path.join(directory(), 'grown'))).toThrow(/EEXIST/)
})
