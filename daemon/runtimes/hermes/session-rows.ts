import { asList, asName, asNumber, asText, type Row } from '../shared/fields.ts'
import { readPromptParts } from './prompt-parts.ts'
import type { HermesReader } from './reader.ts'
import { toolsOf } from './session-files.ts'
import { instantOf } from './state-database.ts'
import { blockedBy } from './tool-results.ts'
import { summaryOf } from './words.ts'

/** Rows that are no message. False for one that is not known. */
export function readOtherRow(reader: HermesReader, row: Row, type: string): boolean {
  switch (type) {
    case 'session':
      readHead(reader, row)
      return true
    case 'prompt':
      readPromptRow(reader, row)
      return true
    case 'archived':
      reader.compactSeq = reader.emit({
        id: `archived ${JSON.stringify(row.ids)}`,
        kind: 'compact',
        summary: `Compaction: ${countOf(row)} messages were taken out of what the model sees`,
      })
      return true
    case 'undone':
      reader.emit({
        id: `undone ${JSON.stringify(row.ids)}`,
        kind: 'note',
        summary: `${countOf(row)} messages before this were undone: the model does not see them any more`,
      })
      return true
    case 'rotated':
      reader.emit({
        id: 'rotated',
        kind: 'compact',
        summary: `Compaction: the conversation goes on in session ${asText(row.into) ?? 'unknown'}`,
        rowIds: [endOf(reader.unit.session)],
      })
      return true
    case 'message':
      // The first row of a gateway log (wild fixtures): the tools, the model and the platform.
      if (row.role !== 'session_meta') return false
      if (reader.headSeq === null) readHead(reader, row)
      else readMetaRow(reader, row)
      return true
    default:
      return false
  }
}

/** Shared by a session that was rotated away and the one that continues it: it makes the second a fork of the first, from its end. */
const endOf = (session: string): string => `hermes ${session} end`
const startOf = (session: string): string => `hermes ${session} start`

function readHead(reader: HermesReader, row: Row): void {
  const { evidence, unit } = reader
  const startedAt = instantOf(row.started_at)
  const local = asName(row.session_start) ?? asName(row.timestamp)
  if (startedAt === null && local !== null) evidence.set('local_start', local)
  evidence.set('source', asName(row.source) ?? asName(row.platform))
  evidence.set('model', asName(row.model))
  evidence.set('base_url', asName(row.base_url))
  if (row.role === 'session_meta') evidence.set('from', 'log')
  const tools = toolsOf(row.tools)
  if (tools.length > 0) evidence.set('tools', tools)
  reader.noteModel(asName(row.model))
  reader.begin(startedAt)
  reader.clock(startedAt)
  reader.headSeq = reader.emit({
    id: 'session',
    kind: 'note',
    at: startedAt,
    parentSeq: null,
    summary: reader.totals.text,
    tokens: reader.totals.tokens,
    rowIds: [startOf(unit.session)],
  })
  reader.lastSeq = reader.headSeq
  const parent = asName(row.parent)
  if (parent !== null) readParent(reader, parent, row, startedAt)
}

/** In a database such a row may stand among the messages; what it tells of the start counts, it is no message. */
function readMetaRow(reader: HermesReader, row: Row): void {
  const tools = toolsOf(row.tools)
  if (tools.length > 0) reader.evidence.set('tools', tools)
  reader.emit({
    id: `${row.id ?? `line ${reader.line.line}`}`,
    kind: 'note',
    at: instantOf(row.timestamp),
    summary: 'Facts of the session',
  })
}

/** Continuations and branches are forks of their parent; a reset and a delegated task are conversations of their own (runtime page 7.4). */
function readParent(reader: HermesReader, parent: string, row: Row, at: string | null): void {
  const message = asNumber(row.parent_message)
  const event = { id: 'parent', at, parentSeq: reader.headSeq, originSession: parent }
  switch (asText(row.relation)) {
    case 'continuation':
      reader.emit({
        ...event,
        kind: 'resume',
        summary: `Continues session ${parent} after a compaction`,
        rowIds: [endOf(parent)],
      })
      return
    case 'branch':
      reader.emit({
        ...event,
        kind: 'resume',
        summary: `Branched from session ${parent}`,
        rowIds: [message === null ? startOf(parent) : reader.rowId(message, parent)],
      })
      return
    case 'subagent':
      reader.emit({ ...event, originSession: null, kind: 'note', summary: `Delegated by session ${parent}` })
      return
    case 'reset':
      reader.emit({
        ...event,
        originSession: null,
        kind: 'note',
        summary: `Began anew after a reset of session ${parent}`,
      })
      return
    default:
      reader.emit({
        ...event,
        originSession: null,
        kind: 'note',
        summary: `Names session ${parent} as its parent; nothing says in what way`,
      })
  }
}

/** The prompt as it was stored once for the whole session (R54), and the files that stand in it. */
function readPromptRow(reader: HermesReader, row: Row): void {
  const text = asText(row.prompt)
  const hash = asName(row.hash)
  const parts = text === null ? null : readPromptParts(text)
  reader.evidence.prompt(hash, text, parts)
  const seq = reader.emit({
    id: 'prompt',
    kind: 'context',
    at: reader.evidence.startedAt,
    parentSeq: reader.headSeq,
    summary:
      text === null
        ? `System prompt ${hash?.slice(0, 12) ?? ''}: named by the session and not in the database`
        : `System prompt, ${[...text].length} characters`,
    ok: text === null ? false : null,
  })
  if (text === null || parts === null) return
  reader.words(seq, 'context', text)
  const part = { at: reader.evidence.startedAt, parentSeq: seq }
  parts.project.forEach(({ label, text: section }, at) => {
    const blocked = blockedBy(section.slice(section.indexOf('\n\n') + 2))
    reader.emit({
      ...part,
      id: `prompt/project/${at}`,
      kind: 'instructions',
      summary: summaryOf(
        blocked === null ? label : `${label} was kept out by the security scan (${blocked.join(', ')})`,
      ),
      ok: blocked === null ? null : false,
    })
  })
  for (const [name, block] of [
    ['MEMORY.md', parts.memory],
    ['USER.md', parts.user],
  ] as const) {
    if (block === null) continue
    const blocked = block.includes('\n[BLOCKED: ')
    reader.emit({
      ...part,
      id: `prompt/${name}`,
      kind: 'memory',
      summary: blocked ? `${name}, with entries that the security scan kept out` : name,
      ok: blocked ? false : null,
    })
  }
}

function countOf(row: Row): number {
  return asList(row.ids).reduce<number>((sum, range) => {
    const [first, last] = asList(range)
    return sum + (typeof first === 'number' && typeof last === 'number' ? last - first + 1 : 0)
  }, 0)
}
