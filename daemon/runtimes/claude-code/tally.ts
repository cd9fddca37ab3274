import type { SessionUnit } from '../adapter.ts'
import { Names } from '../shared/names.ts'

/** What is counted and remembered over all rows of a session, whatever became of each. */
export class Tally {
  readonly types = new Names()
  readonly unknown = new Names()
  readonly versions = new Names()
  readonly workspaces = new Names()
  readonly models = new Names()
  readonly sessions = new Names()
  readonly answerSessions = new Names()
  rows = 0
  repeatedRows = 0
  checkpoints = 0
  conversation = false
  /** The last thing that happened in the conversation is an error the record names. */
  failed = false
  firstPrompt: string | null = null
  firstCommand: string | null = null
  /** Titles given by the user, made by the program, and those of older versions. */
  title: string | null = null
  madeTitle: string | null = null
  oldTitle: string | null = null
  clockStepsBack = 0
  earliest: string | null = null
  latest: string | null = null
  #before: string | null = null

  /** Order is file order; a time that steps back is counted and changes nothing (R30). */
  clock(at: string | null): void {
    if (at === null) return
    if (this.#before !== null && at < this.#before) this.clockStepsBack++
    this.#before = at
    if (this.earliest === null || at < this.earliest) this.earliest = at
    if (this.latest === null || at > this.latest) this.latest = at
  }

  /** The id that answers carry; hooks of 2.1.12 wrote their rows under another one (wild fixtures). */
  sessionOf(unit: SessionUnit): string {
    const own = unit.session
    if (unit.relation !== null || this.answerSessions.has(own)) return own
    return this.answerSessions.most() ?? (this.sessions.has(own) ? own : (this.sessions.most() ?? own))
  }
}
