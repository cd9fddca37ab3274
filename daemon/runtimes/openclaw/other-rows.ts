import { asList, asName, asNames, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import { summaryOf } from '../shared/words.ts'
import { UNREADABLE_EVENT } from './agent-database.ts'
import type { OpenClawReader } from './reader.ts'

type Read = (reader: OpenClawReader, row: Row) => void

/** Rows of a transcript that are no messages, by `type` (runtime page 6.2; `leaf`, `label`, `session_info`: 2026.9.6, source). */
export const rowReaders: Readonly<Partial<Record<string, Read>>> = {
  model_change: (reader, row) => {
    const provider = asName(row.provider)
    const model = asName(row.modelId)
    chooseModel(reader, provider, model, null)
    reader.emit({ kind: 'note', summary: summaryOf(`model ${[provider, model].filter(Boolean).join('/')}`), model })
  },
  thinking_level_change: (reader, row) => {
    const level = asName(row.thinkingLevel)
    const { stretches, place, sink } = reader
    const known = stretches.current?.chosen.thinking
    if (known !== level) {
      const evidence = known === undefined ? reader.evidence : stretches.change(place.at, reader.nextSeq, sink)
      evidence.set('thinking', level, true)
    }
    reader.emit({ kind: 'note', summary: `thinking ${level ?? 'not named'}` })
  },
  custom: readCustom,
  custom_message: (reader, row) => {
    const text = plainText(row.content)
    const seq = reader.emit({
      kind: 'context',
      summary: summaryOf(text === '' ? (asText(row.customType) ?? 'custom message') : text),
      contentKey: reader.key('said', row.content),
    })
    reader.words(seq, 'context', text)
  },
  compaction: (reader, row) => {
    const [before, after] = [asNumber(row.tokensBefore), asNumber(row.tokensAfter)]
    const sizes = before === null ? '' : after === null ? `, ${before} tokens before` : `, ${before} to ${after} tokens`
    const seq = reader.emit({ kind: 'compact', summary: `compacted${row.fromHook === true ? ' (hook)' : ''}${sizes}` })
    reader.words(seq, 'context', asText(row.summary) ?? '')
  },
  reset: (reader, row) => {
    reader.stretches.reset(reader.place.at, reader.nextSeq, reader.sink)
    const kept = asName(row.firstKeptEntryId) === null ? 'nothing before it is kept' : 'the last turns are kept'
    reader.emit({
      kind: 'compact',
      summary: summaryOf(`context reset (${asText(row.reason) ?? 'no reason'}), ${kept}`),
    })
  },
  branch_summary: (reader, row) => {
    const text = asText(row.summary) ?? ''
    const seq = reader.emit({
      kind: 'context',
      summary: summaryOf(`left a branch: ${text}`),
      contentKey: reader.key('said', text),
    })
    reader.words(seq, 'context', text)
  },
  leaf: (reader, row) => {
    reader.emit({
      kind: 'note',
      summary:
        asName(row.targetId) === null
          ? 'went back to the beginning'
          : 'went back to an earlier point of the conversation',
    })
  },
  label: (reader, row) => {
    reader.emit({ kind: 'note', summary: summaryOf(`label ${asText(row.label) ?? 'removed'}`) })
  },
  session_info: (reader, row) => {
    const name = asName(row.name)
    reader.tally.title = name ?? reader.tally.title
    reader.emit({ kind: 'note', summary: summaryOf(`named ${name ?? ''}`) })
  },
  [UNREADABLE_EVENT]: (reader, row) => {
    reader.unknown(reader.place.line, UNREADABLE_EVENT)
    reader.emit({
      kind: 'unknown',
      summary: summaryOf(`event ${String(row.seq)} of the database could not be unpacked: ${asText(row.why) ?? ''}`),
    })
  },
}

/** A model chosen when nothing was said yet is the beginning's own; later it is another configuration. */
function chooseModel(reader: OpenClawReader, provider: string | null, model: string | null, api: string | null): void {
  const { stretches, place, sink } = reader
  const known = stretches.current?.chosen
  const same =
    known !== undefined &&
    (known.provider === undefined || provider === null || known.provider === provider) &&
    (known.model === undefined || model === null || known.model === model)
  const evidence =
    same && stretches.current !== null ? stretches.current : stretches.change(place.at, reader.nextSeq, sink)
  evidence.set('provider', provider, true)
  evidence.set('model', model, true)
  evidence.set('api', api, true)
}

/**
 * `custom` rows do not reach the model. `openclaw.cache-ttl` repeats what tool results look like to it at that moment: those texts were
 * counted where they stand, so the row is no event.
 */
function readCustom(reader: OpenClawReader, row: Row): void {
  const type = asText(row.customType) ?? '(no type)'
  const data = asRow(row.data)
  if (type === 'model-snapshot') {
    chooseModel(reader, asName(data?.provider), asName(data?.modelId), asName(data?.modelApi))
    return
  }
  if (type === 'openclaw.cache-ttl') {
    const pruned = asList(data?.prunedToolResults).length
    const shortened = asList(data?.frozenToolResults).filter((item) => asNames(asRow(item)?.texts).length > 0).length
    if (pruned + shortened > 0)
      reader.emit({ kind: 'note', summary: `${pruned + shortened} earlier results are shortened for the model` })
    return
  }
  if (type === 'openclaw:bootstrap-context:full') return
  if (/error/.test(type)) {
    const words = asText(data?.error) ?? asText(data?.message) ?? type
    const seq = reader.emit({ kind: 'error', summary: summaryOf(words), ok: false })
    reader.words(seq, 'context', words)
    reader.tally.failed = true
    return
  }
  reader.emit({ kind: 'note', summary: summaryOf(type) })
}
