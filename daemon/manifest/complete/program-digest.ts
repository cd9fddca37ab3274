import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { asDigest, type Digest } from '../../../contract/index.ts'

/** Digests of program files, which are hundreds of megabytes: each is read once, for as long as size, time and inode stay the same. */
export interface ProgramDigests {
  of(file: string): Promise<Digest | null>
}

export const createProgramDigests = (): ProgramDigests => {
  const known = new Map<string, Promise<Digest | null>>()
  return {
    of(file) {
      const stat = fs.statSync(file, { throwIfNoEntry: false })
      if (!stat?.isFile()) return Promise.resolve(null)
      const key = `${file}\0${stat.size}\0${stat.mtimeMs}\0${stat.ino}`
      const before = known.get(key)
      if (before) return before
      const digest = digestFile(file).catch(() => null)
      known.set(key, digest)
      return digest
    },
  }
}

const digestFile = async (file: string): Promise<Digest> => {
  const hash = createHash('sha256')
  for await (const chunk of fs.createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Buffer)
  return asDigest(`sha256:${hash.digest('hex')}`)
}
