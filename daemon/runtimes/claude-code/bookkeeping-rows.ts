import { asInstantText, asName, asRow, asText, type Row } from '../shared/fields.ts'
import { backupsOf } from './checkpoints.ts'
import { readShape } from './evidence.ts'
import type { ClaudeReader } from './reader.ts'
import { summaryOf } from './summaries.ts'

type Read = (reader: ClaudeReader, row: Row) => void
const nothing: Read = () => {}

/** Rows without `uuid`: state of the program, requests, checkpoints. Versions: runtime page 5.2 (2.1.332) and the wild fixtures. */
const readers: Readonly<Record<string, Read>> = {
  'queue-operation': (reader, row) => {
    if (row.operation === 'enqueue') reader.stretches.prompt(reader.place.at, reader.nextSeq)
  },
  'cost-state': (reader) => reader.stretches.programEnded(),
  'custom-title': ({ tally }, row) => {
    tally.title = asName(row.customTitle) ?? tally.title
  },
  'ai-title': ({ tally }, row) => {
    tally.madeTitle = asName(row.aiTitle) ?? asName(row.title) ?? tally.madeTitle
  },
  summary: ({ tally }, row) => {
    tally.oldTitle = asName(row.summary) ?? tally.oldTitle
  },
  'permission-mode': (reader, row) => {
    const mode = asName(row.permissionMode)
    if (mode !== null) for (const evidence of reader.evidence) evidence.set('permission_mode', mode)
  },
  'file-history-snapshot': readSnapshot,
  'file-history-delta': readDelta,
  'api-request': readRequest,
  'api-request-shape': readRequestShape,
  'api-request-blob': nothing,
  'last-prompt': nothing,
  'tools-used': nothing,
  'atis-latch': nothing,
  mode: nothing,
}

export function isBookkeeping(type: string): boolean {
  return Object.hasOwn(readers, type)
}

export function readBookkeeping(reader: ClaudeReader, type: string, row: Row): void {
  readers[type]?.(reader, row)
}

/** Ids of messages come again in checkpoints: an event of one is named by the place of its row (B11). */
function checkpointPlace(reader: ClaudeReader, row: Row): { id: string; parentSeq: number | null } {
  const message = asName(row.messageId)
  return {
    id: `checkpoint@${reader.place.line.byte}`,
    parentSeq: message === null ? null : reader.links.eventOf(message),
  }
}

function readSnapshot(reader: ClaudeReader, row: Row): void {
  const snapshot = asRow(row.snapshot)
  for (const backup of backupsOf(row)) reader.noteCopy(backup)
  const files = Object.keys(asRow(snapshot?.trackedFileBackups) ?? {})
  const count = `${files.length} ${files.length === 1 ? 'file' : 'files'}`
  reader.tally.checkpoints++
  reader.emit({
    ...checkpointPlace(reader, row),
    kind: 'checkpoint',
    summary: files.length === 0 ? 'no files tracked' : summaryOf(`${count}: ${files.join(', ')}`),
    at: asInstantText(snapshot?.timestamp),
  })
}

function readDelta(reader: ClaudeReader, row: Row): void {
  for (const backup of backupsOf(row)) reader.noteCopy(backup)
  const path = asText(row.trackingPath) ?? 'a file'
  const absent = asRow(row.backup)?.backupFileName === null
  reader.emit({
    ...checkpointPlace(reader, row),
    kind: 'checkpoint',
    summary: summaryOf(absent ? `${path}: was not there` : path),
  })
}

function readRequest(reader: ClaudeReader, row: Row): void {
  const id = asName(row.id)
  if (id !== null) reader.replies.addRequest(id, reader.place.line)
  if (!isOwnRequest(asText(row.querySource) ?? '', reader.unit.relation === 'subagent')) return
  reader.stretches.request(asName(row.base) !== null, reader.nextSeq, reader.sink)
  const params = asRow(row.params)
  const model = asName(params?.model)
  const known = reader.shapes.get(asText(row.shapeHash) ?? '')
  for (const evidence of reader.evidence) {
    if (params !== null) evidence.set('params', params)
    if (model !== null) evidence.set('requested_model', model)
    if (known !== undefined) evidence.set('shape', known)
  }
}

/** Requests of the conversation itself (`sdk`, `repl_main_thread…`, `agent:…` in 2.1.332); others do not stand on each other. */
function isOwnRequest(source: string, subagent: boolean): boolean {
  return subagent ? source.startsWith('agent:') : source === 'sdk' || source.startsWith('repl_main_thread')
}

/** Full tool definitions, written once per change: the schemas that were really sent (R92). */
function readRequestShape(reader: ClaudeReader, row: Row): void {
  const shape = readShape(row)
  if (shape === null) return
  reader.shapes.set(shape.hash, shape)
  for (const evidence of reader.evidence) evidence.set('shape', shape)
  reader.emit({
    kind: 'tool_schema',
    summary: summaryOf(`${shape.tools.length} tools: ${shape.tools.map(({ name }) => name).join(', ')}`),
  })
}
