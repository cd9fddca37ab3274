import type { RowSink } from '../adapter.ts'
import { Evidence } from './evidence.ts'

/**
 * Where one configuration ends and the next begins. The program resolves its configuration anew at every turn and writes nothing about it
 * into the transcript; what the transcript does show are
 *
 * - the window itself, one session id (`session_windows.reason`): the first stretch;
 * - a `reset` boundary, behind which the context begins anew (2026.9.6, source);
 * - another model or thinking level after the conversation had begun.
 *
 * A change that shows in the trajectory only is told by its evidence (`configurations`): trajectories are pruned, stretches must not move.
 */
export class Stretches {
  readonly #evidence: Evidence[] = []
  #said = false

  get n(): number {
    return Math.max(1, this.#evidence.length)
  }

  get current(): Evidence | null {
    return this.#evidence.at(-1) ?? null
  }

  get all(): readonly Evidence[] {
    return this.#evidence
  }

  /** Any row: the first one begins the first stretch. */
  enter(at: string | null, cause: 'start' | 'fork', sink: RowSink): Evidence {
    return this.current ?? this.#begin(cause, at, 1, sink)
  }

  /** A row was read. */
  passed(at: string | null): void {
    const { current } = this
    if (current !== null && at !== null && (current.lastAt === null || at > current.lastAt)) current.lastAt = at
  }

  /** A person or a model said something under the configuration of this stretch. */
  said(): void {
    this.#said = true
  }

  /** A setting is about to change; when the conversation has begun under the one before, a new stretch begins. */
  change(at: string | null, nextSeq: number, sink: RowSink): Evidence {
    if (this.#said || this.current === null) return this.#begin('resume', at, nextSeq, sink)
    return this.current
  }

  reset(at: string | null, nextSeq: number, sink: RowSink): void {
    if (this.#said) this.#begin('start', at, nextSeq, sink)
  }

  #begin(cause: 'start' | 'resume' | 'fork', at: string | null, firstSeq: number, sink: RowSink): Evidence {
    const evidence = new Evidence(this.#evidence.length + 1, at, this.current)
    this.#evidence.push(evidence)
    this.#said = false
    sink.stretch({ n: evidence.n, startedAt: at, cause, firstSeq })
    return evidence
  }
}
