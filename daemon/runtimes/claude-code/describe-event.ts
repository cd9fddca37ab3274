import fs from 'node:fs'
import path from 'node:path'
import type { EventContent, EventPlace, RawLine, SessionUnit } from '../adapter.ts'
import { readDetail } from './detail.ts'

/** A spilled output is read whole only up to this many bytes; the rest of a larger one stays on the disk and is said to. */
const SIDE_LIMIT = 32 * 1024 * 1024

/** One event in full, outputs that were written to files of their own included. Only files of this very session are opened. */
export const describeEvent = (unit: SessionUnit, event: EventPlace, lines: readonly RawLine[]): EventContent =>
  readDetail({
    kind: event.kind,
    id: event.id,
    toolUseId: event.toolUseId,
    tool: event.tool,
    rows: lines.map(({ value }) => value),
    readSideFile: (named) => readSideFile(unit, named),
  })

/** The record names an absolute path of the machine it was written on; what counts is the file of that name in this session's folder. */
const readSideFile = (unit: SessionUnit, named: string): string | null => {
  const folder = path.join(unit.file.replace(/\.jsonl$/, ''), 'tool-results')
  try {
    const file = path.join(folder, path.basename(named))
    const { size } = fs.statSync(file)
    const fd = fs.openSync(file, 'r')
    try {
      const buffer = Buffer.alloc(Math.min(size, SIDE_LIMIT))
      const got = fs.readSync(fd, buffer, 0, buffer.length, 0)
      return buffer.toString('utf8', 0, got)
    } finally {
      fs.closeSync(fd)
    }
  } catch {
    return null
  }
}
