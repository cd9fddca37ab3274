import fs from 'node:fs'
import { z } from 'zod'
import type { RunId } from '../../contract/index.ts'
import type { ArchiveSlice, Store } from '../store/store.ts'
import type { KeepOriginals } from './keep-originals.ts'

/** What the archive keeps beside the lines of a session (`run.json`), enough to rebuild the index without the agent's home. */
export const aboutRunSchema = z.looseObject({
  version: z.literal(1),
  runtime: z.string(),
  home: z.string(),
  session: z.string(),
  parent_session: z.string().nullable(),
  relation: z.enum(['subagent']).nullable(),
  /** Relative to the home. */
  file: z.string(),
  meta: z.record(z.string(), z.unknown()),
  /** Frozen manifests by stretch; never replaced. */
  manifests: z.record(z.string(), z.string()),
  /** Side files that were left out, relative to the home, and why. */
  not_kept: z.record(z.string(), z.string()).optional(),
  changes: z.array(
    z.object({ at: z.string(), change: z.enum(['shrank', 'vanished', 'returned']), message: z.string() }),
  ),
})
export type AboutRun = z.infer<typeof aboutRunSchema>

const SLICE = 4 * 1024 * 1024
/** Bytes kept per step, so that a live session is not kept waiting behind a large one. */
const STEP = 8 * 1024 * 1024
const LF = 10

export interface ArchiveRequest {
  readonly run: RunId
  /** The session, opened to be read at any place. */
  readonly fd: number
  readonly rel: string
  readonly about: AboutRun
  readonly generation: number
  readonly from: { readonly byte: number; readonly line: number }
  /** How far the reader went: nothing beyond it is kept, so that archive and index agree. */
  readonly until: number
  readonly newGeneration: boolean
  /** Where lines that hold a secret go besides; null where only covered ones are kept. */
  readonly originals: KeepOriginals | null
}

/** Keeps the next part of a session file; gives how far it got. Only whole lines, and the last one when its row was already read. */
export const archiveStep = async (
  store: Store,
  request: ArchiveRequest,
): Promise<{ readonly byte: number; readonly line: number }> => {
  const { run, fd, rel, about, from, until, newGeneration, originals } = request
  const slices: ArchiveSlice[] = []
  let { byte, line } = from
  while (byte < until && byte - from.byte < STEP) {
    const bytes = readWholeLines(fd, byte, until)
    if (bytes === null) break
    const lineBytes = lengthsOfLines(bytes)
    slices.push({ file: rel, firstLine: line + 1, firstByte: byte, bytes, lineBytes })
    byte += bytes.length
    line += lineBytes.length
  }
  await originals?.lines(run, slices, request.generation)
  await store.sessions.append(run, about, slices, newGeneration)
  return { byte, line }
}

/** Up to a slice of bytes ending at a line end, more when one line is longer; null when the file is shorter than was read of it. */
const readWholeLines = (fd: number, from: number, until: number): Uint8Array | null => {
  for (let size = Math.min(SLICE, until - from); ; size = Math.min(size * 2, until - from)) {
    const buffer = Buffer.allocUnsafe(size)
    let filled = 0
    while (filled < size) {
      const got = fs.readSync(fd, buffer, filled, size - filled, from + filled)
      if (got === 0) return null
      filled += got
    }
    if (from + size === until) return buffer
    const end = buffer.lastIndexOf(LF) + 1
    if (end > 0) return buffer.subarray(0, end)
  }
}

export const lengthsOfLines = (bytes: Uint8Array): number[] => {
  const lengths: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const lf = bytes.indexOf(LF, at)
    const next = lf === -1 ? bytes.length : lf + 1
    lengths.push(next - at)
    at = next
  }
  return lengths
}
