import type { RawLine, RowSink, SessionReader, SessionSummary, SessionUnit, TypedPrompt } from '../adapter.ts'
import { summaryOf, WORDS_SAID } from './words.ts'

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

  readonly #read: (record: unknown) => TypedPrompt | null
  readonly #more: (record: unknown) => readonly string[]

  /** `read` is that of the adapter; `more` gives what was given along with the words. */
  constructor(
    unit: SessionUnit,
    read: (record: unknown) => TypedPrompt | null,
    more: (record: unknown) => readonly string[] = () => [],
  ) {
    this.#unit = unit
    this.#read = read
    this.#more = more
  }

  readLine(line: RawLine, sink: RowSink): void {
    this.#rows++
    const prompt = this.#read(line.value)
    if (prompt === null) {
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
    sink.words(seq, 'prompt', [text, ...this.#more(line.value)].join('\n').slice(0, WORDS_SAID))
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
