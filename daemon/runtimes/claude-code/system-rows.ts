import { asList, asName, asNumber, asRow, asText, plainText, type Row } from '../shared/fields.ts'
import type { ClaudeReader } from './reader.ts'
import { summaryOf, summaryOfHook } from './summaries.ts'

/** `system` rows by `subtype` (runtime page 5.2). */
export function readSystemRow(reader: ClaudeReader, row: Row): void {
  const subtype = asText(row.subtype) ?? '(no subtype)'
  switch (subtype) {
    case 'compact_boundary':
    case 'microcompact_boundary':
      readCompaction(reader, row)
      return
    case 'api_error':
      readApiError(reader, row)
      return
    case 'stop_hook_summary': {
      const hooks = asList(row.hookInfos)
        .map((hook) => asText(asRow(hook)?.command))
        .filter((command) => command !== null)
      const failed = asList(row.hookErrors).length > 0
      reader.emit({ kind: 'hook', summary: summaryOf(`Stop: ${hooks.join(', ')}`), ok: !failed })
      return
    }
    case 'turn_duration':
      reader.emit({ kind: 'note', summary: 'turn finished', durationMs: asNumber(row.durationMs) })
      return
    case 'local_command':
    case 'informational':
      reader.emit({ kind: 'note', summary: summaryOf(plainText(row.content)) })
      return
    default:
      reader.unknown(reader.place.line, `system/${subtype}`)
      reader.emit({ kind: 'note', summary: summaryOf(`${subtype}: ${plainText(row.content)}`) })
  }
}

/** The context is built anew; what the conversation held before stays in the file (runtime page 5.3). */
function readCompaction(reader: ClaudeReader, row: Row): void {
  const about = asRow(row.compactMetadata) ?? asRow(row.microcompactMetadata)
  const trigger = asText(about?.trigger)
  const [before, after] = [asNumber(about?.preTokens), asNumber(about?.postTokens)]
  const sizes = before === null ? '' : after === null ? `, ${before} tokens before` : `, ${before} to ${after} tokens`
  const leaf = asName(row.logicalParentUuid)
  const above = leaf === null ? null : reader.links.eventOf(leaf)
  reader.stretches.compacted()
  reader.emit({
    kind: 'compact',
    summary: `compacted${trigger === null ? '' : ` (${trigger})`}${sizes}`,
    durationMs: asNumber(about?.durationMs),
    ...(above === null ? {} : { parentSeq: above }),
  })
}

/** An attempt that failed and was tried again: part of what happened, no part of the conversation. */
function readApiError(reader: ClaudeReader, row: Row): void {
  const error = asRow(row.error)
  const attempt = asNumber(row.retryAttempt)
  const words = asText(error?.formatted) ?? asText(error?.message) ?? asText(row.content) ?? 'error of the service'
  const seq = reader.emit({
    kind: 'error',
    summary: summaryOf(
      attempt === null ? words : `${words} (attempt ${attempt} of ${asNumber(row.maxRetries) ?? '?'})`,
    ),
    ok: false,
    durationMs: null,
  })
  reader.words(seq, 'context', words)
}

/** Rows about a hook: `attachment.hook_*`. */
export function readHook(reader: ClaudeReader, type: string, attachment: Row): void {
  const name = asText(attachment.hookName) ?? asText(attachment.hookEvent) ?? 'hook'
  const event = asText(attachment.hookEvent) ?? name
  const command = asName(attachment.command)
  noteSessionStart(reader, name)
  if (command !== null) for (const evidence of reader.evidence) evidence.addHook({ event, name, command })
  const failed = /error|cancelled/.test(type) || (asNumber(attachment.exitCode) ?? 0) !== 0
  const seq = reader.emit({
    kind: 'hook',
    summary: summaryOfHook(attachment),
    toolUseId: asName(attachment.toolUseID),
    ok: type === 'hook_success' || failed ? !failed : null,
    durationMs: asNumber(attachment.durationMs),
  })
  reader.words(
    seq,
    'context',
    [plainText(attachment.content), asText(attachment.stdout) ?? '', asText(attachment.stderr) ?? ''].join('\n').trim(),
  )
}

/** `progress` rows of 2.1.x before attachments: running hooks are events, ticks of running commands are not. */
export function readProgress(reader: ClaudeReader, row: Row): void {
  const data = asRow(row.data)
  if (data === null || data.type !== 'hook_progress') return
  const event = asText(data.hookEvent) ?? 'hook'
  const name = asText(data.hookName) ?? event
  const command = asName(data.command)
  noteSessionStart(reader, name)
  for (const evidence of reader.evidence) evidence.addHook({ event, name, command })
  reader.emit({ kind: 'hook', summary: summaryOfHook(data), toolUseId: asName(row.toolUseID) })
}

function noteSessionStart(reader: ClaudeReader, name: string): void {
  const cause = name === 'SessionStart:resume' ? 'resume' : name === 'SessionStart:fork' ? 'fork' : null
  if (cause !== null && reader.place.lane === 'main')
    reader.stretches.sessionStart(cause, reader.place.at, reader.nextSeq, reader.sink)
}
