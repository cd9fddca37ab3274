import type { RowSink, StretchEvidence } from '../adapter.ts'
import { Evidence } from './evidence.ts'

type Cause = 'start' | 'resume' | 'fork' | 'unknown'

/** Where a start may have been, seen before it is known to be one. */
interface Candidate {
  readonly firstSeq: number
  readonly at: string | null
  readonly evidence: Evidence
}

/**
 * Where one start of the program ends and the next begins in a file that all of them append to. Signs, with what they were seen on:
 *
 * - a `cost-state` row is written when the program ends, and only then (2.1.332, print and interactive): the next row of the
 *   conversation belongs to a new start;
 * - the first request of a start stands on no other (`api-request` without `base`); later ones do, unless a compaction came between
 *   (2.1.332). A killed program writes no `cost-state`, so this sign comes late: the rows since the prompt are moved over;
 * - a `SessionStart:resume` hook row, and a change of `version`: any version.
 *
 * Older versions without hooks leave no sign at all; their files have one stretch, and the manifest says so.
 */
export class Stretches {
  readonly #evidence: Evidence[] = []
  /** State of the program may stand before the first row of the conversation; it belongs to the first start. */
  readonly #early = new Evidence(1, null)
  #ended = false
  #requests = 0
  #replies = 0
  #compacted = false
  #copied = false
  #candidate: Candidate | null = null

  get n(): number {
    return Math.max(1, this.#evidence.length)
  }

  get current(): Evidence {
    return this.#evidence.at(-1) ?? this.#early
  }

  /** Every evidence that configuration seen now may belong to. */
  get recipients(): readonly Evidence[] {
    return this.#candidate === null ? [this.current] : [this.current, this.#candidate.evidence]
  }

  /** When the own part of a fork began, as far as it was told from the copied one. */
  forkedAt: string | null = null

  /** A row of the conversation, or the queueing of a prompt, is about to be read. */
  enter(row: { at: string | null; version: string | null; nextSeq: number }, sink: RowSink): void {
    if (this.#evidence.length === 0) this.#begin('start', row.at, 1, sink, this.#early)
    else if (this.#ended) this.#begin(this.#copied ? 'fork' : 'resume', row.at, row.nextSeq, sink)
    else if (row.version !== null && this.current.version !== null && row.version !== this.current.version) {
      this.#begin('resume', row.at, row.nextSeq, sink)
    }
    if (row.version !== null) for (const evidence of this.recipients) evidence.version = row.version
  }

  /** A prompt was queued or given: if it turns out that the program was started anew, it was before this. */
  prompt(at: string | null, nextSeq: number): void {
    if (this.#candidate !== null || (this.#requests === 0 && this.#replies === 0 && !this.#copied)) return
    this.#candidate = { firstSeq: nextSeq, at, evidence: new Evidence(this.n + 1, at, this.current) }
  }

  request(hasBase: boolean, nextSeq: number, sink: RowSink): void {
    if (!hasBase && !this.#compacted && (this.#requests > 0 || this.#copied))
      this.#late(this.#copied ? 'fork' : 'resume', sink, nextSeq)
    else if (hasBase) this.#candidate = null
    this.#compacted = false
    this.#requests++
  }

  /** A model's answer; `copied` when the row names another session as its own. */
  reply(copied: boolean, nextSeq: number, sink: RowSink): void {
    if (copied) this.#copied = true
    else if (this.#copied) this.#late('fork', sink, nextSeq)
    this.#replies++
    this.#candidate = null
  }

  sessionStart(cause: 'resume' | 'fork', at: string | null, nextSeq: number, sink: RowSink): void {
    if (this.#replies > 0) this.#begin(cause, at, nextSeq, sink)
  }

  compacted(): void {
    this.#compacted = true
  }

  programEnded(): void {
    this.#ended = true
  }

  toEvidence(home: string, session: string): readonly StretchEvidence[] {
    return this.#evidence.map((evidence) => evidence.toStretch(home, session))
  }

  #begin(cause: Cause, at: string | null, firstSeq: number, sink: RowSink, ready: Evidence | null = null): Evidence {
    const evidence = ready ?? new Evidence(this.#evidence.length + 1, at, this.#evidence.at(-1) ?? null)
    evidence.startedAt = at
    this.#evidence.push(evidence)
    this.#ended = false
    this.#requests = 0
    this.#replies = 0
    this.#compacted = false
    this.#copied = false
    this.#candidate = null
    if (cause === 'fork') this.forkedAt = at
    sink.stretch({ n: evidence.n, startedAt: at, cause, firstSeq })
    return evidence
  }

  #late(cause: Cause, sink: RowSink, nextSeq: number): void {
    const candidate = this.#candidate
    const firstSeq = candidate?.firstSeq ?? nextSeq
    const evidence = this.#begin(cause, candidate?.at ?? null, firstSeq, sink, candidate?.evidence ?? null)
    for (let seq = firstSeq; seq < nextSeq; seq++) sink.amend(seq, { stretch: evidence.n })
  }
}
