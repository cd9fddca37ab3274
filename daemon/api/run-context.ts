import type { ContextBlock, ModelContext } from '../../contract/index.ts'
import { RepriseError } from '../../contract/index.ts'
import { readEventLines } from '../capture/read-event-lines.ts'
import { openSessionLines } from '../capture/session-lines.ts'
import type { Parts } from '../parts.ts'
import type { RebuiltRequest, RequestBlock } from '../runtimes/adapter.ts'
import { SecretStream } from '../secrets/secret-stream.ts'
import type { RunRow } from '../store/index/run-row.ts'
import { sessionOpener, unitOf } from './event-content.ts'
import { parsePoint } from './references.ts'
import { showText } from './shown-text.ts'

interface Reply {
  readonly row: RunRow
  readonly seq: number
  readonly generation: number
}

/**
 * What the model saw at a point: the request of the reply at it, else of the next reply after it, else of the last one before it. Secrets
 * are covered; `whole`: also what is longer than a screen should get.
 */
export const readContext = async (
  parts: Parts,
  run: string,
  seq: number | null,
  whole: boolean,
): Promise<ModelContext> => {
  const point = parsePoint(run)
  const reply = findReply(parts, parts.index().findRun(point.run), seq ?? point.seq ?? Number.MAX_SAFE_INTEGER)
  const { request, from } = await rebuild(parts, reply)
  // Texts are numbered in the order of `textsOf`: the reference of a covered span names its number.
  let n = 0
  const stream = new SecretStream<number>(parts.redactor)
  const shown = (text: string) => {
    // A key whose halves stand in two blocks: of the first no more is shown than what is no key yet.
    const cut = stream.add(n, text).filter(({ key }) => key === n)
    return showText(parts.redactor, text, `e:${reply.row.id}:${reply.seq}:x${n++}`, { whole, cut })
  }
  const block = ({ kind, label, text, format, cached }: RequestBlock): ContextBlock => ({
    kind,
    label,
    body: shown(text),
    format,
    cached,
  })
  const parameters = shown(request.parameters)
  const system = request.system.map(block)
  const tools = request.tools.map(({ name, schemaDigest, definition }) => ({
    name,
    schema_digest: schemaDigest,
    definition: shown(definition),
  }))
  const messages = request.messages.map(({ role, asSent, blocks }) => ({
    role,
    as_sent: asSent,
    blocks: blocks.map(block),
  }))
  return {
    run: reply.row.id,
    at_seq: reply.seq,
    exact: request.exact,
    why:
      !request.exact && from === 'archive'
        ? `${request.why ?? ''}; rebuilt from the kept copy of the session, in which secrets are covered`
        : request.why,
    digest: request.digest === null ? null : `sha256:${request.digest}`,
    from,
    model: request.model,
    parameters,
    system,
    tools,
    messages,
    before: beforeOf(parts, reply, request),
  }
}

/** The n-th text of a request as `readContext` numbers them, not covered. Never leaves the daemon as it is. */
export const readContextText = async (
  parts: Parts,
  row: RunRow,
  seq: number,
  n: number,
): Promise<{ readonly text: string | undefined; readonly from: 'disk' | 'archive' }> => {
  const { request, from } = await rebuild(parts, findReply(parts, row, seq))
  return { text: textsOf(request)[n], from }
}

const textsOf = ({ parameters, system, tools, messages }: RebuiltRequest): readonly string[] => [
  parameters,
  ...system.map(({ text }) => text),
  ...tools.map(({ definition }) => definition),
  ...messages.flatMap(({ blocks }) => blocks.map(({ text }) => text)),
]

const rebuild = async (
  parts: Parts,
  { row, seq, generation }: Reply,
): Promise<{ readonly request: RebuiltRequest; readonly from: 'disk' | 'archive' }> => {
  const adapter = parts.adapters.get(row.runtime)
  const open = sessionOpener(parts, row)
  const lines = openSessionLines(parts.index(), parts.store, row, generation, open)
  if (!adapter || !lines) throw new RepriseError('not_found', `nothing was kept of ${row.id}`)
  try {
    const reply = await readEventLines(parts.index(), parts.store, row, seq, open)
    if (!reply || reply.from === 'none')
      throw new RepriseError('not_found', `the record of ${row.id}@${seq} is gone`, reply?.why ?? undefined)
    return {
      request: await adapter.rebuildRequest(unitOf(parts, row, reply.file), reply.lines, lines),
      from: lines.from,
    }
  } finally {
    lines.close()
  }
}

const findReply = (parts: Parts, row: RunRow, seq: number): Reply => {
  const index = parts.index()
  // Before the first event and after the last one there is no event, but there may be a request.
  const inside = seq > 0 && seq < Number.MAX_SAFE_INTEGER
  const asked = index.sql('select lane from events where run = ? and seq = ?').get(row.key, seq) as
    | { lane: number }
    | undefined
  if (inside && !asked) throw new RepriseError('not_found', `${row.id} has no event ${seq}`)
  const lane = asked?.lane ?? 0
  const columns = `select seq, generation, copied_from from events where run = ? and kind = 'model' and lane = ?`
  const found = (index.sql(`${columns} and seq >= ? order by seq limit 1`).get(row.key, lane, seq) ??
    index.sql(`${columns} and seq < ? order by seq desc limit 1`).get(row.key, lane, seq)) as
    | { seq: number; generation: number; copied_from: string | null }
    | undefined
  if (!found)
    throw new RepriseError('not_found', `no model answered in ${row.id}`, 'it holds no request: look at its events')
  if (found.copied_from === null) return { row, seq: found.seq, generation: found.generation }
  // A fork copies replies, not the requests behind them: those are in the session it was taken from.
  const origin = parsePoint(found.copied_from)
  const from = index.findRun(origin.run)
  const original = index
    .sql('select seq, generation from events where run = ? and seq = ?')
    .get(from.key, origin.seq ?? 0) as { seq: number; generation: number } | undefined
  return original ? { row: from, ...original } : { row, seq: found.seq, generation: found.generation }
}

const beforeOf = (parts: Parts, { row, generation }: Reply, { before }: RebuiltRequest): ModelContext['before'] => {
  if (before === null) return null
  const event = parts
    .index()
    .sql(`select seq from events where run = ? and generation = ? and line = ? and kind = 'model'`)
    .get(row.key, generation, before.line) as { seq: number } | undefined
  return event === undefined
    ? null
    : {
        seq: event.seq,
        kept: before.kept,
        messages: before.messages,
        shape_changed: before.shapeChanged,
        parameters_changed: before.parametersChanged,
      }
}
