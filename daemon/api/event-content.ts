import { type HomeId, RepriseError, type RunId } from '../../contract/index.ts'
import type { FileRow } from '../capture/file-rows.ts'
import { readOneLine } from '../capture/line-reader.ts'
import { type AsRead, openAsRead, withStamp } from '../capture/open-as-read.ts'
import { type EventLines, readEventLines } from '../capture/read-event-lines.ts'
import { readSideFile } from '../capture/read-side-file.ts'
import { runIdOf } from '../capture/run-ids.ts'
import type { Parts } from '../parts.ts'
import type { EventContent, RawLine, SessionUnit } from '../runtimes/adapter.ts'
import { lineRef } from '../secrets/vault.ts'
import type { RunRow } from '../store/index/run-row.ts'

/** What an event says in full, before anything is covered. Never leaves the daemon as it is. */
export const readEventContent = async (
  parts: Parts,
  row: RunRow,
  seq: number,
  /** Lines that are only in the archive come from the vault, as far as it has them. Only for an opening that is on record. */
  originals = false,
): Promise<{ readonly content: EventContent; readonly lines: OriginalLines }> => {
  const index = parts.index()
  const event = index
    .sql('select id, kind, tool, tool_use_id from events where run = ? and seq = ?')
    .get(row.key, seq) as { id: string; kind: never; tool: string | null; tool_use_id: string | null } | undefined
  const kept = event ? await readEventLines(index, parts.store, row, seq, sessionOpener(parts, row)) : null
  const lines = kept?.from === 'archive' && originals ? await openOriginals(parts, row, seq, kept) : kept
  const adapter = parts.adapters.get(row.runtime)
  if (!event || !lines || !adapter) throw new RepriseError('not_found', `${row.id} has no event ${seq}`)
  const unit = unitOf(parts, row, lines.file)
  const runs = [row.id as RunId]
  // A subagent's outputs are spilled into the folder of the session that started it.
  if (unit.parentSession !== null) runs.push(runIdOf(row.home as HomeId, unit.parentSession))
  const content = await adapter.describeEvent(
    unit,
    { id: event.id, kind: event.kind, tool: event.tool, toolUseId: event.tool_use_id },
    lines.lines,
    (file) => readSideFile(parts.store, parts.redactor, row.home_path, runs, file),
  )
  return { content, lines }
}

interface OriginalLines extends Omit<EventLines, 'from'> {
  readonly from: EventLines['from'] | 'vault'
}

const openOriginals = async (parts: Parts, row: RunRow, seq: number, kept: EventLines): Promise<OriginalLines> => {
  const file = parts.index().sql('select rel from files where run = ?').get(row.key) as { rel: string } | undefined
  const event = parts.index().sql('select generation from events where run = ? and seq = ?').get(row.key, seq) as
    | { generation: number }
    | undefined
  if (!file || !event) return kept
  const rel = parts.redactor.redact(file.rel).text
  let opened = false
  const lines: RawLine[] = []
  const seen = new Set<number>()
  for (const line of kept.lines) {
    // Two records of one line come from it together.
    if (seen.has(line.line)) continue
    seen.add(line.line)
    const original = await parts.vault.get(lineRef(row.id, rel, event.generation, line.line))
    const before = lines.length
    if (original)
      readOneLine({ ...line, text: original.content }, { row: (own) => lines.push(own), unreadable: () => undefined })
    if (lines.length > before) opened = true
    else lines.push(...kept.lines.filter((one) => one.line === line.line))
  }
  return opened ? { ...kept, lines, from: 'vault' } : kept
}

/** Opens the session of a run, whatever it lies in. One that is no plain file stays open for a while, as clicks come in rows. */
export const sessionOpener =
  (parts: Parts, row: RunRow) =>
  (file: FileRow): AsRead => {
    const unit = withStamp(unitOf(parts, row, Buffer.from(file.path).toString()), file)
    return openAsRead(parts.sources, parts.adapters.get(row.runtime) ?? {}, unit, file)
  }

/** The session of a run as its adapter knows it. */
export const unitOf = (parts: Parts, row: RunRow, file: string): SessionUnit => {
  const known = parts.index().sql('select parent_session, meta from runs where key = ?').get(row.key) as {
    parent_session: string | null
    meta: string
  }
  return {
    home: row.home_path,
    session: row.session,
    parentSession: known.parent_session,
    relation: row.relation === 'subagent' ? 'subagent' : null,
    file,
    sideFiles: [],
    meta: JSON.parse(known.meta) as Record<string, unknown>,
  }
}
