import { closeSync, fstatSync, openSync } from 'node:fs'
import { linesOfFile } from '../../daemon/capture/session-lines.ts'
import type { RawLine, RebuiltRequest, RuntimeAdapter, SessionUnit } from '../../daemon/runtimes/adapter.ts'
import { type FinalEvent, readSession } from './read-session.ts'

/** The request of every reply of a session, as the daemon would rebuild it. */
export async function rebuildAll(
  adapter: RuntimeAdapter,
  unit: SessionUnit,
): Promise<readonly { readonly reply: FinalEvent; readonly request: RebuiltRequest }[]> {
  const { events } = readSession(adapter, unit)
  const fd = openSync(unit.file, 'r')
  try {
    const lines = linesOfFile(fd, fstatSync(fd).size)
    const all: RawLine[] = []
    await lines.scan((line) => {
      all.push(line)
      return true
    })
    const rebuilt: { readonly reply: FinalEvent; readonly request: RebuiltRequest }[] = []
    for (const reply of events.filter(({ kind }) => kind === 'model')) {
      const rows = all.filter(({ line }) => reply.lines.includes(line))
      rebuilt.push({ reply, request: await adapter.rebuildRequest(unit, rows, lines) })
    }
    return rebuilt
  } finally {
    closeSync(fd)
  }
}
