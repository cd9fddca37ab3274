import type { RowSink, StretchEvidence } from '../adapter.ts'
import { Evidence } from './evidence.ts'

type Cause = 'start' | 'resume' | 'fork' | 'unknown'

/** Turns whose stretch is remembered, for records that are written after the next turn began. */
const TURNS = 256

/**
 * Where one start of the program ends and the next begins. All starts append to one file and none writes its version again. Signs, as
 * seen on 0.171.0:
 *
 * - a turn of `codex exec` is a process of its own, so a second one is a resume;
 * - settings are applied between two turns when a process takes a thread up with other settings, and also when they are changed while
 *   it runs: which of the two, the record does not say, so the cause is unknown;
 * - a thread taken up by an app server with the same settings leaves no sign at all: such stretches cannot be told apart;
 * - a second head of the same thread begins the file that a revert makes.
 */
export class Stretches {
  readonly #evidence: Evidence[] = []
  /** Stretch of each turn, latest last. */
  readonly #turns = new Map<string, number>()
  #turnsHere = 0
  #inTurn = false
  #applied = false

  get n(): number {
    return Math.max(1, this.#evidence.length)
  }

  get current(): Evidence | null {
    return this.#evidence.at(-1) ?? null
  }

  stretchOf(turn: string | null): number {
    return (turn === null ? undefined : this.#turns.get(turn)) ?? this.n
  }

  begin(cause: Cause, at: string | null, firstSeq: number, sink: RowSink): Evidence {
    const evidence = new Evidence(this.#evidence.length + 1, at, this.current)
    this.#evidence.push(evidence)
    this.#turnsHere = 0
    this.#inTurn = false
    this.#applied = false
    sink.stretch({ n: evidence.n, startedAt: at, cause, firstSeq })
    return evidence
  }

  /** The thread was given settings. */
  settings(): void {
    if (!this.#inTurn && this.#turnsHere > 0) this.#applied = true
  }

  turnStarted(turn: string | null, ownProcess: boolean, at: string | null, nextSeq: number, sink: RowSink): void {
    if (this.#turnsHere > 0) {
      if (ownProcess) this.begin('resume', at, nextSeq, sink)
      else if (this.#applied)
        this.begin('unknown', at, nextSeq, sink).set(
          'doubt',
          'settings were applied anew before this turn: the thread was taken up by another process or its settings were changed, the record does not say which',
        )
    }
    this.#turnsHere++
    this.#inTurn = true
    this.#applied = false
    if (turn === null) return
    this.#turns.set(turn, this.n)
    if (this.#turns.size > TURNS) this.#turns.delete(this.#turns.keys().next().value ?? '')
  }

  turnEnded(): void {
    this.#inTurn = false
  }

  toEvidence(home: string, session: string): readonly StretchEvidence[] {
    return this.#evidence.map((evidence) => evidence.toStretch(home, session))
  }
}
