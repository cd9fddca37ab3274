import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionProblem } from '../adapter.ts'
import { asName, asRow } from '../shared/fields.ts'

/** `session_index.jsonl` (0.171.0): a line is added when a thread is given a name, or one is made for it; the last one counts. */
export function readTitles(home: string, report: (problem: SessionProblem) => void): ReadonlyMap<string, string> {
  const titles = new Map<string, string>()
  const file = join(home, 'session_index.jsonl')
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null
    if (code !== 'ENOENT') report({ path: file, reason: error instanceof Error ? error.message : String(error) })
    return titles
  }
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    try {
      const row = asRow(JSON.parse(line))
      const id = asName(row?.id)
      const name = asName(row?.thread_name)
      if (id !== null && name !== null) titles.set(id, name)
    } catch {
      // A line that is being written; names are only titles.
    }
  }
  return titles
}
