import { join } from 'node:path'
import type { EventContent, TypedPrompt } from '../adapter.ts'
import { asInstantText, asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'

/** `history.jsonl` (runtime page 5.1, 2.1.332): what was typed in interactive sessions, kept when the transcripts are deleted (B13). */
export const promptHistoryFile = (home: string): string => join(home, 'history.jsonl')

export function readTypedPrompt(record: unknown): TypedPrompt | null {
  const row = asRow(record)
  const text = asText(row?.display)
  if (row === null || text === null) return null
  return { session: asName(row.sessionId), text, at: instantOf(row.timestamp), cwd: asName(row.project) }
}

/** Milliseconds in all versions seen. */
function instantOf(value: unknown): string | null {
  const ms = asNumber(value)
  if (ms === null) return asInstantText(value)
  return Math.abs(ms) < 8.64e15 ? new Date(ms).toISOString() : null
}

interface Pasted {
  readonly label: string
  readonly text: string | null
}

/** Long pastes stand apart from the line that was typed; newer versions keep only their hash here. */
function pastedOf(row: Row): readonly Pasted[] {
  return Object.entries(asRow(row.pastedContents) ?? {}).map(([id, value]) => {
    const paste = asRow(value)
    const text = paste?.type === 'image' ? null : asText(paste?.content)
    return { label: `Pasted ${asName(paste?.type) ?? 'content'} #${id}`, text }
  })
}

export function describeTypedPrompt(records: readonly unknown[]): EventContent {
  const parts = records.flatMap((record): EventContent['parts'] => {
    const row = asRow(record)
    const prompt = readTypedPrompt(record)
    if (row === null || prompt === null)
      return [{ role: 'raw', label: 'Record', text: JSON.stringify(record, null, 2), format: 'json' }]
    return [
      { role: 'prompt', label: 'Prompt', text: prompt.text, format: 'markdown' },
      ...pastedOf(row).map(({ label, text }) =>
        text === null
          ? ({ role: 'error', label, text: 'its content is not in the prompt history', format: 'text' } as const)
          : ({ role: 'context', label, text, format: 'text' } as const),
      ),
    ]
  })
  return { parts, changes: [] }
}

/** Long pastes are words that were given as well. */
export function pastedTexts(record: unknown): readonly string[] {
  const row = asRow(record)
  return row === null ? [] : pastedOf(row).flatMap(({ text }) => (text === null ? [] : [text]))
}
