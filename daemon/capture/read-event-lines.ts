import fs from 'node:fs'
import { z } from 'zod'
import type { RunId } from '../../contract/index.ts'
import type { RawLine } from '../runtimes/adapter.ts'
import type { IndexReader } from '../store/index/reader.ts'
import type { StoreReader } from '../store/open-store-reader.ts'
import type { FileRow } from './file-rows.ts'
import { readOneLine } from './line-reader.ts'
import type { AsRead } from './open-as-read.ts'

export interface EventLines {
  readonly lines: readonly RawLine[]
  /** `disk`: the agent's own session. `archive`: what was kept of it, secrets covered. `none`: neither has them any more. */
  readonly from: 'disk' | 'archive' | 'none'
  readonly file: string
  readonly why: string | null
}

const placesSchema = z.array(z.tuple([z.number(), z.number(), z.number()]))

/** The records an event was made of, from the agent's own session while it is what was read, else from the archive. */
export const readEventLines = async (
  index: IndexReader,
  store: StoreReader,
  run: { readonly key: number; readonly id: string },
  seq: number,
  open: (file: FileRow) => AsRead,
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
  let why = 'it has changed or is gone'
  if (file.state === 'present' && file.generation === event.generation) {
    const opened = open(file)
    const lines = 'fd' in opened ? readFromDisk(opened, places) : null
    if (lines) return { lines, from: 'disk', file: path, why: null }
    if ('why' in opened) why = opened.why
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
    : { lines, from: 'none', file: path, why: `${why}, and this part was not kept` }
}

const readFromDisk = (
  source: { readonly fd: number; close(): void },
  places: readonly (readonly [number, number, number])[],
): RawLine[] | null => {
  try {
    const lines: RawLine[] = []
    for (const [line, byte, bytes] of places) {
      const buffer = Buffer.allocUnsafe(bytes)
      if (fs.readSync(source.fd, buffer, 0, bytes, byte) !== bytes) return null
      readOneLine({ line, byte, bytes, text: buffer }, { row: (row) => lines.push(row), unreadable: () => undefined })
    }
    return lines
  } finally {
    source.close()
  }
}
