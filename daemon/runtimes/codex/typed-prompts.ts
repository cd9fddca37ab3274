import { join } from 'node:path'
import type { EventContent, TypedPrompt } from '../adapter.ts'
import { asName, asNumber, asRow, asText } from '../shared/fields.ts'

/** `history.jsonl`: what was typed in the interactive program, `{session_id, ts, text}` with seconds (0.171.0). */
export const promptHistoryFile = (home: string): string => join(home, 'history.jsonl')

export function readTypedPrompt(record: unknown): TypedPrompt | null {
  const row = asRow(record)
  const text = asText(row?.text)
  if (row === null || text === null) return null
  const seconds = asNumber(row.ts)
  const at = seconds !== null && Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1000).toISOString() : null
  return { session: asName(row.session_id), text, at, cwd: null }
}

export function describeTypedPrompt(records: readonly unknown[]): EventContent {
  return {
    parts: records.map((record): EventContent['parts'][number] => {
      const prompt = readTypedPrompt(record)
      return prompt === null
        ? { role: 'raw', label: 'Record', text: JSON.stringify(record, null, 2), format: 'json' }
        : { role: 'prompt', label: 'Prompt', text: prompt.text, format: 'markdown' }
    }),
    changes: [],
  }
}
