import { join } from 'node:path'
import type {
  EventContent,
  RawLine,
  RowSink,
  SessionReader,
  SessionSummary,
  SessionUnit,
  TypedPrompt,
} from '../adapter.ts'
import { asInstantText, asName, asNumber, asRow, asText, type Row } from '../shared/fields.ts'
import { summaryOf, WORDS_SAID } from './summaries.ts'

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

/** Reads the typed prompts of one session, all that is left of it. */
export class TypedPromptsReader implements SessionReader {
  readonly #unit: SessionUnit
  readonly #workspaces = new Set<string>()
  readonly #unknown: Record<string, number> = {}
  #rows = 0
  #prompts = 0
  #first: string | null = null
  #firstCommand: string | null = null
  #earliest: string | null = null
  #latest: string | null = null
  #before: string | null = null
  #clockBack = 0

  constructor(unit: SessionUnit) {
    this.#unit = unit
  }

  readLine(line: RawLine, sink: RowSink): void {
    this.#rows++
    const row = asRow(line.value)
    const prompt = readTypedPrompt(line.value)
    if (row === null || prompt === null) {
      this.#unknown['(no prompt)'] = (this.#unknown['(no prompt)'] ?? 0) + 1
      sink.unknownRecord(line, '(no prompt)')
      return
    }
    const { text, at, cwd } = prompt
    if (cwd !== null) this.#workspaces.add(cwd)
    this.#clock(at)
    // As in a session, a mere command gives the title only when nothing else was said.
    if (/^[/!]/.test(text)) this.#firstCommand ??= text
    else if (text.trim() !== '') this.#first ??= text
    const seq = ++this.#prompts
    sink.event({
      seq,
      id: `typed@${line.byte}`,
      parentSeq: seq === 1 ? null : seq - 1,
      brokenLink: false,
      kind: 'prompt',
      at,
      tool: null,
      toolUseId: null,
      summary: summaryOf(text),
      ok: null,
      durationMs: null,
      effects: [],
      effectsState: 'not_applicable',
      tokens: null,
      model: null,
      lane: 'main',
      stretch: 1,
      cwd,
      line: line.line,
      byte: line.byte,
      bytes: line.bytes,
      rowIds: [],
      contentKey: null,
      messageId: null,
      originSession: null,
      subagentSession: null,
    })
    const pasted = pastedOf(row).flatMap((paste) => (paste.text === null ? [] : [paste.text]))
    sink.words(seq, 'prompt', [text, ...pasted].join('\n').slice(0, WORDS_SAID))
  }

  summary(): SessionSummary {
    return {
      session: this.#unit.session,
      versions: [],
      workspaces: [...this.#workspaces],
      models: [],
      agentTitle: null,
      firstPrompt: this.#first ?? this.#firstCommand,
      startedAt: this.#earliest,
      endedAt: this.#latest,
      rows: this.#rows,
      events: this.#prompts,
      recordTypes: { 'typed prompt': this.#prompts },
      tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
      // What the answers cost is not known.
      tokensAreLowerBound: true,
      conversation: false,
      checkpoints: 0,
      openCalls: 0,
      failed: false,
      brokenLinks: 0,
      roots: this.#prompts > 0 ? 1 : 0,
      cyclesCut: 0,
      repeatedRows: 0,
      clockStepsBack: this.#clockBack,
      unknownRecords: this.#unknown,
      otherSessionIds: [],
      requests: null,
      stretches: [],
    }
  }

  #clock(at: string | null): void {
    if (at === null) return
    if (this.#before !== null && at < this.#before) this.#clockBack++
    this.#before = at
    if (this.#earliest === null || at < this.#earliest) this.#earliest = at
    if (this.#latest === null || at > this.#latest) this.#latest = at
  }
}
