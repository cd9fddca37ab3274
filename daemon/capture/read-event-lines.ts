import fs from 'node:fs'
import { z } from 'zod'
import { asDigest, type RunId } from '../../contract/index.ts'
import type { RawLine } from '../runtimes/adapter.ts'
import type { IndexReader } from '../store/index/reader.ts'
import type { StoreReader } from '../store/open-store-reader.ts'
import { readOneLine } from './line-reader.ts'
import { comparePrefix } from './prefix.ts'

export interface EventLines {
  readonly lines: readonly RawLine[]
  /** `disk`: the agent's own file. `archive`: what was kept of it, secrets covered. `none`: neither has them any more. */
  readonly from: 'disk' | 'archive' | 'none'
  readonly file: string
  readonly why: string | null
}

export interface FileRow {
  readonly path: Uint8Array
  readonly rel: string
  readonly offset: number
  readonly generation: number
  readonly state: string
  readonly head: string
  readonly tail: string
}

const placesSchema = z.array(z.tuple([z.number(), z.number(), z.number()]))

/** The records an event was made of, from the agent's file while it is what was read, else from the archive. */
export const readEventLines = async (
  index: IndexReader,
  store: StoreReader,
  run: { readonly key: number; readonly id: string },
  seq: number,
): Promise<EventLines | null> => {
  const event = index
    .sql('select line, byte, bytes, more, generation from events where run = ? and seq = ?')
    .get(run.key, seq) as
    | { line: number; byte: number; bytes: number; more: string | null; generation: number }
    | undefined
  const file = index.sql('select * from files where run = ?').get(run.key) as FileRow | undefined
  if (!event || !file) return null
  const places = [
    [event.line, event.byte, event.bytes] as const,
    ...(event.more === null ? [] : placesSchema.parse(JSON.parse(event.more))),
  ]
  const path = Buffer.from(file.path).toString()
  if (file.state === 'present' && file.generation === event.generation) {
    const lines = readFromDisk(path, file, places)
    if (lines) return { lines, from: 'disk', file: path, why: null }
  }
  const wanted = new Map(places.map(([line]) => [line, [] as RawLine[]]))
  const last = Math.max(...wanted.keys())
  for await (const kept of store.sessions.read(run.id as RunId, file.rel, event.generation)) {
    const found = wanted.get(kept.line)
    if (found) readOneLine(kept, { row: (row) => found.push(row), unreadable: () => undefined })
    if (kept.line >= last) break
  }
  // In the order in which the event was put together, as from the disk: a part may stand before its head.
  const lines = [...wanted.values()].flat()
  return lines.length > 0
    ? { lines, from: 'archive', file: path, why: null }
    : { lines, from: 'none', file: path, why: 'its file has changed or is gone, and this part was not kept' }
}

const readFromDisk = (
  path: string,
  file: FileRow,
  places: readonly (readonly [number, number, number])[],
): RawLine[] | null => {
  let fd: number
  try {
    fd = fs.openSync(path, 'r')
  } catch {
    return null
  }
  try {
    const change = comparePrefix(fd, { bytes: file.offset, head: asDigest(file.head), tail: asDigest(file.tail) })
    if (change !== 'same' && change !== 'grew') return null
    const lines: RawLine[] = []
    for (const [line, byte, bytes] of places) {
      const buffer = Buffer.allocUnsafe(bytes)
      if (fs.readSync(fd, buffer, 0, bytes, byte) !== bytes) return null
      readOneLine({ line, byte, bytes, text: buffer }, { row: (row) => lines.push(row), unreadable: () => undefined })
    }
    return lines
  } finally {
    fs.closeSync(fd)
  }
}
