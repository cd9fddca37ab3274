import fs from 'node:fs'
import path from 'node:path'
import type { RunId } from '../../contract/index.ts'
import type { SideFileContent } from '../runtimes/adapter.ts'
import type { Redactor } from '../secrets/redactor.ts'
import type { StoreReader } from '../store/open-store-reader.ts'
import { aboutRunSchema } from './archive-run.ts'

/** Read at once up to this; the rest of a larger one stays where it is, and that is told. */
const READ_LIMIT = 32 * 1024 * 1024

/** A file that lies beside a session: the agent's own while it is there, else what was kept of it, secrets covered. */
export const readSideFile = async (
  store: StoreReader,
  redactor: Redactor,
  home: string,
  /** The run itself, and the one whose folder it may share. */
  runs: readonly RunId[],
  file: string,
): Promise<SideFileContent> => {
  const disk = readFromDisk(file)
  if (disk !== null) return disk
  const rel = path.relative(home, file)
  let why: string | null = null
  for (const run of runs) {
    const newest = (await store.sessions.generations(run, rel)).at(-1)
    if (newest) {
      const pieces: Uint8Array[] = []
      for await (const { text } of store.sessions.read(run, rel, newest.generation)) pieces.push(text)
      const bytes = Buffer.concat(pieces)
      return { bytes, total: bytes.length, why: null }
    }
    const about = aboutRunSchema.safeParse(await store.sessions.about(run))
    const reason = about.success ? about.data.not_kept?.[redactor.redact(rel).text] : undefined
    if (reason !== undefined) why ??= `it is not there any more and was not kept: ${reason}`
  }
  return { bytes: null, total: 0, why: why ?? 'it is not there any more, and was gone before it could be kept' }
}

const readFromDisk = (file: string): SideFileContent | null => {
  let fd: number
  try {
    // A link could lead anywhere; what the agent writes here is no link.
    if (!fs.lstatSync(file).isFile()) return null
    fd = fs.openSync(file, 'r')
  } catch {
    return null
  }
  try {
    const { size } = fs.fstatSync(fd)
    const buffer = Buffer.alloc(Math.min(size, READ_LIMIT))
    const got = fs.readSync(fd, buffer, 0, buffer.length, 0)
    return { bytes: buffer.subarray(0, got), total: size, why: null }
  } catch (error) {
    return { bytes: null, total: 0, why: `it cannot be read: ${(error as Error).message}` }
  } finally {
    fs.closeSync(fd)
  }
}
