import fs from 'node:fs'
import { setImmediate as breathe } from 'node:timers/promises'
import type { RunId } from '../../contract/index.ts'
import type { LinePlace, RawLine, SessionLines } from '../runtimes/adapter.ts'
import type { IndexReader } from '../store/index/reader.ts'
import type { StoreReader } from '../store/open-store-reader.ts'
import type { FileRow } from './file-rows.ts'
import { LineReader, readOneLine } from './line-reader.ts'
import type { AsRead } from './open-as-read.ts'

export interface OpenSessionLines extends SessionLines {
  /** As in `EventLines`; places are those of the same source. */
  readonly from: 'disk' | 'archive'
  close(): void
}

/**
 * All lines of a generation of a session: from the agent's own while it is what was read, else from the archive, where secrets are
 * covered. Reads no byte that is not in the index yet.
 */
export const openSessionLines = (
  index: IndexReader,
  store: StoreReader,
  run: { readonly key: number; readonly id: string },
  generation: number,
  open: (file: FileRow) => AsRead,
): OpenSessionLines | null => {
  const file = index.sql('select * from files where run = ?').get(run.key) as FileRow | undefined
  if (!file) return null
  if (file.state === 'present' && file.generation === generation) {
    const opened = open(file)
    if ('fd' in opened) return { from: 'disk', close: opened.close, ...linesOfFile(opened.fd, file.offset) }
  }
  return openArchive(store, run.id as RunId, file.rel, generation)
}

/** The lines of an open file up to `until` bytes. */
export const linesOfFile = (fd: number, until: number): SessionLines => ({
  async scan(visit) {
    const reader = new LineReader(fd, { until })
    const sink = stopping(visit)
    // A batch is a few milliseconds; between two of them the daemon answers others.
    while (sink.on && reader.readBatch(sink, { finished: true }) !== null) await breathe()
  },
  async read(places) {
    const lines: RawLine[] = []
    for (const { line, byte, bytes } of places) {
      const text = Buffer.allocUnsafe(bytes)
      if (fs.readSync(fd, text, 0, bytes, byte) === bytes)
        readOneLine({ line, byte, bytes, text }, { row: (row) => lines.push(row), unreadable: () => undefined })
    }
    return lines
  },
})

const openArchive = (store: StoreReader, run: RunId, rel: string, generation: number): OpenSessionLines => {
  const scan = async (visit: (line: RawLine) => boolean, wanted: (line: number) => boolean): Promise<void> => {
    const sink = stopping(visit)
    for await (const kept of store.sessions.read(run, rel, generation)) {
      if (wanted(kept.line)) readOneLine(kept, sink)
      if (!sink.on) return
    }
  }
  return {
    from: 'archive',
    close: () => undefined,
    scan: (visit) => scan(visit, () => true),
    async read(places: readonly LinePlace[]) {
      const wanted = new Set(places.map(({ line }) => line))
      const last = places.at(-1)?.line ?? 0
      const lines: RawLine[] = []
      await scan(
        (line) => {
          if (line.line <= last) lines.push(line)
          return line.line < last
        },
        (line) => wanted.has(line) || line > last,
      )
      return lines
    },
  }
}

/** Hands on records until the visitor has enough. Damaged lines were counted when the session was read. */
const stopping = (visit: (line: RawLine) => boolean) => {
  const sink = {
    on: true,
    row(line: RawLine): void {
      if (sink.on) sink.on = visit(line)
    },
    unreadable: () => undefined,
  }
  return sink
}
